/* ms_run: a step of the meta-sketch on the CPU. Its tasks are done one after the other, each over all threads; each
 * gradient is clipped, and Adam gets their mean. */
#include "cpu.h"

#include "adam.h"

#include <stdlib.h>
#include <string.h>

struct work {
    const struct recipe *recipe;
    const struct kernels *kernels;
    struct pool *pool;
    struct ms_found found;
    uint64_t *bits;
    float *frequency;
    void *workspace;
};

static void work_close(void *work)
{
    struct work *w = work;
    free(w->workspace);
    free(w->frequency);
    free(w->bits);
    free(w);
}

static void *work_open(const struct recipe *recipe, const struct kernels *kernels, struct pool *pool)
{
    struct work *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->recipe = recipe;
    w->kernels = kernels;
    w->pool = pool;
    w->bits = malloc(recipe->n_max * sizeof *w->bits);
    w->frequency = malloc(recipe->n_max * sizeof *w->frequency);
    w->workspace = cpu_room(kernels->ms_workspace(recipe->n_max, pool_threads(pool)));
    if (w->bits && w->frequency && w->workspace) return w;
    work_close(w);
    return NULL;
}

/* Returns the task's number of items. */
static uint32_t do_task(struct work *w, uint64_t number, const float *parameters)
{
    struct ms_task task = ms_task_draw(w->recipe, number);
    double top = ms_task_top(&task);
    for (uint32_t i = 0; i < task.n; i++) {
        w->bits[i] = ms_item_bits(&task, i);
        w->frequency[i] = ms_item_frequency(&task, top, i);
    }
    w->kernels->ms_task(w->pool, pool_threads(w->pool), task.n, w->bits, w->frequency, parameters, w->workspace,
                        &w->found);
    return task.n;
}

/* A task's gradient, clipped at 5, and its means and variances, into those of the step. What is not finite stays so. */
static void add_task(const struct work *w, uint32_t n, uint32_t tasks, double *gradient, double *statistics)
{
    const struct ms_found *found = &w->found;
    double square = 0, follow = ms_follow(w->recipe, n);
    for (int i = 0; i < MS_PARAMETERS; i++) square += (double)found->gradient[i] * (double)found->gradient[i];
    double clip = adam_clip(square, MS_CLIP);
    for (int i = 0; i < MS_PARAMETERS; i++) gradient[i] += clip * (double)found->gradient[i] / tasks;
    for (int i = 0; i < MS_NORMED; i++) {
        statistics[i] += follow * (found->mean[i] - statistics[i]);
        statistics[MS_NORMED + i] += follow * (found->variance[i] - statistics[MS_NORMED + i]);
    }
}

static bool work_gradient(void *work, uint64_t step, const float *parameters, double *gradient, double *statistics,
                          double *losses)
{
    struct work *w = work;
    const uint32_t tasks = recipe_batch(w->recipe, step);
    struct ms_losses mean = {0};
    memset(gradient, 0, MS_PARAMETERS * sizeof *gradient);
    for (uint32_t place = 0; place < tasks; place++) {
        uint32_t n = do_task(w, step * w->recipe->batch + place, parameters);
        const struct ms_losses *l = &w->found.losses;
        mean.total += l->total / tasks;
        mean.mse += l->mse / tasks;
        mean.are += l->are / tasks;
        mean.aae += l->aae / tasks;
        add_task(w, n, tasks, gradient, statistics);
    }
    memcpy(losses, &mean, sizeof mean);
    return true;
}

const struct cpu_net cpu_ms = {MS_PARTS, work_open, work_close, work_gradient};
