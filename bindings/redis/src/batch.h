/* batch: items of a command as the library takes many of them.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "value.h"

#include <redismodule.h>

/* All of it is one allocation, which starts with the offsets. */
struct batch {
    uint64_t *offsets; /* to be freed */
    void *numbers;     /* counts or estimates, n of them */
    lego_items items;
};

/* Whether a sketch can have these items: where all are integers, as Python, PostgreSQL and the command count them, an
 * item is 8 bytes, and "42" would be another that never came. False: replied. */
bool batch_fits(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv, size_t n, size_t step);

/* Every step-th argument is an item. number_size: bytes for a number of each, which are not set. False: no memory. */
bool batch_gather(struct batch *batch, RedisModuleString **argv, size_t n, size_t step, size_t number_size);
