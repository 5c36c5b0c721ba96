/* What the machine can do at most: one counter for every item, in as many bytes as the sketches have, with nothing to
 * hash, since where the counters are is known before the clock starts. The keys are those of the stream, so that as
 * many are near and far as for the others. An operation that touches so many cache lines can be as fast as this divided
 * by their number, if nothing else takes time. (Lines that it shares with others make it a little faster.)
 *
 * SPDX-License-Identifier: MIT */
#include "countmin.h"
#include "method.h"

#include <stdlib.h>
#include <string.h>

/* Items that the prefetching version is ahead: as many lines as a core can wait for, some 16 to 48. */
enum { AHEAD = 32 };

struct touch {
    lego_allocator allocator;
    bool prefetch;
    size_t cell_count;
    uint32_t *cells;
    const struct keys *stream; /* that the places are of */
    uint32_t *places;          /* of every item of the stream, and AHEAD more */
};

static lego_status create(const struct method *self, uint64_t bytes, const lego_allocator *allocator, void **made)
{
    struct touch *touch = malloc(sizeof *touch);
    if (touch == NULL) return LEGO_ERR_MEMORY;
    *touch =
        (struct touch){.allocator = *allocator, .prefetch = self->prefetch, .cell_count = bytes / sizeof(uint32_t)};
    touch->cells = allocator->alloc(allocator->context, touch->cell_count * sizeof *touch->cells);
    if (touch->cells == NULL) {
        free(touch);
        return LEGO_ERR_MEMORY;
    }
    *made = touch;
    return LEGO_OK;
}

static void destroy(void *made)
{
    struct touch *touch = made;
    touch->allocator.free(touch->allocator.context, touch->cells, touch->cell_count * sizeof *touch->cells);
    free(touch->places);
    free(touch);
}

static void clear(void *made)
{
    struct touch *touch = made;
    memset(touch->cells, 0, touch->cell_count * sizeof *touch->cells);
}

static uint64_t bytes(const void *made)
{
    return ((const struct touch *)made)->cell_count * sizeof(uint32_t);
}

static uint64_t total(const void *made)
{
    const struct touch *touch = made;
    uint64_t sum = 0;
    for (size_t i = 0; i < touch->cell_count; i++) sum += touch->cells[i];
    return sum;
}

static struct answer read_answer(const void *answers, size_t i)
{
    double cell = ((const uint32_t *)answers)[i];
    return (struct answer){cell, cell};
}

static lego_status ready(void *made, const struct work *work)
{
    struct touch *touch = made;
    const struct keys *stream = work->stream;
    if (touch->stream == stream) return LEGO_OK;
    touch->places = calloc(stream->length + AHEAD, sizeof *touch->places);
    if (touch->places == NULL) return LEGO_ERR_MEMORY;
    for (size_t i = 0; i < stream->length; i++)
        touch->places[i] = countmin_column(countmin_mix(stream->numbers[i]), 0, (uint32_t)touch->cell_count);
    touch->stream = stream;
    return LEGO_OK;
}

static void add(const struct touch *touch, const uint32_t *places, size_t n)
{
    uint32_t *cells = touch->cells;
    if (touch->prefetch) {
        for (size_t i = 0; i < n; i++) {
            __builtin_prefetch(&cells[places[i + AHEAD]]);
            cells[places[i]]++;
        }
    } else {
        for (size_t i = 0; i < n; i++) cells[places[i]]++;
    }
}

static void ask(const struct touch *touch, const uint32_t *places, size_t n, uint32_t *answers)
{
    const uint32_t *cells = touch->cells;
    if (touch->prefetch) {
        for (size_t i = 0; i < n; i++) {
            __builtin_prefetch(&cells[places[i + AHEAD]]);
            answers[i] = cells[places[i]];
        }
    } else {
        for (size_t i = 0; i < n; i++) answers[i] = cells[places[i]];
    }
}

static lego_status run(void *made, enum operation operation, const struct work *work)
{
    const struct touch *touch = made;
    for (size_t at = 0; at < work->items; at += work->batch) {
        size_t n = batch_size(work, at);
        if (operation == STORE) add(touch, touch->places + at, n);
        else ask(touch, touch->places + work->ask_from + at, n, work->answers);
    }
    return LEGO_OK;
}

#define LIMIT_METHOD                                                                                                   \
    .limit = true, .batches = true, .lines = 1, .create = create, .destroy = destroy, .clear = clear, .bytes = bytes,  \
    .total = total, .ready = ready, .run = run, .read = read_answer

const struct method method_touch = {.name = "one counter", LIMIT_METHOD};
const struct method method_touch_prefetch = {.name = "one counter prefetch", .prefetch = true, LIMIT_METHOD};
