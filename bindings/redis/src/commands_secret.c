/* LEGO.SECRET: the secret seeds that the server knows.
 *
 * SPDX-License-Identifier: MIT */
#include "commands.h"
#include "reply.h"
#include "secrets.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool may_run(RedisModuleCtx *ctx, RedisModuleUser *user, const char *command, const char *word, int argc)
{
    RedisModuleString *like[] = {RedisModule_CreateString(ctx, command, strlen(command)),
                                 RedisModule_CreateString(ctx, word, strlen(word)),
                                 RedisModule_CreateString(ctx, "requirepass", 11)};
    bool may = RedisModule_ACLCheckCommandPermissions(user, like, argc) == REDISMODULE_OK;
    for (int i = 0; i < 3; i++) RedisModule_FreeString(ctx, like[i]);
    return may;
}

/* Redis 7.0 has no ACL categories for our commands, so that a user without @admin or @dangerous might see secrets: who
 * may run CONFIG GET requirepass may see these too, or, where CONFIG is renamed, ACL LIST. Logs and masters, which have
 * no user, may. */
static bool may_see(RedisModuleCtx *ctx)
{
    RedisModuleString *name = RedisModule_GetClientUserNameById(ctx, RedisModule_GetClientId(ctx));
    RedisModuleUser *user = name == NULL ? NULL : RedisModule_GetModuleUserFromUserName(name);
    if (user == NULL) return name == NULL;
    errno = 0;
    bool may = may_run(ctx, user, "CONFIG", "GET", 3) || (errno == ENOENT && may_run(ctx, user, "ACL", "LIST", 2));
    RedisModule_FreeModuleUser(user);
    RedisModule_FreeString(ctx, name);
    return may;
}

static int list(RedisModuleCtx *ctx)
{
    int n = secrets_count();
    RedisModule_ReplyWithArray(ctx, n);
    for (int i = 0; i < n; i++) {
        char fingerprint[FINGERPRINT_TEXT], text[SECRET_TEXT];
        RedisModule_ReplyWithArray(ctx, 2);
        RedisModule_ReplyWithCString(ctx, fingerprint_show(secrets_at(i)->fingerprint, fingerprint));
        RedisModule_ReplyWithCString(ctx, secret_show(secrets_at(i), text));
    }
    return REDISMODULE_OK;
}

/* Whether it is told by a master or by our own log: the first one that is named is what new sketches get then. */
static bool is_told(RedisModuleCtx *ctx)
{
    return RedisModule_GetContextFlags(ctx) & (REDISMODULE_CTX_FLAGS_REPLICATED | REDISMODULE_CTX_FLAGS_LOADING);
}

/* Whether all are seeds, for which there is room; false: replied. */
static bool check(RedisModuleCtx *ctx, RedisModuleString **argv, int n)
{
    struct secret secret;
    int added = 0;
    for (int i = 0; i < n; i++) {
        size_t size;
        const char *text = RedisModule_StringPtrLen(argv[i], &size), *wrong = secrets_parse(text, size, &secret);
        if (wrong != NULL) return reply_refused(ctx, "ERR %s", wrong), false;
        added += secrets_find(secret.fingerprint) == NULL;
    }
    if (secrets_count() + added <= SECRETS_MAX) return true;
    return reply_refused(ctx, "ERR a server knows %d secret seeds at most", SECRETS_MAX), false;
}

/* It is replicated also if all were known: logs and replicas may not know them. */
static int add(RedisModuleCtx *ctx, RedisModuleString **argv, int n)
{
    struct secret secret;
    char first[SECRET_TEXT];
    for (int i = 0; i < n; i++) {
        size_t size;
        const char *text = RedisModule_StringPtrLen(argv[i], &size);
        secrets_parse(text, size, &secret);
        secrets_add(&secret);
        if (i == 0 && is_told(ctx)) secrets_prefer(&secret);
    }
    RedisModule_Replicate(ctx, "LEGO.SECRET", "cv", secret_show(secrets_at(0), first), argv, (size_t)n);
    return reply_ok(ctx);
}

int command_secret(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    if (!may_see(ctx)) return reply_refused(ctx, "NOPERM secret seeds are for users with a right to CONFIG GET");
    if (argc == 1) return list(ctx);
    return check(ctx, argv + 1, argc - 1) ? add(ctx, argv + 1, argc - 1) : REDISMODULE_OK;
}
