/* pool: see pool.h. */
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* Between two stages of a task of the meta-sketch there are microseconds, between two tasks a fraction of a millisecond,
 * less than it takes to wake up where others use the machine too: so a thread that waits looks on for a while before it
 * sleeps. */
enum { LOOKS = 20000 };

struct pool {
    unsigned threads; /* all of them, the caller included */
    pthread_t thread[POOL_THREADS];
    pool_work *work; /* changed only while no part is left to do, and none being done */
    void *context;
    unsigned parts;
    atomic_int left;  /* parts that nobody has begun; below 1 if there are none */
    atomic_uint done; /* parts */
    atomic_uint sleeping;
    atomic_bool closing;
    pthread_mutex_t lock; /* of who sleeps */
    pthread_cond_t start;
};

struct worker {
    struct pool *pool;
    unsigned number;
};

static void look_away(void) /* a few cycles, in which the other thread of the core may run */
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Does parts as long as there are any. */
static void do_parts(struct pool *pool, unsigned worker)
{
    for (int left; (left = atomic_fetch_sub(&pool->left, 1)) > 0;) {
        pool->work(pool->context, pool->parts - (unsigned)left, worker);
        atomic_fetch_add(&pool->done, 1);
    }
}

static bool nothing_to_do(struct pool *pool)
{
    return atomic_load(&pool->left) <= 0 && !atomic_load(&pool->closing);
}

static void *wait_for_parts(void *argument)
{
    struct worker worker = *(struct worker *)argument;
    struct pool *pool = worker.pool;
    free(argument);
    while (!atomic_load(&pool->closing)) {
        for (int look = 0; look < LOOKS && nothing_to_do(pool); look++) look_away();
        if (nothing_to_do(pool)) {
            pthread_mutex_lock(&pool->lock);
            atomic_fetch_add(&pool->sleeping, 1); /* before a last look: who has work looks here after saying so */
            while (nothing_to_do(pool)) pthread_cond_wait(&pool->start, &pool->lock);
            atomic_fetch_sub(&pool->sleeping, 1);
            pthread_mutex_unlock(&pool->lock);
        }
        if (atomic_load(&pool->left) > 0) do_parts(pool, worker.number);
    }
    return NULL;
}

static void wake(struct pool *pool)
{
    if (atomic_load(&pool->sleeping) == 0) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
}

void pool_run(struct pool *pool, pool_work *work, void *context, unsigned parts)
{
    for (unsigned part = 0; !pool && part < parts; part++) work(context, part, 0);
    if (!pool) return;
    pool->work = work;
    pool->context = context;
    pool->parts = parts;
    atomic_store(&pool->done, 0);
    atomic_store(&pool->left, (int)parts);
    if (pool->threads > 1) wake(pool);
    do_parts(pool, 0);
    for (int look = 0; atomic_load(&pool->done) < parts; look++) {
        if (look < LOOKS) look_away();
        else sched_yield(); /* whoever does the last part may be waiting for this core */
    }
}

struct pool *pool_open(unsigned threads)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    if (threads > POOL_THREADS) threads = POOL_THREADS;
    for (pool->threads = 1; pool->threads < threads; pool->threads++) { /* fewer do it too */
        struct worker *worker = malloc(sizeof *worker);
        if (!worker) break;
        *worker = (struct worker){pool, pool->threads};
        if (pthread_create(&pool->thread[pool->threads], NULL, wait_for_parts, worker) != 0) {
            free(worker);
            break;
        }
    }
    return pool;
}

void pool_close(struct pool *pool)
{
    if (!pool) return;
    atomic_store(&pool->closing, true);
    wake(pool);
    for (unsigned i = 1; i < pool->threads; i++) pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned pool_threads(const struct pool *pool)
{
    return pool->threads;
}
