/* Bad bytes: every truncation, every flipped bit, every impossible field is a named error, and nothing is allocated. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support.h"

/* Sets length and checksum right, so that what is wrong inside is reached. */
static void seal(struct bytes *b)
{
    for (int i = 0; i < 8; i++) b->p[16 + i] = (unsigned char)((uint64_t)b->size >> (8 * i));
    uint64_t sum = XXH3_64bits(b->p, b->size - 8);
    for (int i = 0; i < 8; i++) b->p[b->size - 8 + (size_t)i] = (unsigned char)(sum >> (8 * i));
}

static lego_status load_sketch(const unsigned char *p, size_t size, lego_sketch **sketch)
{
    struct books books;
    lego_allocator allocator = books_allocator(&books);
    lego_sketch *loaded = NULL;
    lego_status status = lego_sketch_load(p, size, NULL, &allocator, &loaded);
    if (status == LEGO_OK) {
        /* Cells are in the file, the spill is an eighth of them; and there is a handle, a scan's results, and alignment. */
        assert_true(books.most <= size + size / 8 + sizeof *loaded + sizeof(struct blocks_summary) + 2 * DENSE_LINE);
        lego_status copied = lego_sketch_load(p, size, NULL, NULL, sketch);
        assert_int_equal(copied, LEGO_OK);
        lego_sketch_destroy(loaded);
        assert_int_equal(books.now, 0);
    } else {
        assert_null(loaded);
        assert_int_equal(books.calls, 0);
    }
    return status;
}

static lego_status load_model(const unsigned char *p, size_t size)
{
    struct books books;
    lego_allocator allocator = books_allocator(&books);
    lego_model *model = NULL;
    lego_status status = lego_model_load(p, size, &allocator, &model);
    if (status != LEGO_OK) assert_int_equal(books.calls, 0);
    lego_model_destroy(model);
    assert_int_equal(books.now, 0);
    return status;
}

/* A small sketch with everything in it: between two levels, with entries in the spill. */
static lego_sketch *small_sketch(void)
{
    lego_sketch *sketch = make(4, 64, 8, NULL);
    for (uint64_t i = 0; sketch->memory.folded == 0; i++) lego_sketch_add_u64(sketch, i, (int64_t)(10 * i + 1));
    lego_sketch_add_u64(sketch, 3, -5000); /* and a negative cell */
    assert_true(sketch->memory.spill.used > 3);
    return sketch;
}

/* The same of blocks: one light, one far down the ladder, one with negative cells. */
static lego_sketch *small_dense(void)
{
    lego_sketch *sketch = make(3, 0, 0, lego_model_builtin("compact"));
    uint32_t light = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        struct half half[2];
        bool heavy = true;
        for (unsigned which = 0; which < 2; which++) {
            half[which] = dense_half(&sketch->dense, hash_u64(i, 0), which);
            heavy = heavy && half[which].block == 1;
        }
        if (heavy) lego_sketch_add_u64(sketch, i, (int64_t)(i * i));
        else if (half[0].block != 1 && half[1].block != 1 && light++ < 60) lego_sketch_add_u64(sketch, i, (int64_t)(i % 3));
        else if (half[0].block == 2 && half[1].block == 2 && light++ < 70) lego_sketch_add_u64(sketch, i, -50);
    }
    assert_true(block_step(&sketch->dense.block[0]) < 3);
    assert_true(block_step(&sketch->dense.block[1]) > 6);
    assert_true(sketch->dense.block[2].word[7] >> 63);
    return sketch;
}

