/* batch: see batch.h. */
#include "sketch/batch.h"

#include <string.h>

#include "core/parallel.h"
#include "sketch/partition.h"
#include "sketch/tally.h"

enum {
    FEW = 256,       /* items, fewer than which are added as they come */
    MANY = 1 << 16,  /* items, from which on the frequent ones are looked for */
    ALONE = 1 << 15, /* items, fewer than which are left to one thread */
    AHEAD = 16       /* items whose blocks are on their way while others are added */
};
#define WORDS_MOST (UINT64_C(1) << 22) /* of all parts: 32 MB */

struct batch {
    struct blocks *blocks;
    const lego_items *items;
    uint64_t seed;
    const struct batch_growth *growth;
    const struct frequent *frequent; /* integers that are counted aside, or NULL */
};

static inline int64_t count_of(const lego_items *items, size_t i)
{
    return items->counts ? items->counts[i] : 1;
}

/* ---- one by one -------------------------------------------------------------------------------------------------- */

static bool add_one(const struct batch *batch, struct hash hash, int64_t count)
{
    while (!blocks_add(batch->blocks, hash, count))
        if (!batch->growth->grow(batch->blocks, batch->growth->context)) return false;
    return true;
}

/* Takes the first n items back, the last first: what there was has room. The frequent ones have not been added yet. */
static void take_back(const struct batch *batch, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        if (batch->frequent && frequent_has(batch->frequent, batch->items->integers[i])) continue;
        add_one(batch, items_hash(batch->items, i, batch->seed), -count_of(batch->items, i));
    }
}

static bool add_as_they_come(const struct batch *batch)
{
    const lego_items *items = batch->items;
    struct hash hash[AHEAD];
    for (size_t i = 0; i < items->n + AHEAD; i++) {
        if (i >= AHEAD && !add_one(batch, hash[i % AHEAD], count_of(items, i - AHEAD))) {
            take_back(batch, i - AHEAD);
            return false;
        }
        if (i >= items->n) continue;
        hash[i % AHEAD] = items_hash(items, i, batch->seed);
        blocks_prefetch(batch->blocks, spot_of(batch->blocks->blocks, hash[i % AHEAD]).block);
    }
    return true;
}

/* ---- in parts ---------------------------------------------------------------------------------------------------- */

/* Of each thread. */
struct worker {
    struct parts parts;
    struct tally tally;
    bool more;
};

struct job {
    const struct batch *batch;
    struct worker *worker;
    uint64_t *pool;
    uint32_t *before;
    uint64_t chunks; /* of all threads: how many these are the system says later */
    unsigned members;
    bool failed; /* to grow, when there is one thread */
};

/* Adds what all workers have for a part. */
static bool add_part(struct job *job, unsigned members, unsigned part, struct tally *tally)
{
    for (unsigned w = 0; w < members; w++) {
        const struct parts *parts = &job->worker[w].parts;
        uint32_t first = (uint32_t)part << parts->shift, end = parts->end[part];
        uint32_t after = part == parts_last(parts) ? parts->blocks : first + (UINT32_C(1) << parts->shift);
        const uint64_t *word;
        unsigned words;
        if (w == 0) tally_range(tally, parts->blocks, first, after);
        while ((word = parts_walk(parts, &end, &words)))
            if (!tally_take(tally, word, words, parts->counted)) return false;
    }
    return tally_flush(tally);
}

/* Takes back what the blocks got of the parts up to this one, of which they got so many items. There is one thread. */
static void take_parts_back(struct job *job, unsigned part, uint64_t items)
{
    const struct parts *parts = &job->worker->parts;
    const unsigned size = 1 + parts->counted;
    for (unsigned p = 0; p <= part; p++) {
        uint32_t end = parts->end[p];
        const uint64_t *word;
        unsigned words;
        uint64_t left = p < part ? UINT64_MAX : items;
        while ((word = parts_walk(parts, &end, &words)))
            for (unsigned i = 0; i < words && left > 0; i += size, left--)
                add_one(job->batch, word_hash(word[i]), -(parts->counted ? (int64_t)word[i + 1] : 1));
    }
}

