/* batch_notes: a batch does not go to a block for every item. Notes (notes.h) are taken of many items, each thread having
 * a share of them; then each adds those of the blocks that it owns. One thread does it the same way: a dense block is
 * opened once for all its notes, and flat ones stay in the cache while theirs come.
 *
 * Sums that never fall can be taken together in any way: a block goes down the ladder when it has to, and ends where its
 * content asks for. Otherwise, where blocks are dense, that depends on what comes together, and must not on the number
 * of threads: then the stretches that are noted together are windows of items. */
#include "batch.h"
#include "notes.h"

#include <string.h>

enum { STRIDE = DECODE_MOST, /* items that are looked at together */
       ALONE = 1 << 15 };    /* items, fewer than which are left to one thread */

struct noting {
    const struct batch *batch;
    size_t stretch;
    bool has_large; /* counts beyond NOTE_MOST */
    struct notes *notes; /* of a thread */
    bool has_more[THREADS_MAX];
    struct slot *slot;
    unsigned slots, slot_shift; /* of a thread: 2^64 >> slot_shift */
    uint64_t *pool, *scratch;
    uint32_t chunks; /* of a thread, in pool */
};

/* What a thread has still to take notes of. */
struct share {
    size_t next, end;     /* items */
    unsigned slot, slots; /* and after them what is in the slots */
};

static bool is_large(int64_t count)
{
    return count > NOTE_MOST || count < -NOTE_MOST;
}

/* What comes out of the slots, on its way to be noted. */
struct passed {
    uint64_t key[STRIDE]; /* if items are keys; else */
    struct hashes hashes;
    int32_t count[STRIDE];
    unsigned n;
};

/* Passes items through the slots. A key need not be hashed for that. */
static void pass_items(const struct noting *job, struct slot *slot, size_t first, size_t end, struct passed *passed)
{
    const uint64_t *keys = job->batch->items->keys, mix = UINT64_C(0x9e3779b97f4a7c15);
    passed->n = 0;
    for (size_t i = first; i < end; i++) {
        int64_t count = batch_count(job->batch, i);
        struct slot out;
        bool is_out;
        if (is_large(count)) continue;
        if (keys) {
            struct slot *at = &slot[keys[i] * mix >> job->slot_shift];
            is_out = slot_pass(at, (struct hash){.lo = keys[i]}, false, (int32_t)count, &out);
            passed->key[passed->n] = out.item.lo;
        } else {
            struct hash hash = item_hash(job->batch->items, i, job->batch->sketch->seed);
            is_out = slot_pass(&slot[hash.lo >> job->slot_shift], hash, true, (int32_t)count, &out);
            passed->hashes.lo[passed->n] = out.item.lo;
            passed->hashes.hi[passed->n] = out.item.hi;
        }
        passed->count[passed->n] = out.count;
        passed->n += is_out;
    }
}

static void take_notes(const struct noting *job, struct passed *passed, struct notes *notes)
{
    const lego_sketch *sketch = job->batch->sketch;
    const struct dense *dense = &sketch->dense;
    struct decode_places places;
    if (job->batch->items->keys) dense->kernels->hash_keys(passed->key, passed->n, sketch->seed, &passed->hashes);
    dense->kernels->place(&passed->hashes, passed->n, dense->odd, dense->mask, &places);
    notes_take(notes, &places, passed->count, passed->n);
}

/* Takes notes until the share or the room for them is at its end. */
static void take_share(const struct noting *job, struct share *share, struct slot *slot, struct notes *notes)
{
    const bool keys = job->batch->items->keys;
    struct passed passed;
    while (notes_fit(notes, 2 * STRIDE) && share->next < share->end) {
        size_t size = share->end - share->next < STRIDE ? share->end - share->next : STRIDE;
        pass_items(job, slot, share->next, share->next + size, &passed);
        take_notes(job, &passed, notes);
        share->next += size;
    }
    while (notes_fit(notes, 2 * STRIDE) && share->next == share->end && share->slot < share->slots) {
        for (passed.n = 0; passed.n < STRIDE && share->slot < share->slots; share->slot++) {
            if (slot[share->slot].count == 0) continue;
            if (keys) passed.key[passed.n] = slot[share->slot].item.lo;
            passed.hashes.lo[passed.n] = slot[share->slot].item.lo;
            passed.hashes.hi[passed.n] = slot[share->slot].item.hi;
            passed.count[passed.n++] = slot[share->slot].count;
        }
        take_notes(job, &passed, notes);
    }
}

