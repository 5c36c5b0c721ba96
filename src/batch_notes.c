/* batch_notes: a batch does not go to a block for every item. Notes (notes.h) are taken of many items, each thread
 * having a share of them; then each adds those of the blocks that it owns. One thread does it the same way: a dense
 * block is opened once for all its notes. To flat blocks it adds at once what its slots do not keep.
 *
 * Sums that never fall can be taken together in any way: a block goes down the ladder when it has to, and ends where
 * its content asks for. Otherwise, where blocks are dense, that depends on what comes together, and must not on the
 * number of threads: then the stretches that are noted together are windows of items. */
#include "batch.h"
#include "notes.h"

#include <string.h>

enum { STRIDE = DECODE_MOST, /* items that are looked at together */
       ALONE = 1 << 15 };    /* items, fewer than which are left to one thread */

struct noting {
    const struct batch *batch;
    size_t stretch;
    bool has_large; /* counts beyond NOTE_MOST */
    bool is_direct; /* no notes: what leaves the slots is added at once */
    struct notes *notes; /* of a thread */
    bool has_more[THREADS_MAX];
    struct slot *slot;
    unsigned slots, slot_shift; /* of a thread: 2^64 >> slot_shift */
    uint64_t *pool, *scratch;
    uint32_t chunks; /* in pool, of all threads: how many these are the system says later */
};

/* What a thread has still to take notes of. */
struct share {
    size_t next, end;     /* items */
    unsigned slot, slots; /* and after them what is in the slots */
};

/* Where what is taken goes: to notes, or straight to flat blocks. */
struct taking {
    struct notes *notes;
    struct flat_ahead ahead;
};

static bool is_large(int64_t count)
{
    return count > NOTE_MOST || count < -NOTE_MOST;
}

/* What has come out of the slots: whole strides of it are taken. */
struct passed {
    struct hash item[2 * STRIDE]; /* as struct slot has it */
    int32_t count[2 * STRIDE];
    unsigned n;
};

/* Passes items through the slots, which are on their way before the first is needed. A key need not be hashed for that:
 * it is told apart by itself. */
static void pass_items(const struct noting *job, struct slot *slot, size_t first, unsigned n, struct passed *passed)
{
    const struct items *items = job->batch->items;
    const uint64_t mix = UINT64_C(0x9e3779b97f4a7c15);
    struct hash item[STRIDE];
    struct slot *at[STRIDE];
    for (unsigned i = 0; i < n; i++) {
        item[i] = items->keys ? (struct hash){.lo = items->keys[first + i]}
                              : item_hash(items, first + i, job->batch->sketch->seed);
        at[i] = &slot[(items->keys ? item[i].lo * mix : item[i].lo) >> job->slot_shift];
        __builtin_prefetch(at[i], 1);
    }
    for (unsigned i = 0; i < n; i++) {
        int64_t count = batch_count(job->batch, first + i);
        struct slot out;
        if (is_large(count)) continue;
        bool is_out = items->keys ? slot_pass(at[i], item[i], false, (int32_t)count, &out)
                                  : slot_pass(at[i], item[i], true, (int32_t)count, &out);
        passed->item[passed->n] = out.item;
        passed->count[passed->n] = out.count;
        passed->n += is_out;
    }
}

/* Takes notes of the first n of what has passed, at most a stride; or adds them, if that is all there is to do. */
static void take(const struct noting *job, struct passed *passed, unsigned n, struct taking *to)
{
    lego_sketch *sketch = job->batch->sketch;
    const struct dense *dense = &sketch->dense;
    struct flat_items *next = &to->ahead.items[to->ahead.turn];
    struct hashes hashes;
    for (unsigned i = 0; i < n; i++) {
        hashes.lo[i] = passed->item[i].lo;
        hashes.hi[i] = passed->item[i].hi;
    }
    if (job->batch->items->keys) dense->kernels->hash_keys(hashes.lo, n, sketch->seed, &hashes);
    dense->kernels->place(&hashes, n, dense->odd, dense->mask, &next->places);
    if (job->is_direct) {
        for (unsigned i = 0; i < n; i++) next->counts[i] = passed->count[i];
        next->n = n;
        flat_add_ahead(&sketch->flat, &to->ahead);
    } else {
        notes_take(to->notes, &next->places, passed->count, n);
    }
    passed->n -= n;
    memmove(passed->item, passed->item + n, passed->n * sizeof *passed->item);
    memmove(passed->count, passed->count + n, passed->n * sizeof *passed->count);
}

