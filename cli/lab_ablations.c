/* legosketch lab ablations: the networks without one part of the training each, as in Figure 9 of the paper, from
 * checkpoints that `legosketch train --checkpoint FILE` kept. Errors are by the number of items in a brick, as `train
 * --score` has them; with --alphas on tasks of that skewness, Figure 9 has 0.7. */
#include "lab.h"
#include "progress.h"
#include "say.h"
#include "train_score.h"
#include "training.h"

#include <stdio.h>
#include <string.h>

/* What a recipe leaves out, in words; `text` has room for all of them. */
static void variant_name(const struct recipe *recipe, char text[96])
{
    const char *const parts[] = {recipe->fixed_table ? "fixed V" : "", recipe->no_norm ? "no normalisation" : "",
                                 recipe->no_scan ? "no scan" : "", recipe->plain_loss ? "plain loss" : ""};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (text[0] != '\0' && parts[i][0] != '\0') strcat(text, ", ");
        strcat(text, parts[i]);
    }
    if (text[0] == '\0') strcpy(text, "complete");
}

static bool add_row(const lab_plan *plan, record *into, const struct run *run, const char *file, double alpha,
                    uint32_t load)
{
    score mean;
    if (!train_score_load(&backend_cpu, plan->threads, run, load, plan->quick ? 5 : SCORE_STEPS, alpha, &mean))
        return false;
    char variant[96], skew[48];
    variant_name(&run->recipe, variant);
    if (alpha >= 0) snprintf(skew, sizeof skew, "%g", alpha);
    else snprintf(skew, sizeof skew, "%g to %g", (double)run->recipe.alpha_min, (double)run->recipe.alpha_max);
    json_line row = json_begin();
    json_text(&row, "variant", variant);
    json_text(&row, "skewness", skew);
    json_text(&row, "file", file);
    json_u64(&row, "trained_tasks", run->state.step * TRAIN_BATCH);
    json_u64(&row, "trained_seed", run->recipe.seed);
    json_u64(&row, "load", load);
    json_real(&row, "rule_aae", mean.rule_aae);
    json_real(&row, "aae", mean.aae);
    json_real(&row, "rule_are", mean.rule_are);
    json_real(&row, "are", mean.are);
    record_add(into, &row);
    return true;
}

static bool score_file(const lab_plan *plan, record *into, const char *file)
{
    static struct run run;
    if (!training_read(file, &run)) return false;
    size_t rows = (plan->alpha_count > 0 ? plan->alpha_count : 1) * SCORE_LOADS;
    progress_begin("ablations", rows, plan->quiet);
    progress_describe("loads", "");
    bool ok = true;
    for (size_t i = 0; i < rows && ok; i++) {
        double alpha = plan->alpha_count > 0 ? plan->alphas[i / SCORE_LOADS] : -1;
        ok = add_row(plan, into, &run, file, alpha, score_loads[i % SCORE_LOADS]);
        progress_update(i + 1, i + 1);
    }
    progress_end();
    return ok;
}

static lab_result run(const lab_plan *plan, record *into)
{
    lab_result result = plan->checkpoint_count > 0 ? LAB_DONE : LAB_LEFT_OUT;
    for (size_t i = 0; i < plan->checkpoint_count; i++)
        if (!score_file(plan, into, plan->checkpoints[i])) result = lab_unusable(into, plan->checkpoints[i]);
    return result;
}

const lab_experiment lab_ablations = {"ablations", "Training without one of its parts, by items in a brick", "Figure 9",
                                      .run = run};
