/* legosketch lab speed: items stored and asked for a second, method by method, as in Figure 8 of the paper: on a stream
 * of the shape of Wiki, on a CPU and on a GPU. Methods are on one core, one item a call; the Lego sketch also in
 * batches, on one core and on all; and what the published code does stands beside. */
#include "lab.h"
#include "progress.h"
#include "say.h"
#include "zipf.h"

#include <math.h>
#include <stdlib.h>
#ifdef HAVE_CUDA
#include "legosketch_cuda.h"
#endif

#define WIKI_DISTINCT 9379561.0
#define WIKI_TOTAL 24981163.0
#define WIKI_BUDGET (140.0 * 1024 * 1024)

typedef struct load {
    uint64_t *keys;       /* in the order of the stream */
    size_t length, asked; /* so many of them are asked for */
    uint64_t budget, seed;
    uint32_t distinct;
} load;

/* Seconds of the fastest of several runs: what disturbs a run only makes it slower. */
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
    return made->keys != NULL || say_no_memory();
}

/* ---- ways to store and to ask ------------------------------------------------------------------------------------ */

typedef struct way {
    const char *name;
    const estimator_kind *kind;
    bool batches; /* of a kind whose self is a lego_sketch */
    bool all_threads;
    bool gpu;
} way;

static const way batch_ways[] = {
    {"lego, batches", &estimator_lego, .batches = true},
    {"lego, batches, all cores", &estimator_lego, .batches = true, .all_threads = true},
    {"lego-paper, batches", &estimator_lego_paper, .batches = true},
    {"lego-paper, batches, all cores", &estimator_lego_paper, .batches = true, .all_threads = true},
#ifdef HAVE_CUDA
    {"lego-paper, GPU", &estimator_lego_paper, .all_threads = true, .gpu = true},
#endif
};
enum { BATCH_WAYS = sizeof batch_ways / sizeof *batch_ways, BATCH = 1 << 16 };

/* Stores the first n items of the stream, or asks for them, with room for the answers. */
static lego_status pass_singly(const load *made, const way *how, void *self, size_t n, lego_estimate *answers)
{
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < n && status == LEGO_OK; i++) {
        unsigned char key[8];
        stream_key(made->keys[i], key);
        if (answers != NULL) status = how->kind->estimate(self, key, sizeof key, &answers->value);
        else status = how->kind->add(self, key, sizeof key, 1);
    }
    return status;
}

static lego_status pass(const load *made, const way *how, void *self, size_t n, lego_estimate *answers)
{
    if (!how->batches) return pass_singly(made, how, self, n, answers);
    lego_status status = LEGO_OK;
    for (size_t at = 0; at < n && status == LEGO_OK; at += BATCH) {
        lego_items batch = {.n = n - at < BATCH ? n - at : BATCH, .integers = made->keys + at};
        status = answers != NULL ? lego_query_items(self, &batch, NULL, answers) : lego_add_items(self, &batch);
    }
    return status;
}

/* The fastest of some rounds. */
static lego_status time_way(const load *made, const way *how, unsigned threads, int rounds, timing *best)
{
    static lego_estimate answers[BATCH];
    lego_options wanted = {.budget = made->budget, .seed = made->seed};
    lego_status status = LEGO_OK;
    *best = (timing){INFINITY, INFINITY, 0};
    for (int round = 0; round < rounds && status == LEGO_OK; round++) {
        void *self;
        status = estimator_create(how->kind, &wanted, &self);
        if (status != LEGO_OK) return status;
        if (how->kind->tell != NULL) how->kind->tell(self, made->distinct);
        if (how->batches) lego_set_threads(self, threads);
        double start = progress_clock();
        status = pass(made, how, self, made->length, NULL);
        double middle = progress_clock();
        if (status == LEGO_OK) status = pass(made, how, self, made->asked, answers);
        best->store = fmin(best->store, middle - start);
        best->query = fmin(best->query, progress_clock() - middle);
        best->bytes = estimator_bytes(how->kind, self);
        estimator_destroy(how->kind, self);
    }
    return status;
}

#ifdef HAVE_CUDA
/* All in one call, from ordinary memory. A sketch takes its room on the device in its first calls, which are not timed;
 * what is timed is the stream coming once more. */
