/* batch_notes: a batch does not go to a block for every item. Notes (notes.h) are taken of many items, each thread
 * having a share of them; then each adds those of the blocks that it owns. One thread does it the same way: a block
 * is opened once for all its notes.
 *
 * Sums that never fall can be taken together in any way: a block goes down the ladder when it has to, and ends where
 * its content asks for. Otherwise that depends on what comes together, and must not on the
 * number of threads: then the stretches that are noted together are windows of items. */
#include "sketch/batch.h"
#include "sketch/notes.h"

#include <string.h>

enum {
    ALONE = 1 << 15, /* items, fewer than which are left to one thread */
    FAR = 1 << 20
}; /* bytes of a thread's notes, beyond which they would not stay in its cache anyway */

struct noting {
    const struct batch *batch;
    size_t stretch;
    bool has_large;      /* counts that are too large for a note */
    struct notes *notes; /* of a thread */
    bool has_more[THREADS_MAX];
    struct note_scratch *scratch; /* of a thread */
    uint32_t *times;              /* how often hot items came, HOT_SLOTS of them a thread */
    uint32_t *pool, *before;
    uint32_t chunks; /* there, of all threads: how many these are the system says later */
};

static bool is_large(int64_t count)
{
    return count > INT32_MAX || count < INT32_MIN;
}

/* Takes notes until the end of the items, when it returns false, or of the room for them. */
static bool take_notes(struct reader *reader, struct notes *notes)
{
    struct decode_places places;
    int64_t counts[DECODE_MOST];
    unsigned n = 1;
    while (n > 0 && notes_fit(notes, DECODE_MOST)) {
        n = reader_next(reader, &places, counts);
        int32_t count[DECODE_MOST];
        for (unsigned i = 0; notes->counted && i < n; i++) count[i] = is_large(counts[i]) ? 0 : (int32_t)counts[i];
        notes_take(notes, &places, count, n);
    }
    notes_end(notes);
    return n > 0;
}

/* Adds an item to those of its blocks that thread `index` owns. */
static void add_own(lego_sketch *sketch, struct hash hash, int64_t count, unsigned index, unsigned members)
{
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(&sketch->dense, hash, which);
        if (half.block % members != index) continue;
        dense_add_half(&sketch->dense, &half, which, count);
    }
}

/* Those of items first .. end - 1 that notes have no room for. */
static void add_large(const struct noting *job, unsigned index, unsigned members, size_t first, size_t end)
{
    lego_sketch *sketch = job->batch->sketch;
    for (size_t i = first; i < end; i++) {
        int64_t count = batch_count(job->batch, i);
        if (is_large(count)) add_own(sketch, items_hash(job->batch->items, i, sketch->seed), count, index, members);
    }
}

static void add_hot(const struct noting *job, unsigned index, unsigned members)
{
    lego_sketch *sketch = job->batch->sketch;
    for (unsigned slot = 0; slot < HOT_SLOTS; slot++) {
        int64_t sum = 0;
        for (unsigned t = 0; t < members; t++) sum += job->times[t * HOT_SLOTS + slot];
        if (sum > 0) add_own(sketch, hash_u64(job->batch->hot->key[slot], sketch->seed), sum, index, members);
    }
}

/* Of one thread, with its part of the memory. */
static struct notes make_notes(const struct noting *job, unsigned index, unsigned members)
{
    const uint32_t chunks = job->chunks / members;
    const size_t first = (size_t)index * chunks;
    return (struct notes){.pool = job->pool + first * NOTE_CHUNK,
                          .before = job->before + first,
                          .chunks = chunks,
                          .counted = job->batch->items->counts != NULL,
                          .far = chunks * (uint64_t)NOTE_CHUNK * sizeof *job->pool > FAR};
}