static void what_is_saved_is_loaded(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        uint64_t state = seed;
        static const uint32_t bits[] = {8, 8, 16, 32, 64};
        lego_sketch *a = make(1 + (uint32_t)draw_below(&state, 9), 16 * (1 + (uint32_t)draw_below(&state, 8)),
                              bits[draw_below(&state, 5)], NULL), *b;
        struct stream_of s = make_stream(&state, draw_below(&state, 300), 500, (unsigned)(seed % 13), seed % 2);
        add_stream(a, &s, 1);
        struct bytes bytes = sketch_to_bytes(a);
        assert_int_equal(load_sketch(bytes.p, bytes.size, &b), LEGO_OK);
        assert_same(a, b);
        assert_true(b->mass <= a->mass);
        assert_int_equal(b->memory.spill.used, a->memory.spill.used);
        struct stream_of more = make_stream(&state, 50, 500, 3, false); /* and goes on as if nothing had been */
        add_stream(a, &more, 1);
        add_stream(b, &more, 1);
        assert_same(a, b);
        for (uint64_t i = 0; i < 500; i += 7) {
            lego_estimate x, y;
            lego_sketch_estimate_u64(a, i, &x);
            lego_sketch_estimate_u64(b, i, &y);
            assert_memory_equal(&x, &y, sizeof x);
        }
        lego_sketch_destroy(a);
        lego_sketch_destroy(b);
        free_stream(&s);
        free_stream(&more);
        free(bytes.p);
    }
}

/* Every truncation is loaded from memory of just that size, so that a sanitizer sees any byte read beyond. */
static void refuse_damaged(const lego_sketch *sketch)
{
    lego_sketch *loaded;
    struct bytes bytes = sketch_to_bytes(sketch);
    for (size_t size = 0; size < bytes.size; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, bytes.p, size);
        lego_status status = load_sketch(cut, size, &loaded);
        assert_int_equal(status, LEGO_ERR_TRUNCATED);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        lego_status status = load_sketch(bytes.p, bytes.size, &loaded);
        size_t at = bit / 8;
        assert_int_equal(status, at < 8               ? LEGO_ERR_MAGIC
                                 : at < 12            ? LEGO_ERR_VERSION
                                 : at >= 16 && at < 24 ? LEGO_ERR_TRUNCATED
                                                       : LEGO_ERR_CHECKSUM);
        bytes.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    unsigned char *longer = calloc(1, bytes.size + 1);
    memcpy(longer, bytes.p, bytes.size);
    assert_int_equal(load_sketch(longer, bytes.size + 1, &loaded), LEGO_ERR_TRUNCATED);
    free(longer);
    free(bytes.p);
}

static void damaged_sketches_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *flat = small_sketch(), *dense = small_dense();
    refuse_damaged(flat);
    refuse_damaged(dense);
    lego_sketch_destroy(flat);
    lego_sketch_destroy(dense);
}

static void damaged_models_are_refused(void **unused)
{
    (void)unused;
    struct bytes bytes = read_file("tests/golden/random.lego");
    for (size_t size = 0; size < bytes.size; size += size < 100 ? 1 : 37) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, bytes.p, size);
        assert_int_equal(load_model(cut, size), LEGO_ERR_TRUNCATED);
        free(cut);
    }
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        bytes.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_not_equal(load_model(bytes.p, bytes.size), LEGO_OK);
        bytes.p[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_int_equal(load_model(bytes.p, bytes.size), LEGO_OK);
    free(bytes.p);
}

/* A field set to edge values, with the checksum made right. */
struct field {
    size_t at, size;
};

static const uint64_t edges[] = {0, 1, 2, 3, 7, 8, 15, 16, 64, 255, 256, 5120, 65535, 1u << 26, 0x7fffffff, 0x80000000,
                                 0xffffffff, UINT64_C(1) << 40, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};

/* Whether the bytes, once sealed, are a sketch; then a canonical one. */
static bool load_or_refuse(struct bytes *bytes)
{
    lego_sketch *loaded;
    seal(bytes);
    if (load_sketch(bytes->p, bytes->size, &loaded) != LEGO_OK) return false;
    struct bytes again = sketch_to_bytes(loaded);
    assert_int_equal(again.size, bytes->size);
    assert_memory_equal(again.p, bytes->p, bytes->size);
    free(again.p);
    lego_sketch_destroy(loaded);
    return true;
}

