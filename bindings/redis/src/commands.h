/* commands: one function each. What they take and reply is written in command_table.c and docs/redis.md.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <redismodule.h>

int command_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_incrby(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_query(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_top(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_intop(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_union(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_fold(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_dump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
int command_secret(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* Makes all of them known to the server: REDISMODULE_OK or _ERR. */
int commands_start(RedisModuleCtx *ctx);
