/* What an aggregate knows of the rows so far; see state.h.
 *
 * SPDX-License-Identifier: MIT */
#include "state.h"

#include "errors.h"
#include "memory.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include <string.h>

enum {
    ROOM = 32,       /* items that a buffer has room for at first */
    LEAST = 1 << 12, /* ... and at most: as many as make it as large as the sketch, but at least so many, */
    MOST = 1 << 20,  /* and at most so many */
    MEAN_SIZE = 8
}; /* bytes of an item, if it is of bytes, for which there is room then */

struct state *state_start(MemoryContext context, const lego_options *options, bool bytes, bool counted)
{
    struct state *state = MemoryContextAllocZero(context, sizeof *state);
    state->context = context;
    state->options = *options;
    state->room = ROOM;
    state->most = Min(Max(options->budget / sizeof(uint64_t), LEAST), MOST);
    state->items = MemoryContextAlloc(context, (state->room + 1) * sizeof *state->items);
    state->items[0] = 0;
    if (counted) state->counts = MemoryContextAlloc(context, state->room * sizeof *state->counts);
    if (bytes) {
        state->bytes_room = state->room * MEAN_SIZE;
        state->bytes = MemoryContextAlloc(context, state->bytes_room);
    }
    return state;
}

struct state *state_load(MemoryContext context, const struct varlena *value)
{
    struct state *state = MemoryContextAllocZero(context, sizeof *state);
    state->context = context;
    state->sketch = sketch_load(value, context);
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
    lego_items items = {.n = state->n, .bytes = state->bytes, .counts = state->counts};
    if (state->bytes == NULL) items.integers = state->items;
    else items.offsets = state->items;
    require_ok(lego_add_items(sketch, &items));
}

static void flush(struct state *state)
{
    CHECK_FOR_INTERRUPTS();
    if (state->sketch == NULL) state->sketch = create(state, state->context);
    add_buffered(state, state->sketch);
    state->n = 0;
}

void state_make_room(struct state *state)
{
    if (state->n == state->most) {
        flush(state);
        return;
    }
    state->room = Min(2 * state->room, state->most);
    state->items = repalloc_huge(state->items, (state->room + 1) * sizeof *state->items);
    if (state->counts != NULL) state->counts = repalloc_huge(state->counts, state->room * sizeof *state->counts);
}

static void append_bytes(struct state *state, size_t start, size_t size, int64_t count)
{
    state_append(state, start, count);
    state->items[state->n] = start + size;
}

void state_add_bytes(struct state *state, const char *bytes, size_t size, int64_t count)
{
    size_t most = state->most * MEAN_SIZE;
    if (state->n > 0 && size > most - state->items[state->n]) flush(state);
    if (state->n == state->room) state_make_room(state);
    if (size > most) { /* more than a buffer ever has: it is not copied there */
        char *own = state->bytes;
        state->bytes = unconstify(char *, bytes);
        append_bytes(state, 0, size, count);
        flush(state);
        state->bytes = own;
        return;
    }
    size_t start = state->n == 0 ? 0 : state->items[state->n];
    if (size > state->bytes_room - start) {
        state->bytes_room = Min(Max(2 * state->bytes_room, start + size), most);
        state->bytes = repalloc_huge(state->bytes, state->bytes_room);
    }
    memcpy(state->bytes + start, bytes, size);
    append_bytes(state, start, size, count);
}

/* Blocks depend on the model too; of two models the library itself says that they do not go together. */
static bool budgets_differ(const lego_sketch *a, const lego_sketch *b)
{
    lego_info of_a = sketch_info(a), of_b = sketch_info(b);
    return of_a.model == of_b.model && (of_a.blocks != of_b.blocks || of_a.budget != of_b.budget);
}

void state_merge(struct state *state, const struct varlena *value, bool same_shape)
{
    CHECK_FOR_INTERRUPTS();
    if (state->n > 0) flush(state);
    lego_sketch *other = sketch_load(value, CurrentMemoryContext);
    if (same_shape && budgets_differ(state->sketch, other))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: the budget is not the same in all rows"));
    sketch_require_ok(lego_merge(state->sketch, other), state->sketch, other);
    lego_destroy(other);
}

/* A sketch that is made only now goes again at once: of GROUP BY many states may still be there. */
struct varlena *state_save(struct state *state)
{
    if (state->sketch != NULL) {
        if (state->n > 0) flush(state);
        return sketch_save(state->sketch);
    }
    lego_sketch *sketch = create(state, CurrentMemoryContext);
    add_buffered(state, sketch);
    struct varlena *value = sketch_save(sketch);
    lego_destroy(sketch);
    return value;
}
