/* What a command does with whole sketches; see job.h.
 *
 * SPDX-License-Identifier: MIT */
#include "job.h"

#include "key.h"
#include "reply.h"

#include <pthread.h>
#include <signal.h>

/* What is smaller takes a few milliseconds at most. */
enum { LARGE = 1 << 20, THREADS = 4 };

/* Jobs that wait for a thread, the oldest first. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t has_job;
    struct job *first, **end;
    int threads, idle;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .has_job = PTHREAD_COND_INITIALIZER, .end = &queue.first};

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static struct job *next_job(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.idle++;
    while (queue.first == NULL) pthread_cond_wait(&queue.has_job, &queue.lock);
    queue.idle--;
    struct job *job = queue.first;
    queue.first = job->next;
    if (queue.first == NULL) queue.end = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    return job;
}

/* A command that only reads replies from here: such a context keeps the reply until the client goes on. */
static void *work_for_ever(void *unused)
{
    (void)unused;
    for (;;) {
        struct job *job = next_job();
        RedisModuleCtx *ctx = job->task->finish ? NULL : RedisModule_GetThreadSafeContext(job->client);
        job->task->work(ctx, job);
        if (ctx != NULL) RedisModule_FreeThreadSafeContext(ctx);
        RedisModule_UnblockClient(job->client, job);
    }
    return NULL;
}

/* With every signal blocked: those are for the server's own thread. */
static void start_thread(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, work_for_ever, NULL) == 0) {
        pthread_detach(thread);
        queue.threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool have_thread(void)
{
    pthread_mutex_lock(&queue.lock);
    if (queue.threads == 0 || (queue.idle == 0 && queue.threads < THREADS)) start_thread();
    bool have = queue.threads > 0;
    pthread_mutex_unlock(&queue.lock);
    return have;
}

static void push(struct job *job)
{
    pthread_mutex_lock(&queue.lock);
    *queue.end = job;
    queue.end = &job->next;
    pthread_cond_signal(&queue.has_job);
    pthread_mutex_unlock(&queue.lock);
}

/* ---- a job for a thread ------------------------------------------------------------------------------------------ */

/* With the arguments and the values held: the client, and with it the arguments, may go before the job is done. */
static struct job *keep(const struct job *job)
{
    struct job *kept = RedisModule_Alloc(sizeof *kept);
    *kept = *job;
    kept->argv = RedisModule_Alloc((size_t)job->argc * sizeof *kept->argv);
    kept->values = RedisModule_Alloc((size_t)(job->n + 1) * sizeof *kept->values);
    for (int i = 0; i < job->argc; i++) kept->argv[i] = RedisModule_HoldString(NULL, job->argv[i]);
    kept->names = job->names == NULL ? NULL : kept->argv + (job->names - job->argv);
    for (int i = 0; i < job->n; i++) {
        kept->values[i] = job->values[i];
        if (kept->values[i] != NULL) value_hold(kept->values[i]);
    }
    return kept;
}

static void forget(RedisModuleCtx *ctx, void *context)
{
    (void)ctx;
    struct job *job = context;
    for (int i = 0; i < job->argc; i++) RedisModule_FreeString(NULL, job->argv[i]);
    for (int i = 0; i < job->n; i++) value_release(job->values[i]);
    value_release(job->made);
    RedisModule_Free(job->argv);
    RedisModule_Free(job->values);
    RedisModule_Free(job);
}

/* Whether the keys still hold what was read: nobody changed a value that the job holds. */
static bool is_current(RedisModuleCtx *ctx, const struct job *job)
{
    bool current = true;
    for (int i = 0; i < job->n && current; i++) current = key_peek(ctx, job->names[i]) == job->values[i];
    return current;
}

/* Whether the key is in a slot of another node by now. The server knows, and refuses a call then. */
static bool is_elsewhere(RedisModuleCtx *ctx, RedisModuleString *name)
{
    if (!(RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_CLUSTER)) return false;
    RedisModuleCallReply *reply = RedisModule_Call(ctx, "EXISTS", "s", name);
    if (reply != NULL) RedisModule_FreeCallReply(reply);
    return reply == NULL;
}

/* A server that must not change keys now refuses commands that would, but not those that have started. */
static bool may_change(RedisModuleCtx *ctx, RedisModuleString *name)
{
    const int replica = REDISMODULE_CTX_FLAGS_SLAVE | REDISMODULE_CTX_FLAGS_READONLY;
    if ((RedisModule_GetContextFlags(ctx) & replica) == replica)
        return reply_refused(ctx, "READONLY this server became a replica meanwhile: nothing was done"), false;
    if (RedisModule_AvoidReplicaTraffic() || is_elsewhere(ctx, name))
        return reply_refused(ctx, "TRYAGAIN the server was paused, or the key moved, meanwhile: nothing was done"),
               false;
    return true;
}

static int finish(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct job *job = RedisModule_GetBlockedClientPrivateData(ctx);
    if (!may_change(ctx, argv[1])) return REDISMODULE_OK;
    return is_current(ctx, job) ? job->task->finish(ctx, job) : job->task->command(ctx, argv, argc);
}

/* ---- where it is done -------------------------------------------------------------------------------------------- */

/* No client can wait in a transaction, in a script, while a log is read, or when it has waited already. Nor can the
 * master of a replica: Valkey 9 loses a command that it waits for. */
static bool can_wait(RedisModuleCtx *ctx)
{
    const int never = REDISMODULE_CTX_FLAGS_DENY_BLOCKING | REDISMODULE_CTX_FLAGS_REPLICATED;
    return !(RedisModule_GetContextFlags(ctx) & never) && !RedisModule_IsBlockedReplyRequest(ctx);
}

static int run_at_once(RedisModuleCtx *ctx, const struct job *given)
{
    struct job job = *given;
    int (*finish_now)(RedisModuleCtx *, struct job *) = job.task->finish;
    job.task->work(finish_now ? NULL : ctx, &job);
    int done = finish_now ? finish_now(ctx, &job) : REDISMODULE_OK;
    value_release(job.made);
    return done;
}

int job_run(RedisModuleCtx *ctx, const struct job *job, uint64_t size)
{
    if (size < LARGE || !can_wait(ctx) || !have_thread()) return run_at_once(ctx, job);
    struct job *kept = keep(job);
    kept->client = RedisModule_BlockClient(ctx, job->task->finish ? finish : NULL, NULL, forget, 0);
    push(kept);
    return REDISMODULE_OK;
}

int job_run_on_key(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, const struct task *task)
{
    struct value *value = key_read(ctx, argv[1]);
    if (value == NULL) return REDISMODULE_OK;
    struct job job = {.task = task, .argv = argv, .argc = argc, .names = argv + 1, .values = &value, .n = 1};
    return job_run(ctx, &job, value_bytes(value));
}
