/* blocks: see blocks.h. */
#include "block/blocks.h"

#include <string.h>

void blocks_init(struct blocks *blocks, uint32_t number, uint32_t most, void *bytes)
{
    uintptr_t at = ((uintptr_t)bytes + BLOCKS_LINE - 1) / BLOCKS_LINE * BLOCKS_LINE;
    *blocks = (struct blocks){.block = (struct block *)at,
                              .blocks = number,
                              .most = most,
                              .whole = key_bits(number),
                              .kernels = block_kernels_best()};
    memset(blocks->block, 0, ((size_t)number + blocks_caps(number, most)) * sizeof(struct block));
}

/* ---- caps -------------------------------------------------------------------------------------------------------- */

void cap_cells_add(struct cap_cells *cells, const struct content *list)
{
    for (unsigned i = 0; i < list->n; i++) cells->cell[step_cell(STEP_CAP, 0, list->key[i])] += list->value[i];
}

void cap_settle(const struct blocks *blocks, struct block *cap, const struct cap_cells *cells, struct content *room)
{
    content_start(room, STEP_CAP);
    memcpy(room->value, cells->cell, sizeof cells->cell);
    blocks->kernels->settle(cap, blocks->whole, room);
}

void blocks_make_cap(struct blocks *blocks, uint32_t block)
{
    struct block *cap = cap_of(blocks, block);
    struct cap_cells cells = {{0}};
    struct content content;
    if (cap_counts(cap)) return;
    uint32_t index = cap_index(blocks, block), end = cap_end(blocks, index);
    for (uint32_t i = cap_first(index); i < end; i++) {
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        cap_cells_add(&cells, &content);
    }
    cap_settle(blocks, cap, &cells, &content);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Writes a content that may be too large for its step into its block. */
static bool settle(struct blocks *blocks, uint32_t block, struct content *content)
{
    struct block made;
    if (blocks_grow(blocks)) return blocks->kernels->close(&blocks->block[block], blocks->whole, content);
    blocks->kernels->settle(&made, blocks->whole, content);
    if (content->step > STEP_LIST) blocks_make_cap(blocks, block); /* of the list as it still is */
    blocks->block[block] = made;
    return true;
}

/* Where the block's step has no room for the item, and its cap may have to be made. */
static __attribute__((noinline)) bool put_on(struct blocks *blocks, struct spot spot, int64_t count)
{
    struct content content;
    blocks->kernels->open(&blocks->block[spot.block], blocks->whole, &content);
    content_add(&content, blocks->whole, spot.key, count);
    return settle(blocks, spot.block, &content);
}

/* While blocks grow, or their cap does not count yet. */
static __attribute__((noinline)) bool put_uncapped(struct blocks *blocks, struct spot spot, int64_t count)
{
    return blocks->kernels->add(&blocks->block[spot.block], blocks->whole, spot.key, count) ||
           put_on(blocks, spot, count);
}

bool blocks_put(struct blocks *blocks, struct spot spot, int64_t count)
{
    struct block *block = &blocks->block[spot.block];
    if (blocks_grow(blocks) || !cap_counts(cap_of(blocks, spot.block))) return put_uncapped(blocks, spot, count);
    blocks->kernels->add_on(block, blocks->whole, spot.key, count); /* no cap has to be made first */
    return true;
}

bool blocks_add(struct blocks *blocks, struct hash hash, int64_t count)
{
    const struct spot spot = spot_of(blocks->blocks, hash);
    struct block *block = &blocks->block[spot.block], *cap = NULL;
    block_prefetch(block);
    if (!blocks_grow(blocks)) cap = cap_of(blocks, spot.block);
    blocks->loose |= count < 0;
    if (cap && cap_counts(cap)) {
        blocks->kernels->add_both(block, cap, blocks->whole, spot.key, count);
        return true;
    }
    if (!put_uncapped(blocks, spot, count)) return false;
    if (cap && cap_counts(cap)) blocks->kernels->add_on(cap, blocks->whole, spot.key, count);
    return true;
}

bool blocks_join(struct blocks *blocks, uint32_t block, struct content *from, int sign)
{
    struct content own;
    blocks->kernels->open(&blocks->block[block], blocks->whole, &own);
    unsigned step = own.step > from->step ? own.step : from->step;
    content_lower(&own, step, blocks->whole);
    content_lower(from, step, blocks->whole);
    content_join(&own, from, sign);
    if (step > STEP_LIST) blocks_make_cap(blocks, block);
    return settle(blocks, block, &own);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

void blocks_read(const struct blocks *blocks, struct spot spot, struct reading *reading)
{
    const struct block *block = &blocks->block[spot.block], *cap = NULL;
    block_prefetch(block);
    if (!blocks_grow(blocks)) {
        cap = cap_of(blocks, spot.block);
        block_prefetch(cap);
    }
    blocks->kernels->read(block, cap, blocks->whole, spot.key, reading);
}

void blocks_read_many(const struct blocks *blocks, const struct spot spot[], unsigned n, struct reading reading[])
{
    uint32_t block[MANY_MOST], cap[MANY_MOST];
    uint64_t key[MANY_MOST];
    const bool caps = !blocks_grow(blocks);
    for (unsigned i = 0; i < n; i++) {
        block[i] = spot[i].block;
        key[i] = spot[i].key;
        if (caps) cap[i] = blocks->blocks + cap_index(blocks, block[i]);
    }
    blocks->kernels->read_many(blocks->block, blocks->whole, &(struct asked){block, caps ? cap : NULL, key}, n,
                               reading);
}
