/* reply: what commands say when they refuse, in one place.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <legosketch.h>
#include <redismodule.h>

/* All return REDISMODULE_OK, so that a command can end with them. */
int reply_status(RedisModuleCtx *ctx, lego_status status);
int reply_refused(RedisModuleCtx *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
int reply_ok(RedisModuleCtx *ctx);

/* The estimate as counts are: an integer, within its bounds. */
long long rounded(const lego_estimate *estimate);
