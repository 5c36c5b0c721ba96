/* cpu: the CPU backend. The 8 tasks of a step are spread over threads; each has a gradient of its own, and these are
 * added in the order of the tasks, so the result is the same for any number of threads. */
#include "backend.h"
#include "cpu.h"
#include "parameters.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
extern const struct kernels kernels_avx512, kernels_avx2;
#endif
extern const struct kernels kernels_plain;

const struct kernels *const cpu_kernels[] = {
#if defined(__x86_64__)
    &kernels_avx512, &kernels_avx2,
#endif
    &kernels_plain, NULL};

const struct kernels *cpu_best(void)
{
    const struct kernels *const *kernels = cpu_kernels;
    while (!(*kernels)->supported()) kernels++; /* the last one is */
    return *kernels;
}

struct session {
    struct recipe recipe;
    const struct kernels *kernels;
    unsigned threads;
    char description[80];
    struct state state;
    float gradient[TRAIN_PARAMETERS];

    /* The step at work: tasks, longest first, and what each gives. */
    struct task tasks[TRAIN_BATCH];
    uint32_t order[TRAIN_BATCH];
    atomic_uint next;
    double task_gradient[TRAIN_BATCH][TRAIN_PARAMETERS];
    struct losses task_losses[TRAIN_BATCH];

    double *log2s;
    void *workspace[TRAIN_BATCH]; /* of each thread */
};

/* ---- a session -------------------------------------------------------------------------------------------------- */

static void cpu_close(struct session *s)
{
    if (!s) return;
    for (int i = 0; i < TRAIN_BATCH; i++) free(s->workspace[i]);
    free(s->log2s);
    free(s);
}

static bool allocate(struct session *s)
{
    size_t size = (s->kernels->workspace(s->recipe.n_max) + 63) / 64 * 64;
    bool ok = true;
    for (unsigned i = 0; i < s->threads; i++) ok = (s->workspace[i] = aligned_alloc(64, size)) != NULL && ok;
    s->log2s = malloc((s->recipe.n_max + (size_t)2) * sizeof *s->log2s);
    if (!ok || !s->log2s) return false;
    for (uint32_t j = 0; j <= s->recipe.n_max + 1; j++) s->log2s[j] = log2(j);
    return true;
}

struct session *cpu_open(const struct recipe *recipe, unsigned threads, const struct kernels *kernels, char error[])
{
    const char *problem = recipe_problem(recipe);
    if (problem) {
        snprintf(error, BACKEND_ERROR, "%s", problem);
        return NULL;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (threads == 0) threads = cores > 0 ? (unsigned)cores : 1;
    struct session *s = calloc(1, sizeof *s);
    if (s) {
        s->recipe = *recipe;
        s->kernels = kernels;
        s->threads = threads < TRAIN_BATCH ? threads : TRAIN_BATCH; /* a task is done by one */
        snprintf(s->description, sizeof s->description, "cpu, %s, %u thread%s", kernels->name, s->threads,
                 s->threads > 1 ? "s" : "");
    }
    if (!s || !allocate(s)) {
        cpu_close(s);
        snprintf(error, BACKEND_ERROR, "there is not enough memory");
        return NULL;
    }
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

/* ---- a step ----------------------------------------------------------------------------------------------------- */

/* What a task takes, roughly: nearly all of it is queries, which a scout has none of. */
static uint32_t work(const struct task *task)
{
    return task->scout ? 0 : task->n;
}

/* Draws the tasks, and the order to do them in: the longest first, so that threads end at about the same time. */
static void draw_tasks(struct session *s, uint64_t step)
{
    for (uint32_t t = 0; t < TRAIN_BATCH; t++) {
        s->tasks[t] = task_draw(&s->recipe, step, t);
        uint32_t i = t;
        for (; i > 0 && work(&s->tasks[s->order[i - 1]]) < work(&s->tasks[t]); i--) s->order[i] = s->order[i - 1];
        s->order[i] = t;
    }
    atomic_store(&s->next, 0);
}

static void do_tasks(struct session *s, void *workspace)
{
    unsigned i;
    while ((i = atomic_fetch_add(&s->next, 1)) < TRAIN_BATCH) {
        uint32_t t = s->order[i];
        s->kernels->task(&s->recipe, &s->tasks[t], s->state.parameters, s->log2s, workspace, s->task_gradient[t],
                         &s->task_losses[t]);
    }
}

struct helper {
    struct session *session;
    void *workspace;
    pthread_t thread;
};

static void *help(void *argument)
{
    struct helper *helper = argument;
    do_tasks(helper->session, helper->workspace);
    return NULL;
}

/* Threads live as long as a step: starting them costs microseconds, a step takes milliseconds. */
static void do_all_tasks(struct session *s)
{
    struct helper helpers[TRAIN_BATCH];
    unsigned n = 0;
    for (; n + 1 < s->threads; n++) {
        helpers[n] = (struct helper){.session = s, .workspace = s->workspace[n + 1]};
        if (pthread_create(&helpers[n].thread, NULL, help, &helpers[n]) != 0) break; /* fewer do it too */
    }
    do_tasks(s, s->workspace[0]);
    for (unsigned i = 0; i < n; i++) pthread_join(helpers[i].thread, NULL);
}

static enum backend_result gradient(struct session *s, uint64_t step, float result[TRAIN_PARAMETERS],
                                    struct losses *losses)
{
    draw_tasks(s, step);
    do_all_tasks(s);
    const float *weights = s->state.parameters + AT_LOSS;
    bool finite = true;
    for (int i = 0; i < AT_LOSS; i++) {
        double sum = 0;
        for (int t = 0; t < TRAIN_BATCH; t++) sum += s->task_gradient[t][i];
        result[i] = (float)sum;
        finite = finite && isfinite(result[i]);
    }
    loss_forward(&s->recipe, weights, s->task_losses, losses);
    loss_backward(&s->recipe, weights, losses, result + AT_LOSS);
    for (int i = AT_LOSS; i < TRAIN_PARAMETERS; i++) finite = finite && isfinite(result[i]);
    return finite && isfinite(losses->total) ? BACKEND_DONE : BACKEND_NOT_FINITE;
}

static enum backend_result steps(struct session *s, uint32_t count, struct losses losses[], uint32_t *done)
{
    for (*done = 0; *done < count; ++*done) {
        enum backend_result result = gradient(s, s->state.step, s->gradient, &losses[*done]);
        if (result != BACKEND_DONE) return result;
        if (!adam_update(&s->recipe, s->gradient, &s->state)) return BACKEND_NOT_FINITE;
    }
    return BACKEND_DONE;
}

const struct backend backend_cpu = {"cpu", open_best, cpu_close, describe, load, save, gradient, steps};
