/* grow: more blocks and buckets as the content asks for them.
 *
 * The old memory is held until the new one is filled, so an allocation that fails changes nothing. */
#include "sketch/sketch.h"

bool blocks_whole(const struct blocks *blocks)
{
    bool whole = true;
    if (blocks_grow(blocks)) return true;
    for (uint32_t i = 0; i < blocks->blocks && whole; i++) whole = block_step(&blocks->block[i]) == STEP_WHOLE;
    return whole;
}

/* ---- the same content in another number of blocks ---------------------------------------------------------------- */

/* Adds those entries of a block whose items would be in `block` of `number` blocks. Within a block they stay in order:
 * equal prints are in the order of X, as blocks are. */
static bool gather_from(const struct blocks *blocks, uint32_t from, uint32_t number, uint32_t block,
                        struct content *content)
{
    struct content list;
    blocks->kernels->open(&blocks->block[from], blocks->whole, &list);
    for (unsigned i = 0; i < list.n; i++) {
        struct spot spot = spot_of(number, spot_hash(blocks->blocks, (struct spot){from, list.key[i]}));
        if (spot.block != block) continue;
        if (content->n == BLOCK_ENTRIES) return false;
        content_add(content, key_bits(number), spot.key, list.value[i]);
    }
    return true;
}

bool gather_block(const struct blocks *blocks, uint32_t number, uint32_t block, struct content *content)
{
    uint32_t first = (uint32_t)((uint64_t)block * blocks->blocks / number);
    uint32_t end = (uint32_t)((((uint64_t)block + 1) * blocks->blocks + number - 1) / number);
    content_start(content, STEP_WHOLE);
    for (uint32_t from = first; from < end; from++)
        if (!gather_from(blocks, from, number, block, content)) return false;
    return true;
}

static bool fits_in(const struct blocks *blocks, uint32_t number)
{
    struct content content;
    struct block made;
    for (uint32_t i = 0; i < number; i++)
        if (!gather_block(blocks, number, i, &content) || !blocks->kernels->close(&made, key_bits(number), &content))
            return false;
    return true;
}

uint32_t blocks_least(const struct blocks *blocks)
{
    uint32_t number = 1;
    if (!blocks_whole(blocks)) return blocks->most;
    while (number < blocks->blocks && !fits_in(blocks, number)) number = blocks_after(number, blocks->most);
    return number;
}

/* ---- growing ----------------------------------------------------------------------------------------------------- */

/* The cap of blocks that were filled from fewer: of the whole keys that those have. */
static void spread_cap(struct blocks *to, const struct blocks *from, uint32_t cap)
{
    struct cap_cells cells = {{0}};
    struct content list;
    for (uint32_t i = cap_first(cap); i < cap_end(to, cap); i++) {
        gather_block(from, to->blocks, i, &list);
        cap_cells_add(&cells, &list);
    }
    cap_settle(to, &to->block[to->blocks + cap], &cells, &list);
}

/* Fills more blocks with what fewer have. Of a number that these do not divide a block can have items of two, and if
 * that is the most, can have to give up bits at once. */
static void spread_blocks(struct blocks *to, const struct blocks *from)
{
    struct content content;
    for (uint32_t i = 0; i < to->blocks; i++) {
        gather_block(from, to->blocks, i, &content);
        to->kernels->settle(&to->block[i], to->whole, &content);
    }
    for (uint32_t cap = 0; cap < blocks_caps(to->blocks, to->most); cap++) {
        bool lost = false;
        for (uint32_t i = cap_first(cap); i < cap_end(to, cap); i++) lost |= block_step(&to->block[i]) > STEP_LIST;
        if (lost) spread_cap(to, from, cap);
    }
}

/* Moves the entries of a list that go to the same block as its first one, of 2^bits that the list's block becomes, and
 * returns which that is. Its number among these is in the fraction's highest bits, of which the new one has no more. */
static uint32_t take_apart(struct content *list, unsigned bits, struct content *part)
{
    const uint64_t print = UINT64_MAX << (64 - BLOCK_PRINT), mask = UINT64_MAX << (64 - bits) >> BLOCK_PRINT;
    const uint64_t own = list->key[0] & mask;
    unsigned left = 0;
    part->step = STEP_WHOLE;
    part->n = 0;
    for (unsigned i = 0; i < list->n; i++) {
        const uint64_t key = list->key[i];
        const int64_t value = list->value[i];
        const bool goes = (key & mask) == own;
        part->key[part->n] = (key & print) | (key << bits & ~print);
        part->value[part->n] = value;
        part->n += goes;
        list->key[left] = key;
        list->value[left] = value;
        left += !goes;
    }
    list->n = left;
    return (uint32_t)(own << BLOCK_PRINT >> (64 - bits));
}

/* The same for 2^bits times as many, which always list it with whole keys. */
static void split_blocks(struct blocks *to, const struct blocks *from, unsigned bits)
{
    struct content list, part;
    for (uint32_t i = 0; i < from->blocks; i++) {
        from->kernels->open(&from->block[i], from->whole, &list);
        while (list.n > 0) {
            uint32_t block = (i << bits) + take_apart(&list, bits, &part);
            to->kernels->settle(&to->block[block], to->whole, &part);
        }
    }
}

static lego_status grow_to(lego_sketch *sketch, uint32_t number)
{
    const struct blocks *from = &sketch->blocks;
    lego_sketch made = *sketch;
    struct shape shape = sketch_shape(sketch);
    lego_status status = light_allocate(&made, &shape, number);
    if (status != LEGO_OK) return status;
    const unsigned bits = from->whole - made.blocks.whole;
    if (number == from->blocks << bits) split_blocks(&made.blocks, from, bits);
    else spread_blocks(&made.blocks, from);
    made.blocks.total = from->total;
    made.blocks.loose = from->loose;
    light_free(sketch);
    *sketch = made;
    return LEGO_OK;
}

lego_status grow_blocks_to(lego_sketch *sketch, uint32_t least)
{
    const struct blocks *blocks = &sketch->blocks;
    uint32_t number = least;
    while (number % blocks->blocks != 0 && number < blocks->most && !fits_in(blocks, number))
        number = blocks_after(number, blocks->most);
    lego_status status = grow_to(sketch, number);
    if (status != LEGO_OK) sketch->blocks.loose = true; /* it may have grown before for what now finds no room */
    return status;
}

lego_status grow_blocks(lego_sketch *sketch)
{
    return grow_blocks_to(sketch, blocks_after(sketch->blocks.blocks, sketch->blocks.most));
}

lego_status grow_top(lego_sketch *sketch)
{
    uint32_t buckets = top_larger(&sketch->top), most = sketch->top.most;
    lego_sketch made = *sketch;
    lego_status status = top_allocate(&made, most, buckets);
    if (status != LEGO_OK) return status;
    top_grow(&made.top, &sketch->top, sketch->seed);
    top_free(sketch);
    *sketch = made;
    return LEGO_OK;
}
