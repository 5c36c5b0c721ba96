/* What a sketch is made with; see recipe.h.
 *
 * SPDX-License-Identifier: MIT */
#include "recipe.h"

#include "arguments.h"
#include "refusal.h"
#include "reply.h"
#include "secrets.h"
#include "value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct recipe default_recipe = {.options = {.budget = 0}};

enum { BUDGET, ITEMS, ERROR, SKEW, MODEL, SEED, TOP, OPTIONS };
static const char *const names[OPTIONS] = {"BUDGET", "ITEMS", "ERROR", "SKEW", "MODEL", "SEED", "TOP"};

/* What each of them is. */
static const char *const meanings[OPTIONS] = {
    "BUDGET is 4096 to 68719476736 bytes, such as 300000 or 64kb",
    "ITEMS is how many distinct items there will be, 1 to 68719476736",
    "ERROR is the mean relative error that is wanted, such as 0.01; 0: every count exact",
    "SKEW is that of a Zipf stream, 0 to 3",
    "MODEL is compact or paper",
    "SEED is 0 to 18446744073709551615, or secret: and the 16 hex digits of a fingerprint",
    "TOP is 1 to 1000000 items",
};
_Static_assert(LEGO_BUDGET_MIN == 4096 && LEGO_BUDGET_MAX == 68719476736 && TOP_MAX == 1000000, "as it says above");

static bool read_model(const RedisModuleString *argument, const lego_model **model)
{
    size_t size;
    const char *name = RedisModule_StringPtrLen(argument, &size);
    *model = strlen(name) == size ? lego_model_builtin(name) : NULL;
    return *model != NULL;
}

static bool read_real(const RedisModuleString *argument, double least, double most, double *number)
{
    return RedisModule_StringToDouble(argument, number) == REDISMODULE_OK && *number >= least && *number <= most;
}

static bool read_top(const RedisModuleString *argument, uint32_t *top)
{
    uint64_t read;
    if (!argument_number(argument, 1, TOP_MAX, &read)) return false;
    *top = (uint32_t)read;
    return true;
}

/* A number, which anybody may see, or secret:FINGERPRINT. */
static bool read_seed(const RedisModuleString *argument, struct recipe *recipe)
{
    static const char prefix[] = "secret:";
    enum { PREFIX = sizeof prefix - 1 };
    size_t size;
    const char *text = RedisModule_StringPtrLen(argument, &size);
    recipe->seed =
        size == PREFIX + FINGERPRINT_TEXT - 1 && memcmp(text, prefix, PREFIX) == 0 ? SEED_SECRET : SEED_PUBLIC;
    return recipe->seed == SEED_SECRET ? fingerprint_parse(text + PREFIX, &recipe->fingerprint)
                                       : argument_number(argument, 0, UINT64_MAX, &recipe->options.seed);
}

/* Whether the option is given something that it can be. */
static bool read_option(int option, const RedisModuleString *given, struct recipe *recipe)
{
    uint64_t items;
    switch (option) {
    case BUDGET: return argument_bytes(given, LEGO_BUDGET_MIN, LEGO_BUDGET_MAX, &recipe->options.budget);
    case ITEMS:
        if (!argument_number(given, 1, LEGO_BUDGET_MAX, &items)) return false;
        recipe->wish.distinct = (double)items;
        return true;
    case ERROR: return read_real(given, 0, 1e9, &recipe->wish.error);
    case SKEW: return read_real(given, 0, 3, &recipe->wish.skew);
    case MODEL: return read_model(given, &recipe->options.model);
    case SEED: return read_seed(given, recipe);
    default: return read_top(given, &recipe->top);
    }
}

/* What is wrong with options that are right each for itself: there is a budget, or what it follows from. lego_suggest()
 * knows the default model, and nothing of a top. */
