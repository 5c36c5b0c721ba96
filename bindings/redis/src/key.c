/* Keys and the sketches in them; see key.h.
 *
 * SPDX-License-Identifier: MIT */
#include "key.h"

#include "reply.h"
#include "type.h"

int key_missing(RedisModuleCtx *ctx)
{
    return reply_refused(ctx, "ERR there is no such sketch: make it with LEGO.RESERVE");
}

struct value *key_peek(RedisModuleCtx *ctx, RedisModuleString *name)
{
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ);
    bool is_ours = RedisModule_ModuleTypeGetType(key) == sketch_type;
    struct value *value = is_ours ? RedisModule_ModuleTypeGetValue(key) : NULL;
    RedisModule_CloseKey(key);
    return value;
}

struct value *key_read(RedisModuleCtx *ctx, RedisModuleString *name)
{
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ);
    struct value *value = NULL;
    if (RedisModule_ModuleTypeGetType(key) == sketch_type) value = RedisModule_ModuleTypeGetValue(key);
    else if (RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY) key_missing(ctx);
    else RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
    RedisModule_CloseKey(key);
    return value;
}

RedisModuleKey *key_open_place(RedisModuleCtx *ctx, RedisModuleString *name)
{
    RedisModuleKey *found = RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    if (RedisModule_KeyType(found) == REDISMODULE_KEYTYPE_EMPTY || RedisModule_ModuleTypeGetType(found) == sketch_type)
        return found;
    RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
    RedisModule_CloseKey(found);
    return NULL;
}

lego_status key_own(RedisModuleKey *key, struct value **value)
{
    *value = RedisModule_ModuleTypeGetType(key) == sketch_type ? RedisModule_ModuleTypeGetValue(key) : NULL;
    if (*value == NULL || !value_is_shared(*value)) return LEGO_OK;
    struct value *copy;
    void *old;
    lego_status status = value_copy(*value, &copy);
    if (status != LEGO_OK) return status;
    RedisModule_ModuleTypeReplaceValue(key, sketch_type, copy, &old); /* the key keeps its time to live */
    value_release(old);
    *value = copy;
    return LEGO_OK;
}

void key_put(RedisModuleKey *key, struct value *value)
{
    RedisModule_ModuleTypeSetValue(key, sketch_type, value); /* fails only for keys that are not open for writing */
}

void key_changed(RedisModuleCtx *ctx, RedisModuleString *name, const char *event)
{
    RedisModule_SignalModifiedKey(ctx, name);
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, name);
}
