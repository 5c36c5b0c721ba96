/* What an aggregate knows of the rows so far; see state.h.
 *
 * SPDX-License-Identifier: MIT */
#include "state.h"

#include "errors.h"
#include "memory.h"
#include "miscadmin.h"
#include "utils/memutils.h"

enum {
    LEAST = 1 << 12,          /* items that any buffer may have */
    MOST = 1 << 20,           /* and the most; all that are longer than their sketch have so much room together */
    WAITING_MOST = 64,        /* sketches that wait, */
    WAITING_BYTES = 32 << 20, /* and what they may take, but for the last one */
};

struct waiting {
    uint64_t bytes;
    size_t n;
    lego_sketch *sketches[WAITING_MOST];
};

struct state *state_start(MemoryContext context, struct pool *pool, const lego_options *options, bool bytes,
                          bool counted)
{
    struct state *state = MemoryContextAllocZero(context, sizeof *state);
    state->context = context;
    state->pool = pool;
    state->options = *options;
    state->most = Min(Max(options->budget / sizeof(uint64_t), LEAST), MOST);
    buffer_start(&state->buffer, context, bytes, counted);
    return state;
}

struct state *state_of_sketches(MemoryContext context)
{
    struct state *state = MemoryContextAllocZero(context, sizeof *state);
    state->context = context;
    return state;
}

static lego_sketch *create(const struct state *state, MemoryContext context)
{
    lego_allocator allocator = memory_in(context);
    lego_options options = state->options;
    options.allocator = &allocator;
    lego_sketch *sketch;
    require_ok(lego_create(&options, &sketch));
    return sketch;
}

static void add_buffered(const struct state *state, lego_sketch *sketch)
{
    lego_items items = buffer_items(&state->buffer);
    require_ok(lego_add_items(sketch, &items));
}

/* Where sizes do not go together it is tried with one after the other, which finds the one that is to be named. */
static void join(struct state *state, lego_sketch *const *sketches, size_t n)
{
    lego_status status = lego_merge_many(state->sketch, (const lego_sketch *const *)sketches, NULL, n);
    for (size_t i = 0; i < n; i++) {
        if (status == LEGO_ERR_SHAPE)
            sketch_require_ok(lego_merge(state->sketch, sketches[i]), state->sketch, sketches[i]);
        else require_ok(status);
        lego_destroy(sketches[i]);
    }
}

void state_flush(struct state *state)
{
    CHECK_FOR_INTERRUPTS();
    struct waiting *waiting = state->waiting;
    if (state->buffer.n > 0) {
        if (state->sketch == NULL) state->sketch = create(state, state->context);
        add_buffered(state, state->sketch);
        buffer_clear(&state->buffer);
    }
    if (waiting != NULL && waiting->n > 0) {
        join(state, waiting->sketches, waiting->n);
        waiting->n = waiting->bytes = 0;
    }
}

static void wait_for_more(struct state *state, lego_sketch *sketch, uint64_t bytes)
{
    if (state->waiting == NULL) state->waiting = MemoryContextAllocZero(state->context, sizeof *state->waiting);
    state->waiting->sketches[state->waiting->n++] = sketch;
    state->waiting->bytes += bytes;
    if (state->waiting->n == WAITING_MOST || state->waiting->bytes >= WAITING_BYTES) state_flush(state);
}

/* Whether the buffer may double: until it is as large as the sketch may be, and then as far as the pool goes. */
static bool may_grow(struct state *state)
{
    size_t room = state->buffer.room;
    if (room < state->most) return true;
    if (room >= MOST || state->pool->taken + room > MOST) return false;
    state->pool->taken += room;
    state->pooled += room;
    return true;
}

void state_make_room(struct state *state)
{
    if (may_grow(state)) buffer_grow(&state->buffer);
    else state_flush(state);
}

/* Blocks depend on the model too; of two models the library itself says that they do not go together. */
static bool budgets_differ(const lego_info *a, const lego_info *b)
{
    return a->model == b->model && (a->blocks != b->blocks || a->budget != b->budget);
}

/* Whether a sketch is smaller than the sum may grow, which doubles its blocks: the sum of two that are lists all
 * items. */
static bool has_room(const lego_info *sum, const lego_info *sketch)
{
    return sketch->bytes - sketch->top_bytes <= (sum->budget - sum->top_budget) / 4 * 3;
}

void state_merge(struct state *state, const struct varlena *value, bool same_shape)
{
    CHECK_FOR_INTERRUPTS();
    if (state->buffer.n > 0) state_flush(state);
    if (state->sketch == NULL) {
        state->sketch = sketch_load(value, state->context);
        return;
    }
    lego_sketch *other = sketch_load(value, state->context);
    lego_info sum = sketch_measure(state->sketch), part = sketch_measure(other);
    if (same_shape && budgets_differ(&sum, &part))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: the budget is not the same in all rows"),
                errhint("GROUP BY it makes a sketch of each."));
    if (budgets_differ(&sum, &part) || sum.items != part.items) state->uneven = true;
    if (has_room(&sum, &sum) && has_room(&sum, &part)) join(state, &other, 1);
    else wait_for_more(state, other, part.bytes);
}

/* A sketch that is made only now goes again at once: of GROUP BY many states may still be there. */
struct varlena *state_save(struct state *state)
{
    if (state->pooled > 0) { /* most states end here, and others may have it */
        state->pool->taken -= state->pooled;
        state->pooled = 0;
    }
    if (state->sketch != NULL) {
        state_flush(state);
        return sketch_save(state->sketch);
    }
    lego_sketch *sketch = create(state, CurrentMemoryContext);
    add_buffered(state, sketch);
    struct varlena *value = sketch_save(sketch);
    lego_destroy(sketch);
    return value;
}