static const char *check_options(unsigned said)
{
    bool budget = said & 1u << BUDGET, items = said & 1u << ITEMS, error = said & 1u << ERROR, skew = said & 1u << SKEW;
    if (budget && (items || error || skew)) return "there is BUDGET, or ITEMS and ERROR, but not both";
    if (items != error || (skew && !items)) return "ITEMS needs ERROR, and both may have SKEW";
    if (!budget && !items) return "it needs BUDGET and a number of bytes, or ITEMS and ERROR";
    if (items && said & (1u << MODEL | 1u << TOP)) return "ITEMS and ERROR are for sketches without MODEL and TOP";
    return NULL;
}

const char *recipe_read(RedisModuleString **argv, int argc, struct recipe *recipe)
{
    unsigned said = 0;
    *recipe = (struct recipe){.options = LEGO_OPTIONS_INIT, .wish = {.skew = 1}};
    recipe->options.budget = 0;
    recipe->options.model = lego_model_builtin(NULL);
    for (int i = 0; i < argc; i += 2) {
        int option = argument_among(argv[i], names, OPTIONS);
        if (option < 0) return "the options are BUDGET, or ITEMS, ERROR and SKEW, and MODEL, SEED and TOP";
        if (said & 1u << option) return "an option is said twice";
        if (i + 1 == argc || !read_option(option, argv[i + 1], recipe)) return meanings[option];
        said |= 1u << option;
    }
    return check_options(said);
}

/* The nodes of a cluster would each make one of their own, and keys could not move from one to another. */
static const struct secret *find_first(RedisModuleCtx *ctx)
{
    if (secrets_count() == 0 && RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_CLUSTER)
        return reply_refused(ctx, "ERR all nodes of a cluster need the same secret seed, so that keys can move: give "
                                  "it to each with LEGO.SECRET or the module's SEED-FILE, or say SEED"),
               NULL;
    const bool is_new = secrets_count() == 0;
    const struct secret *first = secrets_first();
    char fingerprint[FINGERPRINT_TEXT];
    if (first == NULL)
        return reply_refused(ctx, "ERR the system gave no random bytes for a secret seed: say SEED"), NULL;
    if (!is_new) return first;
    secrets_replicate(ctx, first); /* also if the command that asked for it fails */
    RedisModule_Log(ctx, "notice",
                    "new sketches have a secret seed, fingerprint %s, which is kept with the data: a server that saves "
                    "none has another one after a restart, and then cannot read what LEGO.DUMP gave",
                    fingerprint_show(first->fingerprint, fingerprint));
    return first;
}

bool recipe_find_seed(RedisModuleCtx *ctx, struct recipe *recipe)
{
    if (recipe->seed == SEED_PUBLIC) return true;
    const struct secret *found = recipe->seed == SEED_FIRST ? find_first(ctx) : secrets_find(recipe->fingerprint);
    if (found == NULL && recipe->seed == SEED_SECRET) refuse_secret(ctx, recipe->fingerprint);
    if (found == NULL) return false;
    recipe->options.secret = found->bytes;
    recipe->fingerprint = found->fingerprint;
    return true;
}

void recipe_replicate(RedisModuleCtx *ctx, RedisModuleString *name, const struct recipe *recipe)
{
    char seed[24], fingerprint[FINGERPRINT_TEXT];
    lego_model_info model;
    lego_model_describe(recipe->options.model, &model);
    if (recipe->options.secret != NULL) secrets_replicate(ctx, secrets_find(recipe->fingerprint));
    if (recipe->options.secret == NULL) snprintf(seed, sizeof seed, "%" PRIu64, recipe->options.seed);
    else snprintf(seed, sizeof seed, "secret:%s", fingerprint_show(recipe->fingerprint, fingerprint));
    RedisModule_Replicate(ctx, "LEGO.RESERVE", recipe->top == 0 ? "sclcccc" : "sclcccccl", name, "BUDGET",
                          (long long)recipe->options.budget, "MODEL", model.name, "SEED", seed, "TOP",
                          (long long)recipe->top);
}
