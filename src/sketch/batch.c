/* batch: see batch.h. */
#include "sketch/batch.h"

#include <stdatomic.h>

#include "core/parallel.h"
#include "sketch/judge.h"
#include "sketch/order.h"
#include "sketch/tally.h"

enum {
    MOST = 1 << 22,  /* items of a round: 32 MB, or 64 with counts */
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
    struct blocks *blocks = batch->blocks;
    while (!blocks_add(blocks, hash, count))
        if (!batch->growth->grow(batch->growth->context, blocks_after(blocks->blocks, blocks->most))) return false;
    return true;
}

/* Takes items back, the last first: what there was has room. */
static void take_back(const struct batch *batch, size_t first, size_t end)
{
    while (end-- > first) {
        add_one(batch, items_hash(batch->items, end, batch->seed), -count_of(batch->items, end));
        batch->blocks->total -= count_of(batch->items, end);
    }
}

/* Adds items from `first` to `end` - 1. */
static bool add_as_they_come(const struct batch *batch, size_t first, size_t end)
{
    const lego_items *items = batch->items;
    struct hash hash[AHEAD];
    for (size_t i = first; i < end + AHEAD; i++) {
        if (i >= first + AHEAD) {
            if (!add_one(batch, hash[i % AHEAD], count_of(items, i - AHEAD))) {
                take_back(batch, first, i - AHEAD);
                return false;
            }
            blocks_count(batch->blocks, count_of(items, i - AHEAD));
        }
        if (i >= end) continue;
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
    struct watch watch; /* if the batch has one: the first thread has that, the others the same words and own counts */
    uint32_t part;      /* that it adds now */
    uint32_t wanted;    /* blocks, without which it can not go on; or 0 */
    struct tally tally;
    struct order order;
};

/* A round: as many items as there is memory for at once. */
struct job {
    const struct batch *batch;
    size_t first, end;         /* its items */
    bool in_order;             /* all parts are added in order; else those that need it, if no item is counted aside */
    bool young;                /* the blocks grew when it began */
    unsigned threads, members; /* at most, and how many the system gave */
    struct worker *worker;
    struct frequent *frequent; /* items that are counted aside, for each thread; or NULL */
    struct watched *watched;   /* slots for the watches of all threads but the first */
    uint64_t *pool;
    uint32_t *next;
    uint64_t chunks;     /* of all threads */
    size_t size;         /* of all this memory */
    uint32_t alone;      /* parts that were added before the threads got one each */
    _Atomic bool waited; /* for all to meet, as someone can not go on */
    _Atomic bool keeps;  /* since a block would come to keep */
    bool failed;         /* to have more blocks, or to add without order */
};

/* What all workers have for a part, piece by piece: first its frequent items, one by one, then words, in order. */
struct pieces {
    const struct job *job;
    uint32_t part, at;
    unsigned slot, slots, worker;
    uint64_t pair[2];
};

static struct pieces pieces_of(const struct job *job, uint32_t part)
{
    const struct parts *parts = &job->worker->parts;
    const uint64_t first = parts_first(parts, part), after = parts_first(parts, part + 1);
    struct pieces pieces = {.job = job, .part = part, .at = parts_begin(parts, part)};
    pieces.slot = (unsigned)((first << FREQUENT_BITS) / parts->blocks);
    pieces.slots = (unsigned)(((after << FREQUENT_BITS) + parts->blocks - 1) / parts->blocks);
    if (!job->frequent) pieces.slots = 0;
    return pieces;
}

/* The next frequent item, as a word and a count, if it came and is of this part. */
static bool next_frequent(struct pieces *pieces)
{
    const struct job *job = pieces->job;
    const unsigned slot = pieces->slot++;
    int64_t count = 0;
    for (unsigned w = 0; w < job->members; w++) count += job->frequent[w].slot[slot].count;
    pieces->pair[0] = job->frequent->slot[slot].word;
    pieces->pair[1] = (uint64_t)count;
    return count > 0 && parts_index(&job->worker->parts, pieces->pair[0]) == pieces->part;
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
        const uint64_t *word = parts_walk(&job->worker[pieces->worker].parts, pieces->part, &pieces->at, words);
        if (word || ++pieces->worker == job->members) return word;
        pieces->at = parts_begin(&job->worker[pieces->worker].parts, pieces->part);
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

static void add_part_in_order(struct worker *self)
{
    const struct parts *parts = &self->job->worker->parts;
    struct pieces pieces = pieces_of(self->job, self->part);
    const uint64_t *word;
    unsigned words;
    bool counted;
    order_range(&self->order, parts_first(parts, self->part), parts_first(parts, self->part + 1));
    while ((word = next_piece(&pieces, &words, &counted))) order_take(&self->order, word, words, counted);
    order_flush(&self->order);
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
            blocks_take_back(job->batch->blocks, word_hash(word[i]), counted ? (int64_t)word[i + 1] : 1);
}

/* Whether a block of the part keeps; or may, where a look at all of them would take longer than the items do. */
static bool part_keeps(const struct worker *self)
{
    const struct job *job = self->job;
    const struct blocks *blocks = job->batch->blocks;
    const struct parts *parts = &job->worker->parts;
    const uint32_t first = parts_first(parts, self->part), end = parts_first(parts, self->part + 1);
    bool keeps = blocks->keeps && end - first > job->end - job->first;
    for (uint32_t b = first; b < end && blocks->keeps && !keeps; b++) keeps = block_keeps(&blocks->block[b]);
    return keeps;
}

/* Adds a part: in order if one of its blocks keeps, or comes to. False if it can not be added now. */
static bool add_part_if(struct worker *self)
{
    const struct job *job = self->job;
    if (!job->in_order && !part_keeps(self)) {
        if (add_part(self)) return true;
        if (job->young || job->frequent || job->failed) return false;
        tally_take_back(&self->tally);
        take_part_back(job, self->part, self->tally.added);
        self->tally.added = 0;
    }
    add_part_in_order(self);
    return true;
}

/* Takes back what the blocks got of the parts. The threads stand still. */
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
}

/* ---- on several threads ------------------------------------------------------------------------------------------ */

/* Whether no block has items of two parts: each becomes so many whole ones at most, and a part is some times as many.
 * It stays so while they grow. */
static bool parts_are_apart(const struct blocks *blocks, const struct parts *parts)
{
    return blocks->most % blocks->blocks == 0 && (UINT32_C(1) << parts->shift) % (blocks->most / blocks->blocks) == 0;
}

/* All meet here when one can not go on: where it wants more blocks, the first gets them for all; false if nobody waits
 * for anything. */
static bool meet(struct worker *self, uint32_t wanted)
{
    struct job *job = self->job;
    uint32_t most = 0;
    self->wanted = wanted;
    parallel_wait(self->team);
    const bool keeps = job->keeps;
    for (unsigned w = 0; w < job->members; w++)
        if (job->worker[w].wanted > most) most = job->worker[w].wanted;
    if (self->index == 0 && (most > 0 || keeps)) {
        job->waited = false;
        job->failed = keeps || !job->batch->growth->grow(job->batch->growth->context, most);
    }
    parallel_wait(self->team);
    return most > 0 || keeps;
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
        job->failed = !add_part_if(self);
    }
    job->keeps = job->failed && !blocks_grow(blocks);
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
        if (job->waited) {
            meet(self, 0);
        } else if (add_part_if(self)) {
            self->part += job->members;
        } else if (!job->failed) { /* it did not want more blocks: then there can not be more */
            job->keeps = true;
            job->waited = true;
        }
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
    self->parts.next = job->next + index * chunks;
    self->parts.chunks = (uint32_t)chunks;
    self->parts.counted = batch->items->counts != NULL;
    self->parts.frequent = job->frequent ? &job->frequent[index] : NULL;
    self->parts.watch = NULL;
    if (index > 0 && job->frequent) frequent_copy(self->parts.frequent, job->frequent);
    if (batch->watch) start_watch(self, batch->watch);
}

