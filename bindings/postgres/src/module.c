/* The mark by which a server knows that this module was compiled for it.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

PG_MODULE_MAGIC;
