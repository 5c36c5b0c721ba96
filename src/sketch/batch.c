/* batch: many items to blocks in one call, on one thread or several. batch.h has the ways to add them. */
#include "sketch/batch.h"

#include <string.h>

enum {
    FEW = 1024,        /* items, fewer than which no notes are taken of */
    HOT_MANY = 1 << 12 /* items, from which on the hot ones are looked for: that takes 2 us */
};

void items_place(const lego_items *items, size_t first, unsigned n, const lego_sketch *sketch,
                 struct decode_places *places)
{
    const struct dense *dense = &sketch->dense;
    struct hashes hashes;
    if (items->integers) {
        dense->kernels->hash_keys(items->integers + first, n, sketch->seed, &hashes);
    } else {
        for (unsigned i = 0; i < n; i++) {
            struct hash hash = items_hash(items, first + i, sketch->seed);
            hashes.lo[i] = hash.lo;
            hashes.hi[i] = hash.hi;
        }
    }
    dense->kernels->place(&hashes, n, dense->odd, dense->mask, places);
}

unsigned reader_next(struct reader *reader, struct decode_places *places, int64_t counts[])
{
    const struct batch *batch = reader->batch;
    const lego_items *items = batch->items;
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
        reader->rests += hot_pass(batch->hot, items->integers + reader->next, n, reader->times, rest);
        reader->next += n;
    }
    unsigned n = reader->rests < DECODE_MOST ? reader->rests : DECODE_MOST;
    items_place(&(lego_items){.integers = reader->rest}, 0, n, batch->sketch, places);
    for (unsigned i = 0; i < n; i++) counts[i] = 1;
    reader->rests -= n;
    memmove(reader->rest, reader->rest + n, reader->rests * sizeof *reader->rest);
    return n;
}

bool batch_next_hot(const struct batch *batch, const uint32_t times[], unsigned *slot, struct half half[2])
{
    while (batch->hot && *slot < HOT_SLOTS && times[*slot] == 0) ++*slot;
    if (!batch->hot || *slot == HOT_SLOTS) return false;
    struct hash hash = hash_u64(batch->hot->key[*slot], batch->sketch->seed);
    for (unsigned which = 0; which < 2; which++) half[which] = dense_half(&batch->sketch->dense, hash, which);
    return true;
}

/* Adds items to dense blocks as they come: while those of some are on their way, the ones before them are added. */
static void add_dense(const struct batch *batch)
{
    struct dense *dense = &batch->sketch->dense;
    uint32_t times[HOT_SLOTS];
    struct reader reader = {.batch = batch, .end = batch->items->n, .times = times};
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
    for (unsigned slot = 0; batch_next_hot(batch, times, &slot, half); slot++)
        for (unsigned which = 0; which < 2; which++) dense_add_half(dense, &half[which], which, times[slot]);
}

static int64_t sum_counts(const lego_items *items)
{
    int64_t sum = items->counts ? 0 : (int64_t)items->n;
    for (size_t i = 0; items->counts && i < items->n; i++) sum += items->counts[i];
    return sum;
}

void batch_add(lego_sketch *sketch, const lego_items *items)
{
    struct batch batch = {sketch, items, NULL};
    struct hot hot;
    bool done = false;
    if (items->integers && !items->counts && items->n >= HOT_MANY && hot_find(&hot, items->integers, items->n))
        batch.hot = &hot;
    blocks_changed(sketch);
    if (batch_tally_fits(&batch)) done = batch_tally(&batch);
    if (!done && items->n >= FEW) done = batch_notes(&batch);
    if (!done) add_dense(&batch);
    sketch->dense.total += sum_counts(items);
}
