/* What was measured: tables for people, and cli/record.h's JSON for programs, which has everything, all samples among
 * it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_SHOW_H
#define BENCH_SHOW_H

#include "limits.h"
#include "path.h"
#include "record.h"

/* The machine, then a table for every size, operation, kind of call and of key: millions of items a second. */
void show_tables(const struct path_list *list, const struct limits *limits);

/* A row for every path. */
void show_results(record *into, const struct plan *plan, const struct path_list *list, const struct limits *limits);

#endif
