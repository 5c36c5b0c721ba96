/* memory: sketches live in the server's own memory, so that MEMORY USAGE, maxmemory and INFO see them.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <legosketch.h>
#include <redismodule.h>
#include <stdbool.h>

/* Allocations that can fail: without them one that is too large would end the server. */
extern const lego_allocator server_memory;

/* How many bytes more are within maxmemory, or without it within the memory of the machine. A sketch is written to as
 * soon as it is allocated, and the system may promise more than it has and end the server then. What comes from the
 * master or from our own log has room: it had it there. */
uint64_t memory_left(RedisModuleCtx *ctx);

/* Whether so many are. Fewer than MEMORY_FEW always are: the server itself refuses commands when memory is short, and
 * to ask it how much is left takes ten times as long as to make a sketch. */
enum { MEMORY_FEW = 1 << 20 };
bool memory_has_room(RedisModuleCtx *ctx, uint64_t bytes);

/* Whether what was just made, of so many bytes, was still within. */
bool memory_is_within(RedisModuleCtx *ctx, uint64_t bytes);
