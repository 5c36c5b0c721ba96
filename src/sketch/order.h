/* order: items of a part of a batch go to their blocks in the order in which they came: each block gets a stretch of
 * its own at once, which is sorted by blocks without a change of order. */
#pragma once

#include "block/blocks.h"

enum { ORDER_ITEMS = 1 << 14 }; /* of a stretch */

struct order {
    struct blocks *blocks;
    uint32_t first, end; /* the blocks of the part */
    unsigned n;
    bool keeps; /* a block did that was added to */
    struct news news;
    struct spot spot[ORDER_ITEMS];
    int64_t count[ORDER_ITEMS];
    uint64_t sorted_key[ORDER_ITEMS];
    int64_t sorted_count[ORDER_ITEMS];
    uint32_t start[ORDER_ITEMS + 1]; /* of each block's items, sorted */
};

void order_start(struct order *order, struct blocks *blocks);

/* The items that follow are of blocks first .. end - 1. */
void order_range(struct order *order, uint32_t first, uint32_t end);

/* Takes words, with counts between them if they are counted. */
void order_take(struct order *order, const uint64_t *word, unsigned words, bool counted);

/* Adds what there is to the blocks. */
void order_flush(struct order *order);
