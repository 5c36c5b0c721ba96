/* What the server tells of each command: COMMAND DOCS, COMMAND GETKEYS, and which keys ACL rules and a cluster look at.
 *
 * SPDX-License-Identifier: MIT */
#include "commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define VERSION .version = REDISMODULE_COMMAND_INFO_VERSION, .since = "0.1.0"

/* The key is the first argument of every command that has one. */
#define FIRST_KEY(what)                                                                                                \
    {                                                                                                                  \
        .flags = (what), .begin_search_type = REDISMODULE_KSPEC_BS_INDEX, .bs.index.pos = 1,                           \
        .find_keys_type = REDISMODULE_KSPEC_FK_RANGE, .fk.range = {                                                    \
            .lastkey = 0,                                                                                              \
            .keystep = 1                                                                                               \
        }                                                                                                              \
    }

static RedisModuleCommandKeySpec made[] = {FIRST_KEY(REDISMODULE_CMD_KEY_OW | REDISMODULE_CMD_KEY_INSERT), {0}};
static RedisModuleCommandKeySpec replaced[] = {FIRST_KEY(REDISMODULE_CMD_KEY_OW | REDISMODULE_CMD_KEY_UPDATE), {0}};
/* Its reply is the new total, or estimates; it may make the sketch. */
static RedisModuleCommandKeySpec counted[] = {
    FIRST_KEY(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_ACCESS | REDISMODULE_CMD_KEY_UPDATE), {0}};
static RedisModuleCommandKeySpec changed[] = {FIRST_KEY(REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE), {0}};
static RedisModuleCommandKeySpec read_only[] = {FIRST_KEY(REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS), {0}};

/* Sources behind their number, which is argument `at`. */
#define SOURCES(at)                                                                                                    \
    {                                                                                                                  \
        .flags = REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS, .begin_search_type = REDISMODULE_KSPEC_BS_INDEX, \
        .bs.index.pos = (at), .find_keys_type = REDISMODULE_KSPEC_FK_KEYNUM, .fk.keynum = {                            \
            .keynumidx = 0,                                                                                            \
            .firstkey = 1,                                                                                             \
            .keystep = 1                                                                                               \
        }                                                                                                              \
    }
static RedisModuleCommandKeySpec merged[] = {
    FIRST_KEY(REDISMODULE_CMD_KEY_OW | REDISMODULE_CMD_KEY_UPDATE), SOURCES(2), {0}};
static RedisModuleCommandKeySpec united[] = {SOURCES(1), {0}};

/* ---- arguments --------------------------------------------------------------------------------------------------- */

#define KEY                                                                                                            \
    {                                                                                                                  \
        .name = "key", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0                                           \
    }
#define OPTION(text) .token = (text), .flags = REDISMODULE_CMD_ARG_OPTIONAL
#define SEVERAL .flags = REDISMODULE_CMD_ARG_MULTIPLE

static RedisModuleCommandArg key_only[] = {KEY, {0}};
static RedisModuleCommandArg wished_arguments[] = {
    {.name = "items", .type = REDISMODULE_ARG_TYPE_INTEGER, .token = "ITEMS"},
    {.name = "error", .type = REDISMODULE_ARG_TYPE_DOUBLE, .token = "ERROR"},
    {.name = "skew", .type = REDISMODULE_ARG_TYPE_DOUBLE, OPTION("SKEW")},
    {0},
};
static RedisModuleCommandArg bytes_or_wish[] = {
    {.name = "bytes", .type = REDISMODULE_ARG_TYPE_STRING, .token = "BUDGET"},
    {.name = "wish", .type = REDISMODULE_ARG_TYPE_BLOCK, .subargs = wished_arguments},
    {0},
};
static RedisModuleCommandArg reserve_arguments[] = {
    KEY,
    {.name = "size", .type = REDISMODULE_ARG_TYPE_ONEOF, .subargs = bytes_or_wish},
    {.name = "model", .type = REDISMODULE_ARG_TYPE_STRING, OPTION("MODEL")},
    {.name = "seed", .type = REDISMODULE_ARG_TYPE_STRING, OPTION("SEED")},
    {.name = "listed", .type = REDISMODULE_ARG_TYPE_INTEGER, OPTION("TOP")},
    {0},
};

