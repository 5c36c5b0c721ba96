/* sketch: the room of the public functions, in the order of an item's way.
 *
 *     handle.c              what a sketch is: its shape, its memory, its life
 *     relocate.c            memory that its owner moves
 *     grow.c                more blocks and buckets as the content asks for them
 *     add*.c, query.c       one item or many: the top, if there is one, then the light part
 *     batch.c               many items to blocks; batch.h has its parts
 *     answer.c              answers from blocks
 *     judge.c               what to answer for items that are not listed
 *     join.c                the blocks of several sketches as one's
 *     combine.c             merge, subtract, fold
 *     census.c, describe.c  what a look at all blocks tells
 *     suggest.c             what budget it takes
 *
 * It may include core, block, model, paper and top. */
#pragma once

#include "block/blocks.h"
#include "paper/bricks.h"
#include "top/top.h"

struct lego_sketch {
    const lego_model *model;
    struct seed seed;
    lego_allocator allocator;
    unsigned threads;
    lego_kind items; /* that were added: bits, which are never taken back */
    uint64_t mass;   /* at least the sum of |value| over each row of the sketch: while it fits, no sum can overflow */
    void *bytes;     /* of the light part, and of bricks what is cached of it: one allocation */
    union {          /* the light part, by the model: */
        struct blocks blocks;
        struct bricks bricks;
    };
    void *top_bytes; /* of the top: one allocation, or NULL if the sketch keeps none */
    struct top top;
};

/* How many blocks or bricks when it has grown, how many columns a brick has (0: they are blocks), and how many
 * buckets the top has when it has grown. */
struct shape {
    uint32_t blocks, columns, buckets;
};

/* Whether sketches of the model have blocks; the others have bricks. */
static inline bool has_blocks(const lego_model *model)
{
    return model->kind == MODEL_COMPACT;
}

static inline bool has_top(const lego_sketch *sketch)
{
    return sketch->top_bytes != NULL;
}

/* ---- handle ------------------------------------------------------------------------------------------------------ */

struct shape sketch_shape(const lego_sketch *sketch);

/* Whether a shape is possible with the model, whatever the budget. */
bool sketch_shape_valid(const lego_model *model, const struct shape *shape);

/* All bytes that a sketch of this shape takes when it has grown, handle included. */
uint64_t sketch_bytes(const lego_model *model, const struct shape *shape);

/* The least options.top that gives this shape, and the least budget with it. */
uint64_t sketch_top_budget(const struct shape *shape);
uint64_t sketch_budget(const lego_model *model, const struct shape *shape);

/* What its light part takes now, cache of bricks included: one allocation. */
uint64_t light_size(const lego_sketch *sketch);

/* What a sketch takes now, and beside that for what is cached. */
uint64_t sketch_bytes_now(const lego_sketch *sketch);
uint64_t sketch_cache_bytes(const lego_sketch *sketch);

/* An empty sketch of this shape, which must be valid, that has so many blocks and buckets (ignored where it has
 * none). */
lego_status sketch_make(const lego_model *model, struct seed seed, const struct shape *shape, uint32_t blocks,
                        uint32_t buckets, const lego_allocator *allocator, lego_sketch **sketch);

/* Memory for an empty sketch, likewise, into a handle that has model and allocator, and whose memory, if it has any,
 * is left to the caller; and that memory back. */
lego_status sketch_allocate(lego_sketch *handle, const struct shape *shape, uint32_t blocks, uint32_t buckets);
void sketch_free(lego_sketch *handle);

/* The same of the light part alone, and of the top. */
lego_status light_allocate(lego_sketch *handle, const struct shape *shape, uint32_t blocks);
void light_free(lego_sketch *handle);
lego_status top_allocate(lego_sketch *handle, uint32_t most, uint32_t buckets);
void top_free(lego_sketch *handle);

/* Whether a light part is as it was made: it may still hold nothing but sums that cancel each other if it is not. And
 * whether all of a sketch is. */
bool light_untouched(const lego_sketch *sketch);
bool sketch_untouched(const lego_sketch *sketch);

/* ---- growing ----------------------------------------------------------------------------------------------------- */

/* More blocks, so that they may hold more with whole keys: the next number at which what they have fits, or all of
 * them. */
lego_status grow_blocks(lego_sketch *sketch);

/* The same from a number on that a sketch can have, is more than it has, and that it is known to need. */
lego_status grow_blocks_to(lego_sketch *sketch, uint32_t least);
bool grow_blocks_for_batch(void *sketch, uint32_t least); /* as struct batch_growth has it */

/* More buckets of the top. */
lego_status grow_top(lego_sketch *sketch);

/* The items of a block in the order of their keys, if there were `number` blocks; false if they are more than a list
 * holds. All blocks list whole keys. */
bool gather_block(const struct blocks *blocks, uint32_t number, uint32_t block, struct content *content);

/* The least number of blocks at which all list whole keys; blocks->most if they do not now. */
uint32_t blocks_least(const struct blocks *blocks);

/* Whether all keys are whole: then the sketch is exact. */
bool blocks_whole(const struct blocks *blocks);

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* The bytes of item i, or `integer`, filled with them. */
const void *items_bytes(const lego_items *items, size_t i, unsigned char integer[8], size_t *size);

/* Whether there are n items: offsets do not fall. */
bool items_valid(const lego_items *items);

/* Adds an item to a sketch with a top: to that, and what it leaves to the light part. LEGO_ERR_MEMORY, and nothing has
 * changed, if it must grow and can not. */
lego_status add_to_top(lego_sketch *sketch, struct hash hash, const void *item, size_t size, int64_t count);

/* Adds many, likewise; `falls` if a count is negative. */
lego_status add_items_to_top(lego_sketch *sketch, const lego_items *items, bool falls);

/* ---- the light part ---------------------------------------------------------------------------------------------- */

/* Adds an item; LEGO_ERR_MEMORY, and nothing has changed, if it must grow and can not. */
lego_status light_add(lego_sketch *sketch, struct hash hash, int64_t count);
lego_estimate light_query(const lego_sketch *sketch, struct hash hash, const lego_asking *asking);

/* What the top compares: of blocks what they list, of bricks the rule's estimate; integers, the same on every
 * machine. */
int64_t light_count(const lego_sketch *sketch, const void *item, size_t size);

/* What blocks that have grown, or those that list an item, say of it. Inside the library nobody asks with NULL. */
lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash, const lego_asking *asking);
void blocks_query_items(const lego_sketch *sketch, const lego_items *items, size_t first, size_t end,
                        const lego_asking *asking, lego_estimate *estimates);

/* The light part as the top sees it. It may have to grow for what leaves the top, and fail: then it takes nothing
 * more, and what it took can be given back. */
struct taker {
    lego_sketch *sketch;
    lego_status status;
    unsigned taken; /* while it grows */
    struct hash hash[TOP_RESIDENTS + 1];
    int64_t count[TOP_RESIDENTS + 1];
};

struct top_light light_of(struct taker *taker, lego_sketch *sketch);

/* What a resident's votes and, if it is flagged, the light part say together. */
lego_estimate query_resident(const lego_sketch *sketch, const struct resident *one, const lego_asking *asking);
