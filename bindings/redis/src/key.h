/* key: from the name of a key to the sketch in it.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "value.h"

#include <redismodule.h>

/* The sketch at a key, to be closed with RedisModule_CloseKey(); NULL: an error was replied, and nothing is open. mode
 * is REDISMODULE_READ, with REDISMODULE_WRITE if it will be changed. */
struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key);

/* A key for a sketch to be put into: one that is empty or has a sketch already. NULL: replied. */
RedisModuleKey *key_open_place(RedisModuleCtx *ctx, RedisModuleString *name);

/* Puts a sketch into such a key, in place of the old one; like SET, it takes the key's time to live away. */
void key_put(RedisModuleKey *key, struct value *value);

/* After a change: clients that watch the key learn of it, and so do those that listen to events. */
void key_changed(RedisModuleCtx *ctx, RedisModuleString *name, const char *event);
