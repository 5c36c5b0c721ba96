/* The start of the module legosketch.so: `redis-server --loadmodule legosketch.so`, or MODULE LOAD.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "commands.h"
#include "recipe.h"
#include "secrets.h"
#include "type.h"
#include "value.h"

#include <legosketch.h>
#include <stdio.h>

/* 0.1.0 as the server shows it: 100. */
static int version_number(void)
{
    int major, minor, patch;
    return sscanf(LEGO_VERSION, "%d.%d.%d", &major, &minor, &patch) == 3 ? 10000 * major + 100 * minor + patch : 0;
}

/* What is wrong with the options of LEGO.RESERVE, or NULL: a sketch of them is made, and goes again. */
static const char *read_recipe(RedisModuleString **argv, int argc)
{
    struct value *value;
    const char *wrong = recipe_read(argv, argc, &default_recipe);
    if (wrong != NULL) return wrong;
    if (default_recipe.options.budget == 0) return "it needs BUDGET, not ITEMS";
    lego_status status = value_create(&default_recipe.options, default_recipe.top, &value);
    if (status != LEGO_OK) return lego_status_message(status);
    value_release(value);
    return NULL;
}

/* Reads SEED-FILE and takes it out; the others stay, *argc of them. NULL, or what is wrong, of which *file is the name
 * if it is a file. */
static const char *take_seed_file(RedisModuleString **argv, int *argc, const char **file)
{
    int n = 0;
    const char *wrong = NULL;
    for (int i = 0; i < *argc && wrong == NULL; i++) {
        bool is_file = i % 2 == 0 && argument_is(argv[i], "SEED-FILE");
        if (!is_file) argv[n++] = argv[i];
        else if (*file != NULL || ++i == *argc) wrong = "SEED-FILE needs the name of one file";
        else wrong = secrets_read_file(*file = RedisModule_StringPtrLen(argv[i], NULL));
    }
    *argc = n;
    return wrong;
}

static bool read_arguments(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const char *file = NULL;
    RedisModuleString **left = RedisModule_Alloc((size_t)(argc + 1) * sizeof *left);
    for (int i = 0; i < argc; i++) left[i] = argv[i];
    const char *wrong = take_seed_file(left, &argc, &file);
    bool of_file = wrong != NULL && file != NULL;
    if (wrong == NULL && argc > 0) wrong = read_recipe(left, argc);
    RedisModule_Free(left);
    if (wrong != NULL)
        RedisModule_Log(ctx, "warning", "legosketch, whose arguments are options of LEGO.RESERVE and SEED-FILE: %s%s%s",
                        of_file ? file : "", of_file ? ": " : "", wrong);
    return wrong == NULL;
}

/* The one name that the server looks for. */
LEGO_API int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (RedisModule_Init(ctx, "legosketch", version_number(), REDISMODULE_APIVER_1) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    if (!RMAPI_FUNC_SUPPORTED(RedisModule_TryAlloc) || !RMAPI_FUNC_SUPPORTED(RedisModule_SetCommandInfo)) {
        RedisModule_Log(ctx, "warning", "legosketch needs Redis 7.0 or later, or Valkey");
        return REDISMODULE_ERR;
    }
    if (!read_arguments(ctx, argv, argc)) return REDISMODULE_ERR;
    /* A truncated RDB file is an error that type.c handles. A replica may answer from its old keys while it reads new
     * ones, since nothing here is about all keys. And keys count as changed when a command says so, not when one that
     * could have changed them failed. */
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                                          REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD |
                                          REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED);
    if (type_start(ctx) != REDISMODULE_OK) return REDISMODULE_ERR;
    return commands_start(ctx);
}