/* Until the share or the room for notes is at its end. */
static void take_share(const struct noting *job, struct share *share, struct slot *slot, struct taking *to)
{
    struct passed passed = {.n = 0};
    while (notes_fit(to->notes, 4 * STRIDE) && share->next < share->end) {
        unsigned n = share->end - share->next < STRIDE ? (unsigned)(share->end - share->next) : STRIDE;
        pass_items(job, slot, share->next, n, &passed);
        share->next += n;
        if (passed.n >= STRIDE) take(job, &passed, STRIDE, to);
    }
    for (; notes_fit(to->notes, 4 * STRIDE) && share->next == share->end && share->slot < share->slots; share->slot++) {
        passed.item[passed.n] = slot[share->slot].item;
        passed.count[passed.n] = slot[share->slot].count;
        passed.n += slot[share->slot].count != 0;
        if (passed.n >= STRIDE) take(job, &passed, STRIDE, to);
    }
    take(job, &passed, passed.n, to);
    if (job->is_direct) flat_add_ahead(&job->batch->sketch->flat, &to->ahead);
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
    struct taking to = {.notes = &job->notes[index]};
    uint64_t *scratch = job->scratch + (is_flat(sketch) ? 0 : (size_t)index * NOTE_SCRATCH);
    const size_t n = job->batch->n;
    const uint32_t chunks = job->chunks / members;
    for (size_t start = 0; start < n; start += job->stretch) {
        size_t size = n - start < job->stretch ? n - start : job->stretch;
        struct share share = {start + size * index / members, start + size * (index + 1) / members, 0, job->slots};
        memset(slot, 0, job->slots * sizeof *slot);
        for (bool more = true; more;) {
            notes_start(to.notes, &sketch->dense, job->pool + (size_t)index * chunks * NOTE_CHUNK, chunks);
            take_share(job, &share, slot, &to);
            job->has_more[index] = share.slot < share.slots;
            parallel_wait(team);
            more = false;
            for (unsigned i = 0; i < members; i++) more |= job->has_more[i];
            if (is_flat(sketch)) notes_to_flat(job->notes, members, index, &sketch->flat);
            else notes_to_dense(job->notes, members, index, &sketch->dense, scratch);
            parallel_wait(team);
        }
        if (!job->has_large) continue;
        add_large(job, index, members, start, start + size);
        parallel_wait(team); /* the next notes are of other threads' blocks */
    }
}

static uint64_t bytes_of(const lego_sketch *sketch)
{
    return is_flat(sketch) ? flat_bytes(sketch->dense.blocks, FLAT_NARROW) : dense_bytes(sketch->dense.blocks);
}

/* Notes that are taken together, at most: their memory is that of the sketch, if this is the larger one. */
static uint64_t most_notes(const lego_sketch *sketch)
{
    uint64_t notes = bytes_of(sketch) / sizeof(uint64_t);
    return notes > 2 * NOTE_WINDOW ? notes : 2 * NOTE_WINDOW;
}

/* Slots of a thread. Few enough for the cache next to it; more if they are filled once for many items, and still small
 * against the sketch: an item that finds its slot far away is one cache miss, one that has none four in the sketch. */
static unsigned count_slots(const struct batch *batch, unsigned threads, bool once)
{
    uint64_t most = once ? bytes_of(batch->sketch) / 4 / sizeof(struct slot) : 0, slots = 2;
    if (most < 2 * NOTE_SLOTS) most = 2 * NOTE_SLOTS;
    while (2 * slots <= batch->n / (once ? 8 : 1) && 2 * slots * threads <= most && slots < NOTE_SLOTS_MOST) slots *= 2;
    return (unsigned)slots;
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
    bool is_long = batch->n > NOTE_WINDOW && batch->n > sketch->dense.blocks;
    if (is_long && (is_flat(sketch) || (!falls && !dense_signed(&sketch->dense)))) job.stretch = batch->n;
    job.is_direct = is_flat(sketch) && threads == 1; /* four cells that are fetched ahead cost less than two notes */
    job.slots = count_slots(batch, threads, job.stretch == batch->n);
    job.slot_shift = 64 - (unsigned)__builtin_ctz(job.slots);

    uint64_t notes = job.is_direct ? 0 : 2 * (uint64_t)batch->n, most = most_notes(sketch);
    uint64_t chunks = threads * (notes_chunks((notes < most ? notes : most) / threads) + 4 * STRIDE);
    if (chunks * NOTE_CHUNK > UINT32_MAX) return false;
    job.chunks = (uint32_t)chunks;
    size_t pools = (size_t)chunks * NOTE_CHUNK, slots = (size_t)job.slots * threads;
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
