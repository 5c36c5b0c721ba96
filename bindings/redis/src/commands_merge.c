/* LEGO.MERGE, LEGO.UNION: several sketches as one, which is kept or only asked.
 *
 * SPDX-License-Identifier: MIT */
#include "answers.h"
#include "arguments.h"
#include "commands.h"
#include "job.h"
#include "key.h"
#include "memory.h"
#include "refusal.h"
#include "reply.h"

/* Which argument is the first source; their number is before it. */
enum { MERGE_FIRST = 3, UNION_FIRST = 2 };

/* ---- the sum ----------------------------------------------------------------------------------------------------- */

/* A weight for each source follows LEGO.MERGE's sources and WEIGHTS; else it is 1. */
static int64_t weight_of(const struct job *job, int i)
{
    int64_t weight = 1;
    int at = MERGE_FIRST + job->n + 1 + i;
    if (job->task->finish != NULL && at < job->argc) argument_integer(job->argv[at], &weight);
    return weight;
}

/* Sources from number i on are added, all at once. Where sizes do not go together it is tried with one after the other,
 * which finds the one that is to be named. */
static lego_status add_sources(struct job *job, int i, const int64_t *weights)
{
    lego_status status = value_merge(job->made, job->values + i, weights + i, job->n - i);
    if (status != LEGO_ERR_SHAPE) return status;
    for (status = LEGO_OK; i < job->n && status == LEGO_OK; i++) {
        job->refused = job->values[i];
        status = value_merge(job->made, job->values + i, weights + i, 1);
    }
    return status;
}

/* The sum of all sources that are there. It starts as a copy of the first of these, so it has TOP if that has. */
static void sum_up(RedisModuleCtx *ctx, struct job *job)
{
    (void)ctx;
    int first = 0;
    while (job->values[first] == NULL) first++;
    job->status = value_copy(job->values[first], &job->made);
    if (job->status != LEGO_OK) return;
    int64_t *weights = RedisModule_Alloc((size_t)job->n * sizeof *weights);
    for (int i = 0; i < job->n; i++) weights[i] = weight_of(job, i);
    if (weights[first] == 1) first++;
    else lego_clear(job->made->sketch);
    job->status = add_sources(job, first, weights);
    RedisModule_Free(weights);
}

static int refuse_sum(RedisModuleCtx *ctx, const struct job *job)
{
    if (job->status == LEGO_ERR_SHAPE) return refuse_shapes(ctx, job->made, job->refused);
    if (job->status == LEGO_ERR_TOP)
        return reply_refused(ctx, "ERR a negative weight takes away, which can not be done with a sketch that has TOP");
    return reply_status(ctx, job->status);
}

/* ---- the sources ------------------------------------------------------------------------------------------------- */

/* What is at the keys, NULL where nothing is, and about how many bytes they have. *missing: how many are nothing.
 * False: replied. */
static bool read_sources(RedisModuleCtx *ctx, RedisModuleString **names, int n, struct value **values, uint64_t *size,
                         int *missing)
{
    *size = 0;
    *missing = 0;
    for (int i = 0; i < n; i++) {
        RedisModuleKey *key = RedisModule_OpenKey(ctx, names[i], REDISMODULE_READ);
        bool is_missing = RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_EMPTY;
        RedisModule_CloseKey(key);
        values[i] = is_missing ? NULL : key_read(ctx, names[i]);
        if (!is_missing && values[i] == NULL) return false;
        if (is_missing) ++*missing;
        else *size += value_bytes(values[i]);
    }
    return true;
}

/* Tells the server which arguments are keys: n of them from `first` on, n being the argument before those. If that is
 * no number of them the command is refused, and all that could be meant are told. */
static int tell_keys(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int first)
{
    uint64_t n;
    if (argc <= first || !argument_number(argv[first - 1], 1, (uint64_t)(argc - first), &n))
        n = (uint64_t)(argc - first);
    if (first == MERGE_FIRST) RedisModule_KeyAtPos(ctx, 1);
    for (int i = first; i < first + (int)n; i++) RedisModule_KeyAtPos(ctx, i);
    return REDISMODULE_OK;
}

/* How many keys follow their number, at argv[first - 1]; 0: replied. */
static int read_numkeys(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int first)
{
    uint64_t n;
    if (argument_number(argv[first - 1], 1, (uint64_t)(argc - first), &n)) return (int)n;
    return reply_refused(ctx, "ERR numkeys must be the number of sources that follow"), 0;
}

