/* What the counting methods share: hashes of an item row by row, sums that stop at the end of their range, and the
 * plain table of 3 rows of 4-byte cells that Count-Min, its variants and the Count sketch fill in their own ways. */
#pragma once

#define XXH_INLINE_ALL
#include "estimator.h"

#include <xxhash.h>

__extension__ typedef unsigned __int128 lab_u128;

static inline XXH128_hash_t hash_item(const void *item, size_t size, uint64_t seed)
{
    return XXH3_128bits_withSeed(item, size, seed);
}

/* The hash of a row. Bare low + row * high would do for Count-Min's bounds (Kirsch and Mitzenmacher 2006), but two
 * items that meet in two rows would then meet in the third, which small tables feel. So it is mixed, by the last steps
 * of splitmix64 (Steele, Lea and Flood, OOPSLA 2014), which also leaves a low bit fit to be a sign. */
static inline uint64_t hash_row(XXH128_hash_t hash, unsigned row)
{
    uint64_t z = hash.low64 + row * hash.high64;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number below n from the high bits of a hash, without a division (Lemire, TOMACS 2019). */
static inline uint64_t pick(uint64_t hash, uint64_t n)
{
    return (uint64_t)((lab_u128)hash * n >> 64);
}

/* a + count, from 0 to most. */
static inline uint64_t add_within(uint64_t a, int64_t count, uint64_t most)
{
    if (count < 0) {
        uint64_t less = 0 - (uint64_t)count;
        return a < less ? 0 : a - less;
    }
    return a >= most || (uint64_t)count > most - a ? most : a + (uint64_t)count;
}

static inline uint32_t add_u32(uint32_t a, int64_t count)
{
    return (uint32_t)add_within(a, count, UINT32_MAX);
}

/* a + count within INT32_MIN and INT32_MAX. */
static inline int32_t add_i32(int32_t a, int64_t count)
{
    int64_t sum;
    if (__builtin_add_overflow((int64_t)a, count, &sum)) return count < 0 ? INT32_MIN : INT32_MAX;
    return sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : (int32_t)sum;
}

static inline double median_of_3(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* ---- 3 rows of 4-byte cells ----------------------------------------------------------------------------------- */

enum { ROWS = 3 }; /* as the papers that we compare with have it */

typedef struct rows {
    estimator_table of; /* its units are columns */
    int64_t total;      /* the sum of a row, for the method that needs it */
    uint32_t cells[];   /* ROWS x columns */
} rows;

#define TABLE_OF_ROWS ESTIMATOR_TABLE(rows, ROWS * sizeof(uint32_t))

/* Where the cells of an item are. */
static inline void rows_locate(const rows *table, const void *item, size_t size, uint64_t cells[ROWS])
{
    XXH128_hash_t hash = hash_item(item, size, table->of.seed);
    for (unsigned row = 0; row < ROWS; row++)
        cells[row] = row * table->of.units + pick(hash_row(hash, row), table->of.units);
}

static inline uint32_t rows_least(const rows *table, const uint64_t cells[ROWS])
{
    uint32_t least = UINT32_MAX;
    for (unsigned row = 0; row < ROWS; row++)
        least = table->cells[cells[row]] < least ? table->cells[cells[row]] : least;
    return least;
}

/* Count-Min's addition: every cell of the item grows. */
static inline void rows_add(rows *table, const uint64_t cells[ROWS], int64_t count)
{
    for (unsigned row = 0; row < ROWS; row++) table->cells[cells[row]] = add_u32(table->cells[cells[row]], count);
}

static inline lego_status rows_estimate_least(const void *self, const void *item, size_t size, double *value)
{
    uint64_t cells[ROWS];
    rows_locate(self, item, size, cells);
    *value = rows_least(self, cells);
    return LEGO_OK;
}

/* ---- the Count sketch on 3 rows of signed cells ---------------------------------------------------------------- */

/* 1 or -1. The low bit of a row's hash hardly matters for the column, which the high ones pick. */
static inline int sign_of(uint64_t hash)
{
    return hash & 1 ? 1 : -1;
}

/* Adds to one sketch of 3 rows; `first` numbers its rows among all that hash the same item. */
static inline void signed_add(int32_t *cells, uint64_t columns, XXH128_hash_t hash, unsigned first, int64_t count)
{
    int64_t opposite = count == INT64_MIN ? INT64_MAX : -count;
    for (unsigned row = 0; row < ROWS; row++) {
        uint64_t of_row = hash_row(hash, first + row);
        int32_t *cell = &cells[row * columns + pick(of_row, columns)];
        *cell = add_i32(*cell, sign_of(of_row) > 0 ? count : opposite);
    }
}

/* The median of its signed reads. */
static inline double signed_read(const int32_t *cells, uint64_t columns, XXH128_hash_t hash, unsigned first)
{
    double reads[ROWS];
    for (unsigned row = 0; row < ROWS; row++) {
        uint64_t of_row = hash_row(hash, first + row);
        reads[row] = (double)sign_of(of_row) * cells[row * columns + pick(of_row, columns)];
    }
    return median_of_3(reads[0], reads[1], reads[2]);
}
