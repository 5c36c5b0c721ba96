/* rows: what functions return that return a row, or a set of them.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

#include "funcapi.h"

/* The one row of a function that returns a row. */
Datum rows_one(FunctionCallInfo fcinfo, Datum *values, bool *nulls);

/* Of a function that returns a set: this first, and then row after row. */
void rows_start(FunctionCallInfo fcinfo);
void rows_add(FunctionCallInfo fcinfo, Datum *values, bool *nulls);
