/* The yardstick of countmin.h among the methods.
 *
 * SPDX-License-Identifier: MIT */
#define XXH_INLINE_ALL
#include "countmin.h"
#include "method.h"

#include <xxhash.h>

typedef struct yardstick {
    countmin table;
    lego_allocator allocator;
    const countmin_kernels *kernels;
    bool prefetch;
} yardstick;

static lego_status create(const struct method *self, uint64_t bytes, const lego_allocator *allocator, void **made)
{
    yardstick *yard = allocator->alloc(allocator->context, sizeof *yard);
    if (yard == NULL) return LEGO_ERR_MEMORY;
    *yard = (yardstick){.allocator = *allocator, .kernels = countmin_best(), .prefetch = self->prefetch};
    if (!countmin_create(&yard->table, bytes, allocator)) {
        allocator->free(allocator->context, yard, sizeof *yard);
        return LEGO_ERR_MEMORY;
    }
    *made = yard;
    return LEGO_OK;
}

static void destroy(void *made)
{
    yardstick *yard = made;
    lego_allocator allocator = yard->allocator;
    countmin_destroy(&yard->table, &allocator);
    allocator.free(allocator.context, yard, sizeof *yard);
}

static void clear(void *made)
{
    countmin_clear(&((yardstick *)made)->table);
}

static uint64_t bytes(const void *made)
{
    return countmin_bytes(&((const yardstick *)made)->table);
}

static uint64_t total(const void *made)
{
    return countmin_total(&((const yardstick *)made)->table);
}

static struct answer read_answer(const void *answers, size_t i)
{
    double least = ((const uint32_t *)answers)[i];
    return (struct answer){least, least};
}

/* A text is counted as the key of its hash. */
static inline uint64_t key_of(const struct work *work, size_t i)
{
    const struct keys *stream = work->stream;
    if (work->keys == NUMBERS) return stream->numbers[i];
    return XXH3_64bits(stream->text + stream->offsets[i], stream->offsets[i + 1] - stream->offsets[i]);
}

static void run_single(yardstick *yard, enum operation operation, const struct work *work)
{
    uint32_t *answers = work->answers;
    size_t slot = 0;
    for (size_t i = 0; i < work->items; i++) {
        if (operation != QUERY) countmin_add(&yard->table, key_of(work, i));
        if (operation != STORE) {
            answers[slot] = countmin_least(&yard->table, key_of(work, work->ask_from + i));
            slot = slot + 1 < work->batch ? slot + 1 : 0;
        }
    }
}

/* Texts are hashed so many at a time, into a buffer that stays in the level-1 cache. */
enum { HASHED = 512 };

static void add_batch(yardstick *yard, const struct work *work, size_t at, size_t n)
{
    if (work->keys == NUMBERS) {
        yard->kernels->add(&yard->table, work->stream->numbers + at, n, yard->prefetch);
        return;
    }
    uint64_t hashed[HASHED];
    for (size_t done = 0; done < n; done += HASHED) {
        size_t some = n - done < HASHED ? n - done : HASHED;
        for (size_t i = 0; i < some; i++) hashed[i] = key_of(work, at + done + i);
        yard->kernels->add(&yard->table, hashed, some, yard->prefetch);
    }
}

static void ask_batch(const yardstick *yard, const struct work *work, size_t at, size_t n)
{
    uint32_t *answers = work->answers;
    if (work->keys == NUMBERS) {
        yard->kernels->least(&yard->table, work->stream->numbers + at, n, answers, yard->prefetch);
        return;
    }
    uint64_t hashed[HASHED];
    for (size_t done = 0; done < n; done += HASHED) {
        size_t some = n - done < HASHED ? n - done : HASHED;
        for (size_t i = 0; i < some; i++) hashed[i] = key_of(work, at + done + i);
        yard->kernels->least(&yard->table, hashed, some, answers + done, yard->prefetch);
    }
}

static lego_status run(void *made, enum operation operation, const struct work *work)
{
    if (work->calls == SINGLE) {
        run_single(made, operation, work);
        return LEGO_OK;
    }
    for (size_t at = 0; at < work->items; at += work->batch) {
        size_t n = batch_size(work, at);
        if (operation != QUERY) add_batch(made, work, at, n);
        if (operation != STORE) ask_batch(made, work, work->ask_from + at, n);
    }
    return LEGO_OK;
}

#define COUNTMIN_METHOD                                                                                                \
    .batches = true, .create = create, .destroy = destroy, .clear = clear, .bytes = bytes, .total = total, .run = run, \
    .read = read_answer

const struct method method_countmin = {.name = "count-min", .yardstick = true, .lines = COUNTMIN_ROWS, COUNTMIN_METHOD};
const struct method method_countmin_prefetch = {
    .name = "count-min prefetch", .yardstick = true, .lines = COUNTMIN_ROWS, .prefetch = true, COUNTMIN_METHOD};
