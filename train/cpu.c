/* cpu: the CPU backend of all nets. What a task is computed with is compiled for each kind of vector register, and
 * chosen when it runs. See cpu.h. */
#include "cpu.h"

#include "adam.h"
#include "backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

#define KERNELS(level, name)                                                                                           \
    KERNELS_OF(level)                                                                                                  \
    static const struct kernels kernels_##level = {                                                                    \
        name,                                                                                                          \
        supported_##level,                                                                                             \
        {{paper_workspace_##level, paper_task_##level}, {ms_workspace_##level, ms_task_##level}},                      \
        multiply_add_##level};

static bool supported_1(void)
{
    return true;
}
KERNELS(1, "plain")

#if defined(__x86_64__)
static bool supported_3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
KERNELS(3, "avx2")

static bool supported_4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
}
KERNELS(4, "avx512")
#endif

const struct kernels *const cpu_kernels[] = {
#if defined(__x86_64__)
    &kernels_4, &kernels_3,
#endif
    &kernels_1, NULL};

const struct kernels *cpu_best(void)
{
    const struct kernels *const *kernels = cpu_kernels;
    while (!(*kernels)->supported()) kernels++; /* the last one is */
    return *kernels;
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

enum { THREADS = 16, TASKS = 16 }; /* at most; a task is done by one thread */

struct session {
    struct recipe recipe;
    const struct net *net;
    const struct cpu_work *work;
    unsigned threads;
    char description[80];
    struct state state;
    double gradient[NET_PARAMETERS], statistics[NET_STATISTICS];

    struct cpu_step step; /* at work */
    uint32_t order[TASKS];
    uint32_t tasks;
    atomic_uint next; /* task to do, in the order */
    struct cpu_result result[TASKS];
    void *workspace[THREADS];
};

static void cpu_close(struct session *s)
{
    if (!s) return;
    for (unsigned i = 0; i < THREADS; i++) free(s->workspace[i]);
    free(s);
}

static bool allocate(struct session *s)
{
    size_t size = (s->work->workspace(&s->recipe) + 63) / 64 * 64;
    bool ok = true;
    for (unsigned i = 0; i < s->threads; i++) ok = (s->workspace[i] = aligned_alloc(64, size)) != NULL && ok;
    return ok;
}

struct session *cpu_open(const struct recipe *recipe, unsigned threads, const struct kernels *kernels, char error[])
{
    const char *problem = recipe_problem(recipe);
    struct session *s = problem ? NULL : calloc(1, sizeof *s);
    snprintf(error, BACKEND_ERROR, "%s", problem ? problem : "there is not enough memory");
    if (!s) return NULL;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0) threads = cores > 0 ? (unsigned)cores : 1;
    s->recipe = *recipe;
    s->net = net_of(recipe);
    s->work = &kernels->work[recipe->net];
    s->threads = threads < recipe->batch ? threads : recipe->batch;
    if (!allocate(s)) {
        cpu_close(s);
        return NULL;
    }
    snprintf(s->description, sizeof s->description, "cpu, %s, %u thread%s", kernels->name, s->threads,
             s->threads > 1 ? "s" : "");
    state_start(recipe, &s->state);
    return s;
}

static struct session *open_best(const struct recipe *recipe, unsigned threads, char error[BACKEND_ERROR])
{
    return cpu_open(recipe, threads, cpu_best(), error);
}

static const char *describe(const struct session *s)
{
    return s->description;
}

static bool load(struct session *s, const struct state *state)
{
    s->state = *state;
    return true;
}

static bool save(struct session *s, struct state *state)
{
    *state = s->state;
    return true;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

struct worker {
    struct session *session;
    void *workspace;
    pthread_t thread;
};

static void *do_tasks(void *argument)
{
    struct worker *worker = argument;
    struct session *s = worker->session;
    for (unsigned i; (i = atomic_fetch_add(&s->next, 1)) < s->tasks;)
        s->work->task(&s->step, s->order[i], worker->workspace, &s->result[s->order[i]]);
    return NULL;
}

/* Threads live as long as a step: starting them costs microseconds, a step takes milliseconds. */
static void do_all_tasks(struct session *s)
{
    struct worker workers[THREADS];
    unsigned n = 1;
    atomic_store(&s->next, 0);
    for (unsigned i = 0; i < s->threads; i++) workers[i] = (struct worker){.session = s, .workspace = s->workspace[i]};
    for (; n < s->threads; n++) /* fewer do it too */
        if (pthread_create(&workers[n].thread, NULL, do_tasks, &workers[n]) != 0) break;
    do_tasks(&workers[0]);
    for (unsigned i = 1; i < n; i++) pthread_join(workers[i].thread, NULL);
}

/* The longest task first, so that threads end at about the same time. */
static void order_tasks(struct session *s)
{
    uint32_t length[TASKS];
    for (uint32_t t = 0; t < s->tasks; t++) {
        length[t] = s->net->length ? s->net->length(&s->recipe, s->step.step, t) : 0;
        uint32_t i = t;
        for (; i > 0 && length[s->order[i - 1]] < length[t]; i--) s->order[i] = s->order[i - 1];
        s->order[i] = t;
    }
}

/* Means over the tasks, and the statistics after them, of which those before are there. */
static void add_tasks(const struct session *s, double gradient[], double statistics[], double losses[])
{
    for (uint32_t i = 0; i < s->net->parameters; i++) {
        double sum = 0;
        for (uint32_t t = 0; t < s->tasks; t++) sum += s->result[t].clip * s->result[t].gradient[i];
        gradient[i] = sum / s->tasks;
    }
    for (uint32_t i = 0; i < s->net->losses; i++) {
        losses[i] = 0;
        for (uint32_t t = 0; t < s->tasks; t++) losses[i] += s->result[t].losses[i] / s->tasks;
    }
    for (uint32_t i = 0; i < s->net->statistics; i++)
        for (uint32_t t = 0; t < s->tasks; t++)
            statistics[i] += s->result[t].follow * (s->result[t].statistics[i] - statistics[i]);
}

static double square_of(const struct net *net, const double gradient[])
{
    double square = 0;
    for (uint32_t i = 0; i < net->parameters; i++) square += gradient[i] * gradient[i];
    return square;
}

static enum backend_result gradient(struct session *s, uint64_t step, double result[], double losses[])
{
    s->step = (struct cpu_step){&s->recipe, step, s->state.parameters};
    s->tasks = recipe_batch(&s->recipe, step);
    order_tasks(s);
    do_all_tasks(s);
    memcpy(s->statistics, s->state.statistics, sizeof s->statistics);
    add_tasks(s, result, s->statistics, losses);
    if (s->net->settle) s->net->settle(&s->step, s->result, result, losses);
    return isfinite(losses[0]) && isfinite(square_of(s->net, result)) ? BACKEND_DONE : BACKEND_NOT_FINITE;
}

bool cpu_update(const struct recipe *recipe, const double gradient[], struct state *state)
{
    const struct net *net = net_of(recipe);
    double square = square_of(net, gradient), clip = adam_clip(square, recipe_clip(recipe));
    double share = recipe_average(recipe);
    struct adam adam = adam_at(recipe, state->step);
    if (!isfinite(square)) return false;
    for (uint32_t i = 0; i < net->parameters; i++)
        adam_move(adam, recipe_rate(recipe, i), clip * gradient[i], &state->parameters[i], &state->first[i],
                  &state->second[i]);
    if (net->constrain) net->constrain(state->parameters);
    for (uint32_t i = 0; i < net->parameters; i++)
        state->average[i] = adam_average(share, state->average[i], state->parameters[i]);
    state->step++;
    return true;
}

static enum backend_result steps(struct session *s, uint32_t count, double losses[], uint32_t *done)
{
    for (*done = 0; *done < count; ++*done) {
        enum backend_result result = gradient(s, s->state.step, s->gradient, losses + *done * s->net->losses);
        if (result != BACKEND_DONE) return result;
        if (!cpu_update(&s->recipe, s->gradient, &s->state)) return BACKEND_NOT_FINITE;
        memcpy(s->state.statistics, s->statistics, sizeof s->statistics);
    }
    return BACKEND_DONE;
}

const struct backend backend_cpu = {"cpu", open_best, cpu_close, describe, load, save, gradient, steps};
