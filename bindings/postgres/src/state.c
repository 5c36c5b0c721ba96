/* What an aggregate knows of the rows so far; see state.h.
 *
 * SPDX-License-Identifier: MIT */
#include "state.h"

#include "errors.h"
#include "memory.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include <string.h>

enum { ROOM = 32,               /* items that a buffer has room for at first */
       ROOM_MOST_MIN = 1 << 12, /* ... and at most: as many as make it as large as the sketch, within these limits */
       ROOM_MOST_MAX = 1 << 20,
       MEAN_SIZE = 8,           /* of items of bytes, for which there is room then */
       FLAT_BLOCK = 1285,       /* bytes of a flat block (legosketch.h) */
       FLAT_MOST = 1 << 26 };   /* bytes of all states of an aggregate, beyond which no sketch becomes flat: as many as
                                   the library takes for a moment anyway, when many items are added */

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

struct state *state_start(MemoryContext context, const lego_elastic_options *options, bool top, enum items items,
                          bool counted)
{
    struct state *state = MemoryContextAllocZero(context, sizeof *state);
    state->context = context;
    state->options = *options;
    state->top = top;
    state->room = ROOM;
    state->most = clamp(options->light.budget / sizeof *state->items, ROOM_MOST_MIN, ROOM_MOST_MAX);
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
        status = sketch->plain != NULL
                     ? lego_sketch_add_u64s(sketch->plain, state->items, state->counts, state->n)
                     : lego_elastic_add_u64s(sketch->elastic, state->items, state->counts, state->n);
    else
        status = sketch->plain != NULL
                     ? lego_sketch_add_batch(sketch->plain, state->bytes, state->items, state->counts, state->n)
                     : lego_elastic_add_batch(sketch->elastic, state->bytes, state->items, state->counts, state->n);
    require_ok(status);
}

/* A flat sketch takes items several times as fast, for 20 times the memory, and saves the same bytes; but not after
 * deletions, where it would be the better one. So that the same rows give the same bytes as everywhere else, it is dense
 * before the first of these. */
static void choose_packing(struct state *state, bool fresh)
{
    lego_sketch_info info;
    if (state->sketch.plain == NULL) return;
    lego_sketch_describe(state->sketch.plain, &info);
    if (state->deletes && info.packing == LEGO_FLAT) {
        require_ok(lego_sketch_convert(state->sketch.plain, LEGO_DENSE)); /* bricks stay as they are */
    } else if (fresh && !state->deletes &&
               MemoryContextMemAllocated(state->context, true) + (uint64_t)info.bricks * FLAT_BLOCK <= FLAT_MOST) {
        lego_status status = lego_sketch_convert(state->sketch.plain, LEGO_FLAT);
        if (status != LEGO_ERR_MEMORY) require_ok(status);
    }
}

static void flush(struct state *state)
{
    CHECK_FOR_INTERRUPTS();
    bool fresh = !sketch_exists(&state->sketch);
    if (fresh) state->sketch = create(state, state->context);
    choose_packing(state, fresh);
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

static uint32_t bricks(const struct sketch *sketch)
{
    lego_sketch_info info;
    lego_sketch_describe(sketch_light(sketch), &info);
    return info.bricks;
}

void state_merge(struct state *state, const struct varlena *value, bool same_shape)
{
    CHECK_FOR_INTERRUPTS();
    if (state->n > 0) flush(state);
    struct sketch other = sketch_load(value, CurrentMemoryContext);
    if (same_shape && bricks(&state->sketch) != bricks(&other))
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
