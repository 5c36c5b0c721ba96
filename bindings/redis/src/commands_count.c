/* LEGO.INCRBY, LEGO.ADD: items that are counted.
 *
 * SPDX-License-Identifier: MIT */
#include "answers.h"
#include "arguments.h"
#include "batch.h"
#include "commands.h"
#include "key.h"
#include "recipe.h"
#include "reply.h"

/* A command that counts. */
struct counting {
    RedisModuleString **argv; /* the first item; if step is 2 its count follows it */
    size_t n, step;
    bool no_create, estimates;
    lego_kind kind; /* what the sketch's items are, if not bytes */
    bool bad;       /* there is a count that is none */
};

/* ---- options of LEGO.INCRBY -------------------------------------------------------------------------------------- */

enum { NOCREATE, ESTIMATES, ITEMS, WORDS };

/* Options are options if ITEMS follows them. No item and count read so: ITEMS is no count, and with ITEMS in front of
 * pairs the number of arguments is odd. Returns how many arguments they are, with ITEMS; -1: replied. */
static int read_options(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct counting *counting)
{
    static const char *const words[WORDS] = {"NOCREATE", "ESTIMATES", "ITEMS"};
    unsigned said = 0;
    int i = 0, word = 0, twice = -1;
    while (i < argc && word != ITEMS && (word = argument_among(argv[i], words, WORDS)) >= 0) {
        if (said & 1u << word) twice = word;
        said |= 1u << word;
        i++;
    }
    if (word != ITEMS || i == argc || (argc - i) % 2 != 0) return 0;
    if (twice >= 0) return reply_refused(ctx, "ERR %s is said twice", words[twice]), -1;
    counting->no_create = said & 1u << NOCREATE;
    counting->estimates = said & 1u << ESTIMATES;
    return i;
}

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static lego_status add_one(lego_sketch *sketch, struct counting *counting)
{
    int64_t count = 1;
    size_t size;
    const char *item = RedisModule_StringPtrLen(counting->argv[0], &size);
    lego_items items = {.n = 1, .bytes = item, .offsets = (uint64_t[]){0, size}, .counts = &count};
    items.kind = counting->kind;
    counting->bad = counting->step == 2 && !argument_integer(counting->argv[1], &count);
    if (counting->bad) return LEGO_ERR_ARGUMENT;
    return counting->kind == 0 ? lego_add(sketch, item, size, count) : lego_add_items(sketch, &items);
}

/* Replies with estimates if they are asked for. Their memory is that of the counts, so that nothing can fail when the
 * items are counted. */
static lego_status add_many(RedisModuleCtx *ctx, lego_sketch *sketch, struct counting *counting)
{
    struct batch batch;
    size_t n = counting->n, number = counting->estimates ? sizeof(lego_estimate) : sizeof(int64_t);
    if (!batch_gather(&batch, counting->argv, n, counting->step, number)) return LEGO_ERR_MEMORY;
    int64_t *counts = counting->step == 2 ? batch.numbers : NULL;
    for (size_t i = 0; i < n && counts != NULL && !counting->bad; i++)
        counting->bad = !argument_integer(counting->argv[2 * i + 1], &counts[i]);
    batch.items.counts = counts;
    batch.items.kind = counting->kind;
    lego_status status = counting->bad ? LEGO_ERR_ARGUMENT : lego_add_items(sketch, &batch.items);
    if (status == LEGO_OK && counting->estimates) {
        lego_query_items(sketch, &batch.items, NULL, batch.numbers); /* which refuses none that is asked plainly */
        reply_estimates(ctx, batch.numbers, n, false);
    }
    RedisModule_Free(batch.offsets);
    return status;
}

/* Once in the life of a server: LEGO.TOP does not list what its users may look for there. */
static void warn_of_long_items(RedisModuleCtx *ctx, const struct counting *counting)
{
    static bool warned;
    for (size_t i = 0, size; i < counting->n && !warned; i++) {
        RedisModule_StringPtrLen(counting->argv[i * counting->step], &size);
        warned = size > LEGO_TOP_ITEM_MAX;
        if (warned)
            RedisModule_Log(ctx, "warning",
                            "an item of %zu bytes was counted in a sketch with TOP: LEGO.TOP lists none of more than "
                            "%u, so count a digest of such items; this is not said again",
                            size, LEGO_TOP_ITEM_MAX);
    }
}

