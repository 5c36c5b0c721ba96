/* LEGO.INFO, LEGO.CARD: what is known of a sketch.
 *
 * SPDX-License-Identifier: MIT */
#include "commands.h"
#include "job.h"
#include "secrets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void reply_field(RedisModuleCtx *ctx, const char *name, int64_t number)
{
    RedisModule_ReplyWithCString(ctx, name);
    RedisModule_ReplyWithLongLong(ctx, number);
}

/* null where there is none. */
static void reply_real(RedisModuleCtx *ctx, const char *name, double number)
{
    RedisModule_ReplyWithCString(ctx, name);
    if (isnan(number)) RedisModule_ReplyWithNull(ctx);
    else RedisModule_ReplyWithDouble(ctx, number);
}

/* Of each class that has items: from which count to which, how many items it has, about, and the standard error of
 * that. null where it is not known. */
static void reply_classes(RedisModuleCtx *ctx, const lego_info *info)
{
    long n = 0;
    RedisModule_ReplyWithCString(ctx, "classes");
    if (isnan(info->classes[0])) {
        RedisModule_ReplyWithNull(ctx);
        return;
    }
    RedisModule_ReplyWithArray(ctx, REDISMODULE_POSTPONED_LEN);
    for (int k = 0; k < LEGO_CLASSES; k++) {
        if (info->classes[k] == 0) continue;
        uint64_t most = (uint64_t)1 << k;
        RedisModule_ReplyWithArray(ctx, 4);
        RedisModule_ReplyWithLongLong(ctx, (int64_t)(most / 2 + 1));
        RedisModule_ReplyWithLongLong(ctx, k == 63 ? INT64_MAX : (int64_t)most);
        RedisModule_ReplyWithLongLong(ctx, llround(info->classes[k]));
        RedisModule_ReplyWithDouble(ctx, info->class_errors[k]);
        n++;
    }
    RedisModule_ReplySetArrayLength(ctx, n);
}

static void reply_info(RedisModuleCtx *ctx, struct job *job)
{
    lego_info info;
    lego_model_info model;
    char seed[24], fingerprint[FINGERPRINT_TEXT];
    const struct value *value = job->values[0];
    lego_describe(value->sketch, &info);
    lego_model_describe(info.model, &model);
    if (info.secret) snprintf(seed, sizeof seed, "secret:%s", fingerprint_show(info.seed, fingerprint));
    else snprintf(seed, sizeof seed, "%" PRIu64, info.seed);
    RedisModule_ReplyWithMap(ctx, 21);
    RedisModule_ReplyWithCString(ctx, "model");
    RedisModule_ReplyWithCString(ctx, model.name);
    RedisModule_ReplyWithCString(ctx, "seed");
    /* A string: it has 64 bits without a sign, an integer 63; and redis-cli 7.0 ends at a big number of RESP3. */
    RedisModule_ReplyWithCString(ctx, seed);
    reply_field(ctx, "total", info.total);
    reply_field(ctx, "distinct", llround(info.distinct));
    reply_real(ctx, "distinct-error", info.distinct_error);
    reply_field(ctx, "exact", info.exact != 0);
    reply_real(ctx, "keeping", info.keeping);
    reply_real(ctx, "expected-aae", info.expected_aae);
    reply_real(ctx, "expected-aae-error", info.expected_aae_error);
    reply_real(ctx, "expected-are", info.expected_are);
    reply_real(ctx, "expected-are-error", info.expected_are_error);
    reply_classes(ctx, &info);
    reply_field(ctx, "bytes", (int64_t)info.bytes);
    reply_field(ctx, "budget", (int64_t)info.budget);
    reply_field(ctx, "cache-bytes", (int64_t)info.cache_bytes);
    reply_field(ctx, "blocks", info.blocks);
    reply_field(ctx, "columns", info.columns);
    reply_field(ctx, "top", value->top);
    reply_field(ctx, "top-bytes", (int64_t)info.top_bytes);
    reply_field(ctx, "top-budget", (int64_t)info.top_budget);
    reply_field(ctx, "top-total", info.top_total);
}

int command_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {.command = command_info, .work = reply_info};
    return argc != 2 ? RedisModule_WrongArity(ctx) : job_run_on_key(ctx, argv, argc, &task);
}

static void reply_distinct(RedisModuleCtx *ctx, struct job *job)
{
    lego_info info;
    lego_describe(job->values[0]->sketch, &info);
    RedisModule_ReplyWithLongLong(ctx, llround(info.distinct));
}

int command_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {.command = command_card, .work = reply_distinct};
    return argc != 2 ? RedisModule_WrongArity(ctx) : job_run_on_key(ctx, argv, argc, &task);
}
