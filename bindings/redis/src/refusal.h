/* refusal: why two sketches do not merge, or a sketch can not be read, and what to do.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "value.h"

#include <redismodule.h>

/* Replies that neither of two sketches folds to the other; returns REDISMODULE_OK. */
int refuse_shapes(RedisModuleCtx *ctx, const struct value *one, const struct value *other);

/* Replies that no secret seed of that fingerprint is known; returns REDISMODULE_OK. */
int refuse_secret(RedisModuleCtx *ctx, uint64_t fingerprint);
