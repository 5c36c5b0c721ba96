/* sketch: a sketch of either kind, from the bytes of a value and back.
 *
 * SPDX-License-Identifier: MIT */
#ifndef LEGO_POSTGRES_SKETCH_H
#define LEGO_POSTGRES_SKETCH_H

#include "module.h"

/* One of the two, or neither. */
struct sketch {
    lego_sketch *plain;
    lego_elastic *elastic; /* keeps its most frequent items */
};

static inline bool sketch_exists(const struct sketch *sketch)
{
    return sketch->plain != NULL || sketch->elastic != NULL;
}

/* From a value, which may be packed or short but not compressed; its memory is in the context. */
struct sketch sketch_load(const struct varlena *value, MemoryContext context);
struct varlena *sketch_save(const struct sketch *sketch);
void sketch_destroy(struct sketch *sketch);

/* The library would fold sketches of any two numbers of bricks to what divides both, 1552 and 1016 to 8, where estimates
 * say nothing any more. Here one number has to divide the other. Models may differ: the library refuses those. */
void sketch_require_near(const struct sketch *a, const struct sketch *b);

/* into becomes the sketch of both. */
void sketch_merge(struct sketch *into, const struct sketch *from);

/* The sketch itself, or what is behind its most frequent items. */
const lego_sketch *sketch_light(const struct sketch *sketch);

int64 sketch_total(const struct sketch *sketch);

#endif
