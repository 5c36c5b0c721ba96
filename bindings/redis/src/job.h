/* job: what a command does with whole sketches. Where they are large it is done in a thread of ours, and the server
 * goes on with other clients meanwhile.
 *
 * The thread reads values that nobody changes: a command that would change one makes a copy first (key.h). What it made
 * is put into a key by the server's own thread, if the sources are still what the keys hold; otherwise the command is
 * done over, at once, with what they hold then. So a command does all that it does at one point of time, which is also
 * where replicas and logs have it.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "value.h"

#include <redismodule.h>

struct job {
    const struct task *task;
    RedisModuleString **argv; /* of the command */
    int argc;
    RedisModuleString **names; /* of these, the keys of the values */
    struct value **values;     /* NULL where there is none at the key */
    int n;
    struct value *made;               /* by work(); finish() may take it, and leaves NULL then */
    lego_status status;               /* of that */
    const struct value *refused;      /* of the values, the one for which it failed */
    uint64_t budget;                  /* that LEGO.RESERVE's work() found */
    RedisModuleBlockedClient *client; /* NULL: it is done at once, in the server's thread */
    struct job *next;
};

struct task {
    RedisModuleCmdFunc command; /* to do it over */
    /* In any thread. Replies if there is no finish(); ctx is NULL if there is one. */
    void (*work)(RedisModuleCtx *ctx, struct job *job);
    /* In the server's thread: changes keys and replies. NULL for commands that only read. */
    int (*finish)(RedisModuleCtx *ctx, struct job *job);
};

/* Does a job, of which task to n are set. size: about the bytes it is about, which decide where it is done. */
int job_run(RedisModuleCtx *ctx, const struct job *job, uint64_t size);

/* The same of the one sketch at argv[1]. */
int job_run_on_key(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, const struct task *task);
