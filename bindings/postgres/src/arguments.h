/* arguments: numbers, names and sizes out of arguments that SQL may give in several types.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "module.h"

/* The type of an argument, of a domain its base. */
Oid argument_type(FunctionCallInfo fcinfo, int argument);

/* An integer of any type, or a numeric that has an integer's value, as sum(bigint) is. Ends the statement if it is
 * none; the name says of what. */
int64 argument_integer(Datum value, Oid type, const char *name);

/* Bytes: an integer, or text as pg_size_bytes() takes it, '64kB'. */
int64 argument_size(Datum value, Oid type, const char *name);

char *argument_name(Datum value, Oid type, const char *name);
