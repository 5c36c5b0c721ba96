/* Bad bytes of models: every truncation, every flipped bit, every impossible field is a named error, and nothing stays
 * allocated. And models of the kind that only an ablation makes. */
#include <math.h>

#include "paper/embed.h"
#include "support.h"

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

static const uint64_t edges[] = {0,          1,
                                 2,          3,
                                 7,          8,
                                 15,         16,
                                 64,         255,
                                 256,        5120,
                                 65535,      1u << 26,
                                 0x7fffffff, 0x80000000,
                                 0xffffffff, UINT64_C(1) << 40,
                                 INT64_MAX,  UINT64_C(1) << 63,
                                 UINT64_MAX};

/* Files of compact models held networks once; now it is in no file. */
static void compact_models_are_in_no_file(void **unused)
{
    (void)unused;
    struct bytes bytes = read_file("tests/golden/random.lego"), none = {malloc(1 << 20), 0};
    put_number(bytes.p + 12, MODEL_COMPACT, 4);
    seal(&bytes);
    assert_int_equal(load_model(bytes.p, bytes.size), LEGO_ERR_VERSION);
    assert_int_equal(lego_model_save(lego_model_builtin("compact"), append_bytes, &none), LEGO_ERR_ARGUMENT);
    assert_int_equal(none.size, 0);
    free(bytes.p);
    free(none.p);
}

/* What a field of a paper model may be; nothing else is loaded. */
static bool possible_field(size_t at, uint64_t x)
{
    if (at == 12) return x == MODEL_PLAIN; /* the same bytes, read as weights that are not normalised */
    if (at == 24) return x >= 1 && x <= ROWS_MAX;
    if (at == 28) return x >= 16 && x <= 8192 && x % 16 == 0;
    if (at == 32) return x >= 5 && x <= 4096;
    if (at == 48) return x == 'r'; /* no edge value is a letter, a digit, a dash or a dot */
    return false;
}

static void impossible_models_are_refused(void **unused)
{
    (void)unused;
    struct bytes bytes = read_file("tests/golden/random.lego");
    static const struct field fields[] = {{12, 4}, {24, 4}, {28, 4}, {32, 4}, {36, 4}, {48, 1}, {62, 1}, {64, 4}};
    unsigned char before[8];
    unsigned accepted = 0;
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            const struct field *field = &fields[f];
            uint64_t cut = field->size < 8 ? edges[e] & ((UINT64_C(1) << 8 * field->size) - 1) : edges[e];
            memcpy(before, bytes.p + field->at, 8);
            put_number(bytes.p + field->at, cut, (unsigned)field->size);
            bool same = memcmp(before, bytes.p + field->at, field->size) == 0;
            seal(&bytes);
            lego_status status = load_model(bytes.p, bytes.size);
            assert_int_equal(status == LEGO_OK, same || possible_field(field->at, cut));
            bool compact = field->at == 12 && cut == MODEL_COMPACT;
            assert_true(compact ? status == LEGO_ERR_VERSION
                                : status == LEGO_OK || status == LEGO_ERR_CORRUPT || status == LEGO_ERR_TRUNCATED);
            accepted += status == LEGO_OK;
            memcpy(bytes.p + field->at, before, 8);
        }
    assert_true(accepted > 10);

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

/* A model of the ablation without normalisation: weights are V in units of rows / Q, never more than Q together, and a
 * sketch of it keeps the laws: never below the count, and exact where an item is alone. */
static void models_without_normalisation_count(void **unused)
{
    (void)unused;
    struct bytes bytes = read_file("tests/golden/random.lego");
    put_number(bytes.p + 12, MODEL_PLAIN, 4);
    seal(&bytes);
    lego_model *model;
    assert_int_equal(lego_model_load(bytes.p, bytes.size, NULL, &model), LEGO_OK);
    for (uint32_t i = 0; i < 1000; i++) {
        struct place place;
        uint32_t weight[ROWS_MAX], sum = 0;
        hash_place(hash_u64(i, seed_of(0)), model->rows, model->table_size, &place);
        embed_weights(model, place.index, weight);
        for (uint32_t k = 0; k < model->rows; k++) {
            double exact = (double)model->table[place.index[k]] * (model->quantum / model->rows);
            assert_true(fabs(weight[k] - exact) <= 0.51 || (weight[k] == 1 && exact < 1));
            sum += weight[k];
        }
        assert_true(sum <= model->quantum);
    }
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 100 << 10;
    options.model = model;
    lego_sketch *sketch;
    lego_estimate e;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    assert_int_equal(lego_add_u64(sketch, 7, 1000), LEGO_OK);
    assert_int_equal(lego_query_u64(sketch, 7, &e), LEGO_OK);
    assert_true(e.upper == 1000);
    for (uint64_t i = 0; i < 20000; i++) assert_int_equal(lego_add_u64(sketch, i, 1 + (int64_t)(i % 5)), LEGO_OK);
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(lego_query_u64(sketch, i, &e), LEGO_OK);
        assert_true(e.upper >= 1 + (int64_t)(i % 5) + (i == 7 ? 1000 : 0) && e.value <= (double)e.upper);
    }
    lego_destroy(sketch);
    lego_model_destroy(model);
    free(bytes.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_models_are_refused),
        cmocka_unit_test(compact_models_are_in_no_file),
        cmocka_unit_test(impossible_models_are_refused),
        cmocka_unit_test(models_without_normalisation_count),
    };
    return cmocka_run_group_tests_name("format of models", tests, NULL, NULL);
}
