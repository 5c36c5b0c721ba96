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
        assert_true(books.most <= size + size / 8 + 1024); /* cells are in the file; the spill is an eighth of them */
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
        assert_true(b->memory.mass <= a->memory.mass);
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
static void damaged_sketches_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *sketch = small_sketch(), *loaded;
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
    lego_sketch_destroy(sketch);
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
            seal(&work);
            if (load_sketch(work.p, work.size, &loaded) != LEGO_OK) continue;
            struct bytes again = sketch_to_bytes(loaded); /* possible after all: then canonical */
            assert_int_equal(again.size, work.size);
            assert_memory_equal(again.p, work.p, work.size);
            free(again.p);
            lego_sketch_destroy(loaded);
            accepted++;
        }
    assert_in_range(accepted, 3, 60); /* totals and high parts may be nearly anything; a shape may not */

    memcpy(work.p, bytes.p, bytes.size);
    work.p[12] = 1; /* the packing of a later version */
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

static void every_status_has_a_message(void **unused)
{
    (void)unused;
    for (int s = LEGO_OK; s <= LEGO_ERR_WRITE; s++) {
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
        cmocka_unit_test(impossible_models_are_refused),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(models_are_told_apart),
        cmocka_unit_test(golden_sketch),
        cmocka_unit_test(every_status_has_a_message),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
