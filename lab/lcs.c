/* The learned C-sketch without predictions (Aamand, Chen, Nguyen, Silwal and Vakilian, "Improved frequency estimation
 * algorithms with and without predictions", NeurIPS 2023), as the Lego paper evaluates it: half of the cells in ten
 * small Count sketches whose median tells whether an item is worth asking for; if it is below the noise, the number of
 * distinct items over a third of the cells, the answer is 0, else that of one Count sketch on the other half. It is
 * told the number of distinct items.
 *
 *     cells  [ 10 x ROWS x small | ROWS x main ]     small = cells / 60, so that ten of 3 rows take half */
#include "counters.h"

enum { SMALL = 10 };

typedef struct lcs {
    estimator_table of; /* its units are cells */
    uint64_t distinct;
    int32_t cells[];
} lcs;

/* Columns of a small sketch, and of the main one. */
typedef struct shape {
    uint64_t small, main;
} shape;

static shape shape_of(const lcs *sketch)
{
    uint64_t small = sketch->of.units / (2 * SMALL * ROWS);
    return (shape){small, (sketch->of.units - SMALL * ROWS * small) / ROWS};
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    lcs *sketch = self;
    XXH128_hash_t hash = hash_item(item, size, sketch->of.seed);
    shape of = shape_of(sketch);
    int32_t *cells = sketch->cells;
    for (unsigned i = 0; i < SMALL; i++, cells += ROWS * of.small) signed_add(cells, of.small, hash, i * ROWS, count);
    signed_add(cells, of.main, hash, SMALL * ROWS, count);
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
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    return (values[n / 2 - 1] + values[n / 2]) / 2;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const lcs *sketch = self;
    XXH128_hash_t hash = hash_item(item, size, sketch->of.seed);
    double reads[SMALL];
    shape of = shape_of(sketch);
    const int32_t *cells = sketch->cells;
    for (unsigned i = 0; i < SMALL; i++, cells += ROWS * of.small)
        reads[i] = signed_read(cells, of.small, hash, i * ROWS);
    double noise = (double)sketch->distinct / ((double)sketch->of.units / ROWS);
    bool noisy = median_of_even(reads, SMALL) < noise;
    *value = noisy ? 0 : signed_read(cells, of.main, hash, SMALL * ROWS);
    return LEGO_OK;
}

const estimator_kind estimator_lcs = {"lcs",
                                      ESTIMATOR_TABLE(lcs, sizeof(int32_t)),
                                      .least = 2 * SMALL * ROWS,
                                      .tell = tell,
                                      .add = add,
                                      .estimate = estimate};
