/* Keys and the sketches in them; see key.h.
 *
 * SPDX-License-Identifier: MIT */
#include "key.h"

#include "reply.h"
#include "type.h"

struct value *key_open(RedisModuleCtx *ctx, RedisModuleString *name, int mode, RedisModuleKey **key)
{
    RedisModuleKey *found = RedisModule_OpenKey(ctx, name, mode);
    if (RedisModule_ModuleTypeGetType(found) == sketch_type) {
        *key = found;
        return RedisModule_ModuleTypeGetValue(found);
    }
    if (RedisModule_KeyType(found) != REDISMODULE_KEYTYPE_EMPTY)
        RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
    else reply_refused(ctx, "ERR there is no such sketch: make it with LEGO.RESERVE");
    RedisModule_CloseKey(found);
    return NULL;
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

void key_put(RedisModuleKey *key, struct value *value)
{
    RedisModule_ModuleTypeSetValue(key, sketch_type, value); /* fails only for keys that are not open for writing */
}

void key_changed(RedisModuleCtx *ctx, RedisModuleString *name, const char *event)
{
    RedisModule_SignalModifiedKey(ctx, name);
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, name);
}
