/* paper_run: a step of the paper's networks on the CPU. Its 8 tasks are spread over threads; each has a gradient of its
 * own, and these are added in the order of the tasks, so the result is the same for any number of threads. */
#include "cpu.h"
#include "loss.h"
#include "parameters.h"

#include <stdlib.h>

struct work {
    const struct recipe *recipe;
    const struct kernels *kernels;
    struct pool *pool;
    const float *parameters;
    struct task tasks[TRAIN_BATCH];
    uint32_t order[TRAIN_BATCH]; /* the longest first, so that threads end at about the same time */
    double gradient[TRAIN_BATCH][TRAIN_PARAMETERS];
    struct losses losses[TRAIN_BATCH];
    double *log2s;
    void *workspace[TRAIN_BATCH]; /* of each thread */
};

static void work_close(void *work)
{
    struct work *w = work;
    for (int i = 0; i < TRAIN_BATCH; i++) free(w->workspace[i]);
    free(w->log2s);
    free(w);
}

static void *work_open(const struct recipe *recipe, const struct kernels *kernels, struct pool *pool)
{
    struct work *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->recipe = recipe;
    w->kernels = kernels;
    w->pool = pool;
    w->log2s = malloc((recipe->n_max + (size_t)2) * sizeof *w->log2s);
    bool ok = w->log2s != NULL;
    for (unsigned i = 0; i < pool_threads(pool); i++)
        ok = (w->workspace[i] = cpu_room(kernels->paper_workspace(recipe->n_max))) != NULL && ok;
    for (uint32_t j = 0; ok && j <= recipe->n_max + 1; j++) w->log2s[j] = log2(j);
    if (ok) return w;
    work_close(w);
    return NULL;
}

/* What a task takes, roughly: nearly all of it is queries, which a scout has none of. */
static uint32_t length(const struct task *task)
{
    return task->scout ? 0 : task->n;
}

static void draw_tasks(struct work *w, uint64_t step)
{
    for (uint32_t t = 0; t < TRAIN_BATCH; t++) {
        w->tasks[t] = task_draw(w->recipe, step, t);
        uint32_t i = t;
        for (; i > 0 && length(&w->tasks[w->order[i - 1]]) < length(&w->tasks[t]); i--) w->order[i] = w->order[i - 1];
        w->order[i] = t;
    }
}

static void do_task(void *context, unsigned part, unsigned worker)
{
    struct work *w = context;
    uint32_t t = w->order[part];
    w->kernels->paper_task(w->recipe, &w->tasks[t], w->parameters, w->log2s, w->workspace[worker], w->gradient[t],
                           &w->losses[t]);
}

static bool work_gradient(void *work, uint64_t step, const float *parameters, double *gradient, double *statistics,
                          double *losses)
{
    (void)statistics; /* there are none */
    struct work *w = work;
    w->parameters = parameters;
    draw_tasks(w, step);
    pool_run(w->pool, do_task, w, TRAIN_BATCH);
    for (int i = 0; i < AT_LOSS; i++) {
        double sum = 0;
        for (int t = 0; t < TRAIN_BATCH; t++) sum += w->gradient[t][i];
        gradient[i] = (double)(float)sum;
    }
    loss_step(w->recipe, parameters + AT_LOSS, w->losses, (struct losses *)losses, gradient + AT_LOSS);
    return true;
}

const struct cpu_net cpu_paper = {TRAIN_BATCH, work_open, work_close, work_gradient};
