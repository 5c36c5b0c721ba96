/* compact_run: recipe, first weights, steps on the CPU, and the model. See compact_run.h. */
#include "compact_run.h"

#include "cpu.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Vectors as any CPU has them: bits do not depend on the machine, and a step is small. */
#define LEVEL 1
#include "lanes.h"

#include "compact_net.h"

struct recipe recipe_compact(void)
{
    return (struct recipe){.net = NET_COMPACT, .tasks = 320000, .batch = COMPACT_BATCH, .pool = 8000, .rate = 2e-3};
}

static const char *problem(const struct recipe *recipe)
{
    if (recipe->batch != COMPACT_BATCH) return "a step of these networks is 16 tasks";
    if (recipe->tasks % COMPACT_BATCH != 0) return "the tasks are not a multiple of 16, a step's";
    return recipe->pool < 1 || recipe->pool > 100000 ? "the tasks to draw from are not from 1 to 100000" : NULL;
}

/* (2u - 1) / sqrt(in), and an answer of 1, the rule. */
static void start(const struct recipe *recipe, struct state *state)
{
    static const struct {
        int in, out;
    } layers[] = {
#define LAYER_SIZE(layer, name, in, out) {in, out},
        COMPACT_LAYERS(LAYER_SIZE)};
    uint64_t from = split_mix(recipe->seed, 2), k = 1;
    float *at = state->parameters;
    for (size_t l = 0; l < sizeof layers / sizeof *layers; l++)
        for (int i = 0; i < (layers[l].in + 1) * layers[l].out; i++)
            *at++ = (float)((2 * split_mix_unit(from, k++) - 1) / sqrt(layers[l].in));
    memset(state->parameters + COMPACT_AT_ANSWER, 0, 24 * sizeof(float));
    state->parameters[COMPACT_AT_ANSWER + 24] = 1;
}

static lego_status save(const struct recipe *recipe, const struct state *state, const char *name, lego_write write,
                        void *context)
{
    (void)recipe;
    struct lego_model model = {.kind = MODEL_COMPACT,
                               .rows = BLOCK_ROWS,
                               .columns = 128, /* of the longest row of an empty block */
                               .quantum = BLOCK_ROWS,
                               .table_size = 1,
                               .table = {1},
                               .weights = state->average};
    if (strlen(name) >= sizeof model.name) return LEGO_ERR_ARGUMENT;
    memcpy(model.name, name, strlen(name));
    return lego_model_save(&model, write, context);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

struct work {
    const struct recipe *recipe;
    struct pool *pool;
    struct compact_task *tasks; /* [pool] */
    bool *made;                 /* [pool] */
    const float *weights;
    uint32_t chosen[COMPACT_BATCH], missing[COMPACT_BATCH];
    atomic_bool failed;
    double gradient[COMPACT_BATCH][COMPACT_WEIGHTS];
    struct compact_losses losses[COMPACT_BATCH];
    struct workspace *workspace[COMPACT_BATCH]; /* of each thread */
};

static void work_close(void *work)
{
    struct work *w = work;
    for (int i = 0; i < COMPACT_BATCH; i++) free(w->workspace[i]);
    free(w->made);
    free(w->tasks);
    free(w);
}

static void *work_open(const struct recipe *recipe, const struct kernels *kernels, struct pool *pool)
{
    (void)kernels;
    struct work *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->recipe = recipe;
    w->pool = pool;
    w->tasks = malloc(recipe->pool * sizeof *w->tasks);
    w->made = calloc(recipe->pool, sizeof *w->made);
    bool ok = w->tasks && w->made;
    for (unsigned i = 0; i < pool_threads(pool); i++)
        ok = (w->workspace[i] = cpu_room(sizeof(struct workspace))) != NULL && ok;
    if (ok) return w;
    work_close(w);
    return NULL;
}

static void make_task(void *context, unsigned part, unsigned worker)
{
    (void)worker;
    struct work *w = context;
    uint32_t number = w->missing[part];
    if (!compact_task_make(w->recipe, number, &w->tasks[number])) atomic_store(&w->failed, true);
}

static void do_task(void *context, unsigned part, unsigned worker)
{
    struct work *w = context;
    net_gradient(&w->tasks[w->chosen[part]], w->weights, w->workspace[worker], w->gradient[part], &w->losses[part]);
}

/* Chooses the tasks of a step, and makes those that no step had. */
static bool choose(struct work *w, uint64_t step)
{
    uint64_t from = split_mix(w->recipe->seed, 3);
    unsigned missing = 0;
    for (uint32_t i = 0; i < COMPACT_BATCH; i++) {
        uint32_t number = (uint32_t)(split_mix(from, step * COMPACT_BATCH + i + 1) % w->recipe->pool);
        w->chosen[i] = number;
        if (!w->made[number]) w->missing[missing++] = number;
        w->made[number] = true;
    }
    pool_run(w->pool, make_task, w, missing);
    return !w->failed;
}

static bool work_gradient(void *work, uint64_t step, const float *parameters, double *gradient, double *statistics,
                          double *losses)
{
    (void)statistics; /* there are none */
    struct work *w = work;
    struct compact_losses mean = {0};
    w->weights = parameters;
    if (!choose(w, step)) return false;
    pool_run(w->pool, do_task, w, COMPACT_BATCH);
    for (int i = 0; i < COMPACT_WEIGHTS; i++) {
        double sum = 0;
        for (int b = 0; b < COMPACT_BATCH; b++) sum += w->gradient[b][i];
        gradient[i] = sum / COMPACT_BATCH;
    }
    for (int b = 0; b < COMPACT_BATCH; b++) {
        mean.total += w->losses[b].total / COMPACT_BATCH;
        mean.aae += w->losses[b].aae / COMPACT_BATCH;
        mean.are += w->losses[b].are / COMPACT_BATCH;
        mean.rule_aae += w->losses[b].rule_aae / COMPACT_BATCH;
        mean.rule_are += w->losses[b].rule_are / COMPACT_BATCH;
    }
    memcpy(losses, &mean, sizeof mean);
    return true;
}

const struct cpu_net cpu_compact = {COMPACT_BATCH, work_open, work_close, work_gradient};

const struct net net_compact = {.name = "compact",
                                .parameters = COMPACT_WEIGHTS,
                                .losses = sizeof(struct compact_losses) / sizeof(double),
                                .loss_names = {"loss", "aae", "are", "rule_aae", "rule_are"},
                                .problem = problem,
                                .start = start,
                                .save = save,
                                .cpu = &cpu_compact};
