/* sketch: the handle that ties the flow together, for the files that implement lego_sketch_*. */
#ifndef LEGO_SRC_SKETCH_H
#define LEGO_SRC_SKETCH_H

#include "brick.h"
#include "embed.h"

struct lego_sketch {
    const lego_model *model;
    uint64_t seed;
    lego_allocator allocator;
    unsigned threads;
    struct memory memory; /* laid out over one allocation that starts at memory.cells */
};

/* malloc and free if NULL. */
lego_allocator sketch_allocator(const lego_allocator *allocator);

/* An empty sketch of this shape, which must be within the limits. */
lego_status sketch_make(const lego_model *model, uint64_t seed, const struct shape *shape,
                        const lego_allocator *allocator, lego_sketch **sketch);

/* Whether the shape itself is possible with the model, whatever the budget. */
bool sketch_shape_valid(const struct shape *shape, const lego_model *model);

/* The flow of a store and of a query, from the item's hash on. */
void sketch_add(lego_sketch *sketch, struct hash hash, int64_t count);
lego_estimate sketch_estimate(const lego_sketch *sketch, struct hash hash);

/* Room for n more counts (each 1 where counts is NULL); false if a sum could leave 64 bits. */
bool sketch_take_counts(lego_sketch *sketch, const int64_t *counts, size_t n);

#endif
