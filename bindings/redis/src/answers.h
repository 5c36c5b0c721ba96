/* answers: what a sketch says of items, for commands that ask one key and for the one that asks several.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "value.h"

#include <redismodule.h>

/* How many of the arguments are options of LEGO.QUERY, with ITEMS behind them; 0 if no item follows that. */
int options_of_items(RedisModuleString **argv, int argc);

/* argv has items, or options of LEGO.QUERY, ITEMS and items; replies, also if that is not so. In any thread. */
void answer_items(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv, int argc);

/* argv has options of LEGO.TOP; the same. */
void answer_top(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv, int argc);

/* An array of estimates. */
void reply_estimates(RedisModuleCtx *ctx, const lego_estimate *estimates, size_t n, bool bounds);
