/* batch: many items in one call, on one thread or several.
 *
 * Each thread owns the bricks whose number it gets modulo the size of the team, so that no cell has two writers. The
 * spill is one for all bricks: what overflows a cell is noted and added by one thread at the end of a chunk. Sums do
 * not care: the result is the same, and folds happen when the content asks for them, as with one thread. */
#include "parallel.h"
#include "sketch.h"

/* Items of either kind. */
struct items {
    const uint64_t *keys; /* or NULL: */
    const unsigned char *bytes;
    const uint64_t *offsets;
};

static struct hash item_hash(const struct items *items, size_t i, uint64_t seed)
{
    if (items->keys) return hash_u64(items->keys[i], seed);
    return hash_bytes(items->bytes + items->offsets[i], (size_t)(items->offsets[i + 1] - items->offsets[i]), seed);
}

static bool offsets_rise(const uint64_t *offsets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (offsets[i] > offsets[i + 1]) return false;
    return true;
}

enum { CHUNK = 1 << 15 }; /* items between two waits: their notes below take 2.6 MB */

struct chunk {
    struct hash hash[CHUNK];
    unsigned char owner[CHUNK];   /* which thread has the item's brick */
    unsigned char is_late[CHUNK]; /* bit k: row k left something for the spill, namely */
    int64_t late[CHUNK][LEGO_ROWS_MAX];
};

struct adding {
    lego_sketch *sketch;
    const struct items *items;
    const int64_t *counts;
    size_t n;
    struct chunk *chunk;
};

/* Hashes this thread's share of the chunk. */
static void hash_share(const struct adding *job, unsigned index, unsigned members, size_t start, size_t size)
{
    for (size_t i = size * index / members; i < size * (index + 1) / members; i++) {
        struct hash hash = item_hash(job->items, start + i, job->sketch->seed);
        job->chunk->hash[i] = hash;
        job->chunk->owner[i] = (unsigned char)(brick_of(&job->sketch->memory, hash_brick(hash)).number % members);
    }
}

/* Adds the items of the chunk that are in this thread's bricks. */
static void add_own(const struct adding *job, unsigned index, size_t start, size_t size)
{
    const lego_model *model = job->sketch->model;
    struct chunk *chunk = job->chunk;
    for (size_t i = 0; i < size; i++) {
        if (chunk->owner[i] != index) continue;
        struct place place;
        uint32_t weight[LEGO_ROWS_MAX];
        hash_place(chunk->hash[i], model->rows, model->table_size, &place);
        embed_weights(model, place.index, weight);
        chunk->is_late[i] = memory_add_low(&job->sketch->memory, &place, weight,
                                           job->counts ? job->counts[start + i] : 1, chunk->late[i]);
    }
}

static void add_late(const struct adding *job, size_t size)
{
    const lego_model *model = job->sketch->model;
    for (size_t i = 0; i < size; i++) {
        if (!job->chunk->is_late[i]) continue;
        struct place place;
        hash_place(job->chunk->hash[i], model->rows, model->table_size, &place);
        for (uint32_t k = 0; k < model->rows; k++)
            if (job->chunk->is_late[i] >> k & 1)
                memory_add_value(&job->sketch->memory, k, place.brick, place.column[k], job->chunk->late[i][k]);
    }
}

static void add_work(void *context, struct team *team, unsigned index, unsigned members)
{
    const struct adding *job = context;
    for (size_t start = 0; start < job->n; start += CHUNK) {
        size_t size = job->n - start < CHUNK ? job->n - start : CHUNK;
        hash_share(job, index, members, start, size);
        parallel_wait(team);
        add_own(job, index, start, size);
        parallel_wait(team);
        if (index == 0) add_late(job, size);
        parallel_wait(team);
    }
}

static lego_status add_items(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    if (!sketch_take_counts(sketch, counts, n)) return LEGO_ERR_RANGE;
    lego_allocator *a = &sketch->allocator;
    struct adding job = {sketch, items, counts, n, NULL};
    if (sketch->threads > 1 && n >= CHUNK) job.chunk = a->alloc(a->context, sizeof *job.chunk);
    if (!job.chunk) {
        for (size_t i = 0; i < n; i++) sketch_add(sketch, item_hash(items, i, sketch->seed), counts ? counts[i] : 1);
        return LEGO_OK;
    }
    parallel_run(sketch->threads, add_work, &job);
    a->free(a->context, job.chunk, sizeof *job.chunk);
    return LEGO_OK;
}

lego_status lego_sketch_add_u64s(lego_sketch *sketch, const uint64_t *items, const int64_t *counts, size_t n)
{
    return add_items(sketch, &(struct items){.keys = items}, counts, n);
}

lego_status lego_sketch_add_batch(lego_sketch *sketch, const void *bytes, const uint64_t *offsets,
                                  const int64_t *counts, size_t n)
{
    if (!offsets_rise(offsets, n)) return LEGO_ERR_ARGUMENT;
    return add_items(sketch, &(struct items){.bytes = bytes, .offsets = offsets}, counts, n);
}

struct estimating {
    const lego_sketch *sketch;
    const struct items *items;
    size_t n;
    lego_estimate *estimates;
};

static void estimate_work(void *context, struct team *team, unsigned index, unsigned members)
{
    (void)team;
    const struct estimating *job = context;
    size_t part = job->n / members, first = part * index, end = index + 1 == members ? job->n : first + part;
    for (size_t i = first; i < end; i++)
        job->estimates[i] = sketch_estimate(job->sketch, item_hash(job->items, i, job->sketch->seed));
}

static void estimate_items(const lego_sketch *sketch, const struct items *items, size_t n, lego_estimate *estimates)
{
    struct estimating job = {sketch, items, n, estimates};
    parallel_run(n < CHUNK ? 1 : sketch->threads, estimate_work, &job);
}

lego_status lego_sketch_estimate_u64s(const lego_sketch *sketch, const uint64_t *items, size_t n,
                                      lego_estimate *estimates)
{
    estimate_items(sketch, &(struct items){.keys = items}, n, estimates);
    return LEGO_OK;
}

lego_status lego_sketch_estimate_batch(const lego_sketch *sketch, const void *bytes, const uint64_t *offsets, size_t n,
                                       lego_estimate *estimates)
{
    if (!offsets_rise(offsets, n)) return LEGO_ERR_ARGUMENT;
    estimate_items(sketch, &(struct items){.bytes = bytes, .offsets = offsets}, n, estimates);
    return LEGO_OK;
}
