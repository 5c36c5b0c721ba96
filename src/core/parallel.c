/* parallel: plain POSIX threads. Members are held at a gate until it is known how many there are. */
#define _POSIX_C_SOURCE 200809L
#include "core/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

struct team {
    parallel_work *work;
    void *context;
    pthread_mutex_t gate;
    unsigned size, arrived; /* guarded by gate */
    pthread_barrier_t barrier;
};

static void *member(void *argument)
{
    struct team *team = argument;
    pthread_mutex_lock(&team->gate);
    unsigned index = ++team->arrived, size = team->size;
    pthread_mutex_unlock(&team->gate);
    team->work(team->context, team, index, size);
    return NULL;
}

void parallel_run(unsigned threads, parallel_work *work, void *context)
{
    struct team team = {.work = work, .context = context, .gate = PTHREAD_MUTEX_INITIALIZER};
    pthread_t others[THREADS_MAX];
    unsigned n = 0;
    pthread_mutex_lock(&team.gate);
    while (n + 1 < threads && n + 1 < THREADS_MAX && pthread_create(&others[n], NULL, member, &team) == 0) n++;
    team.size = n + 1;
    pthread_barrier_init(&team.barrier, NULL, team.size);
    pthread_mutex_unlock(&team.gate);
    work(context, &team, 0, n + 1);
    for (unsigned i = 0; i < n; i++) pthread_join(others[i], NULL);
    pthread_barrier_destroy(&team.barrier);
}

void parallel_wait(struct team *team)
{
    pthread_barrier_wait(&team->barrier);
}

void parallel_yield(void)
{
    sched_yield();
}
