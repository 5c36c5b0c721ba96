/* LEGO.DUMP, LEGO.LOAD: a sketch as the bytes of a .sketch file, which the command and every other binding read.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "commands.h"
#include "job.h"
#include "key.h"
#include "memory.h"
#include "refusal.h"
#include "reply.h"
#include "secrets.h"

/* ---- LEGO.DUMP --------------------------------------------------------------------------------------------------- */

/* The reply is a copy, and the server ends where it has no memory for that: so as much, and some for what it puts
 * around it, is asked for and given back first. */
static bool has_room_to_reply(size_t size)
{
    enum { AROUND = 64 << 10 };
    void *room = RedisModule_TryAlloc(size + AROUND);
    RedisModule_Free(room);
    return room != NULL;
}

static void dump(RedisModuleCtx *ctx, struct job *job)
{
    size_t size;
    char *bytes = value_save(job->values[0], RedisModule_TryAlloc, &size);
    if (bytes == NULL || !has_room_to_reply(size)) reply_status(ctx, LEGO_ERR_MEMORY);
    else RedisModule_ReplyWithStringBuffer(ctx, bytes, size);
    RedisModule_Free(bytes);
}

int command_dump(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {.command = command_dump, .work = dump};
    return argc != 2 ? RedisModule_WrongArity(ctx) : job_run_on_key(ctx, argv, argc, &task);
}

/* ---- LEGO.LOAD --------------------------------------------------------------------------------------------------- */

/* LEGO_ERR_TOP: TOP is said, and these are not the bytes of a sketch that has one. */
static void load(RedisModuleCtx *ctx, struct job *job)
{
    (void)ctx;
    size_t size;
    uint64_t top = 0;
    const char *bytes = RedisModule_StringPtrLen(job->argv[2], &size);
    if (job->argc == 5) argument_number(job->argv[4], 1, TOP_MAX, &top);
    job->status = value_load(bytes, size, &job->made);
    if (job->status == LEGO_OK && top > 0 && !value_set_top(job->made, top)) job->status = LEGO_ERR_TOP;
}

static int refuse_bytes(RedisModuleCtx *ctx, RedisModuleString *given, lego_status status)
{
    size_t size;
    uint64_t seed;
    int is_secret;
    const char *bytes = RedisModule_StringPtrLen(given, &size);
    if (status == LEGO_ERR_SECRET && lego_saved_seed(bytes, size, &seed, &is_secret) == LEGO_OK)
        return refuse_secret(ctx, seed);
    if (status == LEGO_ERR_MODEL)
        return reply_refused(ctx, "ERR made with a model that is not built in: those are compact and paper");
    if (status == LEGO_ERR_TOP) return reply_refused(ctx, "ERR these bytes are not of a sketch with TOP");
    return reply_status(ctx, status);
}

/* A sketch may take 52 times as much memory as its bytes, which is seen when it is there. */
static int put_loaded(RedisModuleCtx *ctx, struct job *job)
{
    if (job->status != LEGO_OK) return refuse_bytes(ctx, job->argv[2], job->status);
    if (!memory_is_within(ctx, value_bytes(job->made))) return reply_status(ctx, LEGO_ERR_MEMORY);
    RedisModuleKey *key = key_open_place(ctx, job->argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    const struct secret *secret = value_secret(job->made);
    key_put(key, job->made);
    job->made = NULL;
    RedisModule_CloseKey(key);
    if (secret != NULL) secrets_replicate(ctx, secret);
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, job->argv[1], "lego.load");
    return reply_ok(ctx);
}

int command_load(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {command_load, load, put_loaded};
    enum { USUAL_GROWTH = 4 }; /* of memory beyond the bytes of a file, where there is not much in the sketch */
    if (argc != 3 && argc != 5) return RedisModule_WrongArity(ctx);
    uint64_t top;
    if (argc == 5 && !argument_is(argv[3], "TOP")) return reply_refused(ctx, "ERR the only option of LEGO.LOAD is TOP");
    if (argc == 5 && !argument_number(argv[4], 1, TOP_MAX, &top))
        return reply_refused(ctx, "ERR TOP is 1 to %u items", TOP_MAX);
    RedisModuleKey *key = key_open_place(ctx, argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    size_t size;
    RedisModule_StringPtrLen(argv[2], &size);
    if (!memory_has_room(ctx, size)) return reply_status(ctx, LEGO_ERR_MEMORY);
    return job_run(ctx, &(struct job){.task = &task, .argv = argv, .argc = argc}, USUAL_GROWTH * size);
}
