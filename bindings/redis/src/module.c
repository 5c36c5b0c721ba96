/* The start of the module legosketch.so: `redis-server --loadmodule legosketch.so`, or MODULE LOAD.
 *
 * SPDX-License-Identifier: MIT */
#include "commands.h"
#include "recipe.h"
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

/* What is wrong with the module's arguments, or NULL: a sketch of them is made, and goes again. */
static const char *read_arguments(RedisModuleString **argv, int argc)
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
    const char *wrong = argc == 0 ? NULL : read_arguments(argv, argc);
    if (wrong != NULL) {
        RedisModule_Log(ctx, "warning", "legosketch, whose arguments are options of LEGO.RESERVE: %s", wrong);
        return REDISMODULE_ERR;
    }
    /* A truncated RDB file is an error that type.c handles. A replica may answer from its old keys while it reads new
     * ones, since nothing here is about all keys. And keys count as changed when a command says so, not when one that
     * could have changed them failed. */
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                                          REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD |
                                          REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED);
    if (type_start(ctx) != REDISMODULE_OK) return REDISMODULE_ERR;
    return commands_start(ctx);
}
