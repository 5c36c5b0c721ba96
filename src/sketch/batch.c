/* batch: many items in one call, on one thread or several. batch.h has the ways to add them. */
#include "sketch/batch.h"

#include "sketch/query.h"

#include <string.h>

enum { FEW = 1024,     /* items, fewer than which no notes are taken of */
       MANY = 1 << 15, /* items, from which on other threads are asked */
       FAR = 1 << 23,  /* bytes of flat blocks, beyond which it is better to go through them in order, */
       A_BLOCK = 8,    /* if there are so many items for each: then that takes less than the cache misses of these */
       HOT_DENSE = 1 << 12, HOT_FLAT = 1 << 16, /* items, from which on the hot ones are looked for: that takes 2 us */
       FORGET_ALL = 64 /* bytes that are set in the time it takes to hash an item once more */ };

static bool offsets_rise(const uint64_t *offsets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (offsets[i] > offsets[i + 1]) return false;
    return true;
}

/* To bricks, one by one: there are no blocks to fetch ahead. */
static void add_singly(const struct batch *batch)
{
    lego_sketch *sketch = batch->sketch;
    for (size_t i = 0; i < batch->n; i++)
        sketch_add(sketch, item_hash(batch->items, i, sketch->seed), batch_count(batch, i));
}

/* Forgets the packed steps of all blocks that a batch goes to. */
static void forget_blocks(const struct batch *batch)
{
    lego_sketch *sketch = batch->sketch;
    if (batch->n >= sketch->dense.blocks / FORGET_ALL) {
        flat_forget_all(&sketch->flat);
        return;
    }
    for (size_t i = 0; i < batch->n; i++) {
        struct hash hash = item_hash(batch->items, i, sketch->seed);
        for (unsigned which = 0; which < 2; which++)
            flat_forget(&sketch->flat, dense_half(&sketch->dense, hash, which).block);
    }
}

unsigned reader_next(struct reader *reader, struct decode_places *places, int64_t counts[])
{
    const struct batch *batch = reader->batch;
    const struct items *items = batch->items;
    if (!batch->hot) {
        size_t left = reader->end - reader->next;
        unsigned n = left < DECODE_MOST ? (unsigned)left : DECODE_MOST;
        items_place(items, reader->next, n, batch->sketch, places);
        for (unsigned i = 0; i < n; i++) counts[i] = batch_count(batch, reader->next + i);
        reader->next += n;
        return n;
    }
    while (reader->rests < DECODE_MOST && reader->next < reader->end) {
        size_t left = reader->end - reader->next, n = left < DECODE_MOST ? left : DECODE_MOST;
        uint64_t *rest = reader->rest + reader->rests;
        reader->rests += hot_pass(batch->hot, items->keys + reader->next, n, reader->times, rest);
        reader->next += n;
    }
    unsigned n = reader->rests < DECODE_MOST ? reader->rests : DECODE_MOST;
    items_place(&(struct items){.keys = reader->rest}, 0, n, batch->sketch, places);
    for (unsigned i = 0; i < n; i++) counts[i] = 1;
    reader->rests -= n;
    memmove(reader->rest, reader->rest + n, reader->rests * sizeof *reader->rest);
    return n;
}

/* Where the hot items that came are, with how often: one after the other, from *slot on. */
static bool next_hot(const struct batch *batch, const uint32_t times[], unsigned *slot, struct half half[2])
{
    while (batch->hot && *slot < HOT_SLOTS && times[*slot] == 0) ++*slot;
    if (!batch->hot || *slot == HOT_SLOTS) return false;
    struct hash hash = hash_u64(batch->hot->key[*slot], batch->sketch->seed);
    for (unsigned which = 0; which < 2; which++) half[which] = dense_half(&batch->sketch->dense, hash, which);
    return true;
}

