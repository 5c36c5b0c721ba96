/* The learned C-sketch without predictions (Aamand, Chen, Nguyen, Silwal and Vakilian, "Improved frequency estimation
 * algorithms with and without predictions", NeurIPS 2023), as the Lego paper evaluates it: half of the cells in ten
 * small Count sketches whose median tells whether an item is worth asking for; if it is below the noise, the number of
 * distinct items over a third of the cells, the answer is 0, else that of one Count sketch on the other half. It is
 * told the number of distinct items.
 *
 *     cells  [ 10 x ROWS x small | ROWS x main ]     small = cells / 60, so that ten of 3 rows take half
 *
 * SPDX-License-Identifier: MIT */
#include "counters.h"

enum { SMALL = 10 };

typedef struct lcs {
    uint64_t seed;
    uint64_t cell_count, small, main; /* all cells; columns of a small sketch, of the main one */
    uint64_t distinct;
    int32_t cells[];
} lcs;

static lego_status create(const lego_options *wanted, void **self)
{
    void *made;
    uint64_t cells;
    lego_status status = create_within(wanted->budget, sizeof(lcs), sizeof(int32_t), 2 * SMALL * ROWS, &made, &cells);
    if (status != LEGO_OK)
        return status;
    lcs *sketch = made;
    sketch->seed = wanted->seed;
    sketch->cell_count = cells;
    sketch->small = cells / (2 * SMALL * ROWS);
    sketch->main = (cells - SMALL * ROWS * sketch->small) / ROWS;
    *self = sketch;
    return LEGO_OK;
}

static uint64_t small_at(const lcs *sketch, unsigned i)
{
    return i * ROWS * sketch->small;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    lcs *sketch = self;
    XXH128_hash_t hash = hash_item(item, size, sketch->seed);
    for (unsigned i = 0; i < SMALL; i++)
        signed_add(sketch->cells + small_at(sketch, i), sketch->small, hash, i * ROWS, count);
    signed_add(sketch->cells + small_at(sketch, SMALL), sketch->main, hash, SMALL * ROWS, count);
    return LEGO_OK;
}

static void tell(void *self, uint64_t distinct)
{
    ((lcs *)self)->distinct = distinct;
}

/* The mean of the two in the middle; sorts what it is given. */
static double median_of_even(double *values, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        double value = values[i];
        unsigned at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
    return (values[n / 2 - 1] + values[n / 2]) / 2;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const lcs *sketch = self;
    XXH128_hash_t hash = hash_item(item, size, sketch->seed);
    double reads[SMALL];
    for (unsigned i = 0; i < SMALL; i++)
        reads[i] = signed_read(sketch->cells + small_at(sketch, i), sketch->small, hash, i * ROWS);
    double noise = (double)sketch->distinct / ((double)sketch->cell_count / ROWS);
    if (median_of_even(reads, SMALL) < noise)
        *value = 0;
    else
        *value = signed_read(sketch->cells + small_at(sketch, SMALL), sketch->main, hash, SMALL * ROWS);
    return LEGO_OK;
}

static uint64_t bytes(const void *self)
{
    return sizeof(lcs) + ((const lcs *)self)->cell_count * sizeof(int32_t);
}

const estimator_kind estimator_lcs = {
    .name = "lcs",
    .uses_seed = true,
    .create = create,
    .tell = tell,
    .add = add,
    .estimate = estimate,
    .bytes = bytes,
    .destroy = free,
};