/* Where there are options before it, it has to be there. */
#define MARKER                                                                                                         \
    {                                                                                                                  \
        .name = "items", .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, OPTION("ITEMS")                                      \
    }
static RedisModuleCommandArg item_and_count[] = {
    {.name = "item", .type = REDISMODULE_ARG_TYPE_STRING},
    {.name = "count", .type = REDISMODULE_ARG_TYPE_INTEGER},
    {0},
};
static RedisModuleCommandArg incrby_arguments[] = {
    KEY,
    {.name = "nocreate", .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, OPTION("NOCREATE")},
    {.name = "estimates", .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, OPTION("ESTIMATES")},
    MARKER,
    {.name = "counted", .type = REDISMODULE_ARG_TYPE_BLOCK, .subargs = item_and_count, SEVERAL},
    {0},
};
static RedisModuleCommandArg items_arguments[] = {
    KEY,
    {.name = "item", .type = REDISMODULE_ARG_TYPE_STRING, SEVERAL},
    {0},
};

#define QUESTION                                                                                                       \
    {.name = "withbounds", .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, OPTION("WITHBOUNDS")},                             \
        {.name = "absent", .type = REDISMODULE_ARG_TYPE_DOUBLE, OPTION("ABSENT")}, MARKER,                             \
    {                                                                                                                  \
        .name = "item", .type = REDISMODULE_ARG_TYPE_STRING, SEVERAL                                                   \
    }
static RedisModuleCommandArg query_arguments[] = {KEY, QUESTION, {0}};

#define LIST                                                                                                           \
    {.name = "k", .type = REDISMODULE_ARG_TYPE_INTEGER, .flags = REDISMODULE_CMD_ARG_OPTIONAL},                        \
        {.name = "withcount", .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, OPTION("WITHCOUNT")},                           \
    {                                                                                                                  \
        .name = "above", .type = REDISMODULE_ARG_TYPE_INTEGER, OPTION("ABOVE")                                         \
    }
static RedisModuleCommandArg top_arguments[] = {KEY, LIST, {0}};

static RedisModuleCommandArg merge_arguments[] = {
    {.name = "destination", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0},
    {.name = "numkeys", .type = REDISMODULE_ARG_TYPE_INTEGER},
    {.name = "source", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 1, SEVERAL},
    {.name = "weight",
     .type = REDISMODULE_ARG_TYPE_INTEGER,
     .token = "WEIGHTS",
     .flags = REDISMODULE_CMD_ARG_OPTIONAL | REDISMODULE_CMD_ARG_MULTIPLE},
    {0},
};
static RedisModuleCommandArg united_items[] = {QUESTION, {0}};
static RedisModuleCommandArg united_top[] = {
    {.name = "top", .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, .token = "TOP"}, LIST, {0}};
static RedisModuleCommandArg items_or_top[] = {
    {.name = "question", .type = REDISMODULE_ARG_TYPE_BLOCK, .subargs = united_items},
    {.name = "list", .type = REDISMODULE_ARG_TYPE_BLOCK, .subargs = united_top},
    {0},
};
static RedisModuleCommandArg union_arguments[] = {
    {.name = "numkeys", .type = REDISMODULE_ARG_TYPE_INTEGER},
    {.name = "key", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0, SEVERAL},
    {.name = "asked", .type = REDISMODULE_ARG_TYPE_ONEOF, .subargs = items_or_top},
    {0},
};
static RedisModuleCommandArg blocks_or_bytes[] = {
    {.name = "blocks", .type = REDISMODULE_ARG_TYPE_INTEGER},
    {.name = "bytes", .type = REDISMODULE_ARG_TYPE_STRING, .token = "BUDGET"},
    {0},
};
static RedisModuleCommandArg fold_arguments[] = {
    KEY,
    {.name = "size", .type = REDISMODULE_ARG_TYPE_ONEOF, .subargs = blocks_or_bytes},
    {0},
};
static RedisModuleCommandArg load_arguments[] = {
    KEY,
    {.name = "bytes", .type = REDISMODULE_ARG_TYPE_STRING},
    {.name = "listed", .type = REDISMODULE_ARG_TYPE_INTEGER, OPTION("TOP")},
    {0},
};

