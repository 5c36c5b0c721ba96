/* batch: many items in one call, on one thread or several.
 *
 * Bricks: each thread owns those whose number it gets modulo the size of the team, so that no cell has two writers. The
 * spill is one for all bricks: what overflows a cell is noted and added by one thread at the end of a chunk. Sums do
 * not care: the result is the same, and folds happen when the content asks for them, as with one thread.
 *
 * Blocks: notes (dense.h) are taken of some ten thousand items, each thread having a share of them; then each adds those
 * of the buckets that it owns. One thread does it the same way, since it is much faster than item by item.
 *
 * Flat blocks: nothing is to be opened, so one thread adds as it comes. Several take notes too, so that each can have
 * blocks of its own. */
#include "parallel.h"
#include "query.h"

#include <string.h>

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
            sketch_prefetch(sketch, hash[i]);
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

enum { WINDOW = 1 << 17, /* items whose notes there is memory for: 4 MB */
       FEW = 1024,       /* items, fewer than which are added singly */
       STRIDE = 128 };   /* items that are looked at together */

/* Sums that never fall can be taken together in any way: a block goes down the ladder when it has to, and ends where its
 * content asks for. Otherwise that depends on what comes together, and must not on the number of threads: then the
 * stretches that are noted together are windows of items. */
struct noting {
    lego_sketch *sketch;
    const struct items *items;
    const int64_t *counts;
    size_t n, stretch;
    bool has_large; /* counts beyond NOTE_MOST */
    struct notes notes[THREADS_MAX];
    bool has_more[THREADS_MAX];
    struct slot *slot;
    unsigned slots, slot_shift; /* of a thread: 2^64 >> slot_shift */
    uint64_t *note, *sorted;
    size_t room; /* of a thread, in note */
};

/* What a thread has still to take notes of. */
struct share {
    size_t next, end;    /* items */
    unsigned slot, slots; /* and after them what is in the slots */
};

static bool is_large(int64_t count)
{
    return count > NOTE_MOST || count < -NOTE_MOST;
}

/* Passes items through the slots; returns for how many it has put out something to take notes of. A key need not be
 * hashed for that. */
static size_t pass_items(const struct noting *job, struct slot *slot, size_t first, size_t end, struct slot out[STRIDE])
{
    const uint64_t *keys = job->items->keys, mix = UINT64_C(0x9e3779b97f4a7c15);
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        int64_t count = job->counts ? job->counts[i] : 1;
        if (is_large(count)) continue;
        if (keys) {
            struct slot *at = &slot[keys[i] * mix >> job->slot_shift];
            n += slot_pass(at, (struct hash){.lo = keys[i]}, false, (int32_t)count, &out[n]);
        } else {
            struct hash hash = item_hash(job->items, i, job->sketch->seed);
            n += slot_pass(&slot[hash.lo >> job->slot_shift], hash, true, (int32_t)count, &out[n]);
        }
    }
    return n;
}

static void take_notes(const struct noting *job, struct notes *notes, const struct slot slot[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct hash item = slot[i].item;
        notes_take(notes, &job->sketch->dense, job->items->keys ? hash_u64(item.lo, job->sketch->seed) : item,
                   slot[i].count);
    }
}

