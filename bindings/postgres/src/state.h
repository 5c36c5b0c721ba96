/* state: what an aggregate knows of the rows so far: a sketch, and items or sketches that are not in it yet.
 *
 * A row only appends its item to a buffer; the sketch takes a bufferful at once, which is many times faster than one by
 * one. Buffers start small and there is no sketch until one is full, so that a state of few rows takes little more than
 * its items: of GROUP BY there may be millions.
 *
 * A row that is a sketch is added at once while the sum can still grow. From then on the lightest items are let go, and
 * who is light in every row may be heavy in all of them: so sketches wait, and are joined many at a time.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "buffer.h"
#include "sketch.h"

/* What the states of all groups of an aggregate share: room in which a few of them may have longer buffers. */
struct pool {
    size_t taken; /* items */
};

struct state {
    MemoryContext context; /* the aggregate's, which all of the state is in */
    lego_options options;  /* what the rows ask for */
    lego_sketch *sketch;   /* once a buffer was full; or from the start, where the rows are sketches */
    struct buffer buffer;  /* none, where the rows are sketches */
    size_t most;           /* items of a buffer that takes as much memory as the sketch may */
    struct pool *pool;
    size_t pooled;           /* what is taken of it */
    int64 rows;              /* of a moving window alone: how many are counted now */
    bool uneven;             /* sketches of several budgets, or kinds of items, were merged */
    struct waiting *waiting; /* sketches; NULL if none ever had to wait */

    const struct varlena *saved; /* of a state that another process sent: its sketch, and there is nothing else */
};

/* bytes: the items are not all integers. counted: they come with counts. */
struct state *state_start(MemoryContext context, struct pool *pool, const lego_options *options, bool bytes,
                          bool counted);

/* Of rows that are sketches: an empty one, and one more of them. */
struct state *state_of_sketches(MemoryContext context);
void state_merge(struct state *state, const struct varlena *value, bool same_shape);

/* Makes room for one more item where there is none. */
void state_make_room(struct state *state);

/* All that waits goes into the sketch. */
void state_flush(struct state *state);

static inline void state_add(struct state *state, const struct item *item, int64_t count)
{
    enum { MEAN_SIZE = 16 }; /* bytes of an item for which there is room */
    if (unlikely(state->buffer.n == state->buffer.room)) state_make_room(state);
    buffer_add(&state->buffer, item, count);
    if (unlikely(buffer_bytes(&state->buffer) > Max(state->most, state->buffer.room) * MEAN_SIZE)) state_flush(state);
}

/* The sketch of all rows so far, as a value. More rows may follow. */
struct varlena *state_save(struct state *state);
