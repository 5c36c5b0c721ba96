/* legosketch lab real, space, synthetic, ablations, scaling, bytes: errors on a few streams, each at a few budgets, of
 * every method or of the paper's with several models. */
#include "lab.h"
#include "load.h"
#include "say.h"

#include <math.h>
#include <stdio.h>

/* Opens stream i of an experiment. */
typedef bool open_stream(lab_stream *self, const lab_plan *plan, size_t i);

/* The budgets of a stream of so many distinct items, where none are asked for; returns how many. */
typedef size_t choose_budgets(const lab_plan *plan, double distinct, uint64_t budgets[LAB_LIST_MAX]);

static lab_result compare(const lab_plan *plan, record *into, size_t streams, open_stream *open, choose_budgets *choose)
{
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < streams; i++) {
        lab_stream source;
        if (!open(&source, plan, i)) {
            result = lab_worse(result, lab_unusable(into, source.name));
            continue;
        }
        uint64_t own[LAB_LIST_MAX];
        size_t count = plan->budget_count;
        if (count == 0) count = choose(plan, (double)exact_size(source.content.truth), own);
        result =
            lab_worse(result, lab_compare(plan, into, &source, plan->budget_count > 0 ? plan->budgets : own, count));
        content_free(&source.content);
    }
    return result;
}

/* ---- real: your streams, as in Figure 6 of the paper ------------------------------------------------------------- */

/* Bytes a distinct item, so that streams of every size have the same load, up to the next whole KB, as in the reference
 * figures for some of these streams. Those of a small stream may all be the least budget. */
static size_t add_load(double bytes_per_key, double distinct, uint64_t *budgets, size_t count)
{
    uint64_t bytes = ((uint64_t)(bytes_per_key * distinct) / 1024 + 1) * 1024;
    bytes = bytes < LEGO_BUDGET_MIN ? LEGO_BUDGET_MIN : bytes;
    if (count == 0 || bytes > budgets[count - 1]) budgets[count++] = bytes;
    return count;
}

static size_t by_load(const lab_plan *plan, double distinct, uint64_t budgets[LAB_LIST_MAX])
{
    static const double bytes_per_key[] = {0.5, 1, 2, 4};
    (void)plan;
    size_t count = 0;
    for (size_t b = 0; b < sizeof bytes_per_key / sizeof *bytes_per_key; b++)
        count = add_load(bytes_per_key[b], distinct, budgets, count);
    return count;
}

static lab_result compare_files(const lab_plan *plan, record *into, choose_budgets *choose)
{
    if (plan->file_count == 0) return LAB_LEFT_OUT;
    return compare(plan, into, (size_t)plan->file_count, lab_stream_file, choose);
}

static lab_result run_real(const lab_plan *plan, record *into)
{
    return compare_files(plan, into, by_load);
}

const lab_experiment lab_real = {"real", "Errors on real streams, by budget", "Figure 6", .run = run_real,
                                 .files = LAB_STREAMS};

/* ---- space: the same streams with far too few bytes and with far more than they need, as in Figure 2 ------------- */

static size_t by_space(const lab_plan *plan, double distinct, uint64_t budgets[LAB_LIST_MAX])
{
    static const double bytes_per_key[] = {0.125, 0.25, 0.5, 1, 1.5, 2, 2.5, 3.75, 5, 7.5, 10, 15};
    size_t count = 0;
    for (size_t b = 0; b < sizeof bytes_per_key / sizeof *bytes_per_key; b += plan->quick ? 3 : 1)
        count = add_load(bytes_per_key[b], distinct, budgets, count);
    return count;
}

static lab_result run_space(const lab_plan *plan, record *into)
{
    return compare_files(plan, into, by_space);
}

/* The methods of the paper, ours, and the exact one that needs least. */
const lab_experiment lab_space = {.name = "space",
                                  .title = "Space and accuracy: errors on real streams, from few bytes to plenty",
                                  .figure = "Figure 2",
                                  .run = run_space,
                                  .files = LAB_STREAMS,
                                  .kinds = {&estimator_cms, &estimator_cs, &estimator_lcs, &estimator_ms,
                                            &estimator_d_cms, &estimator_lego_paper, &estimator_rule_paper,
                                            &estimator_d_lego_paper, &estimator_d_lego, &estimator_lego, &estimator_cqf,
                                            &estimator_one}};

/* ---- synthetic: Zipf streams, as in Figures 7 and 10 ------------------------------------------------------------- */

static bool open_zipf(lab_stream *self, const lab_plan *plan, size_t i)
{
    return lab_stream_zipf(self, NULL, plan->distinct, plan->alphas[i]);
}

/* 300 to 2100 KB. */
static size_t as_published(const lab_plan *plan, double distinct, uint64_t budgets[LAB_LIST_MAX])
{
    (void)distinct;
    size_t count = 0;
    for (uint64_t hundreds = 3; hundreds <= 21; hundreds += 3)
        if (!plan->quick || hundreds == 3 || hundreds == 9 || hundreds == 21) budgets[count++] = hundreds * 100 * 1024;
    return count;
}

