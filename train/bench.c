/* bench: peak, decoder and whole steps, in turns, so that all of them see the same machine; of each the best turn. */
#include "bench.h"

#include "backend.h"
#include "cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5, STEPS = 8, THREADS_MAX = 64 };
static const uint64_t bench_madds = UINT64_C(2000000000), bench_items = 100000;

enum work { PEAK, FORWARD, BOTH, WORKS };

struct worker {
    pthread_t thread;
    const struct kernels *kernels;
    const float *parameters;
    void *workspace;
    enum work work;
    volatile double result; /* so that the work is done */
};

static void *do_work(void *argument)
{
    struct worker *w = argument;
    if (w->work == PEAK)
        w->result = w->kernels->multiply_add(bench_madds);
    else
        w->result = w->kernels->decode(w->parameters, w->workspace, bench_items, w->work == BOTH);
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds until every thread has done it. */
static double time_work(struct worker workers[], unsigned threads, enum work work)
{
    double start = now();
    unsigned n = 0;
    for (; n < threads; n++) {
        workers[n].work = work;
        if (n > 0 && pthread_create(&workers[n].thread, NULL, do_work, &workers[n]) != 0) break;
    }
    do_work(&workers[0]);
    for (unsigned i = 1; i < n; i++) pthread_join(workers[i].thread, NULL);
    return now() - start;
}

/* The same steps each time, since tasks are of different sizes. */
static double time_steps(struct session *session, const struct state *state)
{
    struct losses losses[STEPS];
    uint32_t done;
    backend_cpu.load(session, state);
    double start = now();
    backend_cpu.steps(session, STEPS, losses, &done);
    return now() - start;
}

static void take_turns(struct worker workers[], unsigned threads, struct session *session,
                       const struct state *state, struct train_bench *result)
{
    double best[WORKS] = {1e9, 1e9, 1e9}, best_steps = 1e9;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int work = 0; work < WORKS; work++) {
            double took = time_work(workers, threads, (enum work)work);
            if (took < best[work]) best[work] = took;
        }
        double took = time_steps(session, state);
        if (took < best_steps) best_steps = took;
    }
    double items = 2.0 * threads * (double)bench_items;
    result->peak = 2.0 * threads * (double)bench_madds / best[PEAK];
    result->forward = items * DECODE_FORWARD_MADDS / best[FORWARD];
    result->both = items * (DECODE_FORWARD_MADDS + DECODE_BACKWARD_MADDS) / best[BOTH];
    result->backward = items * DECODE_BACKWARD_MADDS / (best[BOTH] - best[FORWARD]);
    result->tasks = STEPS * TRAIN_BATCH / best_steps;
}

bool train_bench(unsigned threads, struct train_bench *result)
{
    static struct state state;
    struct worker workers[THREADS_MAX] = {0};
    struct recipe recipe = recipe_published();
    char error[BACKEND_ERROR];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0) threads = cores > 0 ? (unsigned)cores : 1;
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    struct session *session = backend_cpu.open(&recipe, threads, error);
    bool ok = session != NULL;
    state_start(&recipe, &state);
    for (unsigned i = 0; i < threads && ok; i++) {
        workers[i].kernels = cpu_best();
        workers[i].parameters = state.parameters;
        workers[i].workspace = aligned_alloc(64, (cpu_best()->workspace(1) + 63) / 64 * 64);
        ok = workers[i].workspace != NULL;
    }
    if (ok) {
        snprintf(result->description, sizeof result->description, "%s", backend_cpu.describe(session));
        take_turns(workers, threads, session, &state, result);
    }
    for (unsigned i = 0; i < threads; i++) free(workers[i].workspace);
    backend_cpu.close(session);
    return ok;
}