static void impossible_sketches_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *sketch = small_sketch(), *loaded;
    struct bytes bytes = sketch_to_bytes(sketch), work = {malloc(bytes.size), bytes.size};
    size_t entries = bytes.size - 8 - 16; /* the last entry of the spill */
    const struct field fields[] = {{8, 4},  {12, 4}, {32, 8}, {40, 1}, {56, 4}, {60, 4}, {64, 1},       {65, 1},
                                   {66, 1}, {67, 1}, {68, 4}, {72, 8}, {80, 8}, {88, 8}, {entries, 8}, {entries + 8, 8}};
    int accepted = 0;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            memcpy(work.p, bytes.p, bytes.size);
            for (size_t i = 0; i < fields[f].size; i++) work.p[fields[f].at + i] = (unsigned char)(edges[e] >> (8 * i));
            accepted += load_or_refuse(&work);
        }
    assert_in_range(accepted, 3, 60); /* totals and high parts may be nearly anything; a shape may not */

    memcpy(work.p, bytes.p, bytes.size);
    work.p[12] = 1; /* the packing of another kind of model */
    seal(&work);
    assert_int_equal(load_sketch(work.p, work.size, &loaded), LEGO_ERR_CORRUPT);
    work.p[12] = 2; /* that of a later version */
    seal(&work);
    assert_int_equal(load_sketch(work.p, work.size, &loaded), LEGO_ERR_VERSION);
    memcpy(work.p, bytes.p, bytes.size);
    memcpy(work.p + entries, work.p + entries - 16, 16); /* an entry twice */
    seal(&work);
    assert_int_equal(load_sketch(work.p, work.size, &loaded), LEGO_ERR_CORRUPT);
    memcpy(work.p, bytes.p, bytes.size);
    memset(work.p + 88, 0xff, 8);
    work.p[95] = 0x7f; /* a total of INT64_MAX, */
    memset(work.p + 96, 0xff, 8);
    work.p[103] = 0x7f; /* and another */
    seal(&work);
    assert_int_equal(load_sketch(work.p, work.size, &loaded), LEGO_ERR_CORRUPT);
    free(work.p);
    free(bytes.p);
    lego_sketch_destroy(sketch);
}

static void set_number(struct bytes *bytes, size_t at, uint64_t x)
{
    for (size_t i = 0; i < 8; i++) bytes->p[at + i] = (unsigned char)(x >> (8 * i));
}

static void set_block(struct bytes *bytes, size_t index, struct block block)
{
    for (size_t j = 0; j < 8; j++) set_number(bytes, 88 + 64 * index + 8 * j, block.word[j]);
}

static void assert_dense(struct bytes *bytes, lego_status status)
{
    lego_sketch *loaded = NULL;
    seal(bytes);
    assert_int_equal(load_sketch(bytes->p, bytes->size, &loaded), status);
    lego_sketch_destroy(loaded);
}

/* Both halves of items in one block: `hash` in all four rows. */
static void add_both(struct block *block, uint32_t hash, int64_t count)
{
    block_add(block, (const unsigned[2]){0, 2}, (const uint32_t[2]){hash, hash}, count);
    block_add(block, (const unsigned[2]){1, 3}, (const uint32_t[2]){hash, hash}, count);
}