static lab_result run_synthetic(const lab_plan *plan, record *into)
{
    return compare(plan, into, plan->alpha_count, open_zipf, as_published);
}

const lab_experiment lab_synthetic = {.name = "synthetic",
                                      .title = "Errors on Zipf streams, by skewness and budget",
                                      .figure = "Figures 7 and 10",
                                      .run = run_synthetic,
                                      .distinct = 100000,
                                      .alphas = {0.5, 0.7, 0.9, 1.1, 1.3, 1.5}};

/* ---- ablations: models that were trained without a part, as whole sketches, as in Figure 9 ----------------------- */

/* Rows of the first also have the rule, of its weights, and the constant 1. */
static lab_result compare_model(const lab_plan *given, record *into, const char *file, bool first)
{
    lab_plan plan = *given;
    plan.model_file = file;
    plan.kinds[0] = &estimator_lego_paper;
    plan.kinds[1] = &estimator_rule;
    plan.kinds[2] = &estimator_one;
    plan.kind_count = first ? 3 : 1;
    lab_result result = load_model(file, &plan.model) ? compare(&plan, into, plan.alpha_count, open_zipf, as_published)
                                                      : lab_unusable(into, file);
    load_close(); /* one at a time is loaded */
    return result;
}

static lab_result run_ablations(const lab_plan *plan, record *into)
{
    lab_result result = plan->model_count > 0 ? LAB_DONE : LAB_LEFT_OUT;
    for (size_t i = 0; i < plan->model_count; i++)
        result = lab_worse(result, compare_model(plan, into, plan->models[i], record_rows(into) == 0));
    return result;
}

const lab_experiment lab_ablations = {.name = "ablations",
                                      .title = "Training without one of its parts: errors by skewness and budget",
                                      .figure = "Figure 9",
                                      .run = run_ablations,
                                      .files = LAB_MODELS,
                                      .distinct = 100000,
                                      .alphas = {0.7, 0.9, 1.1}};

/* ---- bytes: one scale for all streams, where the paper's figures have budgets of a given stream each ------------- */

/* From far too few bytes a distinct item to plenty. */
static size_t by_bytes(const lab_plan *plan, double distinct, uint64_t budgets[LAB_LIST_MAX])
{
    static const double bytes_per_key[] = {0.25, 0.5, 1, 2, 3, 4, 6, 8};
    enum { BUDGETS = sizeof bytes_per_key / sizeof *bytes_per_key };
    (void)plan;
    for (size_t b = 0; b < BUDGETS; b++) budgets[b] = (uint64_t)(bytes_per_key[b] * distinct);
    return BUDGETS;
}

static lab_result run_bytes(const lab_plan *plan, record *into)
{
    return compare(plan, into, plan->alpha_count, open_zipf, by_bytes);
}

const lab_experiment lab_bytes = {.name = "bytes",
                                  .title = "Errors by bytes a distinct item",
                                  .figure = "no figure of the paper",
                                  .run = run_bytes,
                                  .distinct = 100000,
                                  .alphas = {0.7, 1.1}};

/* ---- scaling: streams of the size of the paper's two largest ------------------------------------------------------
 *
 * With a scale below 1 the streams and the largest budget get smaller by it; the smallest budget stays one brick. */

static const struct {
    const char *name;
    double distinct, total;
} sizes[] = {{"wiki-like", 9379561, 24981163}, {"webdocs-like", 5267656, 299887139}};

static bool open_sized(lab_stream *self, const lab_plan *plan, size_t i)
{
    double distinct = fmax(round(sizes[i].distinct * plan->scale), 1), total = round(sizes[i].total * plan->scale);
    snprintf(self->name, sizeof self->name, "%s", sizes[i].name);
    if (distinct < 0x1p32 && lab_stream_sized(self, sizes[i].name, (uint32_t)distinct, (uint64_t)total)) return true;
    return say("scaling: the stream %s cannot be made at a scale of %g", sizes[i].name, plan->scale);
}

/* In equal ratios, whole KB. */
static size_t by_scale(const lab_plan *plan, double distinct, uint64_t budgets[LAB_LIST_MAX])
{
    enum { BUDGETS = 6, FIRST = 100 << 10, LAST = 140 << 20 };
    (void)distinct;
    double last = fmax(LAST * plan->scale, 2 * FIRST);
    for (int b = 0; b < BUDGETS; b++)
        budgets[b] = (uint64_t)round(FIRST * pow(last / FIRST, b / (BUDGETS - 1.0)) / 1024) * 1024;
    return BUDGETS;
}

static lab_result run_scaling(const lab_plan *plan, record *into)
{
    return compare(plan, into, sizeof sizes / sizeof *sizes, open_sized, by_scale);
}

const lab_experiment lab_scaling = {.name = "scaling",
                                    .title = "Errors from one brick of 100 KB to 140 MB",
                                    .figure = "Figure 6, Wiki and Webdocs",
                                    .run = run_scaling,
                                    .seeds = 1, /* three would take hours */
                                    .scale = 1,
                                    .quick_scale = 0.01};
