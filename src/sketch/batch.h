/* batch: many items to blocks in one call, on one thread or several.
 *
 *     words.c       items are hashed
 *     frequent.c    the most frequent are counted aside, where order does not matter
 *     partition.c   the others are put by where their blocks are, so that what follows stays in a cache
 *     tally.c       of a part, equal items are added up, and each block gets all of its own at once: where no block
 *                   keeps, and so order does not matter
 *     order.c       of a part, each block gets its items one after the other: where blocks keep
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
    struct watch *watch; /* items that are not added, but counted there, if there are as many blocks as there can be; or
                            NULL */
};

/* Adds the items, all of them. False if the blocks could not grow: then nothing has changed. */
bool batch_add(const struct batch *batch, unsigned threads, const lego_allocator *allocator);

/* The same with a watch; false, and nothing has changed, if there is no memory for it. */
bool batch_add_watched(const struct batch *batch, unsigned threads, const lego_allocator *allocator);
