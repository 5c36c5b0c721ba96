/* compact_train: loss, gradient and the loop of training a compact model. See compact_train.h. */
#include "compact_task.h"
#include "train.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* The vectors of layers.h as any CPU has them: bits do not depend on the machine, and a step is small. */
#define real float
#define LANES 4
#define TILE_ROWS 4
#define TILE_COLUMNS 2
#define TILE_OUT 2
#define TILE_IN 4
#include "compact_net.h"

static size_t workspace_size(void)
{
    return (sizeof(struct workspace) + 63) / 64 * 64;
}

/* ---- the loop ----------------------------------------------------------------------------------------------------- */

struct training {
    struct compact_recipe recipe;
    unsigned threads;
    struct compact_task *tasks;
    float weights[COMPACT_WEIGHTS];
    double first[COMPACT_WEIGHTS], second[COMPACT_WEIGHTS], average[COMPACT_WEIGHTS];
    double gradient[COMPACT_BATCH][COMPACT_WEIGHTS];
    struct compact_losses losses[COMPACT_BATCH];
    uint32_t chosen[COMPACT_BATCH];
    atomic_uint next, end; /* tasks to make, or of the batch */
    atomic_bool failed;
    bool making;
    void *workspace[COMPACT_BATCH];
};

struct worker {
    struct training *training;
    void *workspace;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct training *t = worker->training;
    for (unsigned i; (i = atomic_fetch_add(&t->next, 1)) < t->end;) {
        if (!t->making) {
            net_gradient(&t->tasks[t->chosen[i]], t->weights, worker->workspace, t->gradient[i], &t->losses[i]);
        } else if (!compact_task_make(&t->recipe, i, &t->tasks[i])) {
            atomic_store(&t->failed, true);
        }
    }
    return NULL;
}

/* Does items `from` to `to` with all threads. */
static void work_together(struct training *t, unsigned from, unsigned to)
{
    struct worker workers[COMPACT_BATCH];
    unsigned started = 0;
    atomic_store(&t->next, from);
    atomic_store(&t->end, to);
    for (; started + 1 < t->threads; started++) {
        workers[started] = (struct worker){.training = t, .workspace = t->workspace[started + 1]};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) break;
    }
    work(&(struct worker){.training = t, .workspace = t->workspace[0]});
    for (unsigned i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
}

/* Weights as they start: (2u - 1) / sqrt(in), and an answer of 1, the rule. */
static void start(struct training *t)
{
    static const struct {
        int in, out;
    } layers[] = {
#define LAYER_SIZE(layer, name, in, out) {in, out},
        COMPACT_LAYERS(LAYER_SIZE)};
    uint64_t from = split_mix(t->recipe.seed, 2), k = 1;
    float *at = t->weights;
    for (size_t l = 0; l < sizeof layers / sizeof *layers; l++)
        for (int i = 0; i < (layers[l].in + 1) * layers[l].out; i++)
            *at++ = (float)((2 * ((double)(split_mix(from, k++) >> 11) * 0x1p-53) - 1) / sqrt(layers[l].in));
    memset(t->weights + COMPACT_AT_ANSWER, 0, 24 * sizeof(float));
    t->weights[COMPACT_AT_ANSWER + 24] = 1;
}

static bool adam(struct training *t, uint32_t step)
{
    double square = 0, progress = (double)step / t->recipe.steps, rate = 2e-3 * fmax(0.02, 1 - progress);
    double *sum = t->gradient[0];
    for (int i = 0; i < COMPACT_WEIGHTS; i++) {
        for (int b = 1; b < COMPACT_BATCH; b++) sum[i] += t->gradient[b][i];
        sum[i] /= COMPACT_BATCH;
        square += sum[i] * sum[i];
    }
    if (!isfinite(square)) return false;
    double clip = square > 1 ? 1 / sqrt(square) : 1, one = 1 - pow(0.9, step + 1.0), two = 1 - pow(0.999, step + 1.0);
    double share = 10 / (double)t->recipe.steps;
    for (int i = 0; i < COMPACT_WEIGHTS; i++) {
        double g = clip * sum[i];
        t->first[i] += 0.1 * (g - t->first[i]);
        t->second[i] += 0.001 * (g * g - t->second[i]);
        t->weights[i] -= (float)(rate * t->first[i] / one / (sqrt(t->second[i] / two) + 1e-8));
        if (step == 0) t->average[i] = (double)t->weights[i];
        t->average[i] += fmin(1, share) * ((double)t->weights[i] - t->average[i]);
    }
    return true;
}

