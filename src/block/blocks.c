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

void blocks_make_cap(struct blocks *blocks, uint32_t block)
{
    struct block *cap = cap_of(blocks, block);
    struct content row, list;
    if (cap_counts(cap)) return;
    content_start(&row, STEP_CAP);
    uint32_t index = cap_index(blocks, block), end = cap_end(blocks, index);
    for (uint32_t i = cap_first(index); i < end; i++) {
        blocks->kernels->open(&blocks->block[i], blocks->whole, &list);
        for (unsigned k = 0; k < list.n; k++) content_add(&row, blocks->whole, list.key[k], list.value[k]);
    }
    blocks->kernels->settle(cap, blocks->whole, &row);
}

static void add_to_cap(struct blocks *blocks, uint32_t block, uint64_t key, int64_t count)
{
    struct block *cap = cap_of(blocks, block);
    if (cap_counts(cap)) blocks->kernels->add_on(cap, blocks->whole, key, count);
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

bool blocks_put(struct blocks *blocks, struct spot spot, int64_t count)
{
    struct block *block = &blocks->block[spot.block];
    struct content content;
    if (!blocks_grow(blocks) && cap_counts(cap_of(blocks, spot.block))) { /* no cap has to be made first */
        blocks->kernels->add_on(block, blocks->whole, spot.key, count);
        return true;
    }
    if (blocks->kernels->add(block, blocks->whole, spot.key, count)) return true;
    blocks->kernels->open(block, blocks->whole, &content);
    content_add(&content, blocks->whole, spot.key, count);
    return settle(blocks, spot.block, &content);
}

bool blocks_add(struct blocks *blocks, struct hash hash, int64_t count)
{
    struct spot spot = spot_of(blocks->blocks, hash);
    if (!blocks_put(blocks, spot, count)) return false;
    blocks->loose |= count < 0;
    if (!blocks_grow(blocks)) add_to_cap(blocks, spot.block, spot.key, count);
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

/* What is known of a reading before its values; how many these are, without the cap. */
static unsigned start_reading(const struct blocks *blocks, uint32_t block, uint64_t key, struct reading *reading)
{
    unsigned step = block_step(&blocks->block[block]);
    reading->step = step;
    reading->entries = block_entries(&blocks->block[block]);
    if (step_lists(step)) {
        unsigned length = step_length(step, blocks->whole, key);
        reading->width[0] = UINT32_C(1) << (length < BLOCK_PRINT ? length : BLOCK_PRINT);
        return 1;
    }
    for (unsigned row = 0; row < 2; row++) reading->width[row] = step_width(step, row, key);
    return 2;
}

/* Whether the cap is to be asked as well. */
static bool wants_cap(const struct blocks *blocks, const struct reading *reading)
{
    if (reading->step <= STEP_LIST || blocks_grow(blocks)) return false;
    return !step_lists(reading->step) || reading->value[0] >= BLOCKS_UNCAPPED;
}

static void add_cap(const struct block *cap, uint64_t key, int64_t value, struct reading *reading)
{
    reading->value[reading->values] = value;
    reading->width[reading->values++] = step_width(block_step(cap), 0, key);
}

void blocks_read(const struct blocks *blocks, struct spot spot, struct reading *reading)
{
    reading->values = start_reading(blocks, spot.block, spot.key, reading);
    blocks->kernels->read(&blocks->block[spot.block], blocks->whole, spot.key, reading->value);
    if (!wants_cap(blocks, reading)) return;
    const struct block *cap = cap_of(blocks, spot.block);
    int64_t value[2];
    blocks->kernels->read(cap, blocks->whole, spot.key, value);
    add_cap(cap, spot.key, value[0], reading);
}

void blocks_read_many(const struct blocks *blocks, const struct spots *spots, struct reading reading[])
{
    struct spots caps = {.n = 0};
    unsigned item[SPOTS_MOST];
    int64_t first[SPOTS_MOST], second[SPOTS_MOST];
    blocks->kernels->read_many(blocks->block, blocks->whole, spots->block, spots->key, spots->n, first, second);
    for (unsigned i = 0; i < spots->n; i++) {
        reading[i].values = start_reading(blocks, spots->block[i], spots->key[i], &reading[i]);
        reading[i].value[0] = first[i];
        reading[i].value[1] = second[i];
        if (!wants_cap(blocks, &reading[i])) continue;
        caps.block[caps.n] = blocks->blocks + cap_index(blocks, spots->block[i]);
        caps.key[caps.n] = spots->key[i];
        item[caps.n++] = i;
    }
    blocks->kernels->read_many(blocks->block, blocks->whole, caps.block, caps.key, caps.n, first, second);
    for (unsigned i = 0; i < caps.n; i++)
        add_cap(&blocks->block[caps.block[i]], caps.key[i], first[i], &reading[item[i]]);
}
