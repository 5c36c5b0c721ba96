/* LEGO.TOP, LEGO.INTOP: the most frequent items.
 *
 * SPDX-License-Identifier: MIT */
#include "answers.h"
#include "arguments.h"
#include "batch.h"
#include "commands.h"
#include "job.h"
#include "reply.h"

static int refuse_without_top(RedisModuleCtx *ctx)
{
    return reply_refused(ctx, "ERR this sketch was made without TOP, so it does not know its items");
}

/* ---- LEGO.TOP ---------------------------------------------------------------------------------------------------- */

struct list {
    RedisModuleCtx *ctx;
    uint64_t most;
    bool counts, has_floor;
    int64_t floor; /* estimates have to be above it */
    long n;        /* replies so far */
};

/* The array starts with its first item, when nothing can fail any more. */
static int list_item(void *context, const lego_top_item *top)
{
    struct list *list = context;
    long long estimate = rounded(&top->estimate);
    if (list->has_floor && estimate <= list->floor) return 1; /* and all that come after it have less */
    if (list->n == 0) RedisModule_ReplyWithArray(list->ctx, REDISMODULE_POSTPONED_LEN);
    RedisModule_ReplyWithStringBuffer(list->ctx, top->item, top->size);
    if (list->counts) RedisModule_ReplyWithLongLong(list->ctx, estimate);
    list->n += list->counts ? 2 : 1;
    return 0;
}

/* A number of items, if there is one, then options, each once; false: replied. */
static bool read_list(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct list *list)
{
    bool has_number = argc > 0 && argument_number(argv[0], 1, TOP_MAX, &list->most);
    for (int i = has_number; i < argc; i++) {
        if (argument_is(argv[i], "WITHCOUNT") && !list->counts) list->counts = true;
        else if (argument_is(argv[i], "ABOVE") && !list->has_floor && i + 1 < argc) {
            list->has_floor = true;
            if (!argument_integer(argv[++i], &list->floor))
                return reply_refused(ctx, "ERR ABOVE is an integer of 64 bits"), false;
        } else
            return reply_refused(ctx,
                                 "ERR LEGO.TOP takes a number of items, 1 to %u, then WITHCOUNT, and ABOVE with a "
                                 "count, each once",
                                 TOP_MAX),
                   false;
    }
    return true;
}

void answer_top(RedisModuleCtx *ctx, const struct value *value, RedisModuleString **argv, int argc)
{
    struct list list = {.ctx = ctx, .most = value->top};
    if (!read_list(ctx, argv, argc, &list)) return;
    if (value->top == 0) {
        refuse_without_top(ctx);
        return;
    }
    lego_status status = lego_top(value->sketch, (size_t)list.most, list_item, &list);
    if (status != LEGO_OK) reply_status(ctx, status);
    else if (list.n == 0) RedisModule_ReplyWithEmptyArray(ctx);
    else RedisModule_ReplySetArrayLength(ctx, list.n);
}

static void list_top(RedisModuleCtx *ctx, struct job *job)
{
    answer_top(ctx, job->values[0], job->argv + 2, job->argc - 2);
}

int command_top(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {.command = command_top, .work = list_top};
    return argc < 2 || argc > 6 ? RedisModule_WrongArity(ctx) : job_run_on_key(ctx, argv, argc, &task);
}

/* ---- LEGO.INTOP -------------------------------------------------------------------------------------------------- */

static int mark_item(void *context, const lego_top_item *top)
{
    RedisModuleDict *asked = context;
    int is_absent;
    bool *found = RedisModule_DictGetC(asked, (void *)(uintptr_t)top->item, top->size, &is_absent);
    if (!is_absent) *found = true;
    return 0;
}

/* Whether each of n items is among those that LEGO.TOP lists. An item that is asked for twice has one place. */
static lego_status find_items(const struct value *value, RedisModuleString **argv, int n, bool *found)
{
    RedisModuleDict *asked = RedisModule_CreateDict(NULL);
    for (int i = 0; i < n; i++) RedisModule_DictSet(asked, argv[i], &found[i]);
    lego_status status = lego_top(value->sketch, value->top, mark_item, asked);
    for (int i = 0; i < n; i++) found[i] = *(bool *)RedisModule_DictGet(asked, argv[i], NULL);
    RedisModule_FreeDict(NULL, asked);
    return status;
}

static void find_in_top(RedisModuleCtx *ctx, struct job *job)
{
    int n = job->argc - 2;
    if (job->values[0]->top == 0) {
        refuse_without_top(ctx);
        return;
    }
    if (!batch_fits(ctx, job->values[0], job->argv + 2, (size_t)n, 1)) return;
    bool *found = RedisModule_Calloc((size_t)n, sizeof *found);
    lego_status status = find_items(job->values[0], job->argv + 2, n, found);
    if (status != LEGO_OK) reply_status(ctx, status);
    else RedisModule_ReplyWithArray(ctx, n);
    for (int i = 0; i < n && status == LEGO_OK; i++) RedisModule_ReplyWithLongLong(ctx, found[i]);
    RedisModule_Free(found);
}

int command_intop(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {.command = command_intop, .work = find_in_top};
    return argc < 3 ? RedisModule_WrongArity(ctx) : job_run_on_key(ctx, argv, argc, &task);
}