static void impossible_blocks_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *sketch = small_dense();
    struct bytes bytes = sketch_to_bytes(sketch), work = {malloc(bytes.size), bytes.size};
    uint32_t accepted = 0;
    for (size_t at = 0; at < bytes.size - 8; at++) /* every byte, in every way one bit or all can be wrong */
        for (int bit = 0; bit < 9; bit++) {
            memcpy(work.p, bytes.p, bytes.size);
            work.p[at] ^= (unsigned char)(bit < 8 ? 1 << bit : 0xff);
            bool good = load_or_refuse(&work);
            assert_false(good && at >= 32 && at < 88); /* the seed may be anything, and the length is sealed; the rest not */
            accepted += good && at >= 88;
        }
    assert_in_range(accepted, 0, 100); /* where rows 2 and 3 are gone a cell may move; the sums must stay */

    static const struct field fields[] = {{12, 4}, {32, 8}, {40, 8}, {56, 8}, {56, 4}, {60, 4}, {64, 8}, {72, 8}, {80, 8}};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            memcpy(work.p, bytes.p, bytes.size);
            for (size_t i = 0; i < fields[f].size; i++) work.p[fields[f].at + i] = (unsigned char)(edges[e] >> (8 * i));
            bool same = memcmp(work.p, bytes.p, bytes.size) == 0;
            assert_int_equal(load_or_refuse(&work), same);
        }

    memcpy(work.p, bytes.p, bytes.size);
    work.p[12] = 0;
    assert_dense(&work, LEGO_ERR_CORRUPT); /* flat, but the model is compact */
    work.p[12] = 2;
    assert_dense(&work, LEGO_ERR_VERSION);
    memcpy(work.p, bytes.p, bytes.size);
    work.p[56] = 4; /* one block more than there is */
    assert_dense(&work, LEGO_ERR_TRUNCATED);
    for (int wrong = -1; wrong <= 1; wrong++) {
        memcpy(work.p, bytes.p, bytes.size);
        set_number(&work, 72, (uint64_t)(sketch->dense.total + wrong));
        assert_dense(&work, wrong ? LEGO_ERR_CORRUPT : LEGO_OK);
    }
    free(work.p);
    free(bytes.p);
    lego_sketch_destroy(sketch);
}

static void impossible_contents_of_blocks_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make(2, 0, 0, lego_model_builtin("compact"));
    struct bytes work = sketch_to_bytes(sketch);
    struct block one = {{0}}, other = {{0}};
    assert_dense(&work, LEGO_OK);

    add_both(&one, 5, 1); /* both halves, and the total says so */
    set_block(&work, 0, one);
    assert_dense(&work, LEGO_ERR_CORRUPT);
    set_number(&work, 72, 1);
    assert_dense(&work, LEGO_OK);

    one = (struct block){{0}}; /* row 2 has more than row 0 */
    block_add(&one, (const unsigned[2]){0, 1}, (const uint32_t[2]){3, 3}, 1);
    set_block(&work, 0, one);
    assert_dense(&work, LEGO_ERR_CORRUPT);
    block_add(&one, (const unsigned[2]){2, 3}, (const uint32_t[2]){9, 9}, 1); /* now it has as much */
    set_block(&work, 0, one);
    assert_dense(&work, LEGO_OK);
    block_add(&one, (const unsigned[2]){2, 3}, (const uint32_t[2]){9, 9}, 1);
    set_block(&work, 0, one);
    assert_dense(&work, LEGO_ERR_CORRUPT);

    one = (struct block){{0}}; /* the halves of an item in two blocks */
    block_add(&one, (const unsigned[2]){0, 2}, (const uint32_t[2]){3, 4}, 7);
    set_block(&work, 0, one);
    set_number(&work, 72, 7);
    assert_dense(&work, LEGO_ERR_CORRUPT);
    block_add(&other, (const unsigned[2]){1, 3}, (const uint32_t[2]){5, 6}, 7);
    set_block(&work, 1, other);
    assert_dense(&work, LEGO_OK);

    one = other = (struct block){{0}}; /* sums that fit 64 bits, of cells whose sizes do not */
    add_both(&one, 1, INT64_MAX);
    add_both(&other, 1, -INT64_MAX);
    set_block(&work, 0, one);
    set_number(&work, 72, INT64_MAX);
    set_block(&work, 1, (struct block){{0}});
    assert_dense(&work, LEGO_OK);
    set_block(&work, 1, other);
    set_number(&work, 72, 0);
    assert_dense(&work, LEGO_ERR_CORRUPT);
    set_block(&work, 1, one); /* 2^64 - 2 in all */
    set_number(&work, 72, UINT64_MAX - 1);
    assert_dense(&work, LEGO_ERR_CORRUPT);

    one = (struct block){{0}}; /* the same content with another g than the shortest */
    for (uint32_t i = 0; i < 64; i++) add_both(&one, i, 1000);
    for (uint32_t i = 0; i < 64; i++) add_both(&one, i, -1000);
    struct block canonical = block_canonical(&one);
    set_number(&work, 72, 0);
    set_block(&work, 0, canonical);
    set_block(&work, 1, (struct block){{0}});
    assert_dense(&work, LEGO_OK); /* zeros further down the ladder are a sketch that had more in it */
    canonical.word[7] |= UINT64_C(1) << 58; /* g = 1: as many zeros again, and nothing after them */
    set_block(&work, 0, canonical);
    assert_dense(&work, LEGO_ERR_CORRUPT);
    canonical.word[7] ^= UINT64_C(1) << 58 | UINT64_C(1) << 63; /* signed, with nothing negative */
    set_block(&work, 0, canonical);
    assert_dense(&work, LEGO_ERR_CORRUPT);
    canonical.word[7] = UINT64_C(16) << 53; /* the last step, */
    set_block(&work, 0, canonical);
    assert_dense(&work, LEGO_OK);
    canonical.word[7] = UINT64_C(17) << 53; /* and one more */
    set_block(&work, 0, canonical);
    assert_dense(&work, LEGO_ERR_CORRUPT);
    free(work.p);
    lego_sketch_destroy(sketch);
}

