/* legosketch lab bound: how often the rule errs by more than the bound of Theorem 4.3 allows.
 *
 * The theorem is about one brick of d2 columns: P(f'' - f >= eps N) <= 1 / (eps d2). Here eps = t / d2, so the bound is
 * 1/t. The rule is the upper bound of every estimate, so it is asked of the models that have bricks: `paper`, and
 * `rule`, whose weights are whole numbers.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"
#include "say.h"

#include <stdio.h>

static const double alphas[] = {0.5, 0.7, 0.9, 1.1, 1.3, 1.5};
static const double times[] = {1, 1.5, 2, 3, 5, 10, 20, 50};
enum { TIMES = sizeof times / sizeof *times };
static const char *const models[] = {"paper", "rule"};

/* How many items are beyond each bound, all seeds together. */
typedef struct tally {
    uint64_t beyond[TIMES], asked;
    uint32_t columns;
} tally;

static lego_status measure(const lab_stream *source, const char *model, uint64_t seed, tally *sum)
{
    lego_options wanted = LEGO_OPTIONS_INIT;
    wanted.model = lego_model_builtin(model);
    wanted.budget = 0; /* just what one whole brick of 32 bits takes */
    wanted.bricks = 1;
    wanted.cell_bits = 32;
    wanted.seed = seed;
    lego_sketch *sketch;
    lego_status status = lego_sketch_create(&wanted, &sketch);
    if (status != LEGO_OK)
        return status;
    lego_sketch_info info;
    for (size_t i = 0; i < exact_size(source->content.truth) && status == LEGO_OK; i++) {
        exact_item item = exact_at(source->content.truth, i);
        status = lego_sketch_add(sketch, item.bytes, item.size, item.count);
    }
    lego_sketch_describe(sketch, &info);
    sum->columns = info.columns;
    for (size_t i = 0; i < exact_size(source->content.truth) && status == LEGO_OK; i++, sum->asked++) {
        exact_item item = exact_at(source->content.truth, i);
        lego_estimate answer;
        status = lego_sketch_estimate(sketch, item.bytes, item.size, &answer);
        for (int t = 0; t < TIMES && status == LEGO_OK; t++)
            sum->beyond[t] += (double)(answer.upper - item.count) >= times[t] * (double)info.total / info.columns;
    }
    lego_sketch_destroy(sketch);
    return status;
}

static void add_row(record *into, const lab_stream *source, const char *model, const tally *sum, int t)
{
    json_line row = record_row(into);
    double share = (double)sum->beyond[t] / (double)sum->asked;
    json_text(&row, "model", model);
    json_text(&row, "stream", source->name);
    json_real(&row, "alpha", source->alpha);
    json_u64(&row, "n", exact_size(source->content.truth));
    json_i64(&row, "N", exact_total(source->content.truth));
    json_u64(&row, "columns", sum->columns);
    json_real(&row, "times", times[t]);
    json_real(&row, "epsilon", times[t] / sum->columns);
    json_real(&row, "share", share);
    json_real(&row, "bound", 1 / times[t]);
    json_bool(&row, "holds", share <= 1 / times[t]);
    record_add(into, &row);
}

/* The bound itself as one more stream, so that a plot has it beside the others. */
static void add_bound(record *into, const char *model)
{
    for (int t = 0; t < TIMES; t++) {
        json_line row = record_row(into);
        json_text(&row, "model", model);
        json_text(&row, "stream", "the bound");
        json_real(&row, "times", times[t]);
        json_real(&row, "share", 1 / times[t]);
        record_add(into, &row);
    }
}

static lab_result run(const lab_plan *plan, record *into)
{
    uint32_t distinct = plan->distinct > 0 ? plan->distinct : 50000;
    size_t count = plan->alpha_count > 0 ? plan->alpha_count : sizeof alphas / sizeof *alphas;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        add_bound(into, models[m]);
        for (size_t i = 0; i < count; i++) {
            double alpha = plan->alpha_count > 0 ? plan->alphas[i] : alphas[i];
            char name[64];
            snprintf(name, sizeof name, "zipf %g", alpha);
            lab_stream source;
            if (!lab_stream_zipf(&source, name, distinct, alpha))
                return LAB_FAILED;
            tally sum = {.asked = 0};
            lego_status status = LEGO_OK;
            for (uint32_t s = 0; s < lab_seeds(plan) && status == LEGO_OK; s++)
                status = measure(&source, models[m], plan->seed + s, &sum);
            for (int t = 0; t < TIMES && status == LEGO_OK; t++)
                add_row(into, &source, models[m], &sum, t);
            lab_stream_free(&source);
            if (status != LEGO_OK) {
                say_status(name, status);
                return LAB_FAILED;
            }
        }
    }
    return LAB_DONE;
}

const lab_experiment lab_bound = {"bound", "How often the rule errs by more than eps N, and the bound of Theorem 4.3",
                                  "Theorem 4.3", run};