/* The sketch of the module's recipe, which gets its seed. NULL: replied. */
static struct value *make_sketch(RedisModuleCtx *ctx, struct recipe *recipe)
{
    struct value *made;
    *recipe = default_recipe;
    if (!recipe_find_seed(ctx, recipe)) return NULL;
    lego_status status = value_create(&recipe->options, recipe->top, &made);
    if (status != LEGO_OK) return reply_status(ctx, status), NULL;
    return made;
}

/* The sketch that is counted in, which is made if that is allowed: then *made is it, and in no key yet, and *recipe
 * says how. NULL: replied, and nothing is open. */
static struct value *open_to_count(RedisModuleCtx *ctx, RedisModuleString *name, bool no_create, RedisModuleKey **key,
                                   struct value **made, struct recipe *recipe)
{
    struct value *value = NULL;
    *made = NULL;
    *key = key_open_place(ctx, name);
    if (*key == NULL) return NULL;
    lego_status status = key_own(*key, &value);
    bool is_missing = status == LEGO_OK && value == NULL, makes = !no_create && default_recipe.options.budget != 0;
    if (is_missing && makes) value = *made = make_sketch(ctx, recipe);
    if (value != NULL) return value;
    RedisModule_CloseKey(*key);
    if (status != LEGO_OK) reply_status(ctx, status);
    else if (!makes) key_missing(ctx);
    return NULL;
}

/* All of them, or nothing. */
static int count_items(RedisModuleCtx *ctx, RedisModuleString *name, struct counting *counting, const char *event)
{
    RedisModuleKey *key;
    struct recipe recipe;
    struct value *made, *value = open_to_count(ctx, name, counting->no_create, &key, &made, &recipe);
    if (value == NULL) return REDISMODULE_OK;
    bool one = counting->n == 1 && !counting->estimates;
    if (!batch_fits(ctx, value, counting->argv, counting->n, counting->step)) {
        RedisModule_CloseKey(key); /* which was there: what is made now counts no integers */
        return REDISMODULE_OK;
    }
    if (value->integers) counting->kind = LEGO_ITEMS_INTEGERS;
    lego_status status = one ? add_one(value->sketch, counting) : add_many(ctx, value->sketch, counting);
    int64_t total = lego_total(value->sketch); /* now: whoever hears of the change may delete the key */
    bool has_top = value->top != 0;
    if (status == LEGO_OK && made != NULL) key_put(key, made);
    else value_release(made);
    RedisModule_CloseKey(key);
    if (counting->bad) return reply_refused(ctx, "ERR a count is an integer of 64 bits");
    if (status != LEGO_OK) return reply_status(ctx, status);
    if (has_top) warn_of_long_items(ctx, counting);
    if (made != NULL) recipe_replicate(ctx, name, &recipe);
    RedisModule_ReplicateVerbatim(ctx);
    if (made != NULL) key_changed(ctx, name, "lego.reserve");
    key_changed(ctx, name, event);
    return counting->estimates ? REDISMODULE_OK : RedisModule_ReplyWithLongLong(ctx, total);
}

int command_incrby(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct counting counting = {.step = 2};
    if (argc < 4) return RedisModule_WrongArity(ctx);
    int first = 2 + read_options(ctx, argv + 2, argc - 2, &counting);
    if (first < 2) return REDISMODULE_OK;
    if ((argc - first) % 2 != 0) return RedisModule_WrongArity(ctx);
    counting.argv = argv + first;
    counting.n = (size_t)(argc - first) / 2;
    return count_items(ctx, argv[1], &counting, "lego.incrby");
}

int command_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (argc < 3) return RedisModule_WrongArity(ctx);
    struct counting counting = {.argv = argv + 2, .n = (size_t)argc - 2, .step = 1};
    return count_items(ctx, argv[1], &counting, "lego.add");
}
