/* refusal: why two sketches do not merge, and what to do.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "value.h"

#include <redismodule.h>

/* Replies that neither of two sketches folds to the other; returns REDISMODULE_OK. */
int refuse_shapes(RedisModuleCtx *ctx, const struct value *one, const struct value *other);