/* A compact model has nothing that could be otherwise but its name and its weights. */
static void impossible_compact_models_are_refused(void **unused)
{
    (void)unused;
    struct bytes bytes = {malloc(1 << 20), 0}, work;
    assert_int_equal(lego_model_save(lego_model_builtin("compact"), append_bytes, &bytes), LEGO_OK);
    assert_int_equal(load_model(bytes.p, bytes.size), LEGO_OK);
    work = (struct bytes){malloc(bytes.size), bytes.size};
    for (size_t at = 24; at < 68; at++)
        for (int bit = 0; bit < 8; bit++) {
            if (at >= 48 && at < 64) continue; /* the name */
            memcpy(work.p, bytes.p, bytes.size);
            work.p[at] ^= (unsigned char)(1 << bit);
            seal(&work);
            assert_int_equal(load_model(work.p, work.size), LEGO_ERR_CORRUPT);
        }
    memcpy(work.p, bytes.p, bytes.size);
    work.p[48] = 'k';
    seal(&work);
    assert_int_equal(load_model(work.p, work.size), LEGO_OK);
    memset(work.p + 64 + 4 * 100, 0xff, 4); /* a weight that is no number */
    seal(&work);
    assert_int_equal(load_model(work.p, work.size), LEGO_ERR_CORRUPT);
    free(work.p);
    free(bytes.p);
}

static void impossible_models_are_refused(void **unused)
{
    (void)unused;
    struct bytes bytes = read_file("tests/golden/random.lego");
    static const struct field fields[] = {{12, 4}, {24, 4}, {28, 4}, {32, 4}, {36, 4}, {48, 1}, {63, 1}, {64, 4}};
    unsigned char before[8];
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            memcpy(before, bytes.p + fields[f].at, 8);
            for (size_t i = 0; i < fields[f].size; i++) bytes.p[fields[f].at + i] = (unsigned char)(edges[e] >> (8 * i));
            seal(&bytes);
            (void)load_model(bytes.p, bytes.size); /* an error or a model: never a crash, never an allocation before */
            memcpy(bytes.p + fields[f].at, before, 8);
        }
    static const uint32_t bad_floats[] = {0x7fc00000, 0x7f800000, 0xff800000}; /* NaN, infinities */
    static const size_t places[] = {40, 44, 64, 384, 1000};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) {
            memcpy(before, bytes.p + places[j], 4);
            for (int k = 0; k < 4; k++) bytes.p[places[j] + (size_t)k] = (unsigned char)(bad_floats[i] >> (8 * k));
            seal(&bytes);
            assert_int_equal(load_model(bytes.p, bytes.size), LEGO_ERR_CORRUPT);
            memcpy(bytes.p + places[j], before, 4);
        }
    seal(&bytes);
    assert_int_equal(load_model(bytes.p, bytes.size), LEGO_OK);
    free(bytes.p);
}