/* Those that notes have no room for, to the blocks of this thread. */
static void add_large(const struct noting *job, unsigned index, unsigned members, size_t first, size_t end)
{
    lego_sketch *sketch = job->batch->sketch;
    for (size_t i = first; i < end; i++) {
        int64_t count = batch_count(job->batch, i);
        if (!is_large(count)) continue;
        struct hash hash = item_hash(job->batch->items, i, sketch->seed);
        for (unsigned which = 0; which < 2; which++) {
            struct half half = dense_half(&sketch->dense, hash, which);
            if (half.block % members != index) continue;
            if (is_flat(sketch)) flat_add_half(&sketch->flat, &half, which, count);
            else dense_add_half(&sketch->dense, &half, which, count);
        }
    }
}

static void note_work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct noting *job = context;
    lego_sketch *sketch = job->batch->sketch;
    struct slot *slot = job->slot + (size_t)index * job->slots;
    const size_t n = job->batch->n;
    for (size_t start = 0; start < n; start += job->stretch) {
        size_t size = n - start < job->stretch ? n - start : job->stretch;
        struct share share = {start + size * index / members, start + size * (index + 1) / members, 0, job->slots};
        memset(slot, 0, job->slots * sizeof *slot);
        for (bool more = true; more;) {
            notes_start(&job->notes[index], &sketch->dense, job->pool + (size_t)index * job->chunks * NOTE_CHUNK,
                        job->chunks);
            take_share(job, &share, slot, &job->notes[index]);
            job->has_more[index] = share.slot < share.slots;
            parallel_wait(team);
            more = false;
            for (unsigned i = 0; i < members; i++) more |= job->has_more[i];
            if (is_flat(sketch)) notes_to_flat(job->notes, members, index, &sketch->flat);
            else notes_to_dense(job->notes, members, index, &sketch->dense, job->scratch + (size_t)index * NOTE_SCRATCH);
            parallel_wait(team);
        }
        if (!job->has_large) continue;
        add_large(job, index, members, start, start + size);
        parallel_wait(team); /* the next notes are of other threads' blocks */
    }
}

/* Notes that are taken together, at most: their memory is that of the sketch, if this is the larger one. */
static uint64_t most_notes(const lego_sketch *sketch)
{
    uint64_t bytes = is_flat(sketch) ? flat_bytes(sketch->dense.blocks, FLAT_NARROW) : dense_bytes(sketch->dense.blocks);
    return bytes / sizeof(uint64_t) > 2 * NOTE_WINDOW ? bytes / sizeof(uint64_t) : 2 * NOTE_WINDOW;
}

bool batch_notes(const struct batch *batch)
{
    lego_sketch *sketch = batch->sketch;
    lego_allocator *a = &sketch->allocator;
    struct noting job = {.batch = batch, .stretch = NOTE_WINDOW};
    const unsigned threads = batch->n < ALONE ? 1 : sketch->threads;
    bool falls = false;
    for (size_t i = 0; batch->counts && i < batch->n; i++) {
        job.has_large |= is_large(batch->counts[i]);
        falls |= batch->counts[i] < 0;
    }
    bool any_order = is_flat(sketch) || (!falls && !dense_signed(&sketch->dense));
    if (any_order && batch->n > NOTE_WINDOW && batch->n > sketch->dense.blocks) job.stretch = batch->n;
    job.slots = NOTE_SLOTS;
    while (job.slots > 2 && (job.slots > batch->n || job.slots * threads > 2 * NOTE_SLOTS)) job.slots /= 2;
    job.slot_shift = 64 - (unsigned)__builtin_ctz(job.slots);

    uint64_t notes = 2 * (uint64_t)batch->n, most = most_notes(sketch);
    uint64_t chunks = notes_chunks((notes < most ? notes : most) / threads) + 2 * STRIDE;
    if (chunks * NOTE_CHUNK > UINT32_MAX) return false;
    job.chunks = (uint32_t)chunks;
    size_t pools = (size_t)chunks * NOTE_CHUNK * threads, slots = (size_t)job.slots * threads;
    size_t scratches = is_flat(sketch) ? 0 : (size_t)NOTE_SCRATCH * threads;
    size_t size = (pools + scratches) * sizeof *job.pool + slots * sizeof *job.slot + threads * sizeof *job.notes;
    unsigned char *bytes = a->alloc(a->context, size);
    if (!bytes) return false;
    job.pool = (uint64_t *)(void *)bytes;
    job.scratch = job.pool + pools;
    job.slot = (struct slot *)(void *)(job.scratch + scratches);
    job.notes = (struct notes *)(void *)(job.slot + slots);
    parallel_run(threads, note_work, &job);
    a->free(a->context, bytes, size);
    return true;
}
