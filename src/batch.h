/* batch: ways to add many items at once. batch.c chooses.
 *
 *     batch_bricks.c  each thread owns bricks
 *     batch_notes.c   blocks: notes are taken, sorted by block, and then each block is opened once
 *     batch_tally.c   blocks: each thread counts into plain integers of its own, which are added up in the end
 *
 * All return false, and nothing has changed, if there is no memory for it. N is left to the caller. */
#ifndef LEGO_SRC_BATCH_H
#define LEGO_SRC_BATCH_H

#include "items.h"
#include "parallel.h"

struct batch {
    lego_sketch *sketch;
    const struct items *items;
    const int64_t *counts; /* NULL: each once */
    size_t n;
};

static inline int64_t batch_count(const struct batch *batch, size_t i)
{
    return batch->counts ? batch->counts[i] : 1;
}

bool batch_bricks(const struct batch *batch);
bool batch_notes(const struct batch *batch);

/* Whether there are items enough for it, whether their counts fit, and how much memory it would take. */
bool batch_tally_fits(const struct batch *batch);
bool batch_tally(const struct batch *batch);

#endif