static lego_status time_on_gpu(const load *made, lego_sketch *empty, int rounds, timing *best)
{
    lego_cuda_sketch *device = NULL;
    lego_estimate *answers = malloc(made->asked * sizeof *answers);
    lego_status status = answers != NULL ? lego_cuda_upload(empty, &device) : LEGO_ERR_MEMORY;
    for (int round = 0; round <= rounds && status == LEGO_OK; round++) {
        double start = progress_clock();
        status = lego_cuda_add_u64s(device, made->keys, NULL, made->length);
        double middle = progress_clock();
        if (status == LEGO_OK) status = lego_cuda_query_u64s(device, made->keys, made->asked, NULL, answers);
        if (round == 0) continue;
        best->store = fmin(best->store, middle - start);
        best->query = fmin(best->query, progress_clock() - middle);
    }
    lego_cuda_destroy(device);
    free(answers);
    return status;
}

static lego_status time_way_on_gpu(const load *made, const way *how, unsigned threads, int rounds, timing *best)
{
    lego_options wanted = {.budget = made->budget, .seed = made->seed};
    void *self;
    lego_status status = estimator_create(how->kind, &wanted, &self);
    if (status != LEGO_OK) return status;
    *best = (timing){INFINITY, INFINITY, made->budget};
    lego_set_threads(self, threads);
    status = time_on_gpu(made, self, rounds, best);
    estimator_destroy(how->kind, self);
    return status;
}
#else
#define time_way_on_gpu time_way /* there are no such ways */
#endif

/* ---- what came of it --------------------------------------------------------------------------------------------- */

static json_line begin_row(const char *method, const char *device, int query, unsigned threads, double speed)
{
    json_line row = json_begin();
    json_text(&row, "method", method);
    json_text(&row, "device", device);
    json_text(&row, "operation", query ? "query" : "store");
    json_u64(&row, "threads", threads);
    json_real(&row, "millions_per_second", speed);
    return row;
}

/* The authors' code as it was published, measured on a machine with an H200 (reference/README.md); of the paper's
 * own figure no numbers are known but that the sketch stores 6.90 times and answers 12.47 times as fast as MS. */
static void add_published(record *into)
{
    static const struct {
        const char *name, *device;
        unsigned threads;
        double speed[2];
    } published[] = {
        {"published code", "CPU", 1, {0.90, 0.59}},
        {"published code, 16 threads", "CPU", 16, {0.93, 2.05}},
        {"published code", "GPU", 1, {154, 97}},
    };
    for (size_t i = 0; i < 2 * sizeof published / sizeof *published; i++) {
        int query = i % 2;
        json_line row = begin_row(published[i / 2].name, published[i / 2].device, query, published[i / 2].threads,
                                  published[i / 2].speed[query]);
        json_bool(&row, "published", true);
        record_add(into, &row);
    }
}

static void add_rows(record *into, const load *made, const way *how, unsigned threads, const timing *best)
{
    for (int query = 0; query < 2; query++) {
        double items = (double)(query ? made->asked : made->length), seconds = query ? best->query : best->store;
        json_line row =
            begin_row(how->name, how->gpu ? "GPU" : "CPU", query, threads, items / fmax(seconds, 1e-9) / 1e6);
        json_u64(&row, "budget", made->budget);
        json_u64(&row, "bytes", best->bytes);
        json_u64(&row, "n", made->distinct);
        json_u64(&row, "N", made->length);
        json_real(&row, "items", items);
        record_add(into, &row);
    }
}

static lab_result run(const lab_plan *plan, record *into)
{
    load made;
    if (!make_load(plan, &made)) return LAB_FAILED;
    size_t count = plan->kind_count + BATCH_WAYS;
    progress_begin("speed", count, plan->quiet);
    progress_describe("methods", "");
    lab_result result = LAB_DONE;
    for (size_t i = 0; i < count; i++) {
        way how = i < plan->kind_count ? (way){.name = plan->kinds[i]->name, .kind = plan->kinds[i]}
                                       : batch_ways[i - plan->kind_count];
        if (how.kind->settle != NULL) continue; /* a simulation, whose speed means nothing */
        unsigned threads = how.all_threads ? plan->threads : 1;
        timing best;
        lego_status status = (how.gpu ? time_way_on_gpu : time_way)(&made, &how, threads, plan->quick ? 2 : 3, &best);
        if (say_status(how.name, status)) add_rows(into, &made, &how, threads, &best);
        else result = lab_unusable(into, how.name);
        progress_update(i + 1, i + 1);
    }
    progress_end();
    add_published(into);
    free(made.keys);
    return result;
}

const lab_experiment lab_speed = {
    "speed", "Items stored and asked for a second, by method", "Figure 8", run, .scale = 0.1, .quick_scale = 0.02};
