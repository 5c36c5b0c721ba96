/* Count-Min (Cormode and Muthukrishnan 2005) as the paper evaluates it: 3 rows of 4-byte cells that fill the budget.
 * Cells saturate instead of wrapping, at both ends, so that a heavy item or a deletion cannot make nonsense of others.
 *
 * SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include "estimator.h"

#include <stdlib.h>
#include <xxhash.h>

enum { ROWS = 3 };

typedef struct cms {
    uint64_t seed;
    uint64_t columns;
    uint32_t cells[]; /* ROWS x columns */
} cms;

static lego_status create(const lego_options *wanted, void **self)
{
    uint64_t columns = wanted->budget / sizeof(uint32_t) / ROWS;
    if (columns == 0 || wanted->budget > SIZE_MAX - sizeof(cms))
        return LEGO_ERR_BUDGET;
    cms *sketch = calloc(1, sizeof(cms) + (size_t)(ROWS * columns) * sizeof(uint32_t));
    if (sketch == NULL)
        return LEGO_ERR_MEMORY;
    sketch->seed = wanted->seed;
    sketch->columns = columns;
    *self = sketch;
    return LEGO_OK;
}

/* The cells of an item. Two hashes make all three (Kirsch and Mitzenmacher 2006). */
static void locate(const cms *sketch, const void *item, size_t size, uint64_t cells[ROWS])
{
    XXH128_hash_t hash = XXH3_128bits_withSeed(item, size, sketch->seed);
    for (unsigned row = 0; row < ROWS; row++)
        cells[row] = row * sketch->columns + (hash.low64 + row * hash.high64) % sketch->columns;
}

static uint32_t saturate(uint32_t cell, int64_t count)
{
    if (count < 0)
        return count < -(int64_t)cell ? 0 : (uint32_t)(cell + count);
    return count > (int64_t)(UINT32_MAX - cell) ? UINT32_MAX : (uint32_t)(cell + count);
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    cms *sketch = self;
    uint64_t cells[ROWS];
    locate(sketch, item, size, cells);
    for (unsigned row = 0; row < ROWS; row++)
        sketch->cells[cells[row]] = saturate(sketch->cells[cells[row]], count);
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const cms *sketch = self;
    uint64_t cells[ROWS];
    locate(sketch, item, size, cells);
    uint32_t least = UINT32_MAX;
    for (unsigned row = 0; row < ROWS; row++)
        least = sketch->cells[cells[row]] < least ? sketch->cells[cells[row]] : least;
    *value = least;
    return LEGO_OK;
}

static uint64_t bytes(const void *self)
{
    return ROWS * ((const cms *)self)->columns * sizeof(uint32_t);
}

static void destroy(void *self)
{
    free(self);
}

const estimator_kind estimator_cms = {"cms", false, true, create, add, estimate, bytes, destroy, NULL};
