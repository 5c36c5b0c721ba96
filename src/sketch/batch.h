/* batch: ways to add many items at once. batch.c chooses.
 *
 *     batch_bricks.c  each thread owns bricks
 *     batch_notes.c   blocks: notes are taken, sorted by block, and then each block is opened once
 *     batch_tally.c   blocks: each thread counts into plain integers of its own, which are added up in the end
 *
 * All return false, and nothing has changed, if there is no memory for it. N is left to the caller. */
#ifndef LEGO_SRC_BATCH_H
#define LEGO_SRC_BATCH_H

#include "sketch/hot.h"
#include "core/parallel.h"
#include "sketch/sketch.h"

/* ---- items: those of one call, of either kind -------------------------------------------------------------------- */

struct items {
    const uint64_t *keys; /* or NULL: */
    const unsigned char *bytes;
    const uint64_t *offsets;
};

static inline struct hash item_hash(const struct items *items, size_t i, uint64_t seed)
{
    if (items->keys) return hash_u64(items->keys[i], seed);
    return hash_bytes(items->bytes + items->offsets[i], (size_t)(items->offsets[i + 1] - items->offsets[i]), seed);
}

/* Where n items are from `first` on, at most DECODE_MOST, in a sketch of blocks. */
static inline void items_place(const struct items *items, size_t first, unsigned n, const lego_sketch *sketch,
                               struct decode_places *places)
{
    const struct dense *dense = &sketch->dense;
    struct hashes hashes;
    if (items->keys) {
        dense->kernels->hash_keys(items->keys + first, n, sketch->seed, &hashes);
    } else {
        for (unsigned i = 0; i < n; i++) {
            struct hash hash = item_hash(items, first + i, sketch->seed);
            hashes.lo[i] = hash.lo;
            hashes.hi[i] = hash.hi;
        }
    }
    dense->kernels->place(&hashes, n, dense->odd, dense->mask, places);
}

/* ---- ways to add them -------------------------------------------------------------------------------------------- */

struct batch {
    lego_sketch *sketch;
    const struct items *items;
    const int64_t *counts; /* NULL: each once */
    size_t n;
    const struct hot *hot; /* keys that are counted aside; then there are no counts. Or NULL */
};

static inline int64_t batch_count(const struct batch *batch, size_t i)
{
    return batch->counts ? batch->counts[i] : 1;
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

/* Adds items first .. end - 1 to flat blocks as they come. */
void batch_add_flat(const struct batch *batch, size_t first, size_t end, struct flat *flat);

bool batch_bricks(const struct batch *batch);
bool batch_notes(const struct batch *batch);

/* Whether there are items enough for it, whether their counts fit, and how much memory it would take. */
bool batch_tally_fits(const struct batch *batch);
bool batch_tally(const struct batch *batch);

#endif