static void work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct job *job = context;
    const struct batch *batch = job->batch;
    struct worker *self = &job->worker[index];
    const size_t n = batch->items->n, end = n / members * (index + 1) + (index + 1 == members ? n % members : 0);
    size_t next = n / members * index;
    const uint64_t chunks = job->chunks / members;
    self->parts = (struct parts){.pool = job->pool + index * chunks * PART_CHUNK,
                                 .before = job->before + index * chunks,
                                 .chunks = (uint32_t)chunks,
                                 .counted = batch->items->counts != NULL,
                                 .frequent = batch->frequent};
    if (index == 0) job->members = members;
    const uint64_t parts = ((batch->blocks->most - 1) >> parts_shift(batch->blocks->most)) + 1;
    tally_start(&self->tally, batch->blocks, batch->growth, n / parts);
    for (bool more = true; more && !job->failed;) {
        size_t first = next;
        parts_start(&self->parts, batch->blocks->most);
        next = parts_take(&self->parts, batch->items, first, end, batch->seed, batch->blocks->kernels);
        self->more = next < end;
        parallel_wait(team);
        more = false;
        for (unsigned w = 0; w < members; w++) more |= job->worker[w].more;
        const uint32_t last = parts_last(&self->parts);
        for (uint32_t part = index; part <= last && !job->failed; part += members) {
            if (add_part(job, members, part, &self->tally)) continue;
            job->failed = true;
            take_parts_back(job, part, self->tally.added);
            take_back(batch, first);
        }
        parallel_wait(team);
    }
}

/* Adds the frequent items, when all others are there. */
static bool add_frequent(const struct job *job)
{
    const struct batch *batch = job->batch;
    uint64_t key[FREQUENT_SLOTS];
    int64_t count[FREQUENT_SLOTS];
    lego_items items = {.integers = key, .counts = count};
    for (unsigned i = 0; i < FREQUENT_SLOTS; i++) {
        key[items.n] = batch->frequent->key[i];
        count[items.n] = 0;
        for (unsigned w = 0; w < job->members; w++) count[items.n] += job->worker[w].parts.times[i];
        items.n += count[items.n] > 0;
    }
    if (add_as_they_come(&(struct batch){batch->blocks, &items, batch->seed, batch->growth, NULL})) return true;
    take_back(batch, batch->items->n);
    return false;
}

/* False if there is no memory for it: then nothing has changed. */
static bool add_in_parts(const struct batch *batch, unsigned threads, const lego_allocator *a, bool *failed)
{
    const bool counted = batch->items->counts != NULL;
    const uint64_t words = (uint64_t)batch->items->n * (1 + counted);
    const uint64_t items = (words < WORDS_MOST ? words : WORDS_MOST) / (1 + counted) / threads + 1;
    struct job job = {.batch = batch, .chunks = threads * parts_chunks(items, counted)};
    const size_t size =
        threads * sizeof *job.worker + job.chunks * (PART_CHUNK * sizeof *job.pool + sizeof *job.before);
    job.worker = a->alloc(a->context, size);
    if (!job.worker) return false;
    job.pool = (uint64_t *)(void *)(job.worker + threads);
    job.before = (uint32_t *)(void *)(job.pool + job.chunks * PART_CHUNK);
    parallel_run(threads, work, &job);
    if (batch->frequent && !job.failed) job.failed = !add_frequent(&job);
    a->free(a->context, job.worker, size);
    *failed = job.failed;
    return true;
}

/* ---- which way --------------------------------------------------------------------------------------------------- */

/* Sums that only grow can be taken together in any way. Where something is negative, or becomes it, how far a block
 * goes depends on what it once held: then items are added as they come. */
static bool only_grows(const struct blocks *blocks, const lego_items *items)
{
    const uint64_t all = (uint64_t)blocks->blocks + blocks_caps(blocks->blocks, blocks->most);
    for (size_t i = 0; items->counts && i < items->n; i++)
        if (items->counts[i] < 0) return false;
    for (uint64_t i = 0; blocks->loose && i < all; i++)
        if (block_signs(&blocks->block[i]) != SIGNS_ABOVE) return false;
    return true;
}

bool batch_add(struct blocks *blocks, const lego_items *items, uint64_t seed, unsigned threads,
               const lego_allocator *allocator, const struct batch_growth *growth)
{
    struct batch batch = {blocks, items, seed, growth, NULL};
    struct frequent frequent;
    bool failed = false;
    if (items->n < FEW || !only_grows(blocks, items)) return add_as_they_come(&batch);
    if (items->integers && !items->counts && items->n >= MANY && frequent_find(&frequent, items->integers, items->n))
        batch.frequent = &frequent;
    if (items->n < ALONE || blocks_grow(blocks)) threads = 1; /* blocks that grow are of one thread */
    if (add_in_parts(&batch, threads, allocator, &failed)) return !failed;
    batch.frequent = NULL;
    return add_as_they_come(&batch);
}
