/* support: what the unit tests share. Random numbers, streams, canonical bytes, an allocator that keeps books. */
#ifndef LEGO_TESTS_SUPPORT_H
#define LEGO_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sketch.h"

/* How many rounds of a test: a sanitizer makes it slow, and sees what it sees in fewer. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { FULL = 0 };
#else
enum { FULL = 1 };
#endif
#define ROUNDS(n) (FULL ? (n) : ((n) + 4) / 5)

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t draw_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)((lego_u128)draw(state) * n >> 64);
}

/* 1 up to about 10^digits, every order of magnitude alike. */
static inline int64_t draw_count(uint64_t *state, unsigned digits)
{
    uint64_t most = 1;
    for (uint64_t d = draw_below(state, digits + 1); d > 0; d--) most *= 10;
    return (int64_t)(1 + draw_below(state, most));
}

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
    struct bytes bytes = {malloc(lego_sketch_saved_size(sketch)), 0};
    assert_non_null(bytes.p);
    assert_int_equal(lego_sketch_save(sketch, append_bytes, &bytes), LEGO_OK);
    assert_int_equal(bytes.size, lego_sketch_saved_size(sketch));
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
    size_t now, most; /* bytes out, and the most there ever were */
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

/* Bricks; model NULL: `rule`. */
static inline lego_sketch *make(uint32_t bricks, uint32_t columns, uint32_t bits, const lego_model *model)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 0;
    options.bricks = bricks;
    options.columns = columns;
    options.cell_bits = bits;
    options.model = model ? model : lego_model_builtin("rule");
    lego_sketch *sketch;
    assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
    return sketch;
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
    for (size_t i = 0; i < s->n; i++)
        assert_int_equal(lego_sketch_add_u64(sketch, s->items[i], sign * s->counts[i]), LEGO_OK);
}

/* A model like the built-in one but of other dimensions; valid while `model` lives. */
static inline const lego_model *model_of(struct lego_model *model, uint32_t rows, uint32_t columns, uint32_t quantum)
{
    *model = *lego_model_builtin("rule");
    model->rows = rows;
    model->columns = columns;
    model->quantum = quantum;
    model->fingerprint = rows * 1000003 + columns * 1009 + quantum;
    model_derive(model);
    return model;
}

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

#endif
