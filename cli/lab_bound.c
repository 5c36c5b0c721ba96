/* legosketch lab bound: how often the rule errs by more than the bound of Theorem 4.3 allows.
 *
 * The theorem is about one brick of d2 columns: P(f'' - f >= eps N) <= 1 / (eps d2). Here eps = t / d2, so the bound is
 * 1/t. The rule is the upper bound of every estimate, so it is asked of the model that has bricks: `paper`. */
#include "lab.h"
#include "legosketch_lab.h"
#include "say.h"

static const double times[] = {1, 1.5, 2, 3, 5, 10, 20, 50};
enum { TIMES = sizeof times / sizeof *times };

/* How many items are beyond each bound, all seeds together. */
typedef struct tally {
    uint64_t beyond[TIMES], asked;
    uint32_t columns;
} tally;

static lego_status measure(const exact_table *truth, uint64_t seed, tally *sum)
{
    lego_options wanted = {.model = lego_model_builtin("paper"), .seed = seed};
    lego_model_info model;
    lego_model_describe(wanted.model, &model);
    sum->columns = model.columns;
    lego_sketch *sketch;
    lego_status status = lego_lab_create(&wanted, 1, sum->columns, &sketch);
    if (status != LEGO_OK) return status;
    status = metrics_fill(truth, &estimator_rule, sketch);
    for (size_t i = 0; i < exact_size(truth) && status == LEGO_OK; i++, sum->asked++) {
        exact_item item = exact_at(truth, i);
        double upper;
        status = estimator_rule.estimate(sketch, item.bytes, item.size, &upper);
        for (int t = 0; t < TIMES && status == LEGO_OK; t++)
            sum->beyond[t] += upper - (double)item.count >= times[t] * (double)exact_total(truth) / sum->columns;
    }
    lego_destroy(sketch);
    return status;
}

/* Rows of a stream; without one, of the bound itself, so that a plot has it beside the others. */
static void add_rows(record *into, const lab_stream *source, const tally *sum)
{
    for (int t = 0; t < TIMES; t++) {
        json_line row = json_begin();
        double bound = 1 / times[t], share = source != NULL ? (double)sum->beyond[t] / (double)sum->asked : bound;
        json_text(&row, "model", "paper");
        json_text(&row, "stream", source != NULL ? source->name : "the bound");
        json_real(&row, "times", times[t]);
        json_real(&row, "share", share);
        if (source != NULL) {
            json_real(&row, "alpha", source->alpha);
            json_u64(&row, "n", exact_size(source->content.truth));
            json_i64(&row, "N", exact_total(source->content.truth));
            json_u64(&row, "columns", sum->columns);
            json_real(&row, "epsilon", times[t] / sum->columns);
            json_real(&row, "bound", bound);
            json_bool(&row, "holds", share <= bound);
        }
        record_add(into, &row);
    }
}

static lab_result run(const lab_plan *plan, record *into)
{
    add_rows(into, NULL, NULL);
    for (size_t i = 0; i < plan->alpha_count; i++) {
        lab_stream source;
        if (!lab_stream_zipf(&source, NULL, plan->distinct, plan->alphas[i])) return LAB_FAILED;
        tally sum = {.asked = 0};
        lego_status status = LEGO_OK;
        for (uint32_t s = 0; s < plan->seeds && status == LEGO_OK; s++)
            status = measure(source.content.truth, plan->seed + s, &sum);
        if (status == LEGO_OK) add_rows(into, &source, &sum);
        content_free(&source.content);
        if (!say_status(source.name, status)) return LAB_FAILED;
    }
    return LAB_DONE;
}

const lab_experiment lab_bound = {.name = "bound",
                                  .title = "How often the rule errs by more than eps N, and the bound of Theorem 4.3",
                                  .figure = "Theorem 4.3",
                                  .run = run,
                                  .distinct = 50000,
                                  .alphas = {0.5, 0.7, 0.9, 1.1, 1.3, 1.5}};
