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
    size_t size = value_saved_size(value);
    char *bytes = RedisModule_TryAlloc(size);
    if (bytes != NULL) {
        value_save(value, bytes);
        RedisModule_ReplyWithStringBuffer(ctx, bytes, size);
        RedisModule_Free(bytes);
    } else reply_status(ctx, LEGO_ERR_MEMORY);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int command_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 3 && argc != 5) return RedisModule_WrongArity(ctx);
    size_t size;
    const char *bytes = RedisModule_StringPtrLen(argv[2], &size);
    bool has_top = value_bytes_have_top(bytes, size);
    uint64_t top = has_top ? TOP_DEFAULT : 0;
    if (argc == 5) {
        if (!argument_is(argv[3], "TOP")) return reply_refused(ctx, "ERR the only option of LEGO.LOAD is TOP");
        if (!argument_number(argv[4], 1, TOP_MAX, &top)) return reply_refused(ctx, "ERR TOP is 1 to %u items", TOP_MAX);
        if (!has_top) return reply_refused(ctx, "ERR these bytes are not of a sketch with TOP");
    }
    struct value *value;
    RedisModuleKey *key = key_open_place(ctx, argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    /* A sketch takes about the memory that its bytes do. */
    lego_status status = memory_has_room(ctx, size) ? value_load(bytes, size, top, &value) : LEGO_ERR_MEMORY;
    if (status == LEGO_OK) key_put(key, value);
    RedisModule_CloseKey(key);
    if (status == LEGO_ERR_MODEL)
        return reply_refused(ctx, "ERR made with a model that is not built in: those are compact, paper and rule");
    if (status != LEGO_OK) return reply_status(ctx, status);
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, argv[1], "lego.load");
    return reply_ok(ctx);
}
