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
    double scale = plan->scale > 0 ? plan->scale : plan->quick ? 0.02 : 0.1;
    made->distinct = (uint32_t)fmin(fmax(round(WIKI_DISTINCT * scale), 1), 4e9);
    made->budget = plan->budget_count > 0 ? plan->budgets[0] : (uint64_t)fmax(WIKI_BUDGET * scale, 102400);
    made->seed = plan->seed;
    lab_stream shape;
    if (!lab_stream_sized(&shape, "wiki-like", made->distinct, (uint64_t)(WIKI_TOTAL * scale)))
        return false;
    made->length = (size_t)exact_total(shape.content.truth);
    made->asked = made->length < made->distinct ? made->length : made->distinct;
    uint32_t *ranks = malloc(made->length * sizeof *ranks);
    made->keys = malloc(made->length * sizeof *made->keys);
    bool ok = ranks != NULL && made->keys != NULL;
    if (ok) {
        zipf_stream(made->distinct, shape.alpha, plan->seed, ranks);
        for (size_t i = 0; i < made->length; i++)
            made->keys[i] = ranks[i];
    } else {
        say_no_memory();
        free(made->keys);
    }
    free(ranks);
    lab_stream_free(&shape);
    return ok;
}

static void key_bytes(uint64_t key, unsigned char bytes[8])
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(key >> (8 * i));
}

/* ---- one item a call -------------------------------------------------------------------------------------------- */

static lego_status time_kind(const load *made, const estimator_kind *kind, timing *out)
{
    lego_options wanted = LEGO_OPTIONS_INIT;
    wanted.budget = made->budget;
    wanted.model = lab_model(kind);
    wanted.seed = made->seed;
    void *self;
    lego_status status = kind->create(&wanted, &self);
    if (status != LEGO_OK)
        return status;
    if (kind->tell != NULL)
        kind->tell(self, made->distinct);
    double start = record_clock();
    unsigned char key[8];
    for (size_t i = 0; i < made->length && status == LEGO_OK; i++) {
        key_bytes(made->keys[i], key);
        status = kind->add(self, key, sizeof key, 1);
    }
    double middle = record_clock();
    for (size_t i = 0; i < made->asked && status == LEGO_OK; i++) {
        double value;
        key_bytes(made->keys[i], key);
        status = kind->estimate(self, key, sizeof key, &value);
    }
    *out = (timing){middle - start, record_clock() - middle, kind->bytes(self)};
    kind->destroy(self);
    return status;
}

/* ---- batches ---------------------------------------------------------------------------------------------------- */

typedef struct way {
    const char *name, *model;
    lego_packing packing;
    bool all_threads;
} way;

static const way ways[] = {
    {"lego, batches", NULL, LEGO_DENSE, false},          {"lego, batches, all cores", NULL, LEGO_DENSE, true},
    {"lego flat, batches", NULL, LEGO_FLAT, false},      {"lego flat, batches, all cores", NULL, LEGO_FLAT, true},
    {"lego-paper, batches", "paper", LEGO_DENSE, false}, {"lego-paper, batches, all cores", "paper", LEGO_DENSE, true},
};
enum { WAYS = sizeof ways / sizeof *ways };

static lego_status time_way(const load *made, const way *how, unsigned threads, timing *out)
{
    enum { BATCH = 1 << 16 };
    lego_options wanted = LEGO_OPTIONS_INIT;
    wanted.budget = made->budget;
    wanted.model = lego_model_builtin(how->model);
    wanted.packing = how->packing;
    wanted.seed = made->seed;
    if (how->model != NULL) { /* as lab/lego.c has it: a brick for every 100 KB, 4-byte cells */
        wanted.bricks = made->budget < 2 * 102400 ? 1 : (uint32_t)(made->budget / 102400);
        wanted.cell_bits = 32;
    }
    lego_sketch *sketch;
    lego_estimate *answers = malloc(BATCH * sizeof *answers);
    lego_status status = answers != NULL ? lego_sketch_create(&wanted, &sketch) : LEGO_ERR_MEMORY;
    if (status != LEGO_OK) {
        free(answers);
        return status;
    }
    lego_sketch_set_threads(sketch, how->all_threads ? threads : 1);
    double start = record_clock();
    for (size_t at = 0; at < made->length && status == LEGO_OK; at += BATCH) {
        size_t n = made->length - at < BATCH ? made->length - at : BATCH;
        status = lego_sketch_add_u64s(sketch, made->keys + at, NULL, n);
    }
    double middle = record_clock();
    for (size_t at = 0; at < made->asked && status == LEGO_OK; at += BATCH) {
        size_t n = made->asked - at < BATCH ? made->asked - at : BATCH;
        status = lego_sketch_estimate_u64s(sketch, made->keys + at, n, answers);
    }
    *out = (timing){middle - start, record_clock() - middle, lego_sketch_bytes(sketch)};
    lego_sketch_destroy(sketch);
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

static lab_result run(const lab_plan *plan, record *into)
{
    load made;
    if (!make_load(plan, &made))
        return LAB_FAILED;
    size_t count = plan->kind_count + WAYS;
    int rounds = plan->quick ? 2 : 3;
    progress_begin("speed", count * (size_t)rounds, plan->quiet);
    progress_describe("runs", "");
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < count; i++) {
        const way *how = i < plan->kind_count ? NULL : &ways[i - plan->kind_count];
        const char *name = how != NULL ? how->name : plan->kinds[i]->name;
        unsigned threads = how != NULL && how->all_threads ? plan->threads : 1;
        timing best = {0}, one;
        lego_status status = LEGO_OK;
        for (int round = 0; round < rounds && status == LEGO_OK; round++) {
            status = how != NULL ? time_way(&made, how, threads, &one) : time_kind(&made, plan->kinds[i], &one);
            if (status == LEGO_OK)
                keep_fastest(&best, &one, round);
            progress_update(i * (size_t)rounds + (size_t)round + 1, i * (size_t)rounds + (size_t)round + 1);
        }
        if (status == LEGO_OK) {
            add_row(into, &made, name, threads, "store", best.bytes, (double)made.length, best.store);
            add_row(into, &made, name, threads, "query", best.bytes, (double)made.asked, best.query);
        } else {
            say_status(name, status);
            record_failure(into, name);
            result = LAB_PARTIAL;
        }
    }
    progress_end();
    free(made.keys);
    return result;
}

const lab_experiment lab_speed = {"speed", "Items stored and asked for a second, by method", "Figure 6", run};
