/* LEGO.DUMP, LEGO.LOAD: a sketch as the bytes of a .sketch file, which the command and every other binding read.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "commands.h"
#include "key.h"
#include "memory.h"
#include "reply.h"

int command_dump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key;
    const struct value *value = key_open(ctx, argv[1], REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    size_t size;
    char *bytes = value_save(value, RedisModule_TryAlloc, &size);
    RedisModule_CloseKey(key);
    if (bytes == NULL) return reply_status(ctx, LEGO_ERR_MEMORY);
    RedisModule_ReplyWithStringBuffer(ctx, bytes, size);
    RedisModule_Free(bytes);
    return REDISMODULE_OK;
}

/* A sketch takes at least the memory that its bytes do, and up to 52 times as much, which is seen when it is there. */
static lego_status load_within_memory(RedisModuleCtx *ctx, const char *bytes, size_t size, struct value **value)
{
    lego_status status = memory_has_room(ctx, size) ? value_load(bytes, size, value) : LEGO_ERR_MEMORY;
    if (status != LEGO_OK || memory_left(ctx) > 0) return status;
    value_destroy(*value);
    return LEGO_ERR_MEMORY;
}

int command_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 3 && argc != 5) return RedisModule_WrongArity(ctx);
    uint64_t top = 0;
    if (argc == 5 && !argument_is(argv[3], "TOP")) return reply_refused(ctx, "ERR the only option of LEGO.LOAD is TOP");
    if (argc == 5 && !argument_number(argv[4], 1, TOP_MAX, &top))
        return reply_refused(ctx, "ERR TOP is 1 to %u items", TOP_MAX);
    RedisModuleKey *key = key_open_place(ctx, argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    size_t size;
    const char *bytes = RedisModule_StringPtrLen(argv[2], &size);
    struct value *value;
    lego_status status = load_within_memory(ctx, bytes, size, &value);
    bool fits = status == LEGO_OK && (argc == 3 || value_set_top(value, top));
    if (fits) key_put(key, value);
    else if (status == LEGO_OK) value_destroy(value);
    RedisModule_CloseKey(key);
    if (status == LEGO_ERR_MODEL)
        return reply_refused(ctx, "ERR made with a model that is not built in: those are compact and paper");
    if (status != LEGO_OK) return reply_status(ctx, status);
    if (!fits) return reply_refused(ctx, "ERR these bytes are not of a sketch with TOP");
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, argv[1], "lego.load");
    return reply_ok(ctx);
}