static void note_work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct noting *job = context;
    lego_sketch *sketch = job->batch->sketch;
    struct notes *notes = &job->notes[index];
    uint32_t *times = job->times + (size_t)index * HOT_SLOTS;
    const size_t n = job->batch->items->n;
    *notes = make_notes(job, index, members);
    memset(times, 0, HOT_SLOTS * sizeof *times);
    for (size_t start = 0; start < n; start += job->stretch) {
        size_t size = n - start < job->stretch ? n - start : job->stretch;
        struct reader reader = {.batch = job->batch, .times = times};
        reader.next = start + size * index / members;
        reader.end = start + size * (index + 1) / members;
        for (bool more = true; more;) {
            notes_start(notes, &sketch->dense);
            job->has_more[index] = take_notes(&reader, notes);
            parallel_wait(team);
            more = false;
            for (unsigned i = 0; i < members; i++) more |= job->has_more[i];
            notes_to_dense(job->notes, members, index, &sketch->dense, job->scratch + index);
            parallel_wait(team);
        }
        if (!job->has_large) continue;
        add_large(job, index, members, start, start + size);
        parallel_wait(team); /* the next notes are of other threads' blocks */
    }
    if (job->batch->hot) add_hot(job, index, members);
}

/* Words of notes that are kept at a time: all of them, but not more memory than the sketch has, unless for a window. A
 * chunk has one word more, in `before`. */
static uint64_t count_words(const struct batch *batch)
{
    const uint64_t an_item = batch->items->counts ? 4 : 2, words = an_item * batch->items->n;
    uint64_t most = dense_bytes(batch->sketch->dense.blocks) / sizeof(uint32_t) / (NOTE_CHUNK + 1) * NOTE_CHUNK;
    if (most < an_item * NOTE_WINDOW) most = an_item * NOTE_WINDOW;
    return words < most ? words : most;
}

/* Whether what becomes of a block depends on what is added together. (A batch that is no longer than a window is.) */
static bool has_falls(const struct batch *batch)
{
    if (batch->items->n <= NOTE_WINDOW) return false;
    for (size_t i = 0; batch->items->counts && i < batch->items->n; i++)
        if (batch->items->counts[i] < 0) return true;
    return dense_signed(&batch->sketch->dense);
}

bool batch_notes(const struct batch *batch)
{
    lego_sketch *sketch = batch->sketch;
    lego_allocator *a = &sketch->allocator;
    struct noting job = {.batch = batch, .stretch = batch->items->n};
    const unsigned threads = batch->items->n < ALONE ? 1 : sketch->threads;
    if (!notes_pay(&sketch->dense, batch->items->n)) return false;
    if (has_falls(batch)) job.stretch = NOTE_WINDOW;
    if (!notes_pay(&sketch->dense, job.stretch)) return false;
    for (size_t i = 0; batch->items->counts && i < batch->items->n; i++)
        job.has_large |= is_large(batch->items->counts[i]);

    const uint64_t chunks = threads * (notes_chunks(count_words(batch) / threads + 1) + 2 * DECODE_MOST);
    if (chunks > UINT32_MAX / NOTE_CHUNK) return false;
    const size_t line = NOTE_LINE * sizeof *job.pool;
    const size_t size = threads * sizeof *job.notes + line + (size_t)chunks * (NOTE_CHUNK + 1) * sizeof *job.pool +
                        threads * sizeof *job.scratch + threads * HOT_SLOTS * sizeof *job.times;
    unsigned char *bytes = a->alloc(a->context, size);
    if (!bytes) return false;
    job.chunks = (uint32_t)chunks;
    job.notes = (struct notes *)(void *)bytes;
    job.pool = (uint32_t *)(void *)(job.notes + threads);
    job.pool += (line - (uintptr_t)job.pool % line) % line / sizeof *job.pool;
    job.before = job.pool + (size_t)chunks * NOTE_CHUNK;
    job.scratch = (struct note_scratch *)(void *)(job.before + chunks);
    job.times = (uint32_t *)(void *)(job.scratch + threads);
    parallel_run(threads, note_work, &job);
    a->free(a->context, bytes, size);
    return true;
}
