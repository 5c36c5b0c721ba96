/* batch: many items in one call, on one thread or several.
 *
 * Bricks: each thread owns those whose number it gets modulo the size of the team, so that no cell has two writers. The
 * spill is one for all bricks: what overflows a cell is noted and added by one thread at the end of a chunk. Sums do
 * not care: the result is the same, and folds happen when the content asks for them, as with one thread.
 *
 * Blocks: notes (dense.h) are taken of some ten thousand items, each thread having a share of them; then each adds those
 * of the buckets that it owns. One thread does it the same way, since it is much faster than item by item. */
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

static void add_singly(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    enum { AHEAD = 16 };
    struct hash hash[AHEAD];
    for (size_t start = 0; start < n; start += AHEAD) {
        size_t size = n - start < AHEAD ? n - start : AHEAD;
        for (size_t i = 0; i < size; i++) {
            hash[i] = item_hash(items, start + i, sketch->seed);
            if (is_dense(sketch->model)) dense_prefetch(&sketch->dense, hash[i]);
        }
        for (size_t i = 0; i < size; i++) sketch_add(sketch, hash[i], counts ? counts[start + i] : 1);
    }
}

/* False if there is no memory for it. */
static bool add_to_bricks(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    lego_allocator *a = &sketch->allocator;
    struct adding job = {sketch, items, counts, n, a->alloc(a->context, sizeof *job.chunk)};
    if (!job.chunk) return false;
    parallel_run(sketch->threads, add_work, &job);
    a->free(a->context, job.chunk, sizeof *job.chunk);
    return true;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

enum { WINDOW = 1 << 17, /* items that notes are taken of before they are added: these take 4 MB */
       FEW = 1024 };     /* items, fewer than which are added singly */

struct noting {
    lego_sketch *sketch;
    const struct items *items;
    const int64_t *counts;
    size_t n, window;
    bool has_large; /* counts beyond NOTE_MOST */
    struct notes *notes;
    struct slot *slot;
    unsigned slots; /* of a thread */
    uint64_t *note, *sorted;
};

static bool is_large(int64_t count)
{
    return count > NOTE_MOST || count < -NOTE_MOST;
}

static void take_notes(const struct noting *job, struct notes *notes, size_t first, size_t end)
{
    const struct dense *dense = &job->sketch->dense;
    for (size_t i = first; i < end; i++) {
        int64_t count = job->counts ? job->counts[i] : 1;
        if (!is_large(count)) notes_add(notes, dense, item_hash(job->items, i, job->sketch->seed), (int32_t)count);
    }
    notes_finish(notes, dense);
}

/* Those that notes have no room for, to the blocks of this thread. */
static void add_large(const struct noting *job, unsigned index, unsigned members, size_t first, size_t end)
{
    struct dense *dense = &job->sketch->dense;
    for (size_t i = first; i < end; i++) {
        if (!is_large(job->counts[i])) continue;
        struct hash hash = item_hash(job->items, i, job->sketch->seed);
        for (unsigned which = 0; which < 2; which++) {
            struct half half = dense_half(dense, hash, which);
            if (half.block % members == index) dense_add_half(dense, &half, which, job->counts[i]);
        }
    }
}

static void note_work(void *context, struct team *team, unsigned index, unsigned members)
{
    const struct noting *job = context;
    struct dense *dense = &job->sketch->dense;
    for (size_t start = 0; start < job->n; start += job->window) {
        size_t size = job->n - start < job->window ? job->n - start : job->window;
        size_t first = size * index / members, end = size * (index + 1) / members;
        notes_init(&job->notes[index], dense, job->note + 2 * first, job->slot + (size_t)index * job->slots, job->slots);
        take_notes(job, &job->notes[index], start + first, start + end);
        parallel_wait(team);
        notes_sort(job->notes, members, index, job->sorted);
        parallel_wait(team);
        notes_apply(dense, job->notes, members, index, job->sorted, job->note);
        parallel_wait(team);
        if (!job->has_large) continue;
        add_large(job, index, members, start, start + size);
        parallel_wait(team); /* the next notes are of other threads' blocks */
    }
}

static bool add_to_blocks(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    lego_allocator *a = &sketch->allocator;
    struct noting job = {.sketch = sketch, .items = items, .counts = counts, .n = n, .window = n < WINDOW ? n : WINDOW};
    unsigned threads = n < CHUNK ? 1 : sketch->threads;
    for (job.slots = NOTE_SLOTS; job.slots > 2 && (job.slots > n || job.slots * threads > 2 * NOTE_SLOTS);) job.slots /= 2;
    size_t notes_size = threads * sizeof *job.notes, slots_size = threads * (size_t)job.slots * sizeof *job.slot;
    size_t size = notes_size + slots_size + 4 * job.window * sizeof *job.note;
    unsigned char *bytes = a->alloc(a->context, size);
    if (!bytes) return false;
    job.notes = (struct notes *)(void *)bytes;
    job.slot = (struct slot *)(void *)(bytes + notes_size);
    job.note = (uint64_t *)(void *)(bytes + notes_size + slots_size);
    job.sorted = job.note + 2 * job.window;
    for (size_t i = 0; i < n; i++) {
        int64_t count = counts ? counts[i] : 1;
        sketch->dense.total += count;
        job.has_large |= is_large(count);
    }
    parallel_run(threads, note_work, &job);
    a->free(a->context, bytes, size);
    return true;
}

static lego_status add_items(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    if (!sketch_take_counts(sketch, counts, n)) return LEGO_ERR_RANGE;
    blocks_changed(sketch);
    bool done = is_dense(sketch->model) ? n >= FEW && add_to_blocks(sketch, items, counts, n)
                                        : n >= CHUNK && sketch->threads > 1 && add_to_bricks(sketch, items, counts, n);
    if (!done) add_singly(sketch, items, counts, n);
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
    enum { AHEAD = 16 };
    struct hash hash[AHEAD];
    for (size_t start = first; start < end; start += AHEAD) {
        size_t size = end - start < AHEAD ? end - start : AHEAD;
        for (size_t i = 0; i < size; i++) {
            hash[i] = item_hash(job->items, start + i, job->sketch->seed);
            if (is_dense(job->sketch->model)) dense_prefetch(&job->sketch->dense, hash[i]);
        }
        for (size_t i = 0; i < size; i++) job->estimates[start + i] = sketch_estimate(job->sketch, hash[i]);
    }
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
