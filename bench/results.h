/* What was measured, for programs: cli/record.h's JSON with everything, all samples among it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include "limits.h"
#include "path.h"
#include "record.h"

/* Rows of two kinds, by "row": a path, or a target. */
void results_add(record *into, const struct plan *plan, const struct path_list *list, const struct limits *limits,
                 bool huge_pages);

#endif
