/* The Lego sketch as an estimator: with its model's decoder (`lego`), with the rule alone (`rule`), which is the upper
 * bound that every sketch gives, both with the paper's model (`lego-paper`, `rule-paper`), and with an eighth of the
 * budget for the most frequent items (`d-lego`, after the paper's name for a sketch behind a filter; filtered.c has the
 * paper's own). */
#include "estimator.h"

static lego_status create(const lego_options *wanted, void **self)
{
    lego_sketch *sketch;
    lego_status status = lego_create(wanted, &sketch);
    if (status == LEGO_OK) *self = sketch;
    return status;
}

static lego_status create_with_top(const lego_options *wanted, void **self)
{
    lego_options options = *wanted;
    options.top = wanted->budget / 8;
    return options.top < LEGO_TOP_MIN ? LEGO_ERR_BUDGET : create(&options, self);
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    return lego_add(self, item, size, count);
}

static lego_status decode(const void *self, const void *item, size_t size, double *value)
{
    lego_estimate estimate;
    lego_status status = lego_query(self, item, size, &estimate);
    if (status == LEGO_OK) *value = estimate.value;
    return status;
}

static lego_status bound(const void *self, const void *item, size_t size, double *value)
{
    lego_estimate estimate;
    lego_status status = lego_query(self, item, size, &estimate);
    if (status == LEGO_OK) *value = (double)estimate.upper;
    return status;
}

static uint64_t bytes(const void *self)
{
    lego_info info;
    lego_describe(self, &info);
    return info.bytes;
}

static void destroy(void *self)
{
    lego_destroy(self);
}

#define SKETCH .uses_model = true, .add = add, .bytes = bytes, .destroy = destroy

const estimator_kind estimator_lego = {"lego", .in_order = true, SKETCH, .create = create, .estimate = decode};
const estimator_kind estimator_rule = {"rule", .in_order = true, SKETCH, .create = create, .estimate = bound};
const estimator_kind estimator_lego_paper = {"lego-paper", .model = "paper", SKETCH, .create = create,
                                             .estimate = decode};
const estimator_kind estimator_rule_paper = {"rule-paper", .model = "paper", .by_name_only = true,
                                             SKETCH,       .create = create, .estimate = bound};
const estimator_kind estimator_d_lego = {"d-lego", .in_order = true, SKETCH, .create = create_with_top,
                                         .estimate = decode};
