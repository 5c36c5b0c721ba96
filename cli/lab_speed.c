/* legosketch lab speed: items stored and asked for a second, method by method, as in Figure 6 of the paper: on a stream
 * of the shape of Wiki, on one core, one item a call; the Lego sketch also in batches, on one core and on all.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"
#include "progress.h"
#include "say.h"
#include "zipf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIKI_DISTINCT 9379561.0
#define WIKI_TOTAL 24981163.0
#define WIKI_BUDGET (140.0 * 1024 * 1024)

typedef struct load {
    uint64_t *keys;       /* in the order of the stream */
    size_t length, asked; /* so many of them are asked for */
    uint64_t budget, seed;
    uint32_t distinct;
} load;

/* Seconds of one run, or of the fastest of several: what disturbs a run only makes it slower. */
typedef struct timing {
    double store, query;
    uint64_t bytes;
} timing;

static bool make_load(const lab_plan *plan, load *made)
{
    made->distinct = (uint32_t)fmin(fmax(round(WIKI_DISTINCT * plan->scale), 1), 4e9);
    made->budget = plan->budget_count > 0 ? plan->budgets[0] : (uint64_t)fmax(WIKI_BUDGET * plan->scale, 102400);
    made->seed = plan->seed;
    lab_stream shape;
    if (!lab_stream_sized(&shape, "wiki-like", made->distinct, (uint64_t)(WIKI_TOTAL * plan->scale))) return false;
    content_free(&shape.content);
    made->keys = zipf_keys(made->distinct, shape.alpha, plan->seed, &made->length);
    made->asked = made->length < made->distinct ? made->length : made->distinct;
    if (made->keys == NULL) say_no_memory();
    return made->keys != NULL;
}

static lego_status create(const load *made, const estimator_kind *kind, void **self)
{
    lego_options wanted = {.budget = made->budget, .seed = made->seed};
    return estimator_create(kind, &wanted, self);
}

/* ---- one item a call -------------------------------------------------------------------------------------------- */

static lego_status time_kind(const load *made, const estimator_kind *kind, timing *out)
{
    void *self;
    lego_status status = create(made, kind, &self);
    if (status != LEGO_OK) return status;
    if (kind->tell != NULL) kind->tell(self, made->distinct);
    double start = record_clock();
    unsigned char key[8];
    for (size_t i = 0; i < made->length && status == LEGO_OK; i++) {
        stream_key(made->keys[i], key);
        status = kind->add(self, key, sizeof key, 1);
    }
    double middle = record_clock();
    for (size_t i = 0; i < made->asked && status == LEGO_OK; i++) {
        double value;
        stream_key(made->keys[i], key);
        status = kind->estimate(self, key, sizeof key, &value);
    }
    *out = (timing){middle - start, record_clock() - middle, estimator_bytes(kind, self)};
    estimator_destroy(kind, self);
    return status;
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

/* How a sketch is stored into and asked; self of both kinds is a lego_sketch. */
typedef struct way {
    const char *name;
    const estimator_kind *kind;
    bool all_threads;
} way;

static const way ways[] = {
    {"lego, batches", &estimator_lego, false},
    {"lego, batches, all cores", &estimator_lego, true},
    {"lego-paper, batches", &estimator_lego_paper, false},
    {"lego-paper, batches, all cores", &estimator_lego_paper, true},
};
enum { WAYS = sizeof ways / sizeof *ways, BATCH = 1 << 16 };

/* The keys from `at` on, up to `end`. */
static lego_items batch_of(const load *made, size_t at, size_t end)
{
    return (lego_items){.n = end - at < BATCH ? end - at : BATCH, .integers = made->keys + at};
}

static lego_status time_way(const load *made, const way *how, unsigned threads, timing *out)
{
    void *self;
    lego_estimate *answers = malloc(BATCH * sizeof *answers);
    lego_status status = answers != NULL ? create(made, how->kind, &self) : LEGO_ERR_MEMORY;
    if (status != LEGO_OK) {
        free(answers);
        return status;
    }
    lego_set_threads(self, threads);
    double start = record_clock();
    for (size_t at = 0; at < made->length && status == LEGO_OK; at += BATCH) {
        lego_items batch = batch_of(made, at, made->length);
        status = lego_add_items(self, &batch);
    }
    double middle = record_clock();
    for (size_t at = 0; at < made->asked && status == LEGO_OK; at += BATCH) {
        lego_items batch = batch_of(made, at, made->asked);
        status = lego_query_items(self, &batch, answers);
    }
    *out = (timing){middle - start, record_clock() - middle, estimator_bytes(how->kind, self)};
    estimator_destroy(how->kind, self);
    free(answers);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------------- */

static void keep_fastest(timing *best, const timing *one, int round)
{
    best->store = round == 0 ? one->store : fmin(best->store, one->store);
    best->query = round == 0 ? one->query : fmin(best->query, one->query);
    best->bytes = one->bytes;
}

static void add_row(record *into, const load *made, const char *name, unsigned threads, const char *operation,
                    uint64_t bytes, double items, double seconds)
{
    json_line row = record_row(into);
    json_text(&row, "method", name);
    json_text(&row, "operation", operation);
    json_u64(&row, "threads", threads);
    json_u64(&row, "budget", made->budget);
    json_u64(&row, "bytes", bytes);
    json_u64(&row, "n", made->distinct);
    json_u64(&row, "N", made->length);
    json_real(&row, "items", items);
    json_real(&row, "millions_per_second", items / fmax(seconds, 1e-9) / 1e6);
    record_add(into, &row);
}

/* One method, one item a call, or one way of batches: the fastest of some rounds. */
static lego_status time_rounds(const load *made, const estimator_kind *kind, const way *how, unsigned threads,
                               int rounds, timing *best)
{
    lego_status status = LEGO_OK;
    for (int round = 0; round < rounds && status == LEGO_OK; round++) {
        timing one;
        status = how != NULL ? time_way(made, how, threads, &one) : time_kind(made, kind, &one);
        if (status == LEGO_OK) keep_fastest(best, &one, round);
    }
    return status;
}

static lab_result run(const lab_plan *plan, record *into)
{
    load made;
    if (!make_load(plan, &made)) return LAB_FAILED;
    size_t count = plan->kind_count + WAYS;
    progress_begin("speed", count, plan->quiet);
    progress_describe("methods", "");
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < count; i++) {
        const way *how = i < plan->kind_count ? NULL : &ways[i - plan->kind_count];
        const estimator_kind *kind = how != NULL ? how->kind : plan->kinds[i];
        const char *name = how != NULL ? how->name : kind->name;
        unsigned threads = how != NULL && how->all_threads ? plan->threads : 1;
        timing best = {0};
        lego_status status = time_rounds(&made, kind, how, threads, plan->quick ? 2 : 3, &best);
        if (status == LEGO_OK) {
            add_row(into, &made, name, threads, "store", best.bytes, (double)made.length, best.store);
            add_row(into, &made, name, threads, "query", best.bytes, (double)made.asked, best.query);
        } else {
            say_status(name, status);
            result = lab_unusable(into, name);
        }
        progress_update(i + 1, i + 1);
    }
    progress_end();
    free(made.keys);
    return result;
}

const lab_experiment lab_speed = {.name = "speed",
                                  .title = "Items stored and asked for a second, by method",
                                  .figure = "Figure 6",
                                  .run = run,
                                  .scale = 0.1,
                                  .quick_scale = 0.02};
