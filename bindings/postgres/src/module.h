/* What every file of the extension starts with: PostgreSQL, the library, and how SQL finds a function.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "postgres.h"

#include "fmgr.h"
#include "legosketch.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h" /* which postgres.h had before */
#endif

/* A function that SQL can call. All modules of a server share one space of names, so these begin with legosketch_. */
#define SQL_FUNCTION(name)                                                                                             \
    PG_FUNCTION_INFO_V1(legosketch_##name);                                                                            \
    Datum legosketch_##name(PG_FUNCTION_ARGS)