/* Takes notes until the share or the room for them is at its end. */
static void take_share(const struct noting *job, struct share *share, struct slot *slot, struct notes *notes)
{
    struct slot out[STRIDE];
    while (notes->n + 2 * STRIDE <= job->room && share->next < share->end) {
        size_t size = share->end - share->next < STRIDE ? share->end - share->next : STRIDE;
        size_t n = pass_items(job, slot, share->next, share->next + size, out);
        take_notes(job, notes, out, n);
        share->next += size;
    }
    for (; notes->n + 2 <= job->room && share->next == share->end && share->slot < share->slots; share->slot++)
        if (slot[share->slot].count != 0) take_notes(job, notes, &slot[share->slot], 1);
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
    struct noting *job = context;
    struct dense *dense = &job->sketch->dense;
    struct slot *slot = job->slot + (size_t)index * job->slots;
    for (size_t start = 0; start < job->n; start += job->stretch) {
        size_t size = job->n - start < job->stretch ? job->n - start : job->stretch;
        struct share share = {start + size * index / members, start + size * (index + 1) / members, 0, job->slots};
        memset(slot, 0, job->slots * sizeof *slot);
        for (bool more = true; more;) {
            notes_start(&job->notes[index], dense, job->note + index * job->room);
            take_share(job, &share, slot, &job->notes[index]);
            job->has_more[index] = share.slot < share.slots;
            parallel_wait(team);
            notes_sort(job->notes, members, index, job->sorted);
            more = false;
            for (unsigned i = 0; i < members; i++) more |= job->has_more[i];
            parallel_wait(team);
            notes_apply(dense, job->notes, members, index, job->sorted, job->note);
            parallel_wait(team);
        }
        if (!job->has_large) continue;
        add_large(job, index, members, start, start + size);
        parallel_wait(team); /* the next notes are of other threads' blocks */
    }
}

static int64_t sum_counts(const int64_t *counts, size_t n)
{
    int64_t sum = counts ? 0 : (int64_t)n;
    for (size_t i = 0; counts && i < n; i++) sum += counts[i];
    return sum;
}

static bool add_to_blocks(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    lego_allocator *a = &sketch->allocator;
    struct noting job = {.sketch = sketch, .items = items, .counts = counts, .n = n, .stretch = WINDOW};
    unsigned threads = n < CHUNK ? 1 : sketch->threads;
    bool falls = false;
    job.slots = NOTE_SLOTS;
    while (job.slots > 2 && (job.slots > n || job.slots * threads > 2 * NOTE_SLOTS)) job.slots /= 2;
    job.slot_shift = 64 - (unsigned)__builtin_ctz(job.slots);
    job.room = 2 * ((n < WINDOW ? n : WINDOW) / threads + 1) + 2 * STRIDE;
    size_t slots_size = threads * (size_t)job.slots * sizeof *job.slot, notes_size = threads * job.room * sizeof *job.note;
    unsigned char *bytes = a->alloc(a->context, slots_size + 2 * notes_size);
    if (!bytes) return false;
    job.slot = (struct slot *)(void *)bytes;
    job.note = (uint64_t *)(void *)(bytes + slots_size);
    job.sorted = (uint64_t *)(void *)(bytes + slots_size + notes_size);
    sketch->dense.total += sum_counts(counts, n);
    for (size_t i = 0; counts && i < n; i++) {
        job.has_large |= is_large(counts[i]);
        falls |= counts[i] < 0;
    }
    if (n > WINDOW && n > sketch->dense.blocks && !falls && !dense_signed(&sketch->dense)) job.stretch = n;
    parallel_run(threads, note_work, &job);
    a->free(a->context, bytes, slots_size + 2 * notes_size);
    return true;
}

/* ---- flat blocks ------------------------------------------------------------------------------------------------- */

struct flat_adding {
    lego_sketch *sketch;
    const struct items *items;
    const int64_t *counts;
    size_t n;
    struct notes notes[THREADS_MAX];
    uint64_t *note, *sorted;
};

/* Takes notes of this thread's share of a window. In place of the count they have which item it is: there is room for
 * that, and none for every count. */
_Static_assert(WINDOW - 1 <= NOTE_MOST, "an item of a window has to fit a note");
static void note_places(struct flat_adding *job, struct notes *notes, size_t start, size_t first, size_t end)
{
    notes_start(notes, &job->sketch->dense, job->note + 2 * first);
    for (size_t i = first; i < end; i++)
        notes_take(notes, &job->sketch->dense, item_hash(job->items, start + i, job->sketch->seed), (int32_t)i);
}

