/* grow: more blocks and buckets as the content asks for them.
 *
 * The old memory is held until the new one is filled, so an allocation that fails changes nothing. */
#include "sketch/sketch.h"

bool blocks_whole(const struct blocks *blocks)
{
    bool whole = !blocks->keeps;
    if (blocks_grow(blocks)) return true;
    for (uint32_t i = 0; i < blocks->blocks && whole; i++) whole = block_step(&blocks->block[i]) == STEP_WHOLE;
    return whole;
}

/* ---- the same content in another number of blocks ---------------------------------------------------------------- */

/* A block opened, and of each entry its block and key if there were another number of blocks. Within such a block they
 * are in order, too: equal prints are in the order of X, as blocks are. */
struct opened {
    uint32_t block; /* which; UINT32_MAX: none yet */
    struct content list;
    uint32_t home[BLOCK_ENTRIES];
};

static void open_block(const struct blocks *blocks, uint32_t number, uint32_t block, struct opened *opened)
{
    const unsigned whole = key_bits(number);
    struct content *list = &opened->list;
    if (opened->block == block) return; /* the block before had a part of it */
    opened->block = block;
    blocks->kernels->open(&blocks->block[block], blocks->whole, list);
    for (unsigned i = 0; i < list->n; i++) {
        struct spot spot = spot_of(number, spot_hash(blocks->blocks, (struct spot){block, list->key[i]}));
        opened->home[i] = spot.block;
        list->key[i] = key_cut(spot.key, whole);
    }
}

/* The entries of one of those blocks, in the place of what a content has. */
static void take_home(const struct opened *opened, uint32_t block, struct content *content)
{
    content_start(content, STEP_WHOLE);
    for (unsigned i = 0; i < opened->list.n; i++) {
        content->key[content->n] = opened->list.key[i];
        content->value[content->n] = opened->list.value[i];
        content->n += opened->home[i] == block;
    }
}

/* As gather_block(). What was opened for the block before is mostly what is needed again. */
static bool gather_next(const struct blocks *blocks, uint32_t number, uint32_t block, struct opened *opened,
                        struct content *content)
{
    uint32_t from = (uint32_t)((uint64_t)block * blocks->blocks / number);
    uint32_t end = (uint32_t)((((uint64_t)block + 1) * blocks->blocks + number - 1) / number);
    open_block(blocks, number, from, opened);
    take_home(opened, block, content);
    while (++from < end && content->n <= BLOCK_ENTRIES) {
        struct content more;
        open_block(blocks, number, from, opened);
        take_home(opened, block, &more);
        content_join(content, &more, 1);
    }
    return content->n <= BLOCK_ENTRIES;
}

bool gather_block(const struct blocks *blocks, uint32_t number, uint32_t block, struct content *content)
{
    struct opened opened; /* 20 KB, of which most is never written */
    opened.block = UINT32_MAX;
    return gather_next(blocks, number, block, &opened, content);
}

static bool fits_in(const struct blocks *blocks, uint32_t number)
{
    struct opened opened;
    struct content content;
    struct block made;
    opened.block = UINT32_MAX;
    for (uint32_t i = 0; i < number; i++)
        if (!gather_next(blocks, number, i, &opened, &content) ||
            !blocks->kernels->close(&made, key_bits(number), &content))
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

/* Fills more blocks with what fewer have; false if it does not fit. Of a number that these do not divide a block can
 * have items of two, and if that is the most, can have to give up bits at once. */
static bool spread_blocks(struct blocks *to, const struct blocks *from)
{
    struct opened opened;
    struct content content;
    opened.block = UINT32_MAX;
    for (uint32_t i = 0; i < to->blocks; i++) {
        bool fits = gather_next(from, to->blocks, i, &opened, &content);
        if (!blocks_grow(to)) {
            to->kernels->settle(&to->block[i], to->whole, &content);
            to->keeps |= block_keeps(&to->block[i]);
        } else if (!fits || !to->kernels->close(&to->block[i], to->whole, &content)) {
            return false;
        }
    }
    return true;
}

/* Moves the entries of a list that go to the same block as its first one, of 2^bits that the list's block becomes, and
 * returns which that is. Its number among these is in the fraction's highest bits, of which the new one has no more. */
static uint32_t take_apart(struct content *list, unsigned bits, struct content *part)
{
    const uint64_t print = UINT64_MAX << (64 - PRINT_MOST), mask = UINT64_MAX << (64 - bits) >> PRINT_MOST;
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
    return (uint32_t)(own << PRINT_MOST >> (64 - bits));
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

/* To so many, or if it does not fit these, *fits is false and nothing has changed. */
static lego_status grow_to(lego_sketch *sketch, uint32_t number, bool *fits)
{
    const struct blocks *from = &sketch->blocks;
    lego_sketch made = *sketch;
    struct shape shape = sketch_shape(sketch);
    lego_status status = light_allocate(&made, &shape, number);
    *fits = true;
    if (status != LEGO_OK) return status;
    const unsigned bits = from->whole - made.blocks.whole;
    if (number == from->blocks << bits) split_blocks(&made.blocks, from, bits);
    else *fits = spread_blocks(&made.blocks, from);
    made.blocks.total = from->total;
    made.blocks.loose = from->loose;
    light_free(*fits ? sketch : &made);
    if (*fits) *sketch = made;
    return LEGO_OK;
}

lego_status grow_blocks_to(lego_sketch *sketch, uint32_t least)
{
    bool fits;
    lego_status status = grow_to(sketch, least, &fits);
    for (uint32_t number = least; !fits; status = grow_to(sketch, number, &fits))
        number = blocks_after(number, sketch->blocks.most); /* the most always do */
    if (status != LEGO_OK) sketch->blocks.loose = true;     /* it may have grown before for what now finds no room */
    return status;
}

bool grow_blocks_for_batch(void *sketch, uint32_t least)
{
    return grow_blocks_to(sketch, least) == LEGO_OK;
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
