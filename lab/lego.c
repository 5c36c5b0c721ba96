/* The Lego sketch as an estimator, three times: with its model's decoder (`lego`), with the rule alone (`rule`), which
 * is the upper bound that every sketch gives, and as the paper has it (`lego-paper`): its model, a brick for every 100
 * KB, 4-byte cells. The spill and the totals are paid for out of the columns, about 5070 instead of 5120.
 *
 * SPDX-License-Identifier: MIT */
#include "estimator.h"

static lego_status create(const lego_options *wanted, void **self)
{
    if (wanted->budget == 0 || wanted->budget > LEGO_BUDGET_MAX) /* the library takes 0 for "what the bricks need" */
        return LEGO_ERR_BUDGET;
    lego_sketch *sketch;
    lego_status status = lego_sketch_create(wanted, &sketch);
    if (status == LEGO_OK)
        *self = sketch;
    return status;
}

static lego_status create_paper(const lego_options *wanted, void **self)
{
    lego_options options = *wanted;
    options.bricks = wanted->budget < 2 * 102400 ? 1 : (uint32_t)(wanted->budget / 102400);
    options.cell_bits = 32;
    return create(&options, self);
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    return lego_sketch_add(self, item, size, count);
}

static lego_status decode(const void *self, const void *item, size_t size, double *value)
{
    lego_estimate estimate;
    lego_status status = lego_sketch_estimate(self, item, size, &estimate);
    if (status == LEGO_OK)
        *value = estimate.value;
    return status;
}

static lego_status bound(const void *self, const void *item, size_t size, double *value)
{
    lego_estimate estimate;
    lego_status status = lego_sketch_estimate(self, item, size, &estimate);
    if (status == LEGO_OK)
        *value = (double)estimate.upper;
    return status;
}

static uint64_t bytes(const void *self)
{
    return lego_sketch_bytes(self);
}

static void destroy(void *self)
{
    lego_sketch_destroy(self);
}

const estimator_kind estimator_lego = {
    .name = "lego",
    .uses_model = true,
    .uses_seed = true,
    .create = create,
    .add = add,
    .estimate = decode,
    .bytes = bytes,
    .destroy = destroy,
};

const estimator_kind estimator_rule = {
    .name = "rule",
    .uses_model = true,
    .uses_seed = true,
    .create = create,
    .add = add,
    .estimate = bound,
    .bytes = bytes,
    .destroy = destroy,
};

const estimator_kind estimator_lego_paper = {
    .name = "lego-paper",
    .uses_model = true,
    .uses_seed = true,
    .create = create_paper,
    .add = add,
    .estimate = decode,
    .bytes = bytes,
    .destroy = destroy,
    .model = "paper",
};
