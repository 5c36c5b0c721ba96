/* The server's memory for sketches; see memory.h.
 *
 * SPDX-License-Identifier: MIT */
#include "memory.h"

static void *take(void *context, size_t size)
{
    (void)context;
    return RedisModule_TryAlloc(size);
}

static void give_back(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    RedisModule_Free(memory);
}

const lego_allocator server_memory = {take, give_back, NULL};

uint64_t memory_left(RedisModuleCtx *ctx)
{
    int flags = RedisModule_GetContextFlags(ctx), error;
    if (flags & (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING)) return UINT64_MAX;
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
    uint64_t used = RedisModule_ServerInfoGetFieldUnsigned(info, "used_memory", &error);
    uint64_t limit = RedisModule_ServerInfoGetFieldUnsigned(info, "maxmemory", &error);
    if (limit == 0) limit = RedisModule_ServerInfoGetFieldUnsigned(info, "total_system_memory", &error);
    else if (flags & REDISMODULE_CTX_FLAGS_EVICT) used = 0; /* other keys go, as far as it takes */
    RedisModule_FreeServerInfo(ctx, info);
    return used < limit ? limit - used : 0;
}

bool memory_has_room(RedisModuleCtx *ctx, uint64_t bytes)
{
    return bytes < MEMORY_FEW || bytes <= memory_left(ctx);
}

bool memory_is_within(RedisModuleCtx *ctx, uint64_t bytes)
{
    return bytes < MEMORY_FEW || memory_left(ctx) > 0;
}
