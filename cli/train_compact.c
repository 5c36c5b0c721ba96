/* legosketch train --preset compact: the networks for blocks. It takes minutes on any machine, so there are no
 * checkpoints: a run that is stopped leaves nothing behind.
 *
 * SPDX-License-Identifier: MIT */
#include "train_compact.h"

#include "compact_train.h"
#include "output.h"
#include "progress.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOG_LINES = 200 };

typedef struct watching {
    struct compact_recipe recipe;
    FILE *log;
    bool quiet, stepping;
    uint32_t every, summed;
    struct compact_losses sum;
    char remark[80];
} watching;

/* Means since the last line of the log: into the log and behind the progress bar. */
static void write_line(watching *w, uint32_t step)
{
    double n = w->summed;
    if (w->log != NULL)
        fprintf(w->log, "{\"step\":%" PRIu32 ",\"loss\":%.6g,\"aae\":%.6g,\"rule_aae\":%.6g,\"are\":%.6g,\"rule_are\":%.6g}\n",
                step, w->sum.total / n, w->sum.aae / n, w->sum.rule_aae / n, w->sum.are / n, w->sum.rule_are / n);
    snprintf(w->remark, sizeof w->remark, "AAE %.3f  ARE %.3f of the rule's", w->sum.aae / w->sum.rule_aae,
             w->sum.are / w->sum.rule_are);
    w->sum = (struct compact_losses){0};
    w->summed = 0;
}

static bool watch(void *context, bool making, uint32_t done, const struct compact_losses *l)
{
    watching *w = context;
    if (!making && !w->stepping) {
        progress_end();
        progress_begin("train", w->recipe.steps, w->quiet);
        progress_describe("steps", w->remark);
        w->stepping = true;
    }
    progress_update(done, done);
    if (making)
        return true;
    w->sum.total += l->total;
    w->sum.aae += l->aae;
    w->sum.are += l->are;
    w->sum.rule_aae += l->rule_aae;
    w->sum.rule_are += l->rule_are;
    w->summed++;
    if (done % w->every == 0 || done == w->recipe.steps)
        write_line(w, done);
    return true;
}

typedef struct trained {
    float *weights;
    const char *name;
} trained;

static lego_status save(const void *what, lego_write write, void *context)
{
    const trained *it = what;
    return compact_export(it->weights, it->name, write, context);
}

static FILE *open_log(const char *path, const struct compact_recipe *recipe)
{
    FILE *log = fopen(path, "w");
    if (log == NULL)
        say("%s: cannot be written", path);
    else
        fprintf(log, "{\"preset\":\"compact\",\"seed\":%" PRIu64 ",\"tasks\":%" PRIu32 ",\"steps\":%" PRIu32 ",\"batch\":%d}\n",
                recipe->seed, recipe->tasks, recipe->steps, COMPACT_BATCH);
    return log;
}

bool train_compact(uint64_t seed, unsigned threads, const char *output, const char *name, const char *log, bool quiet)
{
    trained model = {.name = name};
    watching w = {.recipe = {seed, COMPACT_TASKS, COMPACT_STEPS}, .quiet = quiet};
    w.every = w.recipe.steps > LOG_LINES ? w.recipe.steps / LOG_LINES : 1;
    if (!output_check(output) || (log != NULL && (w.log = open_log(log, &w.recipe)) == NULL))
        return false;
    if (threads == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores > 0 ? (unsigned)cores : 1;
    }
    progress_begin("tasks", w.recipe.tasks, quiet);
    progress_describe("tasks", "");
    enum compact_result result = compact_train(&w.recipe, threads, watch, &w, &model.weights);
    progress_end();
    bool logged = w.log == NULL || fclose(w.log) == 0;
    if (!logged)
        say("%s: could not be written", log);
    if (result == COMPACT_NO_MEMORY)
        say_no_memory();
    if (result == COMPACT_NOT_FINITE)
        say("the loss is not a number any more: nothing was written");
    bool ok = result == COMPACT_DONE && output_file(output, save, &model) && logged;
    free(model.weights);
    return ok;
}
