/* batch: see batch.h. */
#include "sketch/batch.h"

#include <stdatomic.h>

#include "core/parallel.h"
#include "sketch/tally.h"

enum {
    MOST = 1 << 22,  /* items in parts: 32 MB, or 64 with counts */
    FEW = 256,       /* items, fewer than which are added as they come */
    MANY = 1 << 16,  /* items, from which on the frequent ones are looked for */
    ALONE = 1 << 15, /* items, fewer than which are left to one thread */
    AHEAD = 16       /* items whose blocks are on their way while others are added */
};

static inline int64_t count_of(const lego_items *items, size_t i)
{
    return items->counts ? items->counts[i] : 1;
}

/* ---- one by one -------------------------------------------------------------------------------------------------- */

static bool add_one(const struct batch *batch, struct hash hash, int64_t count)
{
    while (!blocks_add(batch->blocks, hash, count)) {
        uint32_t more = blocks_after(batch->blocks->blocks, batch->blocks->most);
        if (!batch->growth->grow(batch->growth->context, more)) return false;
    }
    return true;
}

/* Takes items back, the last first: what there was has room. */
static void take_back(const struct batch *batch, size_t first, size_t end)
{
    while (end-- > first) add_one(batch, items_hash(batch->items, end, batch->seed), -count_of(batch->items, end));
}

