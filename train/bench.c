/* bench: peak, decoder and whole steps, in turns, so that all of them see the same machine; of each the best turn. */
#include "bench.h"

#include "backend.h"
#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5, STEPS = 8 };
static const uint64_t bench_madds = UINT64_C(2000000000), bench_items = 100000;

enum work { PEAK, DECODE, DECODE_AND_BACK, WORKS };

struct bench {
    struct pool *pool;
    unsigned threads;
    enum work work;
    void *workspace[POOL_THREADS];
    volatile double result[POOL_THREADS]; /* so that the work is done */
    struct session *session;
    struct state state;
};

static void do_work(void *context, unsigned part, unsigned worker)
{
    (void)worker; /* every thread has a part */
    struct bench *b = context;
    if (b->work == PEAK) b->result[part] = cpu_best()->multiply_add(bench_madds);
    else b->result[part] = cpu_best()->decode(b->state.parameters, b->workspace[part], bench_items, b->work != DECODE);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds until every thread has done it. */
static double time_work(struct bench *b, enum work work)
{
    double start = now();
    b->work = work;
    pool_run(b->pool, do_work, b, b->threads);
    return now() - start;
}

/* The same steps each time, since tasks are of different sizes. */
static double time_steps(struct bench *b)
{
    struct losses losses[STEPS];
    uint32_t done;
    backend_cpu.load(b->session, &b->state);
    double start = now();
    backend_cpu.steps(b->session, STEPS, &losses[0].total, &done);
    return now() - start;
}

static void take_turns(struct bench *b, struct train_bench *result)
{
    double best[WORKS + 1] = {1e9, 1e9, 1e9, 1e9};
    for (int turn = 0; turn < TURNS; turn++)
        for (int work = 0; work <= WORKS; work++)
            best[work] = fmin(best[work], work < WORKS ? time_work(b, (enum work)work) : time_steps(b));
    double items = 2.0 * b->threads * (double)bench_items;
    result->peak = 2.0 * b->threads * (double)bench_madds / best[PEAK];
    result->forward = items * DECODE_FORWARD_MADDS / best[DECODE];
    result->both = items * (DECODE_FORWARD_MADDS + DECODE_BACKWARD_MADDS) / best[DECODE_AND_BACK];
    result->backward = items * DECODE_BACKWARD_MADDS / (best[DECODE_AND_BACK] - best[DECODE]);
    result->tasks = STEPS * TRAIN_BATCH / best[WORKS];
}

bool train_bench(unsigned threads, struct train_bench *result)
{
    static struct bench b;
    struct recipe recipe = recipe_published();
    char error[BACKEND_ERROR];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0) threads = cores > 0 ? (unsigned)cores : 1;
    b.session = backend_cpu.open(&recipe, threads, error);
    b.pool = pool_open(threads);
    bool ok = b.session && b.pool;
    b.threads = ok ? pool_threads(b.pool) : 0;
    for (unsigned i = 0; i < b.threads; i++)
        ok = (b.workspace[i] = cpu_room(cpu_best()->paper_workspace(1))) != NULL && ok;
    state_start(&recipe, &b.state);
    if (ok) {
        snprintf(result->description, sizeof result->description, "%s", backend_cpu.describe(b.session));
        take_turns(&b, result);
    }
    for (unsigned i = 0; i < b.threads; i++) free(b.workspace[i]);
    pool_close(b.pool);
    backend_cpu.close(b.session);
    return ok;
}
