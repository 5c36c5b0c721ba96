/* What was measured, for people.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "limits.h"
#include "path.h"

/* The first screen: the targets that were measured, and whether they are reached. */
void table_targets(const struct path_list *list, const struct limits *limits, unsigned threads);

/* A table for every size, operation, kind of call and of key: millions of items a second. */
void table_paths(const struct path_list *list, const struct limits *limits);

/* The series of path_list_grow(): nanoseconds an item. */
void table_growth(const struct path_list *list);

#endif
