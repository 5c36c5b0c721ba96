/* Every method at every budget on one stream, over as many threads as there are cores; see lab.h.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"
#include "progress.h"
#include "say.h"
#include "values.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct point {
    trial spec;
    metrics result;
    uint64_t bytes;
    lego_status status;
} point;

/* Trials that threads take one after another. */
typedef struct work {
    const exact_table *truth;
    point *points;
    size_t count;
    atomic_size_t next, done;
    pthread_t drawer; /* the one thread that draws the bar */
} work;

trial lab_trial(const lab_plan *plan, const content *read, const estimator_kind *kind, uint64_t budget)
{
    return (trial){.kind = kind,
                   .model = estimator_model(kind, plan->model),
                   .budget = budget,
                   .first_seed = plan->seed,
                   .seeds = plan->seeds,
                   .order = read->keep_order ? &read->order : NULL};
}

lab_result lab_unusable(record *into, const char *name)
{
    char what[600];
    snprintf(what, sizeof what, "%s could not be used", name);
    record_failure(into, what);
    return LAB_PARTIAL;
}

static void *take_trials(void *context)
{
    work *shared = context;
    for (size_t i; (i = atomic_fetch_add(&shared->next, 1)) < shared->count;) {
        point *mine = &shared->points[i];
        mine->status = metrics_run(shared->truth, &mine->spec, &mine->result, &mine->bytes);
        size_t done = atomic_fetch_add(&shared->done, 1) + 1;
        if (pthread_equal(pthread_self(), shared->drawer)) progress_update(done, done);
    }
    return NULL;
}

static void run_trials(const lab_plan *plan, const lab_stream *source, point *points, size_t count)
{
    enum { THREADS_MAX = 64 };
    work shared = {.truth = source->content.truth, .points = points, .count = count, .drawer = pthread_self()};
    progress_begin(source->name, count, plan->quiet);
    progress_describe("trials", "");
    pthread_t threads[THREADS_MAX];
    unsigned others = plan->threads < THREADS_MAX ? plan->threads - 1 : THREADS_MAX, started = 0;
    while (started < others && pthread_create(&threads[started], NULL, take_trials, &shared) == 0) started++;
    take_trials(&shared);
    for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
    progress_end();
}

/* The row of one trial; says what went wrong with it. */
static lab_result add_row(record *into, const lab_stream *source, const point *done)
{
    json_line row = record_row(into);
    lego_model_info model = {.name = NULL};
    if (done->spec.model != NULL) lego_model_describe(done->spec.model, &model);
    json_text(&row, "stream", source->name);
    if (source->alpha >= 0) json_real(&row, "alpha", source->alpha);
    json_text(&row, "method", done->spec.kind->name);
    json_text(&row, "model", model.name);
    json_u64(&row, "budget", done->spec.budget);
    json_i64(&row, "N", exact_total(source->content.truth));
    lab_result result = LAB_DONE;
    if (done->status == LEGO_OK) {
        json_u64(&row, "n", done->result.n);
        json_u64(&row, "bytes", done->bytes);
        json_real(&row, "bytes_per_key", (double)done->spec.budget / (double)(done->result.n > 0 ? done->result.n : 1));
        json_real(&row, "aae", done->result.aae);
        json_real(&row, "are", done->result.are);
    } else {
        char budget[VALUE_TEXT], what[640];
        value_print_size(budget, done->spec.budget);
        snprintf(what, sizeof what, "%s at %s on %s is left out", done->spec.kind->name, budget, source->name);
        say_status(what, done->status);
        json_text(&row, "error", lego_status_message(done->status));
        result = done->status == LEGO_ERR_BUDGET || done->status == LEGO_ERR_ARGUMENT ? LAB_DONE : LAB_PARTIAL;
    }
    record_add(into, &row);
    return result;
}

lab_result lab_compare(const lab_plan *plan, record *into, const lab_stream *source, const uint64_t *budgets,
                       size_t count)
{
    size_t trials = plan->kind_count * count;
    point *points = calloc(trials, sizeof *points);
    if (points == NULL) {
        say_no_memory();
        return LAB_FAILED;
    }
    for (size_t i = 0; i < trials; i++) {
        const estimator_kind *kind = plan->kinds[i % plan->kind_count];
        points[i].spec = lab_trial(plan, &source->content, kind, budgets[i / plan->kind_count]);
    }
    run_trials(plan, source, points, trials);
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < trials; i++) result = lab_worse(result, add_row(into, source, &points[i]));
    free(points);
    return result;
}
