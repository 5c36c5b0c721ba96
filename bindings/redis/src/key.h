/* key: from the name of a key to the sketch in it.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "value.h"

#include <redismodule.h>

/* The sketch at a key, to be read before anything else happens; NULL: an error was replied. */
struct value *key_read(RedisModuleCtx *ctx, RedisModuleString *name);

/* The same without a reply: NULL if there is none. */
struct value *key_peek(RedisModuleCtx *ctx, RedisModuleString *name);

/* A key for a sketch to be put into: one that is empty or has a sketch already. NULL: replied, and nothing is open. */
RedisModuleKey *key_open_place(RedisModuleCtx *ctx, RedisModuleString *name);

/* The sketch in such a key, to be changed: if a job reads it as it is, a copy. NULL if there is none; LEGO_ERR_MEMORY
 * if it can not be copied. */
lego_status key_own(RedisModuleKey *key, struct value **value);

/* Puts a sketch into such a key, in place of the old one; like SET, it takes the key's time to live away. */
void key_put(RedisModuleKey *key, struct value *value);

/* What commands say of a key that should have a sketch and has none. */
int key_missing(RedisModuleCtx *ctx);

/* After a change: clients that watch the key learn of it, and so do those that listen to events. */
void key_changed(RedisModuleCtx *ctx, RedisModuleString *name, const char *event);
