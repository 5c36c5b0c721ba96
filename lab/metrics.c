/* AAE and ARE of an estimator against exact counts, for one sketch or as the mean over several hash seeds.
 *
 * SPDX-License-Identifier: MIT */
#include "metrics.h"

#include <math.h>

lego_status metrics_measure(const exact_table *truth, const estimator_kind *kind, const void *self, metrics *result)
{
    metrics sum = {0};
    for (size_t i = 0; i < exact_size(truth); i++) {
        exact_item item = exact_at(truth, i);
        if (item.count <= 0)
            continue;
        double value;
        lego_status status = kind->estimate(self, item.bytes, item.size, &value);
        if (status != LEGO_OK)
            return status;
        double error = fabs(value - (double)item.count);
        sum.aae += error;
        sum.are += error / (double)item.count;
        sum.n++;
    }
    double n = sum.n > 0 ? (double)sum.n : 1; /* an empty stream has no error */
    *result = (metrics){sum.n, sum.aae / n, sum.are / n};
    return LEGO_OK;
}

lego_status metrics_fill(const exact_table *truth, const estimator_kind *kind, void *self)
{
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < exact_size(truth) && status == LEGO_OK; i++) {
        exact_item item = exact_at(truth, i);
        if (item.count != 0)
            status = kind->add(self, item.bytes, item.size, item.count);
    }
    return status;
}

lego_status metrics_run(const exact_table *truth, const trial *spec, metrics *result, uint64_t *bytes)
{
    metrics mean = {0};
    uint64_t most = 0;
    uint32_t seeds = spec->kind->uses_seed ? spec->seeds : 1;
    for (uint32_t i = 0; i < seeds; i++) {
        void *self;
        lego_options wanted = LEGO_OPTIONS_INIT;
        wanted.budget = spec->budget;
        wanted.model = spec->model;
        wanted.seed = spec->first_seed + i;
        wanted.packing = spec->packing;
        lego_status status = spec->kind->create(&wanted, &self);
        if (status != LEGO_OK)
            return status;
        metrics one = {0};
        if (spec->kind->tell != NULL)
            spec->kind->tell(self, exact_size(truth));
        if (spec->kind->in_order)
            status = order_feed(spec->order, truth, spec->kind, self);
        else
            status = metrics_fill(truth, spec->kind, self);
        if (status == LEGO_OK)
            status = metrics_measure(truth, spec->kind, self, &one);
        uint64_t used = spec->kind->bytes(self);
        spec->kind->destroy(self);
        if (status != LEGO_OK)
            return status;
        mean.n = one.n;
        mean.aae += one.aae / seeds;
        mean.are += one.are / seeds;
        most = used > most ? used : most;
    }
    *result = mean;
    *bytes = most;
    return LEGO_OK;
}
