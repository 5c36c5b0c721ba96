/* LEGO.INCRBY, LEGO.ADD, LEGO.QUERY, LEGO.TOP: the items in a sketch.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "commands.h"
#include "key.h"
#include "reply.h"

#include <math.h>
#include <string.h>

/* ---- several items at once --------------------------------------------------------------------------------------- */

/* All of them are one allocation, which starts with the offsets. numbers are counts or estimates. */
struct batch {
    uint64_t *offsets;
    void *numbers;
    lego_items items;
};

/* Every step-th argument is an item. number_size: bytes for a number of each, which are not set. */
static bool batch_gather(struct batch *batch, RedisModuleString **argv, size_t n, size_t step, size_t number_size)
{
    size_t total = 0, size;
    for (size_t i = 0; i < n; i++) {
        RedisModule_StringPtrLen(argv[i * step], &size);
        total += size;
    }
    batch->offsets = RedisModule_TryAlloc((n + 1) * sizeof *batch->offsets + n * number_size + total);
    if (batch->offsets == NULL) return false;
    batch->numbers = batch->offsets + n + 1;
    char *bytes = (char *)batch->numbers + n * number_size;
    batch->offsets[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const char *item = RedisModule_StringPtrLen(argv[i * step], &size);
        memcpy(bytes + batch->offsets[i], item, size);
        batch->offsets[i + 1] = batch->offsets[i] + size;
    }
    batch->items = (lego_items){.n = n, .bytes = bytes, .offsets = batch->offsets};
    return true;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static bool read_count(const RedisModuleString *argument, int64_t *count)
{
    long long read;
    if (RedisModule_StringToLongLong(argument, &read) != REDISMODULE_OK) return false;
    *count = read;
    return true;
}

/* argv[0] is the first item, and the count of an item follows it if step is 2. *bad: there is one that is none. */
static lego_status add_one(lego_sketch *sketch, RedisModuleString **argv, size_t step, bool *bad)
{
    int64_t count = 1;
    size_t size;
    const char *item = RedisModule_StringPtrLen(argv[0], &size);
    *bad = step == 2 && !read_count(argv[1], &count);
    return *bad ? LEGO_ERR_ARGUMENT : lego_add(sketch, item, size, count);
}

static lego_status add_many(lego_sketch *sketch, RedisModuleString **argv, size_t n, size_t step, bool *bad)
{
    struct batch batch;
    *bad = false;
    if (!batch_gather(&batch, argv, n, step, step == 2 ? sizeof(int64_t) : 0)) return LEGO_ERR_MEMORY;
    int64_t *counts = step == 2 ? batch.numbers : NULL;
    for (size_t i = 0; i < n && step == 2 && !*bad; i++) *bad = !read_count(argv[2 * i + 1], &counts[i]);
    batch.items.counts = counts;
    lego_status status = *bad ? LEGO_ERR_ARGUMENT : lego_add_items(sketch, &batch.items);
    RedisModule_Free(batch.offsets);
    return status;
}

static int count_items(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int step, const char *event)
{
    if (argc < 2 + step || (argc - 2) % step != 0) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key;
    struct value *value = key_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key);
    if (value == NULL) return REDISMODULE_OK;
    size_t n = (size_t)((argc - 2) / step);
    bool bad;
    lego_status status = n == 1 ? add_one(value->sketch, argv + 2, (size_t)step, &bad)
                                : add_many(value->sketch, argv + 2, n, (size_t)step, &bad);
    int64_t total = lego_total(value->sketch); /* now: whoever hears of the change may delete the key */
    RedisModule_CloseKey(key);
    if (bad) return reply_refused(ctx, "ERR a count is an integer of 64 bits");
    if (status != LEGO_OK) return reply_status(ctx, status);
    RedisModule_ReplicateVerbatim(ctx);
    key_changed(ctx, argv[1], event);
    return RedisModule_ReplyWithLongLong(ctx, total);
}

int command_incrby(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return count_items(ctx, argv, argc, 2, "lego.incrby");
}

int command_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return count_items(ctx, argv, argc, 1, "lego.add");
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* What is asked besides the items. */
struct way {
    bool bounds;
    lego_asking asking;
};

