/* errors: what the library refuses, as an error of PostgreSQL's.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

/* Ends the statement unless status is LEGO_OK. Never called from a function that the library calls. */
void require_ok(lego_status status);