/* Adds the notes of the buckets that this thread owns: neighbours, so that hardly a line of the memory has two owners. */
static void add_places(struct flat_adding *job, unsigned index, unsigned members, size_t start)
{
    unsigned buckets = ((job->sketch->dense.blocks - 1) >> job->notes->bucket_shift) + 1;
    unsigned own = buckets * index / members, next = buckets * (index + 1) / members;
    size_t first = 0, n = 0;
    for (unsigned b = 0; b < next; b++)
        for (unsigned t = 0; t < members; t++) *(b < own ? &first : &n) += job->notes[t].in_bucket[b];
    flat_add_notes(&job->sketch->flat, job->sorted + first, job->counts ? job->counts + start : NULL, n);
}

static void flat_work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct flat_adding *job = context;
    for (size_t start = 0; start < job->n; start += WINDOW) {
        size_t size = job->n - start < WINDOW ? job->n - start : WINDOW;
        note_places(job, &job->notes[index], start, size * index / members, size * (index + 1) / members);
        parallel_wait(team);
        notes_sort(job->notes, members, index, job->sorted);
        parallel_wait(team);
        add_places(job, index, members, start);
        parallel_wait(team);
    }
}

/* False if there is no memory for it. */
static bool add_to_flat_together(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    lego_allocator *a = &sketch->allocator;
    size_t notes = 2 * (n < WINDOW ? n : WINDOW), size = 2 * notes * sizeof(uint64_t);
    struct flat_adding job = {.sketch = sketch, .items = items, .counts = counts, .n = n};
    job.note = a->alloc(a->context, size);
    if (!job.note) return false;
    job.sorted = job.note + notes;
    parallel_run(sketch->threads, flat_work, &job);
    a->free(a->context, job.note, size);
    return true;
}

static void add_to_flat_alone(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    struct hash hash[FLAT_TOGETHER];
    for (size_t start = 0; start < n; start += FLAT_TOGETHER) {
        size_t size = n - start < FLAT_TOGETHER ? n - start : FLAT_TOGETHER;
        for (size_t i = 0; i < size; i++) hash[i] = item_hash(items, start + i, sketch->seed);
        flat_add_hashes(&sketch->flat, hash, counts ? counts + start : NULL, size);
    }
}

/* Two threads together would take as long as one alone: notes cost twice what they are of. */
static void add_to_flat(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    if (n < CHUNK || sketch->threads < 3 || !add_to_flat_together(sketch, items, counts, n))
        add_to_flat_alone(sketch, items, counts, n);
    sketch->dense.total += sum_counts(counts, n);
}

static lego_status add_items(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    lego_status status = sketch_take_counts(sketch, counts, n);
    if (status != LEGO_OK) return status;
    blocks_changed(sketch);
    if (is_flat(sketch)) {
        add_to_flat(sketch, items, counts, n);
        return LEGO_OK;
    }
    bool done = has_blocks(sketch->model) ? n >= FEW && add_to_blocks(sketch, items, counts, n)
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

/* Items of a sketch of blocks: while the reads of some are on their way, those before them are answered. */
static void query_part(const struct estimating *job, size_t first, size_t end)
{
    struct query query;
    struct decode_places place[2];
    query_start(&query, job->sketch);
    size_t before = 0;
    for (size_t start = first, turn = 0; start < end || before > 0; turn ^= 1) {
        size_t size = end - start < DECODE_MOST ? end - start : DECODE_MOST;
        for (size_t i = 0; i < size; i++)
            query_place(&query, item_hash(job->items, start + i, job->sketch->seed), &place[turn], i);
        if (before > 0) query_answer(&query, &place[turn ^ 1], (unsigned)before, job->estimates + start - before);
        start += size;
        before = size;
    }
}

static void estimate_work(void *context, struct team *team, unsigned index, unsigned members)
{
    (void)team;
    const struct estimating *job = context;
    size_t part = job->n / members, first = part * index, end = index + 1 == members ? job->n : first + part;
    if (has_blocks(job->sketch->model)) {
        query_part(job, first, end);
        return;
    }
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
