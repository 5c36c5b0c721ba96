/* LEGO.RESERVE: an empty sketch.
 *
 * SPDX-License-Identifier: MIT */
#include "commands.h"
#include "job.h"
#include "key.h"
#include "memory.h"
#include "recipe.h"
#include "reply.h"

static int reserve(RedisModuleCtx *ctx, RedisModuleString *name, struct recipe *recipe)
{
    struct value *value;
    if (!recipe_find_seed(ctx, recipe)) return REDISMODULE_OK;
    RedisModuleKey *key = key_open_place(ctx, name);
    if (key == NULL) return REDISMODULE_OK;
    bool taken = RedisModule_KeyType(key) != REDISMODULE_KEYTYPE_EMPTY;
    lego_status status = LEGO_ERR_MEMORY;
    if (!taken && memory_has_room(ctx, recipe->options.budget))
        status = value_create(&recipe->options, recipe->top, &value);
    if (status == LEGO_OK) key_put(key, value);
    RedisModule_CloseKey(key);
    if (taken) return reply_refused(ctx, "ERR there is a sketch of this name already");
    if (status != LEGO_OK) return reply_status(ctx, status);
    recipe_replicate(ctx, name, recipe);
    key_changed(ctx, name, "lego.reserve");
    return reply_ok(ctx);
}

/* What budget a wish takes is found by trying, which takes a quarter of a second. */
static void find_budget(RedisModuleCtx *ctx, struct job *job)
{
    (void)ctx;
    struct recipe recipe;
    recipe_read(job->argv + 2, job->argc - 2, &recipe);
    job->status = lego_suggest(&recipe.wish, NULL, &job->budget, NULL);
}

static int reserve_found(RedisModuleCtx *ctx, struct job *job)
{
    struct recipe recipe;
    if (job->status == LEGO_ERR_BUDGET) return reply_refused(ctx, "ERR so many ITEMS with that ERROR take too much");
    if (job->status != LEGO_OK) return reply_status(ctx, job->status);
    recipe_read(job->argv + 2, job->argc - 2, &recipe);
    recipe.options.budget = job->budget;
    return reserve(ctx, job->argv[1], &recipe);
}

int command_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    static const struct task task = {command_reserve, find_budget, reserve_found};
    struct recipe recipe;
    if (argc < 4 || argc % 2 != 0) return RedisModule_WrongArity(ctx);
    const char *wrong = recipe_read(argv + 2, argc - 2, &recipe);
    if (wrong != NULL) return reply_refused(ctx, "ERR %s", wrong);
    if (recipe.options.budget != 0) return reserve(ctx, argv[1], &recipe);
    return job_run(ctx, &(struct job){.task = &task, .argv = argv, .argc = argc}, UINT64_MAX);
}
