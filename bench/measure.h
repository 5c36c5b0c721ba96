/* Times the paths of a list, in turns: every path once, then every path again, so that what disturbs the machine
 * disturbs all of them alike.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "path.h"

/* Fills in samples and what they say, size by size. False if there is no memory, which is said. */
bool measure(const struct plan *plan, struct path_list *list, bool quiet);

/* What has passed since some moment, on the clock and of this process's CPU time. */
struct sample clocks(void);

#endif