static bool add_as_they_come(const struct batch *batch)
{
    const lego_items *items = batch->items;
    struct hash hash[AHEAD];
    for (size_t i = 0; i < items->n + AHEAD; i++) {
        if (i >= AHEAD && !add_one(batch, hash[i % AHEAD], count_of(items, i - AHEAD))) {
            take_back(batch, 0, i - AHEAD);
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
    struct job *job;
    struct team *team;
    unsigned index;
    struct batch_growth growth;
    struct parts parts;
    struct tally tally;
    struct watch watch; /* if the batch has one: the first thread has that, the others the same words and own counts */
    size_t first;       /* of the items that are in its parts */
    uint32_t part;      /* that it adds now */
    uint32_t wanted;    /* blocks, without which it can not go on; or 0 */
    bool more;          /* items, when the parts have been added */
};

struct job {
    const struct batch *batch;
    struct worker *worker;
    struct frequent *frequent; /* items that are counted aside, for each thread; or NULL */
    struct watched *watched;   /* slots for the watches of all threads but the first */
    uint64_t *pool;
    uint32_t *before;
    uint64_t chunks; /* of all threads: how many these are the system says later */
    unsigned members;
    uint32_t alone;      /* parts that were added before the threads got one each */
    _Atomic bool waited; /* for all to meet, as someone must have more blocks */
    bool failed;         /* to have them */
};

/* What all workers have for a part, piece by piece: first its frequent items, one by one, then words. */
struct pieces {
    const struct job *job;
    uint32_t part, end;
    unsigned slot, slots, worker;
    uint64_t pair[2];
};

static struct pieces pieces_of(const struct job *job, uint32_t part)
{
    const struct parts *parts = &job->worker->parts;
    const uint64_t first = parts_first(parts, part), after = parts_first(parts, part + 1);
    struct pieces pieces = {.job = job, .part = part, .end = parts->end[part]};
    pieces.slot = (unsigned)((first << FREQUENT_BITS) / parts->blocks);
    pieces.slots = (unsigned)(((after << FREQUENT_BITS) + parts->blocks - 1) / parts->blocks);
    if (!job->frequent) pieces.slots = 0;
    return pieces;
}

/* The next frequent item, as a word and a count, if it came and is of this part. */
static bool next_frequent(struct pieces *pieces)
{
    const struct job *job = pieces->job;
    const struct parts *parts = &job->worker->parts;
    const unsigned slot = pieces->slot++;
    int64_t count = 0;
    for (unsigned w = 0; w < job->members; w++) count += job->frequent[w].slot[slot].count;
    pieces->pair[0] = job->frequent->slot[slot].word;
    pieces->pair[1] = (uint64_t)count;
    return count > 0 && parts_index(parts, pieces->pair[0], parts_last(parts)) == pieces->part;
}

/* NULL when there are no more. */
static const uint64_t *next_piece(struct pieces *pieces, unsigned *words, bool *counted)
{
    const struct job *job = pieces->job;
    *counted = true;
    *words = 2;
    while (pieces->slot < pieces->slots)
        if (next_frequent(pieces)) return pieces->pair;
    *counted = job->batch->items->counts != NULL;
    for (;;) {
        const uint64_t *word = parts_walk(&job->worker[pieces->worker].parts, &pieces->end, words);
        if (word || ++pieces->worker == job->members) return word;
        pieces->end = job->worker[pieces->worker].parts.end[pieces->part];
    }
}

static uint64_t items_a_part(const struct job *job)
{
    const struct parts *parts = &job->worker->parts;
    uint64_t chunks = 0;
    for (unsigned w = 0; w < job->members; w++) chunks += job->worker[w].parts.used;
    return chunks * PART_CHUNK / (1 + parts->counted) / (parts_last(parts) + 1);
}

static bool add_part(struct worker *self)
{
    const struct parts *parts = &self->job->worker->parts;
    struct pieces pieces = pieces_of(self->job, self->part);
    const uint64_t *word;
    unsigned words;
    bool counted;
    tally_range(&self->tally, parts_first(parts, self->part), parts_first(parts, self->part + 1),
                items_a_part(self->job));
    while ((word = next_piece(&pieces, &words, &counted)))
        if (!tally_take(&self->tally, word, words, counted)) return false;
    if (!tally_flush(&self->tally)) return false;
    self->tally.added = 0; /* of the next part */
    return true;
}

/* Takes back the first items of a part, which if there are none need not be one. */
static void take_part_back(const struct job *job, uint32_t part, uint64_t items)
{
    if (items == 0) return;
    struct pieces pieces = pieces_of(job, part);
    const uint64_t *word;
    unsigned words;
    bool counted;
    while (items > 0 && (word = next_piece(&pieces, &words, &counted)))
        for (unsigned i = 0; i < words && items > 0; i += 1 + counted, items--)
            add_one(job->batch, word_hash(word[i]), -(counted ? (int64_t)word[i + 1] : 1));
}

/* Takes back what the blocks got of the parts, and all that came before them. The threads stand still. */
static void take_parts_back(struct job *job)
{
    for (unsigned w = 0; w < job->members; w++) {
        struct worker *worker = &job->worker[w];
        tally_take_back(&worker->tally);
        take_part_back(job, worker->part, worker->tally.added);
        for (uint32_t part = job->alone + w; part < worker->part; part += job->members)
            take_part_back(job, part, UINT64_MAX);
    }
    for (uint32_t part = 0; part < job->alone; part++) take_part_back(job, part, UINT64_MAX);
    for (unsigned w = 0; w < job->members; w++)
        take_back(job->batch, job->batch->items->n / job->members * w, job->worker[w].first);
}

/* ---- on several threads ------------------------------------------------------------------------------------------ */

/* Whether no block has items of two parts: each becomes so many whole ones at most, and a part is some times as many.
 * It stays so while they grow. */
static bool parts_are_apart(const struct blocks *blocks, const struct parts *parts)
{
    return blocks->most % blocks->blocks == 0 && (UINT32_C(1) << parts->shift) % (blocks->most / blocks->blocks) == 0;
}

/* All meet here when one wants more blocks, and the first gets them for all; false if nobody does. */
static bool meet(struct worker *self, uint32_t wanted)
{
    struct job *job = self->job;
    uint32_t most = 0;
    self->wanted = wanted;
    parallel_wait(self->team);
    for (unsigned w = 0; w < job->members; w++)
        if (job->worker[w].wanted > most) most = job->worker[w].wanted;
    if (self->index == 0 && most > 0) {
        job->waited = false;
        job->failed = !job->batch->growth->grow(job->batch->growth->context, most);
    }
    parallel_wait(self->team);
    return most > 0;
}

static bool grow_with_all(void *context, uint32_t least)
{
    struct worker *self = context;
    self->job->waited = true;
    meet(self, least);
    return !self->job->failed;
}

/* Adds parts until they are apart, and says from where on each thread goes on. */
static void add_alone(struct worker *self)
{
    struct job *job = self->job;
    const struct blocks *blocks = job->batch->blocks;
    const uint32_t last = parts_last(&self->parts);
    self->tally.growth = job->batch->growth;
    for (self->part = 0; self->part <= last && !job->failed; self->part += !job->failed) {
        if (job->members > 1 && parts_are_apart(blocks, &self->parts)) break;
        job->failed = !add_part(self);
    }
    self->tally.growth = &self->growth;
    job->alone = self->part;
    for (unsigned w = 0; w < job->members; w++) job->worker[w].part = job->alone + w;
}

/* Adds the parts, every thread its own. */
static void add_parts(struct worker *self)
{
    struct job *job = self->job;
    const uint32_t last = parts_last(&self->parts);
    if (self->index == 0) add_alone(self);
    parallel_wait(self->team);
    while (!job->failed && self->part <= last) {
        if (job->waited) meet(self, 0);
        else if (add_part(self)) self->part += job->members;
    }
    while (!job->failed && meet(self, 0)) {
    }
}

static void start_watch(struct worker *self, const struct watch *watch)
{
    const size_t slots = watch_slots(watch->bits);
    self->watch = *watch;
    self->parts.watch = &self->watch;
    if (self->index == 0) return;
    self->watch.slot = self->job->watched + (self->index - 1) * slots;
    for (size_t i = 0; i < slots; i++) self->watch.slot[i] = (struct watched){watch->slot[i].word, 0};
}

/* The first thread gets what the others counted. */
static void end_watch(const struct job *job)
{
    const struct watch *watch = job->batch->watch;
    for (unsigned w = 1; watch && w < job->members; w++)
        for (size_t i = 0; i < watch_slots(watch->bits); i++)
            watch->slot[i].count += job->worker[w].watch.slot[i].count;
}

static void start_worker(struct worker *self, struct job *job, struct team *team, unsigned index, unsigned members)
{
    const struct batch *batch = job->batch;
    const uint64_t chunks = job->chunks / members;
    self->job = job;
    self->team = team;
    self->index = index;
    self->growth = (struct batch_growth){grow_with_all, self};
    self->parts.pool = job->pool + index * chunks * PART_CHUNK;
    self->parts.before = job->before + index * chunks;
    self->parts.chunks = (uint32_t)chunks;
    self->parts.counted = batch->items->counts != NULL;
    self->parts.frequent = job->frequent ? &job->frequent[index] : NULL;
    self->parts.watch = NULL;
    if (index > 0 && job->frequent) frequent_copy(self->parts.frequent, job->frequent);
    if (batch->watch) start_watch(self, batch->watch);
    tally_start(&self->tally, batch->blocks, &self->growth, batch->items->n);
}

static void work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct job *job = context;
    const struct batch *batch = job->batch;
    struct worker *self = &job->worker[index];
    const size_t n = batch->items->n, end = n / members * (index + 1) + (index + 1 == members ? n % members : 0);
    size_t next = n / members * index;
    start_worker(self, job, team, index, members);
    if (index == 0) job->members = members;
    for (bool more = true; more && !job->failed;) {
        self->first = next;
        parts_start(&self->parts, batch->blocks->most, n);
        next = parts_take(&self->parts, batch->items, next, end, batch->seed, batch->blocks->kernels);
        self->more = next < end;
        parallel_wait(team);
        more = false;
        for (unsigned w = 0; w < members; w++) more |= job->worker[w].more;
        add_parts(self);
    }
    if (index == 0) end_watch(job);
    if (index == 0 && job->failed && !batch->watch) take_parts_back(job);
}

/* Memory for so many threads, all in one piece. */
static bool job_allocate(struct job *job, unsigned threads, const lego_allocator *a, size_t *size)
{
    const lego_items *all = job->batch->items;
    const bool counted = all->counts != NULL;
    const uint64_t items = (all->n < MOST ? all->n : MOST) / threads + 1;
    const struct watch *watch = job->batch->watch;
    const size_t tables = watch || all->n < MANY ? 0 : threads;
    const size_t watched = watch ? (threads - 1) * watch_slots(watch->bits) : 0;
    job->chunks = threads * parts_chunks(items, counted);
    *size = threads * sizeof *job->worker + tables * sizeof *job->frequent + watched * sizeof *job->watched +
            job->chunks * (PART_CHUNK * sizeof *job->pool + sizeof *job->before);
    job->worker = a->alloc(a->context, *size);
    if (!job->worker) return false;
    job->frequent = (struct frequent *)(void *)(job->worker + threads);
    job->watched = (struct watched *)(void *)(job->frequent + tables);
    job->pool = (uint64_t *)(void *)(job->watched + watched);
    job->before = (uint32_t *)(void *)(job->pool + job->chunks * PART_CHUNK);
    return true;
}

bool batch_add_in_parts(const struct batch *batch, unsigned most, const lego_allocator *a, bool *failed)
{
    struct job job = {.batch = batch};
    const unsigned threads = batch->items->n < ALONE ? 1 : most;
    size_t size;
    if (!job_allocate(&job, threads, a, &size)) return false;
    if (batch->watch || batch->items->n < MANY ||
        !frequent_find(job.frequent, batch->items, batch->seed, batch->blocks->kernels))
        job.frequent = NULL;
    parallel_run(threads, work, &job);
    a->free(a->context, job.worker, size);
    *failed = job.failed;
    return true;
}

/* ---- which way --------------------------------------------------------------------------------------------------- */

bool batch_all_above(const struct blocks *blocks)
{
    const uint64_t all = (uint64_t)blocks->blocks + blocks_caps(blocks->blocks, blocks->most);
    for (uint64_t i = 0; blocks->loose && i < all; i++)
        if (block_signs(&blocks->block[i]) != SIGNS_ABOVE) return false;
    return true;
}

/* Sums that only grow can be taken together in any way. Where something is negative, or becomes it, how far a block
 * goes depends on what it once held: then items are added as they come. So they are if there might be something, as in
 * a sketch that was loaded, and a look at all blocks would take longer than a few items do. */
static bool only_grows(const struct batch *batch)
{
    enum { LOOKS_AN_ITEM = 8 };
    const struct blocks *blocks = batch->blocks;
    if (batch->falls || (blocks->loose && blocks->blocks / LOOKS_AN_ITEM > batch->items->n)) return false;
    return batch_all_above(blocks);
}

bool batch_add(const struct batch *batch, unsigned threads, const lego_allocator *allocator)
{
    bool failed = false;
    if (batch->items->n < FEW || !only_grows(batch)) return add_as_they_come(batch);
    if (batch_add_in_parts(batch, threads, allocator, &failed)) return !failed;
    return add_as_they_come(batch);
}
