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
    return (struct recipe){.net = NET_COMPACT, .tasks = 960000, .batch = COMPACT_BATCH, .pool = 16000, .rate = 2e-3};
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
    memset(state->parameters + COMPACT_AT_ANSWER, 0, COMPACT_IN_ANSWER * sizeof(float));
    state->parameters[COMPACT_AT_ANSWER + COMPACT_IN_ANSWER] = 1;
}

static lego_status save(const struct recipe *recipe, const struct state *state, const char *name, lego_write write,
                        void *context)
{
    (void)recipe;
    struct lego_model model = {.kind = MODEL_COMPACT,
                               .rows = COMPACT_ROWS,
                               .columns = COMPACT_COLUMNS,
                               .quantum = COMPACT_QUANTUM,
                               .table_size = 1,
                               .table = {1},
                               .weights = state->average};
    if (strlen(name) >= sizeof model.name) return LEGO_ERR_ARGUMENT;
    memcpy(model.name, name, strlen(name));
    return lego_model_save(&model, write, context);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* The pool: tasks that some step had, NULL where none had it yet. */
typedef _Atomic(struct compact_task *) pooled;

static void *open_pool(const struct recipe *recipe)
{
    return calloc(recipe->pool, sizeof(pooled));
}

static void close_pool(const struct recipe *recipe, void *shared)
{
    pooled *pool = shared;
    for (uint32_t i = 0; i < recipe->pool; i++) free(pool[i]);
    free(pool);
}

/* A task of the pool, made if it is not there; NULL if there is not enough memory. */
static struct compact_task *find_task(const struct recipe *recipe, pooled *pool, uint32_t number)
{
    struct compact_task *there = atomic_load(&pool[number]);
    if (there) return there;
    struct compact_task *made = malloc(sizeof *made);
    if (made && compact_task_make(recipe, number, made)) {
        if (atomic_compare_exchange_strong(&pool[number], &there, made)) return made;
        free(made); /* another thread was faster: it is the same */
        return there;
    }
    free(made);
    return NULL;
}

size_t compact_workspace(const struct recipe *recipe)
{
    (void)recipe;
    return sizeof(struct workspace);
}

bool compact_task(const struct cpu_step *step, uint32_t slot, void *workspace, struct cpu_result *result)
{
    uint64_t draw = split_mix(split_mix(step->recipe->seed, 3), step->step * COMPACT_BATCH + slot + 1);
    const struct compact_task *task = find_task(step->recipe, step->shared, (uint32_t)(draw % step->recipe->pool));
    if (!task) return false;
    net_gradient(task, step->parameters, workspace, result->gradient, (struct compact_losses *)result->losses);
    result->clip = 1;
    return true;
}

const struct net net_compact = {.name = "compact",
                                .parameters = COMPACT_WEIGHTS,
                                .losses = sizeof(struct compact_losses) / sizeof(double),
                                .loss_names = {"loss", "aae", "are", "rule_aae", "rule_are"},
                                .problem = problem,
                                .start = start,
                                .save = save,
                                .open = open_pool,
                                .close = close_pool};