static RedisModuleCommandArg secret_arguments[] = {
    {.name = "secret",
     .type = REDISMODULE_ARG_TYPE_STRING,
     .flags = REDISMODULE_CMD_ARG_OPTIONAL | REDISMODULE_CMD_ARG_MULTIPLE},
    {0},
};

/* ---- commands ---------------------------------------------------------------------------------------------------- */

struct command {
    const char *name;
    RedisModuleCmdFunc function;
    const char *flags;
    RedisModuleCommandInfo info;
};

/* deny-oom: refused where memory is short already. LEGO.FOLD is not: it is how a sketch gives memory back.
 * getkeys-api: the command itself tells which arguments are keys. Of a module's key_specs a cluster's check of slots
 * sees only the first key, so LEGO.MERGE and LEGO.UNION need it. */
static const struct command commands[] = {
    {"lego.reserve",
     command_reserve,
     "write deny-oom",
     {VERSION, .arity = -4, .key_specs = made, .args = reserve_arguments,
      .summary = "Makes an empty sketch, of that many bytes at most; with TOP it also keeps its most frequent items.",
      .complexity = "O(1)"}},
    {"lego.incrby",
     command_incrby,
     "write deny-oom fast",
     {VERSION, .arity = -4, .key_specs = counted, .args = incrby_arguments,
      .summary = "Counts items so many times more, or less; replies with the sum of all counts, or with estimates.",
      .complexity = "O(N) for N items"}},
    {"lego.add",
     command_add,
     "write deny-oom fast",
     {VERSION, .arity = -3, .key_specs = counted, .args = items_arguments,
      .summary = "Counts items once each; replies with the sum of all counts.", .complexity = "O(N) for N items"}},
    {"lego.query",
     command_query,
     "readonly fast",
     {VERSION, .arity = -3, .key_specs = read_only, .args = query_arguments,
      .summary = "How often each item was counted: an estimate, or estimate, lower, upper and likely bound.",
      .complexity = "O(N) for N items"}},
    {"lego.top",
     command_top,
     "readonly",
     {VERSION, .arity = -2, .key_specs = read_only, .args = top_arguments,
      .summary = "The most frequent items, the most frequent first, of a sketch that was made with TOP.",
      .complexity = "O(N log K) for N items kept and K listed"}},
    {"lego.intop",
     command_intop,
     "readonly",
     {VERSION, .arity = -3, .key_specs = read_only, .args = items_arguments,
      .summary = "Whether each item is among those that LEGO.TOP lists.",
      .complexity = "O(N log K) for N items kept and K listed"}},
    {"lego.merge",
     command_merge,
     "write deny-oom getkeys-api",
     {VERSION, .arity = -4, .key_specs = merged, .args = merge_arguments,
      .summary = "Makes the sketch of all streams together, each so many times.",
      .complexity = "O(N) for N bytes in all sources"}},
    {"lego.union",
     command_union,
     "readonly getkeys-api",
     {VERSION, .arity = -4, .key_specs = united, .args = union_arguments,
      .summary = "What LEGO.QUERY or LEGO.TOP would reply of the sketch of all streams together, which is not kept.",
      .complexity = "O(N) for N bytes in all sketches"}},
    {"lego.fold",
     command_fold,
     "write",
     {VERSION, .arity = -3, .key_specs = changed, .args = fold_arguments,
      .summary = "Shrinks a sketch to a divisor of its blocks, or to the most that fit a budget.",
      .complexity = "O(bytes)"}},
    {"lego.info",
     command_info,
     "readonly",
     {VERSION, .arity = 2, .key_specs = read_only, .args = key_only,
      .summary = "What a sketch is made of: model, seed, total, bytes, blocks, and what TOP keeps; the error to "
                 "expect, and how "
                 "many items come how often.",
      .complexity = "O(bytes)"}},
    {"lego.card",
     command_card,
     "readonly",
     {VERSION, .arity = 2, .key_specs = read_only, .args = key_only,
      .summary = "About how many distinct items were counted; exactly while LEGO.INFO says exact.",
      .complexity = "O(bytes)"}},
    {"lego.dump",
     command_dump,
     "readonly",
     {VERSION, .arity = 2, .key_specs = read_only, .args = key_only,
      .summary = "The bytes of a .sketch file, which the command legosketch and all its languages read.",
      .complexity = "O(bytes)"}},
    {"lego.load",
     command_load,
     "write deny-oom",
     {VERSION, .arity = -3, .key_specs = replaced, .args = load_arguments,
      .summary = "Makes, or replaces, a sketch from the bytes of a .sketch file.", .complexity = "O(bytes)"}},
    {"lego.secret",
     command_secret,
     "admin may-replicate no-monitor no-slowlog deny-script",
     {VERSION, .arity = -1, .args = secret_arguments,
      .summary = "The secret seeds that the server knows, each with its fingerprint; or adds some.",
      .complexity = "O(N) for N secret seeds"}},
};

