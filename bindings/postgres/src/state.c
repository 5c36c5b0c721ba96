/* What an aggregate knows of the rows so far; see state.h.
 *
 * SPDX-License-Identifier: MIT */
#include "state.h"

#include "errors.h"
#include "memory.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include <string.h>

enum { ROOM = 32,            /* items that a buffer has room for at first */
       LEAST = 1 << 12,      /* ... and at most: as many as make it as large as the sketch, but at least so many, */
       MOST_FLAT = 1 << 16,  /* and at most so many. A flat sketch takes them as they come, and more do not help; */
       MOST_DENSE = 1 << 20, /* a dense one is opened once for all of them: twice as fast as with 2^16 at a time */
       MEAN_SIZE = 8,        /* bytes of an item, if it is of bytes, for which there is room then */
       FLAT_BLOCK = 1285 };  /* bytes of a flat block (legosketch.h) */

/* Bytes of all states of an aggregate, beyond which no sketch becomes flat: as many as the library takes for a moment
 * anyway, when it adds many items. */
static const uint64_t flat_memory = 1 << 26;

static size_t room_most(const lego_elastic_options *options, size_t most)
{
    size_t room = options->light.budget / sizeof(uint64_t);
    return room < LEAST ? LEAST : room > most ? most : room;
}

struct state *state_start(MemoryContext context, const lego_elastic_options *options, bool top, enum items items,
                          bool counted)
{
    struct state *state = MemoryContextAllocZero(context, sizeof *state);
    state->context = context;
    state->options = *options;
    state->top = top;
    state->room = ROOM;
    state->most = room_most(options, MOST_FLAT);
    state->items = MemoryContextAlloc(context, (state->room + 1) * sizeof *state->items);
    state->items[0] = 0;
    if (counted) state->counts = MemoryContextAlloc(context, state->room * sizeof *state->counts);
    if (items == ITEMS_BYTES) {
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

static struct sketch create(const struct state *state, MemoryContext context)
{
    lego_allocator allocator = memory_in(context);
    lego_elastic_options options = state->options;
    options.light.allocator = &allocator;
    struct sketch sketch = {NULL, NULL};
    require_ok(state->top ? lego_elastic_create(&options, &sketch.elastic)
                          : lego_sketch_create(&options.light, &sketch.plain));
    return sketch;
}

static void add_buffered(const struct state *state, struct sketch *sketch)
{
    lego_status status;
    if (state->bytes == NULL)
        status = sketch->plain != NULL ? lego_sketch_add_u64s(sketch->plain, state->items, state->counts, state->n)
                                       : lego_elastic_add_u64s(sketch->elastic, state->items, state->counts, state->n);
    else
        status = sketch->plain != NULL
                     ? lego_sketch_add_batch(sketch->plain, state->bytes, state->items, state->counts, state->n)
                     : lego_elastic_add_batch(sketch->elastic, state->bytes, state->items, state->counts, state->n);
    require_ok(status);
}

/* A flat sketch takes items several times as fast, for 20 times the memory, and saves the same bytes. */
static void make_flat(struct state *state)
{
    lego_sketch_info info;
    lego_sketch_describe(state->sketch.plain, &info);
    uint64_t bytes = MemoryContextMemAllocated(state->context, true) + (uint64_t)info.bricks * FLAT_BLOCK;
    lego_status status = LEGO_ERR_MEMORY;
    if (bytes <= flat_memory) status = lego_sketch_convert(state->sketch.plain, LEGO_FLAT);
    if (status != LEGO_ERR_MEMORY) require_ok(status);
    else state->most = room_most(&state->options, MOST_DENSE);
}

/* After deletions it would save other bytes, of a better sketch. So that the same rows give the same bytes as
 * everywhere else, it is dense before the first of them. */
static void make_dense(struct state *state)
{
    require_ok(lego_sketch_convert(state->sketch.plain, LEGO_DENSE));
    state->most = room_most(&state->options, MOST_DENSE);
}

static void flush(struct state *state)
{
    CHECK_FOR_INTERRUPTS();
    if (!sketch_exists(&state->sketch)) {
        state->sketch = create(state, state->context);
        if (!state->top && !state->deletes) make_flat(state);
    }
    if (!state->top && state->deletes) make_dense(state);
    add_buffered(state, &state->sketch);
    state->n = 0;
    state->deletes = false;
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

/* Bricks depend on the model too; of two models the library itself says that they do not go together. */
static bool budgets_differ(const struct sketch *a, const struct sketch *b)
{
    lego_sketch_info of_a, of_b;
    lego_sketch_describe(sketch_light(a), &of_a);
    lego_sketch_describe(sketch_light(b), &of_b);
    return of_a.model == of_b.model && of_a.bricks != of_b.bricks;
}

void state_merge(struct state *state, const struct varlena *value, bool same_shape)
{
    CHECK_FOR_INTERRUPTS();
    if (state->n > 0) flush(state);
    struct sketch other = sketch_load(value, CurrentMemoryContext);
    if (same_shape && budgets_differ(&state->sketch, &other))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: the budget is not the same in all rows"));
    sketch_merge(&state->sketch, &other);
    sketch_destroy(&other);
}

/* A sketch that is made only now goes again at once: of GROUP BY many states may still be there. */
struct varlena *state_save(struct state *state)
{
    if (sketch_exists(&state->sketch)) {
        if (state->n > 0) flush(state);
        return sketch_save(&state->sketch);
    }
    struct sketch sketch = create(state, CurrentMemoryContext);
    add_buffered(state, &sketch);
    struct varlena *value = sketch_save(&sketch);
    sketch_destroy(&sketch);
    return value;
}
