/* order: see order.h. */
#include "sketch/order.h"

#include <string.h>

enum { AHEAD = 16 }; /* items, or blocks, that are on their way while others are added */

void order_start(struct order *order, struct blocks *blocks)
{
    order->blocks = blocks;
    order->n = 0;
    order->keeps = false;
    order->news = (struct news){0};
}

void order_range(struct order *order, uint32_t first, uint32_t end)
{
    order->first = first;
    order->end = end;
}

/* One by one: there are hardly any of one block. */
static void add_as_they_came(struct order *order)
{
    struct blocks *blocks = order->blocks;
    for (unsigned i = 0; i < order->n + AHEAD; i++) {
        if (i < order->n) block_prefetch(&blocks->block[order->spot[i].block]);
        if (i < AHEAD) continue;
        const struct spot *spot = &order->spot[i - AHEAD];
        order->keeps |= blocks_take(blocks, spot->block, &spot->key, &order->count[i - AHEAD], 1, &order->news);
    }
}

/* A stretch by blocks: start[b] is then where the items of block b end. */
static void sort_stretch(struct order *order)
{
    const uint32_t first = order->first, blocks = order->end - first;
    memset(order->start, 0, (blocks + 1) * sizeof *order->start);
    for (unsigned i = 0; i < order->n; i++) order->start[order->spot[i].block - first + 1]++;
    for (uint32_t b = 0; b < blocks; b++) order->start[b + 1] += order->start[b];
    for (unsigned i = 0; i < order->n; i++) {
        const uint32_t to = order->start[order->spot[i].block - first]++;
        order->sorted_key[to] = order->spot[i].key;
        order->sorted_count[to] = order->count[i];
    }
}

static void add_by_blocks(struct order *order)
{
    struct blocks *blocks = order->blocks;
    const uint32_t number = order->end - order->first;
    sort_stretch(order);
    for (uint32_t b = 0, from = 0; b < number; b++) {
        const uint32_t to = order->start[b], index = order->first + b;
        if (b + AHEAD < number) block_prefetch(&blocks->block[index + AHEAD]);
        if (to > from)
            order->keeps |= blocks_take(blocks, index, order->sorted_key + from, order->sorted_count + from, to - from,
                                        &order->news);
        from = to;
    }
}

void order_flush(struct order *order)
{
    if (order->n < order->end - order->first) add_as_they_came(order);
    else add_by_blocks(order);
    order->n = 0;
}

void order_take(struct order *order, const uint64_t *word, unsigned words, bool counted)
{
    for (unsigned i = 0; i < words; i += 1 + counted) {
        if (order->n == ORDER_ITEMS) order_flush(order);
        order->spot[order->n] = spot_of(order->blocks->blocks, word_hash(word[i]));
        order->count[order->n++] = counted ? (int64_t)word[i + 1] : 1;
    }
}
