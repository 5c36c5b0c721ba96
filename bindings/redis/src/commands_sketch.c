/* LEGO.RESERVE, LEGO.MERGE, LEGO.FOLD, LEGO.INFO: sketches as a whole.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "commands.h"
#include "key.h"
#include "memory.h"
#include "reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- LEGO.RESERVE ------------------------------------------------------------------------------------------------ */

/* What legosketch.h asks of a sketch that keeps its most frequent items. */
enum { BUDGET_TOP_MIN = 8192 };

static const lego_model *find_model(const RedisModuleString *argument)
{
    size_t size;
    const char *name = RedisModule_StringPtrLen(argument, &size);
    return strlen(name) == size ? lego_model_builtin(name) : NULL;
}

/* The options after the key; false: replied. */
static bool read_options(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, lego_options *options, uint64_t *top)
{
    options->budget = 0;
    options->model = lego_model_builtin(NULL);
    for (int i = 0; i + 1 < argc; i += 2) {
        const RedisModuleString *given = argv[i + 1];
        if (argument_is(argv[i], "BUDGET")) {
            if (!argument_number(given, LEGO_BUDGET_MIN, LEGO_BUDGET_MAX, &options->budget))
                return reply_refused(ctx, "ERR BUDGET is %u to %" PRIu64 " bytes", LEGO_BUDGET_MIN, LEGO_BUDGET_MAX),
                       false;
        } else if (argument_is(argv[i], "MODEL")) {
            if ((options->model = find_model(given)) == NULL)
                return reply_refused(ctx, "ERR MODEL is compact, paper or rule"), false;
        } else if (argument_is(argv[i], "SEED")) {
            if (!argument_number(given, 0, UINT64_MAX, &options->seed))
                return reply_refused(ctx, "ERR SEED is 0 to %" PRIu64, UINT64_MAX), false;
        } else if (argument_is(argv[i], "TOP")) {
            if (!argument_number(given, 1, TOP_MAX, top))
                return reply_refused(ctx, "ERR TOP is 1 to %u items", TOP_MAX), false;
        } else return reply_refused(ctx, "ERR the options of LEGO.RESERVE are BUDGET, MODEL, SEED and TOP"), false;
    }
    if (options->budget == 0) return reply_refused(ctx, "ERR LEGO.RESERVE needs BUDGET and a number of bytes"), false;
    if (*top > 0 && options->budget < BUDGET_TOP_MIN)
        return reply_refused(ctx, "ERR with TOP, BUDGET is %u bytes or more", BUDGET_TOP_MIN), false;
    return true;
}

/* With all options said: replicas and logs do not depend on what the default is where they are read. */
static void replicate_reserve(RedisModuleCtx *ctx, RedisModuleString *name, const lego_options *options, uint64_t top)
{
    char seed[24];
    lego_model_info model;
    lego_model_describe(options->model, &model);
    snprintf(seed, sizeof seed, "%" PRIu64, options->seed);
    RedisModule_Replicate(ctx, "LEGO.RESERVE", top == 0 ? "sclcccc" : "sclcccccl", name, "BUDGET",
                          (long long)options->budget, "MODEL", model.name, "SEED", seed, "TOP", (long long)top);
}

int command_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc < 4 || argc % 2 != 0) return RedisModule_WrongArity(ctx);
    lego_options options = LEGO_OPTIONS_INIT;
    uint64_t top = 0;
    if (!read_options(ctx, argv + 2, argc - 2, &options, &top)) return REDISMODULE_OK;
    struct value *value;
    RedisModuleKey *key = key_open_place(ctx, argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    bool taken = RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY;
    lego_status status = LEGO_ERR_MEMORY;
    if (!taken && memory_has_room(ctx, options.budget)) status = value_create(&options, (uint32_t)top, &value);
    if (status == LEGO_OK) key_put(key, value);
    RedisModule_CloseKey(key);
    if (taken) return reply_refused(ctx, "ERR there is a sketch of this name already");
    if (status != LEGO_OK) return reply_status(ctx, status);
    replicate_reserve(ctx, argv[1], &options, top);
    key_changed(ctx, argv[1], "lego.reserve");
    return reply_ok(ctx);
}

/* ---- LEGO.MERGE -------------------------------------------------------------------------------------------------- */

/* The sum is a copy of the first source, to which the others are added. */
static lego_status add_source(RedisModuleCtx *ctx, const struct value *source, struct value **sum)
{
    if (*sum != NULL) return value_merge(*sum, source);
    return memory_has_room(ctx, value_memory(source)) ? value_copy(source, sum) : LEGO_ERR_MEMORY;
}

/* The library would fold any two to what divides both, 1552 and 1016 bricks to 8, where estimates say nothing any more.
 * Models may differ: those it refuses. false: replied. */
static bool are_near(RedisModuleCtx *ctx, const struct value *a, const struct value *b)
{
    lego_sketch_info of_a, of_b;
    lego_sketch_describe(value_light(a), &of_a);
    lego_sketch_describe(value_light(b), &of_b);
    if (of_a.model != of_b.model || of_a.bricks % of_b.bricks == 0 || of_b.bricks % of_a.bricks == 0) return true;
    reply_refused(ctx,
                  "ERR sketches of %" PRIu32 " and %" PRIu32 " bricks have only a smaller one in common: "
                  "make them with one BUDGET%s",
                  of_a.bricks, of_b.bricks, a->elastic == NULL ? ", or LEGO.FOLD both to a common divisor" : "");
    return false;
}

