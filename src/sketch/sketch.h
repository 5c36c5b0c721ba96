/* sketch: the handle that ties the flow together, for the files that implement lego_sketch_*. */
#ifndef LEGO_SRC_SKETCH_H
#define LEGO_SRC_SKETCH_H

#include "paper/brick.h"
#include "model/compact.h"
#include "block/dense.h"
#include "paper/embed.h"
#include "block/flat.h"

/* What a scan of the blocks found, kept until one of those it looks at changes; as struct summary. Its counts follow a
 * store; then what the networks make of them is behind. */
struct blocks_summary {
    _Atomic uint32_t state;
    uint32_t lag; /* changes since the networks have run */
    float bias[DECODE_HIDDEN_ROOM]; /* of the decoder's first layer */
    double sums[COMPACT_OUT_FACTS];  /* of compact_scan_cells(); few stores change them */
    struct compact_counts counts;
};

struct lego_sketch {
    const lego_model *model;
    uint64_t seed;
    lego_allocator allocator;
    unsigned threads;
    lego_packing packing;
    uint64_t mass; /* at least the sum of |value| over each row of the sketch: while it fits, no sum can overflow */
    void *bytes;   /* one allocation, over which there is either */
    union {
        struct memory memory; /* bricks, or */
        struct dense dense;   /* blocks, of a compact model; or */
        struct flat flat;     /* blocks of integers; as it begins with a struct dense, that has the numbers of both */
    };
    struct blocks_summary *summary; /* of the blocks */
};

/* Whether sketches of the model have blocks, of either packing. */
static inline bool has_blocks(const lego_model *model)
{
    return model->kind == MODEL_COMPACT;
}

/* Whether these are flat. */
static inline bool is_flat(const lego_sketch *sketch)
{
    return has_blocks(sketch->model) && sketch->packing == LEGO_FLAT;
}

/* How many bricks or blocks two sketches both fold to. */
static inline uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* malloc and free if NULL. */
lego_allocator sketch_allocator(const lego_allocator *allocator);

/* An empty sketch of this shape, which must be within the limits. Of a compact model only the bricks of the shape
 * count, which are its blocks, and the bits: 0 if dense, FLAT_NARROW or FLAT_WIDE if flat. */
lego_status sketch_make(const lego_model *model, uint64_t seed, const struct shape *shape,
                        const lego_allocator *allocator, lego_sketch **sketch);

/* Whether the shape itself is possible with the model, whatever the budget. */
bool sketch_shape_valid(const struct shape *shape, const lego_model *model);

/* The flow of a store and of a query, from the item's hash on. */
void sketch_add(lego_sketch *sketch, struct hash hash, int64_t count);
lego_estimate sketch_estimate(const lego_sketch *sketch, struct hash hash);

/* Has the blocks of an item fetched, if there are blocks, for what comes soon. */
static inline void sketch_prefetch(const lego_sketch *sketch, struct hash hash)
{
    if (is_flat(sketch)) flat_prefetch(&sketch->flat, hash);
    else if (has_blocks(sketch->model)) dense_prefetch(&sketch->dense, hash);
}

/* The blocks that a scan looks at have changed. */
static inline void blocks_changed(lego_sketch *sketch)
{
    if (sketch->summary) atomic_store_explicit(&sketch->summary->state, SUMMARY_EMPTY, memory_order_relaxed);
}

/* Room for n more counts (each 1 where counts is NULL). Where a sum could leave 64 bits, LEGO_ERR_RANGE; where flat
 * cells have to become wider for it and can not, LEGO_ERR_MEMORY. */
lego_status sketch_take_counts(lego_sketch *sketch, const int64_t *counts, size_t n);

#endif
