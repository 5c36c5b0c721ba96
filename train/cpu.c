/* cpu: the CPU backend of all nets. Each net says how it computes the gradient of a step (struct cpu_net); what it
 * computes with is compiled for each kind of vector register, and chosen when it runs. */
#include "cpu.h"

#include "adam.h"
#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

#define KERNELS(level, name)                                                                                           \
    KERNELS_OF(level)                                                                                                  \
    static const struct kernels kernels_##level = {name,                                                               \
                                                   supported_##level,                                                  \
                                                   paper_workspace_##level,                                            \
                                                   paper_task_##level,                                                 \
                                                   ms_workspace_##level,                                               \
                                                   ms_task_##level,                                                    \
                                                   paper_decode_##level,                                               \
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

void *cpu_room(size_t size)
{
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

/* ---- a session --------------------------------------------------------------------------------------------------- */

struct session {
    struct recipe recipe;
    const struct net *net;
    struct pool *pool;
    void *work; /* the net's */
    char description[80];
    struct state state;
    double gradient[NET_PARAMETERS], statistics[NET_STATISTICS];
};

static void cpu_close(struct session *s)
{
    if (!s) return;
    if (s->work) s->net->cpu->close(s->work);
    pool_close(s->pool);
    free(s);
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
    s->pool = pool_open(threads < s->net->cpu->threads ? threads : s->net->cpu->threads);
    if (s->pool) s->work = s->net->cpu->open(&s->recipe, kernels, s->pool);
    if (!s->work) {
        cpu_close(s);
        return NULL;
    }
    threads = pool_threads(s->pool);
    snprintf(s->description, sizeof s->description, "cpu, %s, %u thread%s", kernels->name, threads,
             threads > 1 ? "s" : "");
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

static double square_of(const struct net *net, const double gradient[])
{
    double square = 0;
    for (uint32_t i = 0; i < net->parameters; i++) square += gradient[i] * gradient[i];
    return square;
}

static enum backend_result gradient(struct session *s, uint64_t step, double result[], double losses[])
{
    memcpy(s->statistics, s->state.statistics, sizeof s->statistics);
    if (!s->net->cpu->gradient(s->work, step, s->state.parameters, result, s->statistics, losses))
        return BACKEND_FAILED;
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
