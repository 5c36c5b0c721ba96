/* What we want to reach, and whether we do: the first screen.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_TARGETS_H
#define BENCH_TARGETS_H

#include "path.h"

struct target {
    const char *what;
    uint64_t budget;
    const struct method *method;
    enum operation operation;
    enum calls calls;
    bool two_threads;
    const struct method *than; /* at least `needed` times this one's rate; NULL: millions a second */
    double needed;
};

extern const struct target targets[];
extern const size_t target_count;

/* What was measured of it, in the unit of `needed`, by the clock and by CPU time, which a busy machine disturbs less;
 * 0: not all that it takes was measured, or CPU time does not tell. */
struct reached {
    double by_clock, by_cpu;
};
struct reached target_reached(const struct target *self, const struct path_list *list, unsigned threads);

#endif
