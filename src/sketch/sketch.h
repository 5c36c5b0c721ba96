/* sketch: the room of the public functions, in the order of an item's way.
 *
 *     handle.c         what a sketch is: its shape, its memory, its life
 *     add.c, query.c   one item or many: the top, if there is one, then the light part
 *     batch*.c         many items to blocks: tallied, or noted and sorted by block (notes, hot)
 *     blocks_query.c   answers from blocks, and the scan that they share
 *     combine.c        merge, subtract, fold
 *
 * It may include core, block, model, paper and top. */
#pragma once

#include <stdatomic.h>

#include "block/dense.h"
#include "model/compact.h"
#include "paper/bricks.h"
#include "top/top.h"

/* What a scan of the blocks found, kept until one of the blocks that it looks at changes. Its counts follow a store;
 * then what the networks make of them is behind: COUNTED. Readers may fill it at the same time: the first to move state
 * to BUSY writes. */
enum { SUMMARY_EMPTY, SUMMARY_BUSY, SUMMARY_READY, SUMMARY_COUNTED };
struct blocks_summary {
    _Atomic uint32_t state;
    uint32_t lag;                   /* changes since the networks have run */
    float bias[DECODE_HIDDEN_ROOM]; /* of the decoder's first layer */
    struct compact_counts counts;
};

struct lego_sketch {
    const lego_model *model;
    uint64_t seed;
    lego_allocator allocator;
    unsigned threads;
    uint64_t mass; /* at least the sum of |value| over each row of the sketch: while it fits, no sum can overflow */
    void *bytes;   /* of the light part and what is cached of it: one allocation */
    union {        /* the light part, by the model: */
        struct dense dense;
        struct bricks bricks;
    };
    struct blocks_summary *summary; /* of blocks, behind them; NULL for bricks */
    void *top_bytes;                /* of the top: one allocation, or NULL if the sketch keeps none */
    struct top top;
};

/* How many blocks or bricks, how many columns a brick has (0: they are blocks), and how many buckets the top. */
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

/* All bytes of a sketch of this shape, handle included. */
uint64_t sketch_bytes(const lego_model *model, const struct shape *shape);

/* An empty sketch of this shape, which must be valid. */
lego_status sketch_make(const lego_model *model, uint64_t seed, const struct shape *shape,
                        const lego_allocator *allocator, lego_sketch **sketch);

/* Memory for an empty sketch of this shape into a handle that has model and allocator, and whose memory, if it has any,
 * is left to the caller; and that memory back. */
lego_status sketch_allocate(lego_sketch *handle, const struct shape *shape);
void sketch_free(lego_sketch *handle);

/* ---- items ------------------------------------------------------------------------------------------------------- */

/* The bytes of item i, or `integer`, filled with them. */
const void *items_bytes(const lego_items *items, size_t i, unsigned char integer[8], size_t *size);

/* Whether there are n items: offsets do not fall. */
bool items_valid(const lego_items *items);

/* Room for n more counts (each 1 where counts is NULL), or LEGO_ERR_RANGE where a sum could leave 64 bits. */
lego_status sketch_take_counts(lego_sketch *sketch, const int64_t *counts, size_t n);

/* ---- the light part ---------------------------------------------------------------------------------------------- */

void light_add(lego_sketch *sketch, struct hash hash, int64_t count);
lego_estimate light_query(const lego_sketch *sketch, struct hash hash);

/* The light part as the top sees it. */
struct top_light light_of(lego_sketch *sketch);

/* What a resident's votes and, if it is flagged, the light part say together. */
lego_estimate query_resident(const lego_sketch *sketch, const struct resident *one);

/* The blocks that a scan looks at have changed. */
static inline void blocks_changed(lego_sketch *sketch)
{
    if (sketch->summary) atomic_store_explicit(&sketch->summary->state, SUMMARY_EMPTY, memory_order_relaxed);
}