static void work(void *context, struct team *team, unsigned index, unsigned members)
{
    struct job *job = context;
    const struct batch *batch = job->batch;
    struct worker *self = &job->worker[index];
    const size_t n = job->end - job->first, first = job->first + n / members * index;
    const size_t end = index + 1 == members ? job->end : first + n / members;
    start_worker(self, job, team, index, members);
    if (index == 0) job->members = members;
    parts_start(&self->parts, batch->blocks->most, n);
    parts_take(&self->parts, batch->items, first, end, batch->seed, batch->blocks->kernels);
    tally_start(&self->tally, batch->blocks, &self->growth, n);
    order_start(&self->order, batch->blocks);
    parallel_wait(team);
    add_parts(self);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Memory for rounds of up to so many items, all in one piece. */
static bool job_allocate(struct job *job, size_t most, const lego_allocator *a)
{
    const bool counted = job->batch->items->counts != NULL;
    const struct watch *watch = job->batch->watch;
    const size_t threads = job->threads, tables = watch || most < MANY ? 0 : threads;
    const size_t watched = watch ? (threads - 1) * watch_slots(watch->bits) : 0;
    job->chunks = threads * parts_chunks(most / threads + threads, counted);
    job->size = threads * sizeof *job->worker + tables * sizeof *job->frequent + watched * sizeof *job->watched +
                job->chunks * (PART_CHUNK * sizeof *job->pool + sizeof *job->next);
    job->worker = a->alloc(a->context, job->size);
    if (!job->worker) return false;
    job->frequent = (struct frequent *)(void *)(job->worker + threads);
    job->watched = (struct watched *)(void *)(job->frequent + tables);
    job->pool = (uint64_t *)(void *)(job->watched + watched);
    job->next = (uint32_t *)(void *)(job->pool + job->chunks * PART_CHUNK);
    return true;
}

/* Adds a round. False if there must be more blocks, for which there is no memory, or if a block came to keep whose
 * items were counted aside, or that there could be more of: then *job says so, and nothing has changed. */
static bool add_round(struct job *job, struct frequent *frequent)
{
    const struct batch *batch = job->batch;
    struct blocks *blocks = batch->blocks;
    const lego_items items = items_from(batch->items, job->first, job->end - job->first);
    job->failed = false;
    job->keeps = false;
    job->waited = false;
    job->young = blocks_grow(blocks);
    job->frequent = frequent;
    if (frequent && !frequent_find(frequent, &items, batch->seed, blocks->kernels)) job->frequent = NULL;
    parallel_run(items.n < ALONE ? 1 : job->threads, work, job);
    if (job->failed) take_parts_back(job);
    for (unsigned w = 0; w < job->members; w++) {
        blocks->keeps |= job->worker[w].order.keeps;
        blocks->unlisted.entered += job->worker[w].order.news.entered;
        blocks->unlisted.lighter += job->worker[w].order.news.lighter;
    }
    end_watch(job);
    return !job->failed;
}

/* Where a round from `first` on ends in which blocks may keep: behind the item with which the total enters another
 * class. */
static size_t end_of_class(const struct batch *batch, size_t first, size_t end)
{
    const struct blocks *blocks = batch->blocks;
    int64_t total = blocks->total;
    const unsigned class = total_class(blocks, total);
    while (first < end && total_class(blocks, total) == class) total += count_of(batch->items, first++);
    return first;
}

static int64_t sum_of(const lego_items *items, size_t first, size_t end)
{
    uint64_t sum = 0;
    for (size_t i = first; items->counts && i < end; i++) sum += (uint64_t)items->counts[i];
    return items->counts ? (int64_t)sum : (int64_t)(end - first);
}

static bool all_above(const struct blocks *blocks)
{
    for (uint32_t i = 0; blocks->loose && i < blocks->blocks; i++)
        if (block_signs(&blocks->block[i]) != SIGNS_ABOVE) return false;
    return true;
}

/* Sums that only grow can be taken together in any way, as long as no block keeps. Where something is negative, or
 * becomes it, how far a block goes depends on what it once held: then items are added as they come. So they are if
 * there might be something, as in a sketch that was loaded, and a look at all blocks would take longer than a few items
 * do. */
static bool order_matters(const struct batch *batch)
{
    enum { LOOKS_AN_ITEM = 8 };
    const struct blocks *blocks = batch->blocks;
    if (batch->falls) return true;
    return (blocks->loose && blocks->blocks / LOOKS_AN_ITEM > batch->items->n) || !all_above(blocks);
}

/* Whether a block keeps, or may soon: then no item is counted aside. */
static bool may_keep(const struct blocks *blocks)
{
    enum { SOON = STEP_KEEP - 2 };
    bool may = blocks->keeps;
    for (uint32_t b = 0; b < blocks->blocks && !may && !blocks_grow(blocks); b++)
        may = block_step(&blocks->block[b]) >= SOON;
    return may;
}

/* Adds the items from job->first on, as many as a round has; false if there is no memory for more blocks, and nothing
 * has changed. */
static bool add_next(struct job *job, struct frequent *frequent, size_t most)
{
    const struct batch *batch = job->batch;
    struct blocks *blocks = batch->blocks;
    const size_t n = batch->items->n;
    const bool young = blocks_grow(blocks);
    job->end = n - job->first < most ? n : job->first + most;
    if (!young) job->end = end_of_class(batch, job->first, job->end);
    if (!young && job->end - job->first < FEW) return add_as_they_come(batch, job->first, job->end);
    if (!add_round(job, job->end - job->first < MANY || may_keep(blocks) ? NULL : frequent)) {
        if (!job->keeps) return false;
        if (blocks_grow(blocks)) return add_as_they_come(batch, job->first, job->end);
        job->end = end_of_class(batch, job->first, job->end);
        if (job->end - job->first < FEW) return add_as_they_come(batch, job->first, job->end);
        add_round(job, NULL);
    }
    blocks_count(blocks, sum_of(batch->items, job->first, job->end));
    return true;
}

bool batch_add(const struct batch *batch, unsigned threads, const lego_allocator *a)
{
    const size_t n = batch->items->n, most = n < MOST ? n : MOST;
    bool added = true;
    struct job job = {.batch = batch, .in_order = order_matters(batch), .threads = n < ALONE ? 1 : threads};
    if (n < FEW || (job.in_order && blocks_grow(batch->blocks))) return add_as_they_come(batch, 0, n);
    if (!job_allocate(&job, most, a)) return add_as_they_come(batch, 0, n);
    struct frequent *frequent = job.frequent;
    batch->blocks->loose |= batch->falls;
    while (added && job.first < n) {
        added = add_next(&job, frequent, most);
        if (added) job.first = job.end;
    }
    if (!added) take_back(batch, 0, job.first);
    a->free(a->context, job.worker, job.size);
    return added;
}

bool batch_add_watched(const struct batch *batch, unsigned threads, const lego_allocator *a)
{
    const size_t n = batch->items->n, most = n < MOST ? n : MOST;
    struct job job = {.batch = batch, .in_order = true, .threads = n < ALONE ? 1 : threads};
    if (!job_allocate(&job, most, a)) return false;
    for (; job.first < n; job.first = job.end) {
        job.end = n - job.first < most ? n : job.first + most;
        add_round(&job, NULL);
    }
    a->free(a->context, job.worker, job.size);
    return true;
}