/* ---- LEGO.MERGE -------------------------------------------------------------------------------------------------- */

/* Whether nothing follows n sources, or a weight for each does; false: replied. */
static bool check_weights(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int n)
{
    int at = MERGE_FIRST + n;
    int64_t weight;
    if (argc == at) return true;
    if (!argument_is(argv[at], "WEIGHTS"))
        return reply_refused(ctx, "ERR numkeys must be the number of sources, and only WEIGHTS may follow these"),
               false;
    if (argc != at + 1 + n) return reply_refused(ctx, "ERR WEIGHTS needs a weight for each source"), false;
    for (int i = at + 1; i < argc; i++)
        if (!argument_integer(argv[i], &weight))
            return reply_refused(ctx, "ERR a weight is an integer of 64 bits"), false;
    return true;
}

static int put_merged(RedisModuleCtx *ctx, struct job *job)
{
    if (job->status != LEGO_OK) return refuse_sum(ctx, job);
    if (!memory_is_within(ctx, value_bytes(job->made))) return reply_status(ctx, LEGO_ERR_MEMORY);
    RedisModuleKey *key = key_open_place(ctx, job->argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    key_put(key, job->made);
    job->made = NULL;
    RedisModule_CloseKey(key);
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, job->argv[1], "lego.merge");
    return reply_ok(ctx);
}

/* Runs a task on n sources; those that are missing are refused, or are nothing if not all are. */
static int run_on_sources(RedisModuleCtx *ctx, struct job *job, bool may_miss)
{
    uint64_t size;
    int missing, done = REDISMODULE_OK;
    job->values = RedisModule_Alloc((size_t)job->n * sizeof *job->values);
    if (read_sources(ctx, job->names, job->n, job->values, &size, &missing)) {
        if (missing == job->n || (missing > 0 && !may_miss)) key_missing(ctx);
        else if (!memory_has_room(ctx, size / (uint64_t)job->n)) reply_status(ctx, LEGO_ERR_MEMORY);
        else done = job_run(ctx, job, size);
    }
    RedisModule_Free(job->values);
    return done;
}

int command_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {command_merge, sum_up, put_merged};
    if (RedisModule_IsKeysPositionRequest(ctx)) return tell_keys(ctx, argv, argc, MERGE_FIRST);
    if (argc < 4) return RedisModule_WrongArity(ctx);
    int n = read_numkeys(ctx, argv, argc, MERGE_FIRST);
    if (n == 0 || !check_weights(ctx, argv, argc, n)) return REDISMODULE_OK;
    RedisModuleKey *key = key_open_place(ctx, argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    RedisModule_CloseKey(key);
    struct job job = {.task = &task, .argv = argv, .argc = argc, .names = argv + MERGE_FIRST, .n = n};
    return run_on_sources(ctx, &job, false);
}

/* ---- LEGO.UNION -------------------------------------------------------------------------------------------------- */

static void answer_of_sum(RedisModuleCtx *ctx, struct job *job)
{
    int at = UNION_FIRST + job->n;
    sum_up(ctx, job);
    if (job->status != LEGO_OK) refuse_sum(ctx, job);
    else if (argument_is(job->argv[at], "TOP")) answer_top(ctx, job->made, job->argv + at + 1, job->argc - at - 1);
    else answer_items(ctx, job->made, job->argv + at, job->argc - at);
}

int command_union(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {.command = command_union, .work = answer_of_sum};
    if (RedisModule_IsKeysPositionRequest(ctx)) return tell_keys(ctx, argv, argc, UNION_FIRST);
    if (argc < 4) return RedisModule_WrongArity(ctx);
    int n = read_numkeys(ctx, argv, argc, UNION_FIRST), at = UNION_FIRST + n;
    if (n == 0) return REDISMODULE_OK;
    bool is_question = at < argc && (argument_is(argv[at], "TOP") || options_of_items(argv + at, argc - at) > 0);
    if (!is_question)
        return reply_refused(ctx, "ERR behind the keys there is TOP and its options, or ITEMS and items, with the "
                                  "options WITHBOUNDS and ABSENT before it");
    struct job job = {.task = &task, .argv = argv, .argc = argc, .names = argv + UNION_FIRST, .n = n};
    return run_on_sources(ctx, &job, true);
}
