/* Every method at every budget on one stream, over as many threads as there are cores; see lab.h. */
#include "lab.h"
#include "progress.h"
#include "say.h"
#include "values.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct point {
    trial spec;
    metrics result;
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
        mine->status = metrics_run(shared->truth, &mine->spec, &mine->result);
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

const char *lab_model_name(const trial *spec)
{
    lego_model_info info = {.name = NULL};
    if (spec->model != NULL) lego_model_describe(spec->model, &info);
    return info.name;
}

void lab_fields(json_line *row, const trial *spec, const metrics *result, int64_t total)
{
    json_text(row, "method", spec->kind->name);
    json_text(row, "model", lab_model_name(spec));
    json_u64(row, "budget", spec->budget);
    if (result != NULL) json_u64(row, "bytes", result->bytes);
    if (result != NULL) json_u64(row, "n", result->n);
    json_i64(row, "N", total);
    if (result != NULL) json_real(row, "aae", result->aae);
    if (result != NULL) json_real(row, "are", result->are);
}

bool lab_full(const trial *spec, lego_status status)
{
    return status == LEGO_ERR_BUDGET && spec->kind->settle != NULL;
}

const char *lab_reason(const trial *spec, lego_status status)
{
    return lab_full(spec, status) ? "the stream does not fit" : lego_status_message(status);
}

bool lab_say(const trial *spec, const char *where, lego_status status)
{
    char budget[VALUE_TEXT], what[640];
    snprintf(what, sizeof what, "%s at %s%s%s%s", spec->kind->name, value_print_size(budget, spec->budget),
             where != NULL ? " on " : "", where != NULL ? where : "", where != NULL ? " is left out" : "");
    return say_status(what, status);
}

/* Which of several models a row is of; the rule is that of one of them, and the constant 1 of none. */
static void add_variant(json_line *row, const trial *spec, const char *file)
{
    json_text(row, "variant", spec->kind == &estimator_lego_paper ? lab_model_name(spec) : spec->kind->name);
    json_text(row, "file", spec->model != NULL ? file : NULL);
}

static lab_result add_row(const lab_plan *plan, record *into, const lab_stream *source, const point *done)
{
    json_line row = json_begin();
    bool ok = !lab_full(&done->spec, done->status) && lab_say(&done->spec, source->name, done->status);
    json_text(&row, "stream", source->name);
    if (source->alpha >= 0) json_real(&row, "alpha", source->alpha);
    if (plan->model_file != NULL) add_variant(&row, &done->spec, plan->model_file);
    lab_fields(&row, &done->spec, ok ? &done->result : NULL, exact_total(source->content.truth));
    if (ok) json_real(&row, "bytes_per_key", (double)done->spec.budget / fmax((double)done->result.n, 1));
    else json_text(&row, "error", lab_reason(&done->spec, done->status));
    record_add(into, &row);
    return ok || done->status == LEGO_ERR_BUDGET || done->status == LEGO_ERR_ARGUMENT ? LAB_DONE : LAB_PARTIAL;
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
    for (size_t i = 0; i < trials; i++) result = lab_worse(result, add_row(plan, into, source, &points[i]));
    free(points);
    return result;
}
