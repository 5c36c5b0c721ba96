/* LEGO.FOLD: a smaller sketch.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "commands.h"
#include "job.h"
#include "key.h"
#include "reply.h"
#include "type.h"

#include <inttypes.h>

/* What it folds to: a number of blocks, or, if that is 0, a budget. */
struct size {
    uint64_t blocks, budget;
};

static bool read_size(RedisModuleString **argv, int argc, struct size *size)
{
    *size = (struct size){0, 0};
    return argc == 4 ? argument_bytes(argv[3], LEGO_BUDGET_MIN, LEGO_BUDGET_MAX, &size->budget)
                     : argument_number(argv[2], 1, UINT32_MAX, &size->blocks);
}

/* The largest divisor of n that is at most `most`. */
static uint32_t divisor_below(uint32_t n, uint64_t most)
{
    uint32_t best = 1;
    for (uint32_t d = 1; (uint64_t)d * d <= n; d++) {
        if (n % d != 0) continue;
        if (d <= most && d > best) best = d;
        if (n / d <= most && n / d > best) best = n / d;
    }
    return best;
}

static int refuse_fold(RedisModuleCtx *ctx, const struct job *job, const struct size *size)
{
    lego_info info;
    if (job->status != LEGO_ERR_SHAPE) return reply_status(ctx, job->status);
    if (size->blocks == 0)
        return reply_refused(ctx, "ERR no fold of this sketch has %" PRIu64 " bytes or fewer", size->budget);
    lego_measure(job->values[0]->sketch, &info);
    return reply_refused(ctx,
                         "ERR a sketch of %" PRIu32 " blocks folds to a divisor of that: the next below is %" PRIu32,
                         info.blocks, divisor_below(info.blocks, size->blocks));
}

/* Of a copy: others may read the sketch itself meanwhile. */
static void fold(RedisModuleCtx *ctx, struct job *job)
{
    (void)ctx;
    struct size size;
    read_size(job->argv, job->argc, &size);
    job->status = value_copy(job->values[0], &job->made);
    if (job->status == LEGO_OK) job->status = value_fold(job->made, (uint32_t)size.blocks, size.budget);
}

static int put_folded(RedisModuleCtx *ctx, struct job *job)
{
    struct size size;
    void *old;
    read_size(job->argv, job->argc, &size);
    if (job->status != LEGO_OK) return refuse_fold(ctx, job, &size);
    RedisModuleKey *key = RedisModule_OpenKey(ctx, job->argv[1], REDISMODULE_READ | REDISMODULE_WRITE);
    /* The key keeps its time to live. If that has run out since it was last looked at, there is nothing to replace. */
    int done = RedisModule_ModuleTypeReplaceValue(key, sketch_type, job->made, &old);
    RedisModule_CloseKey(key);
    if (done != REDISMODULE_OK) return key_missing(ctx);
    value_release(old);
    job->made = NULL;
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, job->argv[1], "lego.fold");
    return reply_ok(ctx);
}

int command_fold(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {command_fold, fold, put_folded};
    struct size size;
    if (argc != 3 && argc != 4) return RedisModule_WrongArity(ctx);
    if (argc == 4 && !argument_is(argv[2], "BUDGET"))
        return reply_refused(ctx, "ERR LEGO.FOLD takes a number of blocks, or BUDGET and a number of bytes");
    if (!read_size(argv, argc, &size) && argc == 4)
        return reply_refused(ctx, "ERR BUDGET is %u to %" PRIu64 " bytes, such as 300000 or 64kb", LEGO_BUDGET_MIN,
                             LEGO_BUDGET_MAX);
    if (argc == 3 && size.blocks == 0) return reply_refused(ctx, "ERR blocks are 1 to %u", UINT32_MAX);
    return job_run_on_key(ctx, argv, argc, &task);
}
