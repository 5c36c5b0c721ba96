/* batch: many items to blocks in one call, on one thread or several.
 *
 *     words.c       items are hashed
 *     frequent.c    the most frequent are counted aside
 *     partition.c   the others are put by where their blocks are, so that what follows stays in a cache
 *     tally.c       of a part, equal items are added up, and each block gets all of its own at once
 *     batch.c       memory, threads, and what to do where there is none
 *
 * What becomes of the blocks is what adding the items one by one makes of them. */
#pragma once

#include "block/blocks.h"
#include "sketch/watch.h"

/* Where a sketch that grows gets more blocks, at least so many, which it is known to need: false if there is no memory
 * for them, and nothing has changed. Else the blocks are more, with the same content. */
struct batch_growth {
    bool (*grow)(void *context, uint32_t least);
    void *context;
};

struct batch {
    struct blocks *blocks;
    const lego_items *items;
    struct seed seed;
    bool falls; /* whether a count is negative */
    const struct batch_growth *growth;
    struct watch *watch; /* items that are not added, but counted there; or NULL */
};

/* Adds the items, all of them: there is no watch. The total is left to the caller. False if the blocks could not grow:
 * then nothing has changed. */
bool batch_add(const struct batch *batch, unsigned threads, const lego_allocator *allocator);

/* Whether nothing in the blocks is negative: if something is, items have to be added as they come. */
bool batch_all_above(const struct blocks *blocks);

/* Adds those items together that are not watched, and counts those that are. False if there is no memory for it: then
 * nothing has changed. If the blocks could not grow, *failed is set. Then nothing has changed either, but where items
 * are watched, which are not told from those that were added before: the caller drops the blocks. */
bool batch_add_in_parts(const struct batch *batch, unsigned threads, const lego_allocator *allocator, bool *failed);