static struct compact_losses mean_losses(const struct compact_losses l[COMPACT_BATCH])
{
    struct compact_losses mean = {0};
    for (int b = 0; b < COMPACT_BATCH; b++) {
        mean.total += l[b].total / COMPACT_BATCH;
        mean.aae += l[b].aae / COMPACT_BATCH;
        mean.are += l[b].are / COMPACT_BATCH;
        mean.rule_aae += l[b].rule_aae / COMPACT_BATCH;
        mean.rule_are += l[b].rule_are / COMPACT_BATCH;
    }
    return mean;
}

static enum compact_result make_tasks(struct training *t, compact_report report, void *context)
{
    t->making = true;
    for (uint32_t from = 0; from < t->recipe.tasks;) {
        uint32_t to = from + 32 < t->recipe.tasks ? from + 32 : t->recipe.tasks;
        work_together(t, from, to);
        if (t->failed) return COMPACT_NO_MEMORY;
        if (!report(context, true, to, NULL)) return COMPACT_STOPPED;
        from = to;
    }
    t->making = false;
    return COMPACT_DONE;
}

static enum compact_result do_steps(struct training *t, compact_report report, void *context)
{
    uint64_t from = split_mix(t->recipe.seed, 3);
    for (uint32_t step = 0; step < t->recipe.steps; step++) {
        for (uint32_t b = 0; b < COMPACT_BATCH; b++)
            t->chosen[b] = (uint32_t)(split_mix(from, (uint64_t)step * COMPACT_BATCH + b + 1) % t->recipe.tasks);
        work_together(t, 0, COMPACT_BATCH);
        struct compact_losses mean = mean_losses(t->losses);
        if (!adam(t, step)) return COMPACT_NOT_FINITE;
        if (!report(context, false, step + 1, &mean)) return COMPACT_STOPPED;
    }
    return COMPACT_DONE;
}

enum compact_result compact_train(const struct compact_recipe *recipe, unsigned threads, compact_report report, void *context,
                                  float **weights)
{
    struct training *t = calloc(1, sizeof *t);
    *weights = NULL;
    if (!t) return COMPACT_NO_MEMORY;
    t->recipe = *recipe;
    t->threads = threads < 1 ? 1 : threads > COMPACT_BATCH ? COMPACT_BATCH : threads;
    t->tasks = malloc(recipe->tasks * sizeof *t->tasks);
    bool ok = t->tasks != NULL;
    for (unsigned i = 0; i < t->threads; i++) ok = (t->workspace[i] = aligned_alloc(64, workspace_size())) != NULL && ok;
    enum compact_result result = ok ? make_tasks(t, report, context) : COMPACT_NO_MEMORY;
    if (result == COMPACT_DONE) {
        start(t);
        result = do_steps(t, report, context);
    }
    if (result == COMPACT_DONE) {
        *weights = malloc(sizeof t->weights);
        if (!*weights) result = COMPACT_NO_MEMORY;
        for (int i = 0; *weights && i < COMPACT_WEIGHTS; i++) (*weights)[i] = (float)t->average[i];
    }
    for (unsigned i = 0; i < t->threads; i++) free(t->workspace[i]);
    free(t->tasks);
    free(t);
    return result;
}

lego_status compact_export(const float *weights, const char *name, lego_write write, void *context)
{
    struct lego_model model = {.kind = MODEL_COMPACT,
                               .rows = BLOCK_ROWS,
                               .columns = 128, /* of the longest row of an empty block */
                               .quantum = BLOCK_ROWS,
                               .table_size = 1,
                               .table = {1},
                               .weights = weights};
    strncpy(model.name, name, sizeof model.name - 1);
    return lego_model_save(&model, write, context);
}