/* ---- ACL categories ---------------------------------------------------------------------------------------------- */

/* Later servers than that of our header have these; looked up by name, they are NULL where they are missing. */
static int (*set_categories)(RedisModuleCommand *command, const char *categories);
static int (*add_category)(RedisModuleCtx *ctx, const char *category);

static void find_categories(void)
{
    if (RedisModule_GetApi("RedisModule_SetCommandACLCategories", (void *)&set_categories) != REDISMODULE_OK)
        set_categories = NULL;
    if (RedisModule_GetApi("RedisModule_AddACLCategory", (void *)&add_category) != REDISMODULE_OK) add_category = NULL;
}

/* They follow from the flags. A command for administrators is neither one that reads nor one that writes. */
static int categorize(RedisModuleCommand *command, const char *flags, bool has_own)
{
    char categories[48];
    const char *what = strstr(flags, "admin") != NULL   ? "admin dangerous"
                       : strstr(flags, "write") != NULL ? "write"
                                                        : "read";
    snprintf(categories, sizeof categories, "%s %s%s", what, strstr(flags, "fast") != NULL ? "fast" : "slow",
             has_own ? " lego" : "");
    return set_categories == NULL ? REDISMODULE_OK : set_categories(command, categories);
}

int commands_start(RedisModuleCtx *ctx)
{
    find_categories();
    bool has_own = set_categories != NULL && add_category != NULL && add_category(ctx, "lego") == REDISMODULE_OK;
    if (set_categories == NULL)
        RedisModule_Log(ctx, "notice",
                        "this server can not be told of ACL categories: rules such as -@write do not "
                        "reach LEGO commands, so name those");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct command *command = &commands[i];
        int key = command->info.key_specs != NULL;
        if (RedisModule_CreateCommand(ctx, command->name, command->function, command->flags, key, key, key) !=
            REDISMODULE_OK)
            return REDISMODULE_ERR;
        RedisModuleCommand *made_now = RedisModule_GetCommand(ctx, command->name);
        if (made_now == NULL || RedisModule_SetCommandInfo(made_now, &command->info) != REDISMODULE_OK ||
            categorize(made_now, command->flags, has_own) != REDISMODULE_OK)
            return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
