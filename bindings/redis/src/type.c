/* The type of our keys; see type.h.
 *
 * In an RDB file, and so in what DUMP gives, MIGRATE sends and a replica gets first, a value is
 *
 *     unsigned   how many items LEGO.TOP lists; 0 without TOP
 *     string     the canonical bytes of the sketch, docs/format.md
 *
 * Both are from outside: RESTORE takes what anybody made up. The library checks all of it before it allocates.
 *
 * SPDX-License-Identifier: MIT */
#include "type.h"

#include "secrets.h"
#include "value.h"

enum { ENCODING_VERSION = 0 };

RedisModuleType *sketch_type;
static RedisModuleCtx *outside; /* of any command: where nothing else is at hand to replicate with */

/* The server can not be told that saving fails, so without memory for it RedisModule_Alloc() ends this process, as it
 * does where keys of the server's own are saved; mostly it is one that was forked to save. */
static char *bytes_of(const struct value *value, size_t *size)
{
    return value_save(value, RedisModule_Alloc, size);
}

static void save(RedisModuleIO *rdb, void *context)
{
    const struct value *value = context;
    size_t size;
    char *bytes = bytes_of(value, &size);
    RedisModule_SaveUnsigned(rdb, value->top);
    RedisModule_SaveStringBuffer(rdb, bytes, size);
    RedisModule_Free(bytes);
}

static void log_refused(RedisModuleIO *rdb, const char *bytes, size_t size, lego_status status)
{
    char fingerprint[FINGERPRINT_TEXT];
    uint64_t seed;
    int is_secret;
    if (status == LEGO_ERR_SECRET && lego_saved_seed(bytes, size, &seed, &is_secret) == LEGO_OK)
        RedisModule_LogIOError(rdb, "warning", "a sketch: " SECRET_UNKNOWN, fingerprint_show(seed, fingerprint));
    else RedisModule_LogIOError(rdb, "warning", "a sketch: %s", lego_status_message(status));
}

/* RESTORE replicates itself, and what it needs has to be told before. Where a file is loaded, or a log, nobody is. */
static void tell_secret(const struct value *value)
{
    const struct secret *secret = value_secret(value);
    bool loading = RedisModule_GetContextFlags(outside) & REDISMODULE_CTX_FLAGS_LOADING;
    if (secret != NULL && !loading) secrets_replicate(outside, secret);
}

static void *load(RedisModuleIO *rdb, int version)
{
    if (version != ENCODING_VERSION) {
        RedisModule_LogIOError(rdb, "warning", "a sketch was saved by a later version of this module");
        return NULL;
    }
    size_t size;
    uint64_t top = RedisModule_LoadUnsigned(rdb);
    char *bytes = RedisModule_IsIOError(rdb) ? NULL : RedisModule_LoadStringBuffer(rdb, &size);
    if (bytes == NULL) return NULL;
    struct value *value;
    lego_status status = value_load(bytes, size, &value);
    if (status == LEGO_OK && !value_set_top(value, top)) {
        value_release(value);
        status = LEGO_ERR_CORRUPT;
    }
    if (status == LEGO_OK) tell_secret(value);
    else log_refused(rdb, bytes, size, status);
    RedisModule_Free(bytes);
    return status == LEGO_OK ? value : NULL;
}

static void rewrite(RedisModuleIO *aof, RedisModuleString *key, void *context)
{
    const struct value *value = context;
    size_t size;
    char *bytes = bytes_of(value, &size);
    const struct secret *secret = value_secret(value);
    if (secret != NULL) secrets_emit(aof, secret);
    if (value->top == 0) RedisModule_EmitAOF(aof, "LEGO.LOAD", "sb", key, bytes, size);
    else RedisModule_EmitAOF(aof, "LEGO.LOAD", "sbcl", key, bytes, size, "TOP", (long long)value->top);
    RedisModule_Free(bytes);
}

/* What DEBUG DIGEST compares: equal if and only if LEGO.DUMP and LEGO.TOP give the same. */
static void digest(RedisModuleDigest *into, void *context)
{
    const struct value *value = context;
    size_t size;
    char *bytes = bytes_of(value, &size);
    RedisModule_DigestAddLongLong(into, value->top);
    RedisModule_DigestAddStringBuffer(into, bytes, size);
    RedisModule_DigestEndSequence(into);
    RedisModule_Free(bytes);
}

static size_t memory_usage(const void *value)
{
    return value_memory(value);
}

static void release(void *value)
{
    value_release(value);
}

static void *move(void *context, void *memory, size_t size)
{
    (void)size;
    void *moved = RedisModule_DefragAlloc(context, memory); /* NULL: it is well where it is */
    return moved == NULL ? memory : moved;
}

/* Active defragmentation. What a job reads stays where it is, until the next time. */
static int defragment(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value)
{
    (void)key;
    if (!value_is_shared(*value)) *value = value_relocate(*value, move, ctx);
    return 0;
}

/* The server frees what has an effort of more than 64 in the background, when it may. To give pages back takes time, to
 * free a few allocations does not; so a page of 4 KB is one. Never 0, which asks for the background. What it can grow
 * to must do: to see what it takes now would be as much work as to free it. */
static size_t free_effort(RedisModuleString *key, const void *value)
{
    (void)key;
    return 1 + ((const struct value *)value)->budget / 4096;
}

static void *copy(RedisModuleString *from, RedisModuleString *to, const void *value)
{
    (void)from;
    (void)to;
    struct value *made;
    return value_copy(value, &made) == LEGO_OK ? made : NULL;
}

int type_start(RedisModuleCtx *ctx)
{
    RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                      .rdb_load = load,
                                      .rdb_save = save,
                                      .aof_rewrite = rewrite,
                                      .mem_usage = memory_usage,
                                      .digest = digest,
                                      .free = release,
                                      .free_effort = free_effort,
                                      .copy = copy,
                                      .defrag = defragment,
                                      .aux_save = secrets_save,
                                      .aux_load = secrets_load,
                                      .aux_save_triggers = REDISMODULE_AUX_BEFORE_RDB};
    outside = RedisModule_GetDetachedThreadSafeContext(ctx);
    sketch_type = RedisModule_CreateDataType(ctx, "LEGO-SKCH", ENCODING_VERSION, &methods);
    return sketch_type == NULL ? REDISMODULE_ERR : REDISMODULE_OK;
}