static void random_bytes_are_refused(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    for (int i = 0; i < 20000; i++) {
        unsigned char p[256];
        size_t size = draw_below(&state, sizeof p);
        for (size_t j = 0; j < size; j++) p[j] = (unsigned char)draw(&state);
        if (i % 2 && size >= 12) memcpy(p, i % 4 == 1 ? "LEGOSKCH\1\0\0\0" : "LEGOMODL\1\0\0\0", 12);
        struct bytes b = {p, size};
        if (i % 8 > 3 && size >= 32) seal(&b);
        lego_sketch *sketch;
        assert_int_not_equal(load_sketch(p, size, &sketch), LEGO_OK);
        assert_int_not_equal(load_model(p, size), LEGO_OK);
    }
}

/* Sketches of a model that is not built in. */
static void models_are_told_apart(void **unused)
{
    (void)unused;
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &model), LEGO_OK);
    lego_sketch *a = make(1, 64, 8, model), *b = NULL;
    lego_sketch_add_u64(a, 1, 2);
    struct bytes bytes = sketch_to_bytes(a);
    assert_int_equal(lego_sketch_load(bytes.p, bytes.size, NULL, NULL, &b), LEGO_ERR_MODEL);
    assert_int_equal(lego_sketch_load(bytes.p, bytes.size, lego_model_builtin(NULL), NULL, &b), LEGO_ERR_MODEL);
    assert_null(b);
    assert_int_equal(lego_sketch_load(bytes.p, bytes.size, model, NULL, &b), LEGO_OK);
    assert_same(a, b);
    char name[16] = "";
    assert_int_equal(lego_sketch_saved_model(bytes.p, 55, name), LEGO_ERR_TRUNCATED);
    assert_int_equal(lego_sketch_saved_model(file.p, file.size, name), LEGO_ERR_MAGIC);
    assert_string_equal(name, "");
    assert_int_equal(lego_sketch_saved_model(bytes.p, 56, name), LEGO_OK);
    assert_string_equal(name, "random");
    bytes.p[55] = 'x'; /* not ended by a zero */
    assert_int_equal(lego_sketch_saved_model(bytes.p, 56, name), LEGO_ERR_CORRUPT);
    lego_sketch_destroy(a);
    lego_sketch_destroy(b);
    lego_model_destroy(model);
    free(bytes.p);
    free(file.p);
}

/* A file of version 1, kept for ever: the same stream must give the same bytes, on every machine. */
static void golden_sketch(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make(8, 64, 8, NULL);
    char word[32];
    for (int i = 0; i < 60; i++) {
        int n = snprintf(word, sizeof word, "word %d", i);
        lego_sketch_add(sketch, word, (size_t)n, 1 + (i % 12 ? i % 5 : i * i * i));
        lego_sketch_add_u64(sketch, (uint64_t)i << 40, i % 7 - 1);
    }
    struct bytes now = sketch_to_bytes(sketch), then = read_file("tests/golden/v1.sketch");
    assert_int_equal(now.size, then.size);
    assert_memory_equal(now.p, then.p, now.size);
    lego_sketch *loaded;
    assert_int_equal(load_sketch(then.p, then.size, &loaded), LEGO_OK);
    lego_estimate e;
    lego_sketch_estimate(loaded, "word 48", 7, &e);
    assert_int_equal(e.upper, 110593); /* exact: 1 + 48^3 */
    assert_int_equal(loaded->memory.folded, 2); /* between two levels, */
    assert_int_equal(loaded->memory.spill.used, 25); /* with a spill */
    lego_sketch_destroy(loaded);
    lego_sketch_destroy(sketch);
    free(now.p);
    free(then.p);
}

