/* LEGO.RESERVE, LEGO.MERGE, LEGO.FOLD, LEGO.INFO: sketches as a whole.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "commands.h"
#include "key.h"
#include "memory.h"
#include "reply.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- LEGO.RESERVE ------------------------------------------------------------------------------------------------ */

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
                return reply_refused(ctx, "ERR MODEL is compact or paper"), false;
        } else if (argument_is(argv[i], "SEED")) {
            if (!argument_number(given, 0, UINT64_MAX, &options->seed))
                return reply_refused(ctx, "ERR SEED is 0 to %" PRIu64, UINT64_MAX), false;
        } else if (argument_is(argv[i], "TOP")) {
            if (!argument_number(given, 1, TOP_MAX, top))
                return reply_refused(ctx, "ERR TOP is 1 to %u items", TOP_MAX), false;
        } else return reply_refused(ctx, "ERR the options of LEGO.RESERVE are BUDGET, MODEL, SEED and TOP"), false;
    }
    if (options->budget == 0) return reply_refused(ctx, "ERR LEGO.RESERVE needs BUDGET and a number of bytes"), false;
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

/* The sum is a copy of the first source, to which the others are added; so it has TOP if the first has. */
static lego_status add_source(RedisModuleCtx *ctx, const struct value *source, struct value **sum)
{
    if (*sum != NULL) return value_merge(*sum, source);
    return memory_has_room(ctx, value_memory(source)) ? value_copy(source, sum) : LEGO_ERR_MEMORY;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* A BUDGET that makes a sketch of this size, where any does: TOP takes an eighth of it, and the rest has its least. */
static uint64_t budget_of(const lego_info *info)
{
    uint64_t least = info->top_budget != 0 ? LEGO_BUDGET_MIN * 8 / 7 : LEGO_BUDGET_MIN;
    uint64_t budget = info->budget < 8 * info->top_budget ? 8 * info->top_budget : info->budget;
    return budget < least ? least : budget;
}

/* Neither of two sketches folds to the other: names what is in the way, and a BUDGET that would have fitted. To a
 * number of blocks, neither columns nor what is kept for TOP fold; nor is it advised where both would lose nearly
 * everything, which is all but an eighth of the smaller. */
static void refuse_shapes(RedisModuleCtx *ctx, const struct value *one, const struct value *other)
{
    lego_info a, b;
    lego_describe(one->sketch, &a);
    lego_describe(other->sketch, &b);
    const char *what = "bytes for TOP";
    uint64_t of_a = a.top_budget, of_b = b.top_budget;
    if (a.columns != b.columns) what = "columns in a brick", of_a = a.columns, of_b = b.columns;
    else if (a.blocks % b.blocks != 0 && b.blocks % a.blocks != 0) what = "blocks", of_a = a.blocks, of_b = b.blocks;
    bool mixed = (one->top == 0) != (other->top == 0);
    bool first = mixed ? one->top != 0 : budget_of(&a) < budget_of(&b);
    char fold[48] = "";
    uint32_t common = common_divisor(a.blocks, b.blocks), smaller = a.blocks < b.blocks ? a.blocks : b.blocks;
    if (a.exact && a.blocks < b.blocks && one->top == 0 && other->top == 0) /* what is exact goes into any */
        snprintf(fold, sizeof fold, ", or name the other first");
    else if (a.columns == b.columns && (one->top == 0 || other->top == 0) && common >= smaller / 8)
        snprintf(fold, sizeof fold, ", or LEGO.FOLD both to %" PRIu32, common);
    reply_refused(ctx,
                  "ERR sketches that have %" PRIu64 " and %" PRIu64 " %s do not merge, as neither folds to the other: "
                  "make both with BUDGET %" PRIu64 "%s%s",
                  of_a, of_b, what, budget_of(first ? &a : &b), mixed ? " and TOP" : "", fold);
}

/* One source more; false: replied. */
static bool merge_source(RedisModuleCtx *ctx, RedisModuleString *name, struct value **sum)
{
    RedisModuleKey *key;
    const struct value *source = key_open(ctx, name, REDISMODULE_READ, &key);
    if (source == NULL) return false;
    lego_status status = add_source(ctx, source, sum);
    if (status == LEGO_ERR_SHAPE) refuse_shapes(ctx, *sum, source);
    else if (status != LEGO_OK) reply_status(ctx, status);
    RedisModule_CloseKey(key);
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
    bool within = argc == 4;
    if (argc != 3 && !within) return RedisModule_WrongArity(ctx);
    if (within && !argument_is(argv[2], "BUDGET"))
        return reply_refused(ctx, "ERR LEGO.FOLD takes a number of blocks, or BUDGET and a number of bytes");
    uint64_t size, least = within ? LEGO_BUDGET_MIN : 1, most = within ? LEGO_BUDGET_MAX : UINT32_MAX;
    if (!argument_number(argv[argc - 1], least, most, &size))
        return reply_refused(ctx, "ERR %s %" PRIu64 " to %" PRIu64, within ? "BUDGET is" : "blocks are", least, most);
    RedisModuleKey *key;
    struct value *value = key_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key);
    if (value == NULL) return REDISMODULE_OK;
    lego_status status = within ? lego_fold_within(value->sketch, size) : lego_fold(value->sketch, (uint32_t)size);
    lego_info info;
    lego_measure(value->sketch, &info);
    value->budget = info.budget;
    RedisModule_CloseKey(key);
    if (status == LEGO_ERR_SHAPE && within)
        return reply_refused(ctx, "ERR no fold of this sketch has %" PRIu64 " bytes or fewer", size);
    if (status == LEGO_ERR_SHAPE)
        return reply_refused(
            ctx, "ERR a sketch of %" PRIu32 " blocks folds to a divisor of that: the next below is %" PRIu32,
            info.blocks, divisor_below(info.blocks, size));
    if (status != LEGO_OK) return reply_status(ctx, status);
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, argv[1], "lego.fold");
    return reply_ok(ctx);
}

/* ---- LEGO.INFO --------------------------------------------------------------------------------------------------- */

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

static void reply_info(RedisModuleCtx *ctx, const struct value *value)
{
    lego_info info;
    lego_model_info model;
    char seed[24];
    lego_describe(value->sketch, &info);
    lego_model_describe(info.model, &model);
    snprintf(seed, sizeof seed, "%" PRIu64, info.seed);
    RedisModule_ReplyWithMap(ctx, 17);
    RedisModule_ReplyWithCString(ctx, "model");
    RedisModule_ReplyWithCString(ctx, model.name);
    RedisModule_ReplyWithCString(ctx, "seed");
    /* A string: it has 64 bits without a sign, an integer 63; and redis-cli 7.0 ends at a big number of RESP3. */
    RedisModule_ReplyWithCString(ctx, seed);
    reply_field(ctx, "total", info.total);
    reply_field(ctx, "distinct", llround(info.distinct));
    reply_field(ctx, "exact", info.exact != 0);
    reply_real(ctx, "listing", info.listing);
    reply_real(ctx, "expected-aae", info.expected_aae);
    reply_real(ctx, "expected-are", info.expected_are);
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
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key;
    const struct value *value = key_open(ctx, argv[1], REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    reply_info(ctx, value);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
