/* How far estimates are from the truth, over every distinct item once. */
#pragma once

#include "estimator.h"
#include "exact.h"
#include "order.h"

typedef struct metrics {
    uint64_t n;     /* distinct items whose count is not 0: the ones measured */
    double aae;     /* mean of |estimate - count| */
    double are;     /* mean of |estimate - count| / |count| */
    uint64_t bytes; /* that the estimator uses; the most of several */
} metrics;

/* Give an estimator every item of the truth once, with its whole count. Linear sketches end up as if they had seen the
 * stream itself. */
lego_status metrics_fill(const exact_table *truth, const estimator_kind *kind, void *self);

/* Create, fill and measure with each of the seeds first, first + 1, ...: the mean of the errors, the most bytes.
 * Methods that depend on the order get the occurrences one by one. */
typedef struct trial {
    const estimator_kind *kind;
    const lego_model *model; /* NULL: the kind's own */
    uint64_t budget;
    uint64_t first_seed;
    uint32_t seeds;
    const item_order *order; /* in which the items came, if it is known; else NULL: they are shuffled */
} trial;
lego_status metrics_run(const exact_table *truth, const trial *spec, metrics *result);