/* Where the items start: behind ITEMS, if nothing but options is before it and something behind; else all are items. */
static int first_item(RedisModuleString **argv, int argc)
{
    int i = 2;
    while (i < argc - 1 && !argument_is(argv[i], "ITEMS")) {
        bool number = argument_is(argv[i], "ABSENT") || argument_is(argv[i], "RELATIVE");
        if (!number && !argument_is(argv[i], "WITHBOUNDS")) return 2;
        i += number ? 2 : 1;
    }
    return i < argc - 1 ? i + 1 : 2;
}

/* The options up to ITEMS. What is no number is NaN, which the library refuses. */
static struct way read_way(RedisModuleString **argv, int items)
{
    struct way way = {.asking = LEGO_ASKING_INIT};
    for (int i = 2; i < items - 1; i++) {
        if (argument_is(argv[i], "WITHBOUNDS")) {
            way.bounds = true;
            continue;
        }
        double *number = argument_is(argv[i], "ABSENT") ? &way.asking.absent : &way.asking.relative;
        if (RedisModule_StringToDouble(argv[++i], number) != REDISMODULE_OK) *number = NAN;
    }
    return way;
}

static void reply_estimate(RedisModuleCtx *ctx, const lego_estimate *estimate, bool bounds)
{
    if (bounds) RedisModule_ReplyWithArray(ctx, 3);
    RedisModule_ReplyWithLongLong(ctx, rounded(estimate));
    if (!bounds) return;
    RedisModule_ReplyWithLongLong(ctx, estimate->lower);
    RedisModule_ReplyWithLongLong(ctx, estimate->upper);
}

static void reply_estimates(RedisModuleCtx *ctx, const lego_estimate *estimates, size_t n, bool bounds)
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

int command_query(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc < 3) return RedisModule_WrongArity(ctx);
    int first = first_item(argv, argc);
    struct way way = read_way(argv, first);
    RedisModuleKey *key;
    const struct value *value = key_open(ctx, argv[1], REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    lego_status status = argc - first == 1 ? ask_one(ctx, value->sketch, argv[first], &way)
                                           : ask_many(ctx, value->sketch, argv + first, (size_t)(argc - first), &way);
    RedisModule_CloseKey(key);
    if (status == LEGO_ERR_ARGUMENT)
        return reply_refused(ctx, "ERR ABSENT is a number from 0 to below 1, and RELATIVE one from 0 to 1");
    if (status == LEGO_ERR_MODEL)
        return reply_refused(ctx, "ERR a sketch of the model paper has one way to answer: leave ABSENT and RELATIVE "
                                  "out");
    return status == LEGO_OK ? REDISMODULE_OK : reply_status(ctx, status);
}

/* ---- the most frequent ------------------------------------------------------------------------------------------- */

struct list {
    RedisModuleCtx *ctx;
    long n; /* replies so far */
    bool counts;
};

/* The array starts with its first item, when nothing can fail any more. */
static int list_item(void *context, const lego_top_item *top)
{
    struct list *list = context;
    if (list->n == 0) RedisModule_ReplyWithArray(list->ctx, REDISMODULE_POSTPONED_LEN);
    RedisModule_ReplyWithStringBuffer(list->ctx, top->item, top->size);
    if (list->counts) RedisModule_ReplyWithLongLong(list->ctx, rounded(&top->estimate));
    list->n += list->counts ? 2 : 1;
    return 0;
}

int command_top(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc != 2 && argc != 3) return RedisModule_WrongArity(ctx);
    struct list list = {.ctx = ctx, .counts = argc == 3};
    if (list.counts && !argument_is(argv[2], "WITHCOUNT"))
        return reply_refused(ctx, "ERR the only option of LEGO.TOP is WITHCOUNT");
    RedisModuleKey *key;
    const struct value *value = key_open(ctx, argv[1], REDISMODULE_READ, &key);
    if (value == NULL) return REDISMODULE_OK;
    bool has_top = value->top != 0;
    lego_status status = has_top ? lego_top(value->sketch, value->top, list_item, &list) : LEGO_ERR_ARGUMENT;
    RedisModule_CloseKey(key);
    if (!has_top) return reply_refused(ctx, "ERR this sketch was made without TOP, so it does not know its items");
    if (status != LEGO_OK) return reply_status(ctx, status);
    if (list.n == 0) RedisModule_ReplyWithEmptyArray(ctx);
    else RedisModule_ReplySetArrayLength(ctx, list.n);
    return REDISMODULE_OK;
}
