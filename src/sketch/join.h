/* join: the blocks of several sketches as one's. What they list of a block is joined, equal prints add up, and where it
 * is more than a block holds the heaviest stay (keep.h); so it does not matter in which order the sketches are named.
 * */
#pragma once

#include "block/blocks.h"

/* One of them, and how often it counts. What is not whole has a multiple of the blocks that it comes to. */
struct part {
    const struct blocks *blocks;
    int64_t times;
};

struct join {
    const struct part *part;
    size_t n;
    struct entry *entry; /* room for the entries of a block */
    size_t size;         /* in bytes */
    const lego_allocator *allocator;
};

/* Gets the room for what comes to be so many blocks; false if there is no memory. */
bool join_start(struct join *join, const struct part part[], size_t n, uint32_t blocks,
                const lego_allocator *allocator);
void join_end(struct join *join);

/* Fills blocks: others, or those of one of the parts if this has as many. False if they grow and do not have room; that
 * can not be if they do not grow. */
bool join_fill(struct join *join, struct blocks *into);
