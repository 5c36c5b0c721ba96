/* cache: the sketch that a function was given last stays loaded until the statement ends (in PL/pgSQL, where it is a
 * plain expression, the transaction), so that a million rows which ask the same sketch load it once.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "sketch.h"

/* The sketch of an argument; do not change it. */
const lego_sketch *cache_sketch(FunctionCallInfo fcinfo, int argument);