/* One source more; false: replied. */
static bool merge_source(RedisModuleCtx *ctx, RedisModuleString *name, struct value **sum)
{
    RedisModuleKey *key;
    const struct value *source = key_open(ctx, name, REDISMODULE_READ, &key);
    if (source == NULL) return false;
    bool mixed = *sum != NULL && ((*sum)->plain == NULL) != (source->plain == NULL);
    if (mixed) reply_refused(ctx, "ERR sketches with TOP merge only with others that have it");
    bool fits = !mixed && (*sum == NULL || are_near(ctx, *sum, source));
    lego_status status = fits ? add_source(ctx, source, sum) : LEGO_ERR_ARGUMENT;
    RedisModule_CloseKey(key);
    if (fits && status != LEGO_OK) reply_status(ctx, status);
    return status == LEGO_OK;
}

/* The destination, and whatever follows numkeys: commands in which those are not numkeys keys are refused. */
static int tell_keys(RedisModuleCtx *ctx, int argc)
{
    RedisModule_KeyAtPos(ctx, 1);
    for (int i = 3; i < argc; i++) RedisModule_KeyAtPos(ctx, i);
    return REDISMODULE_OK;
}

int command_merge(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (RedisModule_IsKeysPositionRequest(ctx)) return tell_keys(ctx, argc);
    if (argc < 4) return RedisModule_WrongArity(ctx);
    uint64_t n;
    if (!argument_number(argv[2], 1, (uint64_t)(argc - 3), &n) || n != (uint64_t)(argc - 3))
        return reply_refused(ctx, "ERR numkeys must be the number of sources that follow");
    struct value *sum = NULL;
    RedisModuleKey *key = key_open_place(ctx, argv[1]);
    if (key == NULL) return REDISMODULE_OK;
    bool done = true;
    for (int i = 3; i < argc && done; i++) done = merge_source(ctx, argv[i], &sum);
    if (done) key_put(key, sum);
    else if (sum != NULL) value_destroy(sum);
    RedisModule_CloseKey(key);
    if (!done) return REDISMODULE_OK;
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, argv[1], "lego.merge");
    return reply_ok(ctx);
}

/* ---- LEGO.FOLD --------------------------------------------------------------------------------------------------- */

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

int command_fold(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 3) return RedisModule_WrongArity(ctx);
    uint64_t bricks;
    if (!argument_number(argv[2], 1, UINT32_MAX, &bricks))
        return reply_refused(ctx, "ERR bricks are 1 to %" PRIu32, UINT32_MAX);
    RedisModuleKey *key;
    struct value *value = key_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key);
    if (value == NULL) return REDISMODULE_OK;
    lego_sketch_info info;
    lego_sketch_describe(value_light(value), &info);
    bool has_top = value->elastic != NULL;
    lego_status status = has_top ? LEGO_ERR_ARGUMENT : lego_sketch_fold(value->plain, (uint32_t)bricks);
    RedisModule_CloseKey(key);
    if (has_top) return reply_refused(ctx, "ERR a sketch with TOP can not be folded");
    if (status == LEGO_ERR_SHAPE)
        return reply_refused(ctx, "ERR a sketch of %u bricks folds to a divisor of that: the next below is %u",
                             info.bricks, divisor_below(info.bricks, bricks));
    if (status != LEGO_OK) return reply_status(ctx, status);
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, argv[1], "lego.fold");
    return reply_ok(ctx);
}

/* ---- LEGO.INFO --------------------------------------------------------------------------------------------------- */

static void reply_field(RedisModuleCtx *ctx, const char *name, uint64_t number)
{
    RedisModule_ReplyWithCString(ctx, name);
    RedisModule_ReplyWithLongLong(ctx, (long long)number);
}

static void reply_info(RedisModuleCtx *ctx, const struct value *value)
{
    lego_sketch_info light;
    lego_model_info model;
    char seed[24];
    lego_sketch_describe(value_light(value), &light);
    lego_model_describe(light.model, &model);
    snprintf(seed, sizeof seed, "%" PRIu64, light.seed);
    RedisModule_ReplyWithMap(ctx, value->elastic == NULL ? 9 : 13);
    RedisModule_ReplyWithCString(ctx, "model");
    RedisModule_ReplyWithCString(ctx, model.name);
    RedisModule_ReplyWithCString(ctx, "seed");
    /* A string: it has 64 bits without a sign, an integer 63; and redis-cli 7.0 ends at a big number of RESP3. */
    RedisModule_ReplyWithCString(ctx, seed);
    reply_field(ctx, "total", (uint64_t)value->total);
    reply_field(ctx, "bytes", value->elastic == NULL ? light.bytes : lego_elastic_bytes(value->elastic));
    reply_field(ctx, "cache-bytes", light.cache_bytes);
    reply_field(ctx, "bricks", light.bricks);
    reply_field(ctx, "bricks-now", light.bricks_now);
    reply_field(ctx, "cells", light.cells);
    reply_field(ctx, "top", value->top);
    if (value->elastic == NULL) return;
    lego_elastic_info heavy;
    lego_elastic_describe(value->elastic, &heavy);
    reply_field(ctx, "heavy-bytes", heavy.heavy_bytes);
    reply_field(ctx, "heavy-total", (uint64_t)heavy.heavy_total);
    reply_field(ctx, "residents", heavy.residents);
    reply_field(ctx, "residents-exact", heavy.exact);
}

int command_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key;
    const struct value *value = key_open(ctx, argv[1], REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    reply_info(ctx, value);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
