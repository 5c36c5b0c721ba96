/* batch: ways to add many items to blocks at once. batch.c chooses.
 *
 *     batch_notes.c   notes are taken of the items, sorted by block, and then each block is opened once
 *     batch_tally.c   each thread counts into plain integers of its own, which are added up in the end
 *
 * Both return false, and nothing has changed, if there is no memory for it. The sketch's total is left to the
 * caller. */
#pragma once

#include "core/parallel.h"
#include "sketch/blocks_query.h"
#include "sketch/hot.h"

struct batch {
    lego_sketch *sketch;
    const lego_items *items;
    const struct hot *hot; /* keys that are counted aside; then there are no counts. Or NULL */
};

static inline int64_t batch_count(const struct batch *batch, size_t i)
{
    return batch->items->counts ? batch->items->counts[i] : 1;
}

/* Items on their way from a batch to blocks, without those that are hot. */
struct reader {
    const struct batch *batch;
    size_t next, end;
    uint64_t rest[2 * DECODE_MOST]; /* keys that are not hot */
    unsigned rests;
    uint32_t *times; /* how often the hot ones came, HOT_SLOTS of them */
};

/* The places of the next items, and their counts, at most DECODE_MOST; returns how many these are, and 0 in the end. */
unsigned reader_next(struct reader *reader, struct decode_places *places, int64_t counts[]);

/* Where the hot items that came are, with how often: one after the other, from *slot on. */
bool batch_next_hot(const struct batch *batch, const uint32_t times[], unsigned *slot, struct half half[2]);

bool batch_notes(const struct batch *batch);

/* Whether there are items enough for it, and whether their counts fit. */
bool batch_tally_fits(const struct batch *batch);
bool batch_tally(const struct batch *batch);
