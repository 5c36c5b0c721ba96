/* state: what an aggregate knows of the rows so far: a sketch, and items that are not in it yet.
 *
 * A row only appends its item to a buffer; the sketch takes a bufferful at once, which is many times faster than one by
 * one. Buffers start small and there is no sketch until one is full, so that a state of few rows takes little more than
 * its items: of GROUP BY there may be millions.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "sketch.h"

struct state {
    MemoryContext context; /* the aggregate's, which all of the state is in */
    lego_options options;  /* what the rows ask for */
    lego_sketch *sketch;   /* once a buffer was full; or from the start, where the rows are sketches */

    size_t n, room, most; /* items in the buffer, places for them now, and at most */
    uint64_t *items;      /* keys; or, of bytes, where each of them starts and the last one ends */
    int64_t *counts;      /* of each; NULL: once */
    char *bytes;          /* NULL: they are keys */
    size_t bytes_room;

    const struct varlena *saved; /* of a state that another process sent: its sketch, and there is nothing else */
};

/* bytes: the items are bytes, not keys. counted: they come with counts. */
struct state *state_start(MemoryContext context, const lego_options *options, bool bytes, bool counted);
struct state *state_load(MemoryContext context, const struct varlena *value);

/* Makes room for one more item where there is none. */
void state_make_room(struct state *state);

static inline void state_append(struct state *state, uint64_t item, int64_t count)
{
    if (state->counts != NULL) state->counts[state->n] = count;
    state->items[state->n++] = item;
}

static inline void state_add_key(struct state *state, uint64_t key, int64_t count)
{
    if (unlikely(state->n == state->room)) state_make_room(state);
    state_append(state, key, count);
}

void state_add_bytes(struct state *state, const char *bytes, size_t size, int64_t count);

/* Adds the sketch that a value has. same_shape: it was made with the same budget, or that is an error. */
void state_merge(struct state *state, const struct varlena *value, bool same_shape);

/* The sketch of all rows so far, as a value. More rows may follow. */
struct varlena *state_save(struct state *state);