void batch_add_flat(const struct batch *batch, size_t first, size_t end, struct flat *flat)
{
    uint32_t times[HOT_SLOTS];
    struct reader reader = {.batch = batch, .next = first, .end = end, .times = times};
    if (batch->hot) memset(times, 0, sizeof times);
    struct flat_ahead ahead = {.turn = 0};
    for (struct flat_items *now = ahead.items; (now->n = reader_next(&reader, &now->places, now->counts)) > 0;) {
        flat_add_ahead(flat, &ahead);
        now = &ahead.items[ahead.turn];
    }
    flat_add_ahead(flat, &ahead);
    struct half half[2];
    for (unsigned slot = 0; next_hot(batch, times, &slot, half); slot++)
        for (unsigned which = 0; which < 2; which++)
            flat_add_columns(flat, half[which].block, which, half[which].column, times[slot]);
}

/* Adds items to dense blocks as they come: while those of some are on their way, the ones before them are added. */
static void add_dense(const struct batch *batch)
{
    struct dense *dense = &batch->sketch->dense;
    uint32_t times[HOT_SLOTS];
    struct reader reader = {.batch = batch, .end = batch->n, .times = times};
    if (batch->hot) memset(times, 0, sizeof times);
    struct decode_places places[2];
    int64_t counts[2][DECODE_MOST];
    for (unsigned before = 0, n = 1, turn = 0; n > 0; before = n, turn ^= 1) {
        n = reader_next(&reader, &places[turn], counts[turn]);
        for (unsigned i = 0; i < n; i++)
            for (unsigned which = 0; which < 2; which++)
                __builtin_prefetch(&dense->block[places[turn].block[which][i]], 1);
        const struct decode_places *p = &places[turn ^ 1];
        for (unsigned i = 0; i < before; i++)
            for (unsigned which = 0; which < 2; which++) {
                struct half half = {p->block[which][i], {p->column[which][0][i], p->column[which][1][i]}};
                dense_add_half(dense, &half, which, counts[turn ^ 1][i]);
            }
    }
    struct half half[2];
    for (unsigned slot = 0; next_hot(batch, times, &slot, half); slot++)
        for (unsigned which = 0; which < 2; which++) dense_add_half(dense, &half[which], which, times[slot]);
}

static int64_t sum_counts(const struct batch *batch)
{
    int64_t sum = batch->counts ? 0 : (int64_t)batch->n;
    for (size_t i = 0; batch->counts && i < batch->n; i++) sum += batch->counts[i];
    return sum;
}

/* Flat blocks take an item in next to no time: only where they are far, or other threads help, does a detour pay. */
static void add_to_blocks(struct batch *batch)
{
    lego_sketch *sketch = batch->sketch;
    struct hot hot;
    if (batch->items->keys && !batch->counts && batch->n >= (is_flat(sketch) ? HOT_FLAT : HOT_DENSE) &&
        hot_find(&hot, batch->items->keys, batch->n))
        batch->hot = &hot;
    bool done = false, together = sketch->threads > 1 && batch->n >= MANY;
    if (is_flat(sketch)) {
        bool far = flat_bytes(sketch->dense.blocks, FLAT_NARROW) > FAR && batch->n / A_BLOCK > sketch->dense.blocks;
        if (together && batch_tally_fits(batch)) done = batch_tally(batch);
        if (!done && (far || together)) done = batch_notes(batch);
        if (!done) batch_add_flat(batch, 0, batch->n, &sketch->flat);
        forget_blocks(batch);
    } else {
        if (batch_tally_fits(batch)) done = batch_tally(batch);
        if (!done && batch->n >= FEW) done = batch_notes(batch);
        if (!done) add_dense(batch);
    }
    sketch->dense.total += sum_counts(batch);
}

static lego_status add_items(lego_sketch *sketch, const struct items *items, const int64_t *counts, size_t n)
{
    struct batch batch = {sketch, items, counts, n, NULL};
    lego_status status = sketch_take_counts(sketch, counts, n);
    if (status != LEGO_OK) return status;
    blocks_changed(sketch);
    if (has_blocks(sketch->model)) add_to_blocks(&batch);
    else if (n < MANY || sketch->threads == 1 || !batch_bricks(&batch)) add_singly(&batch);
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
        items_place(job->items, start, (unsigned)size, job->sketch, &place[turn]);
        query_fetch(job->sketch, &place[turn], (unsigned)size);
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
    parallel_run(n < MANY ? 1 : sketch->threads, estimate_work, &job);
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
