/* AAE and ARE of an estimator against exact counts, for one sketch or as the mean over several hash seeds. */
#include "metrics.h"

#include <math.h>

static lego_status measure(const exact_table *truth, const trial *spec, const void *self, metrics *result)
{
    const estimator_kind *kind = spec->kind;
    metrics sum = {0};
    for (size_t i = 0; i < exact_size(truth); i++) {
        exact_item item = exact_at(truth, i);
        if (item.count == 0) continue;
        double value;
        lego_status status = kind->estimate(self, item.bytes, item.size, &value);
        if (status != LEGO_OK) return status;
        double error = fabs(value - (double)item.count);
        sum.aae += error;
        sum.are += error / fabs((double)item.count);
        sum.n++;
    }
    double n = sum.n > 0 ? (double)sum.n : 1; /* an empty stream has no error */
    *result = (metrics){sum.n, sum.aae / n, sum.are / n, estimator_bytes(kind, self)};
    return LEGO_OK;
}

lego_status metrics_fill(const exact_table *truth, const estimator_kind *kind, void *self)
{
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < exact_size(truth) && status == LEGO_OK; i++) {
        exact_item item = exact_at(truth, i);
        if (item.count != 0) status = kind->add(self, item.bytes, item.size, item.count);
    }
    return status;
}

/* Create, fill and measure with one seed. */
static lego_status run_once(const exact_table *truth, const trial *spec, uint64_t seed, metrics *result)
{
    lego_options wanted = {.budget = spec->budget, .model = spec->model, .seed = seed};
    void *self;
    lego_status status = estimator_create(spec->kind, &wanted, &self);
    if (status != LEGO_OK) return status;
    if (spec->kind->tell != NULL) spec->kind->tell(self, exact_size(truth));
    if (spec->kind->in_order) status = order_feed(spec->order, truth, spec->kind, self);
    else status = metrics_fill(truth, spec->kind, self);
    if (status == LEGO_OK) status = estimator_settle(spec->kind, self);
    if (status == LEGO_OK) status = measure(truth, spec, self, result);
    estimator_destroy(spec->kind, self);
    return status;
}

lego_status metrics_run(const exact_table *truth, const trial *spec, metrics *result)
{
    metrics mean = {0}, one;
    uint32_t seeds = spec->kind->seedless ? 1 : spec->seeds;
    for (uint32_t i = 0; i < seeds; i++) {
        lego_status status = run_once(truth, spec, spec->first_seed + i, &one);
        if (status != LEGO_OK) return status;
        mean = (metrics){one.n, mean.aae + one.aae / seeds, mean.are + one.are / seeds,
                         one.bytes > mean.bytes ? one.bytes : mean.bytes};
    }
    *result = mean;
    return LEGO_OK;
}
