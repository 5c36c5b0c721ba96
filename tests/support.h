/* support: what the tests of sketches share. Streams, canonical bytes, an allocator that keeps books. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/allocate.h"
#include "file/envelope.h"
#include "legosketch_lab.h"
#include "paper/embed.h"
#include "sketch/mass.h"
#include "sketch/sketch.h"
#include "support_draw.h"

/* ---- canonical bytes --------------------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *p;
    size_t size;
};

static inline int append_bytes(void *context, const void *p, size_t size)
{
    struct bytes *bytes = context;
    memcpy(bytes->p + bytes->size, p, size);
    bytes->size += size;
    return 0;
}

static inline struct bytes sketch_to_bytes(const lego_sketch *sketch)
{
    struct bytes bytes = {malloc(lego_saved_size(sketch)), 0};
    assert_non_null(bytes.p);
    assert_int_equal(lego_save(sketch, append_bytes, &bytes), LEGO_OK);
    assert_int_equal(bytes.size, lego_saved_size(sketch));
    return bytes;
}

static inline void assert_same(const lego_sketch *a, const lego_sketch *b)
{
    struct bytes x = sketch_to_bytes(a), y = sketch_to_bytes(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.p, y.p, x.size);
    free(x.p);
    free(y.p);
}

/* ---- an allocator that counts, and fails when told to ------------------------------------------------------------ */

struct books {
    size_t now, most;          /* bytes out, and the most there ever were */
    long calls, fail_at, more; /* that call fails, and so many after it */
};

static inline void *books_alloc(void *context, size_t size)
{
    struct books *books = context;
    if (++books->calls >= books->fail_at && books->fail_at && books->calls <= books->fail_at + books->more) return NULL;
    books->now += size;
    if (books->now > books->most) books->most = books->now;
    return malloc(size);
}

static inline void books_free(void *context, void *p, size_t size)
{
    struct books *books = context;
    books->now -= size;
    free(p);
}

static inline lego_allocator books_allocator(struct books *books)
{
    *books = (struct books){0};
    return (lego_allocator){books_alloc, books_free, books};
}

/* ---- sketches and streams ---------------------------------------------------------------------------------------- */

/* Of a shape by hand. columns 0: blocks of the compact model, else bricks; model NULL: the built-in one of these. */
static inline lego_sketch *make(uint32_t blocks, uint32_t columns, const lego_model *model)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.model = model ? model : lego_model_builtin(columns ? "paper" : "compact");
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, blocks, columns, &sketch), LEGO_OK);
    return sketch;
}