/* Sketches of blocks that a Python program which knows only docs/format.md has written (tests/reference/make_golden.py).
 * Networks change; so the model in them is none that there is. */
struct golden_dense {
    const char *file;
    uint32_t blocks;
    uint64_t seed;
    int64_t items;
};

static lego_status add_golden(lego_sketch *sketch, int which, int64_t i)
{
    char word[32];
    uint64_t u = (uint64_t)i;
    if (which == 0) return lego_sketch_add(sketch, word, (size_t)snprintf(word, sizeof word, "word %d", (int)i), 1 + i % 5);
    if (which == 1) return lego_sketch_add_u64(sketch, u << 40, i % 60 == 0 ? i * i * i : 1 + i % 3);
    if (which == 2) return lego_sketch_add_u64(sketch, u * u, i * i * i * i * i);
    return lego_sketch_add_u64(sketch, u % 250, i * 37 % 23 - 9);
}

static void golden_dense_sketches(void **unused)
{
    (void)unused;
    static const struct golden_dense golden[] = {{"tests/golden/dense-light.sketch", 6, 42, 100},
                                                 {"tests/golden/dense-mixed.sketch", 12, 0, 800},
                                                 {"tests/golden/dense-deep.sketch", 5, UINT64_MAX, 400},
                                                 {"tests/golden/dense-signed.sketch", 4, 7, 300}};
    struct lego_model model = *lego_model_builtin("compact");
    memcpy(model.name, "golden\0\0", 8);
    model.fingerprint = UINT64_C(0x0123456789abcdef);
    for (int which = 0; which < 4; which++) {
        const struct golden_dense *g = &golden[which];
        lego_options options = {0, &model, g->seed, NULL, g->blocks, 0, 0, LEGO_DENSE};
        lego_sketch *sketch, *loaded;
        assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
        for (int64_t i = 0; i < g->items; i++) assert_int_equal(add_golden(sketch, which, i), LEGO_OK);
        struct bytes now = sketch_to_bytes(sketch), then = read_file(g->file);
        assert_int_equal(now.size, then.size);
        assert_memory_equal(now.p, then.p, now.size);
        assert_int_equal(lego_sketch_load(then.p, then.size, &model, NULL, &loaded), LEGO_OK);
        assert_same(loaded, sketch);
        lego_sketch_destroy(loaded);
        lego_sketch_destroy(sketch);
        free(now.p);
        free(then.p);
    }
}

static void every_status_has_a_message(void **unused)
{
    (void)unused;
    for (int s = LEGO_OK; s <= LEGO_ERR_DEVICE; s++) {
        assert_non_null(lego_status_message((lego_status)s));
        assert_string_not_equal(lego_status_message((lego_status)s), "unknown status");
    }
    assert_string_equal(lego_status_message((lego_status)999), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(damaged_sketches_are_refused),
        cmocka_unit_test(damaged_models_are_refused),
        cmocka_unit_test(impossible_sketches_are_refused),
        cmocka_unit_test(impossible_blocks_are_refused),
        cmocka_unit_test(impossible_contents_of_blocks_are_refused),
        cmocka_unit_test(impossible_compact_models_are_refused),
        cmocka_unit_test(impossible_models_are_refused),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(models_are_told_apart),
        cmocka_unit_test(golden_sketch),
        cmocka_unit_test(golden_dense_sketches),
        cmocka_unit_test(every_status_has_a_message),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
