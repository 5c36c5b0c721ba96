/* What one core of this machine can do at most, apart from any sketch: multiply-adds of 32-bit numbers in registers,
 * and reading memory from one end to the other. (How fast it reaches counters here and there depends on the size and
 * on the keys; it is timed like a method, as "one counter".)
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <stdbool.h>

struct limits {
    const char *instructions; /* that the multiply-adds use */
    double flops;             /* a second; a multiply-add is two */
    double bandwidth;         /* bytes a second */
};

/* The best of what it measures now and what is there already. False if there is no memory. */
bool limits_measure(struct limits *self, bool quick);

#endif