/* What a budget gives. */
static inline lego_sketch *make_within(const char *model, uint64_t budget, uint64_t top)
{
    lego_options options = {budget, top, lego_model_builtin(model), 7, NULL, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    return sketch;
}

static inline lego_info info_of(const lego_sketch *sketch)
{
    lego_info info;
    lego_describe(sketch, &info);
    return info;
}

static inline uint64_t bytes_of(const lego_sketch *sketch)
{
    return info_of(sketch).bytes;
}

static inline lego_status add_u64s(lego_sketch *sketch, const uint64_t *items, const int64_t *counts, size_t n)
{
    return lego_add_items(sketch, &(lego_items){.n = n, .integers = items, .counts = counts});
}

static inline lego_status query_u64s(const lego_sketch *sketch, const uint64_t *items, size_t n, lego_estimate *answers)
{
    return lego_query_items(sketch, &(lego_items){.n = n, .integers = items}, NULL, answers);
}

static inline lego_status add_strings(lego_sketch *sketch, const void *bytes, const uint64_t *offsets,
                                      const int64_t *counts, size_t n)
{
    return lego_add_items(sketch, &(lego_items){.n = n, .bytes = bytes, .offsets = offsets, .counts = counts});
}

static inline lego_status query_strings(const lego_sketch *sketch, const void *bytes, const uint64_t *offsets, size_t n,
                                        lego_estimate *answers)
{
    return lego_query_items(sketch, &(lego_items){.n = n, .bytes = bytes, .offsets = offsets}, NULL, answers);
}

struct stream_of {
    size_t n;
    uint64_t *items;
    int64_t *counts;
};

/* n updates of items below `domain`, counts up to 10^digits; with deletions, about a third are negative. */
static inline struct stream_of make_stream(uint64_t *state, size_t n, uint64_t domain, unsigned digits, bool deletions)
{
    struct stream_of s = {n, malloc((n + 1) * 8), malloc((n + 1) * 8)};
    assert_true(s.items && s.counts);
    for (size_t i = 0; i < n; i++) {
        s.items[i] = draw_below(state, domain);
        s.counts[i] = draw_count(state, digits);
        if (deletions && draw_below(state, 3) == 0) s.counts[i] = -s.counts[i];
    }
    return s;
}

static inline void free_stream(struct stream_of *s)
{
    free(s->items);
    free(s->counts);
}

static inline void shuffle_stream(struct stream_of *s, uint64_t *state)
{
    for (size_t i = s->n; i > 1; i--) {
        size_t j = draw_below(state, i);
        uint64_t item = s->items[i - 1];
        int64_t count = s->counts[i - 1];
        s->items[i - 1] = s->items[j];
        s->counts[i - 1] = s->counts[j];
        s->items[j] = item;
        s->counts[j] = count;
    }
}

static inline void add_stream(lego_sketch *sketch, const struct stream_of *s, int sign)
{
    for (size_t i = 0; i < s->n; i++) assert_int_equal(lego_add_u64(sketch, s->items[i], sign * s->counts[i]), LEGO_OK);
}

/* The same in one call after another, of 1, a few or thousands of items, by one thread or two. */
static inline void add_in_batches(lego_sketch *sketch, const struct stream_of *s, uint64_t *state)
{
    static const size_t most[] = {1, 30, 3000, 100000};
    for (size_t i = 0, size; i < s->n; i += size) {
        size = 1 + draw_below(state, most[draw_below(state, 4)]);
        if (size > s->n - i) size = s->n - i;
        lego_set_threads(sketch, 1 + (unsigned)draw_below(state, 2));
        assert_int_equal(add_u64s(sketch, s->items + i, s->counts + i, size), LEGO_OK);
    }
}

/* Whether every key is whole, so that the sketch is exact. */
static inline bool is_whole(const lego_sketch *sketch)
{
    return blocks_whole(&sketch->blocks);
}

/* What its blocks list and what they have lost come to their total. */
static inline void assert_sums(const lego_sketch *sketch)
{
    const struct blocks *blocks = &sketch->blocks;
    struct block_sums sums = {0};
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        struct content content;
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        sums_add(&sums, &content);
    }
    assert_true(sums.sum == blocks->total);
}

/* What comes back from its bytes. */
static inline lego_sketch *reload(const lego_sketch *sketch)
{
    struct bytes bytes = sketch_to_bytes(sketch);
    unsigned char secret[LEGO_SECRET_SIZE];
    for (int i = 0; i < 16; i++)
        secret[i] = (unsigned char)((i < 8 ? sketch->seed.number : sketch->seed.key) >> (8 * (i % 8)));
    const lego_options options = {.model = sketch->model, .secret = seed_is_secret(sketch->seed) ? secret : NULL};
    lego_sketch *loaded;
    assert_int_equal(lego_load(bytes.p, bytes.size, &options, &loaded), LEGO_OK);
    assert_same(sketch, loaded);
    free(bytes.p);
    return loaded;
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Like the paper's model but of other dimensions, with a table of halves of powers of two; valid while `model`
 * lives. */
static inline const lego_model *model_of(struct lego_model *model, uint32_t rows, uint32_t columns, uint32_t quantum)
{
    *model = *lego_model_builtin("paper");
    model->rows = rows;
    model->columns = columns;
    model->quantum = quantum;
    model->table_size = 16;
    for (int i = 0; i < 16; i++) model->table[i] = 1 / (float)(1 << i / 3);
    model->fingerprint = rows * 1000003 + columns * 1009 + quantum;
    model_derive(model);
    return model;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static inline struct bytes read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s: not there; run the tests from the source folder", path);
    struct bytes bytes = {malloc(1 << 20), 0};
    assert_non_null(bytes.p);
    bytes.size = fread(bytes.p, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

static inline void put_number(unsigned char *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> (8 * i));
}

/* Sets length and checksum right, so that what is wrong inside is reached. */
static inline void seal(struct bytes *file)
{
    put_number(file->p + 16, file->size, 8);
    put_number(file->p + file->size - 8, XXH3_64bits(file->p, file->size - 8), 8);
}

/* Gives a sketch all its blocks, though fewer would do. */
static inline void take_all_blocks(lego_sketch *sketch)
{
    while (blocks_grow(&sketch->blocks)) assert_int_equal(grow_blocks(sketch), LEGO_OK);
    sketch->blocks.loose = true;
}
