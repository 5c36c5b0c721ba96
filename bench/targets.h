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
    bool all_threads;
    const struct method *than; /* at least `needed` times this one's rate; NULL: millions a second */
    double needed;
};

extern const struct target targets[];
extern const size_t target_count;

/* What was measured of it, in the unit of `needed`; 0: not all that it takes. */
double target_reached(const struct target *self, const struct path_list *list, unsigned threads);

#endif
