/* LEGO.QUERY: how often items came.
 *
 * SPDX-License-Identifier: MIT */
#include "answers.h"
#include "arguments.h"
#include "batch.h"
#include "commands.h"
#include "key.h"
#include "reply.h"

#include <math.h>

enum { WITHBOUNDS, ABSENT, ITEMS, WORDS };
static const char *const words[WORDS] = {"WITHBOUNDS", "ABSENT", "ITEMS"};

/* What is asked besides the items. */
struct way {
    bool bounds;
    lego_asking asking;
};

int options_of_items(RedisModuleString **argv, int argc)
{
    int i = 0, word = WITHBOUNDS;
    while (i < argc - 1 && word != ITEMS && (word = argument_among(argv[i], words, WORDS)) >= 0)
        i += word == ABSENT ? 2 : 1;
    return word == ITEMS && i < argc ? i : 0;
}

/* Which word is among them twice; -1: none is. What is no number is NaN, which the library refuses. */
static int read_way(RedisModuleString **argv, int options, struct way *way)
{
    unsigned said = 0;
    *way = (struct way){.asking = LEGO_ASKING_INIT};
    for (int i = 0; i < options; i++) {
        int word = argument_among(argv[i], words, WORDS);
        if (said & 1u << word) return word;
        said |= 1u << word;
        if (word == WITHBOUNDS) way->bounds = true;
        if (word != ABSENT) continue;
        if (RedisModule_StringToDouble(argv[++i], &way->asking.absent) != REDISMODULE_OK) way->asking.absent = NAN;
    }
    return -1;
}

static void reply_estimate(RedisModuleCtx *ctx, const lego_estimate *estimate, bool bounds)
{
    if (bounds) RedisModule_ReplyWithArray(ctx, 4);
    RedisModule_ReplyWithLongLong(ctx, rounded(estimate));
    if (!bounds) return;
    RedisModule_ReplyWithLongLong(ctx, estimate->lower);
    RedisModule_ReplyWithLongLong(ctx, estimate->upper);
    RedisModule_ReplyWithLongLong(ctx, estimate->likely);
}

void reply_estimates(RedisModuleCtx *ctx, const lego_estimate *estimates, size_t n, bool bounds)
{
    RedisModule_ReplyWithArray(ctx, (long)n);
    for (size_t i = 0; i < n; i++) reply_estimate(ctx, &estimates[i], bounds);
}

static lego_status ask_one(RedisModuleCtx *ctx, const lego_sketch *sketch, RedisModuleString *argument,
                           const struct way *way)
{
    size_t size;
    const char *item = RedisModule_StringPtrLen(argument, &size);
    lego_items items = {.n = 1, .bytes = item, .offsets = (uint64_t[]){0, size}};
    lego_estimate estimate;
    lego_status status = lego_query_items(sketch, &items, &way->asking, &estimate);
    if (status == LEGO_OK) reply_estimates(ctx, &estimate, 1, way->bounds);
    return status;
}

static lego_status ask_many(RedisModuleCtx *ctx, const lego_sketch *sketch, RedisModuleString **argv, size_t n,
                            const struct way *way)
{
    struct batch batch;
    if (!batch_gather(&batch, argv, n, 1, sizeof(lego_estimate))) return LEGO_ERR_MEMORY;
    lego_status status = lego_query_items(sketch, &batch.items, &way->asking, batch.numbers);
    if (status == LEGO_OK) reply_estimates(ctx, batch.numbers, n, way->bounds);
    RedisModule_Free(batch.offsets);
    return status;
}

void answer_items(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv, int argc)
{
    struct way way;
    int first = options_of_items(argv, argc), twice = read_way(argv, first, &way);
    if (twice >= 0) {
        reply_refused(ctx, "ERR %s is said twice", words[twice]);
        return;
    }
    if (!batch_fits(ctx, value, argv + first, (size_t)(argc - first), 1)) return;
    lego_status status = argc - first == 1 ? ask_one(ctx, value->sketch, argv[first], &way)
                                           : ask_many(ctx, value->sketch, argv + first, (size_t)(argc - first), &way);
    if (status == LEGO_ERR_ARGUMENT) reply_refused(ctx, "ERR ABSENT is a number from 0 to below 1");
    else if (status == LEGO_ERR_MODEL)
        reply_refused(ctx, "ERR a sketch of the model paper has one way to answer: leave ABSENT out");
    else if (status != LEGO_OK) reply_status(ctx, status);
}

int command_query(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc < 3) return RedisModule_WrongArity(ctx);
    const struct value *value = key_read(ctx, argv[1]);
    if (value != NULL) answer_items(ctx, value, argv + 2, argc - 2);
    return REDISMODULE_OK;
}
