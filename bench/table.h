/* What was measured, for people.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "path.h"

/* A table for every size, operation, kind of call and of key: millions of items a second. */
void table_paths(const struct path_list *list);

#endif
