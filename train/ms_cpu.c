/* ms_cpu: the meta-sketch on the CPU: the tasks of a step one after the other, each over all threads, then clipping and
 * Adam. See ms_backend.h. */
#include "ms_cpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
extern const struct ms_kernels ms_kernels_avx512, ms_kernels_avx2;
#endif
extern const struct ms_kernels ms_kernels_plain;

const struct ms_kernels *const ms_kernels[] = {
#if defined(__x86_64__)
    &ms_kernels_avx512, &ms_kernels_avx2,
#endif
    &ms_kernels_plain, NULL};

struct ms_session {
    struct ms_recipe recipe;
    const struct ms_kernels *kernels;
    struct ms_pool *pool;
    char description[80];
    struct ms_state state;
    struct ms_found found;
    double gradient[MS_PARAMETERS];              /* the sum over a step's tasks, each clipped */
    double mean[MS_NORMED], variance[MS_NORMED]; /* the state's after them */
    uint64_t *bits;
    float *frequency;
    void *workspace;
};

/* ---- a session --------------------------------------------------------------------------------------------------- */

static void cpu_close(struct ms_session *s)
{
    if (!s) return;
    ms_pool_close(s->pool);
    free(s->workspace);
    free(s->frequency);
    free(s->bits);
    free(s);
}

struct ms_session *ms_cpu_open(const struct ms_recipe *recipe, unsigned threads, const struct ms_kernels *kernels,
                               char error[BACKEND_ERROR])
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct ms_session *s = calloc(1, sizeof *s);
    snprintf(error, BACKEND_ERROR, "there is not enough memory");
    if (!s) return NULL;
    s->kernels = kernels;
    for (const struct ms_kernels *const *best = ms_kernels; !s->kernels; best++)
        if ((*best)->supported()) s->kernels = *best; /* the last one is */
    s->recipe = *recipe;
    s->pool = ms_pool_open(threads ? threads : cores > 0 ? (unsigned)cores : 1);
    s->bits = malloc(recipe->n_max * sizeof *s->bits);
    s->frequency = malloc(recipe->n_max * sizeof *s->frequency);
    if (s->pool) s->workspace = aligned_alloc(64, s->kernels->workspace(recipe->n_max, ms_pool_threads(s->pool)));
    if (!s->pool || !s->bits || !s->frequency || !s->workspace) {
        cpu_close(s);
        return NULL;
    }
    ms_state_start(recipe, &s->state);
    snprintf(s->description, sizeof s->description, "cpu, %s, %u thread%s", s->kernels->name,
             ms_pool_threads(s->pool), ms_pool_threads(s->pool) > 1 ? "s" : "");
    return s;
}

static struct ms_session *cpu_open(const struct ms_recipe *recipe, unsigned threads, char error[BACKEND_ERROR])
{
    return ms_cpu_open(recipe, threads, NULL, error);
}

static const char *cpu_describe(const struct ms_session *s)
{
    return s->description;
}

static bool cpu_load(struct ms_session *s, const struct ms_state *state)
{
    s->state = *state;
    return true;
}

static bool cpu_save(struct ms_session *s, struct ms_state *state)
{
    *state = s->state;
    return true;
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* Returns the task's number of items. */
static uint32_t do_task(struct ms_session *s, uint64_t step, uint32_t place, struct ms_found *found)
{
    struct ms_task task = ms_task_draw(&s->recipe, step * s->recipe.batch + place);
    ms_task_items(&task, s->bits, s->frequency);
    s->kernels->task(s->pool, ms_pool_threads(s->pool), task.n, s->bits, s->frequency, s->state.parameters,
                     s->workspace, found);
    return task.n;
}

static enum backend_result cpu_task(struct ms_session *s, uint64_t step, uint32_t place, struct ms_found *found)
{
    do_task(s, step, place, found);
    return BACKEND_DONE;
}

/* A task's gradient, clipped at 5, and its means and variances, into those of the step; false if it is not finite. */
static bool add_task(struct ms_session *s, uint32_t n)
{
    const struct ms_found *found = &s->found;
    double square = 0;
    for (int i = 0; i < MS_PARAMETERS; i++) square += (double)found->gradient[i] * (double)found->gradient[i];
    if (!isfinite(square) || !isfinite(found->losses.total)) return false;
    double norm = sqrt(square), clip = norm > 5 ? 5 / (norm + 1e-6) : 1, follow = 0.01 * n / s->recipe.n_max;
    for (int i = 0; i < MS_PARAMETERS; i++) s->gradient[i] += clip * (double)found->gradient[i];
    for (int i = 0; i < MS_NORMED; i++) {
        s->mean[i] += follow * (found->mean[i] - s->mean[i]);
        s->variance[i] += follow * (found->variance[i] - s->variance[i]);
    }
    return true;
}

/* Adam as PyTorch does it (Kingma, Ba 2015, with bias correction). */
static void adam(struct ms_session *s, uint32_t tasks)
{
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    struct ms_state *state = &s->state;
    double rate = ms_rate(&s->recipe, state->step), t = (double)++state->step;
    double step_size = rate / (1 - pow(beta1, t)), root = sqrt(1 - pow(beta2, t));
    for (int i = 0; i < MS_PARAMETERS; i++) {
        double g = s->gradient[i] / tasks;
        double first = beta1 * (double)state->first[i] + (1 - beta1) * g;
        double second = beta2 * (double)state->second[i] + (1 - beta2) * g * g;
        state->first[i] = (float)first;
        state->second[i] = (float)second;
        state->parameters[i] -= (float)(step_size * first / (sqrt(second) / root + epsilon));
    }
    ms_address_normalise(state->parameters + MS_AT_ADDRESS);
}

/* False, and the state as it was, if a loss or a gradient is not finite. */
static bool do_step(struct ms_session *s, struct ms_losses *mean)
{
    const uint32_t tasks = ms_recipe_batch(&s->recipe, s->state.step);
    bool finite = true;
    *mean = (struct ms_losses){0};
    memset(s->gradient, 0, sizeof s->gradient);
    memcpy(s->mean, s->state.mean, sizeof s->mean);
    memcpy(s->variance, s->state.variance, sizeof s->variance);
    for (uint32_t place = 0; place < tasks && finite; place++) {
        uint32_t n = do_task(s, s->state.step, place, &s->found);
        const struct ms_losses *l = &s->found.losses;
        mean->total += l->total / tasks;
        mean->mse += l->mse / tasks;
        mean->are += l->are / tasks;
        mean->aae += l->aae / tasks;
        finite = add_task(s, n);
    }
    if (!finite) return false;
    adam(s, tasks);
    memcpy(s->state.mean, s->mean, sizeof s->mean);
    memcpy(s->state.variance, s->variance, sizeof s->variance);
    return true;
}

static enum backend_result cpu_steps(struct ms_session *s, uint32_t count, struct ms_losses losses[], uint32_t *done)
{
    for (*done = 0; *done < count; ++*done)
        if (!do_step(s, &losses[*done])) return BACKEND_NOT_FINITE;
    return BACKEND_DONE;
}

const struct ms_backend ms_backend_cpu = {"cpu",    cpu_open, cpu_close, cpu_describe,
                                          cpu_load, cpu_save, cpu_task,  cpu_steps};
