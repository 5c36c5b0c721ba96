/* The yardstick: a plain Count-Min of 3 rows of 4-byte counters, with nothing that a paper would add, as fast as we
 * know how to make it. What it leaves out is what the Lego sketch has: bounds, deletion checks, 64-bit sums.
 *
 *     key -> 64-bit mix -> three multiplications -> columns -> [prefetch] -> three additions
 *
 * A batch is hashed CHUNK keys at a time by a loop that compilers turn into vectors, the counters are then touched one
 * by one. Chunks of 32 keys were faster than those of 64, 128 and 512. The prefetching version is one chunk ahead of
 * itself, for tables beyond the caches; in smaller ones it costs more than it saves, so both are measured. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTMIN_ROWS = 3, COUNTMIN_CHUNK = 32 };

typedef struct countmin {
    uint32_t columns;
    uint32_t *cells; /* ROWS x columns */
} countmin;

/* The batch function, compiled for each kind of vector register. */
typedef struct countmin_kernel {
    const char *name;
    bool (*supported)(void);
    /* Adds the keys, or if there is room for answers asks for them. */
    void (*walk)(const countmin *table, const uint64_t *keys, size_t n, uint32_t *answers, bool prefetch);
} countmin_kernel;

/* The best that this CPU runs. */
const countmin_kernel *countmin_best(void);

/* Murmur3's finalizer without its last two steps: the multiplications that follow do their work. */
static inline uint64_t countmin_mix(uint64_t key)
{
    key = (key ^ key >> 33) * UINT64_C(0xff51afd7ed558ccd);
    return key ^ key >> 33;
}

/* A row's column from the upper 32 bits of a product with that row's odd number: multiply-shift (Dietzfelbinger et al.,
 * J. Algorithms 1997), brought below the number of columns by another (Lemire, TOMACS 2019). The numbers are
 * splitmix64's increment and multipliers. */
static inline uint32_t countmin_column(uint64_t mixed, unsigned row, uint32_t columns)
{
    static const uint64_t odd[COUNTMIN_ROWS] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9),
                                                UINT64_C(0x94d049bb133111eb)};
    return (uint32_t)((mixed * odd[row] >> 32) * columns >> 32);
}
