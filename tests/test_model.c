/* Models: the built-in ones are what they should be, and a file is read back as it was written. */
#include "support.h"

static struct bytes model_to_bytes(const lego_model *model)
{
    struct bytes bytes = {malloc(1 << 20), 0};
    assert_non_null(bytes.p);
    assert_int_equal(lego_model_save(model, append_bytes, &bytes), LEGO_OK);
    return bytes;
}

static void builtin_is_consistent(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    assert_ptr_equal(lego_model_builtin(NULL), lego_model_builtin("compact"));
    assert_null(lego_model_builtin("nonsense"));
    assert_null(lego_model_builtin("rule"));
    struct bytes bytes = model_to_bytes(model);
    lego_model *loaded;
    assert_int_equal(lego_model_load(bytes.p, bytes.size, NULL, &loaded), LEGO_OK);
    lego_model_info a, b;
    lego_model_describe(model, &a);
    lego_model_describe(loaded, &b);
    assert_string_equal(a.name, b.name);
    assert_int_equal(a.fingerprint, b.fingerprint);
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.columns, b.columns);
    assert_int_equal(a.quantum, b.quantum);
    assert_memory_equal(model->table16, loaded->table16, sizeof model->table16);
    assert_true(model->mean_weight == loaded->mean_weight);
    lego_model_destroy(loaded);
    free(bytes.p);
}

static void the_paper_is_its_file(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    struct bytes file = read_file("models/paper.lego"), bytes = model_to_bytes(model);
    assert_int_equal(file.size, bytes.size);
    assert_memory_equal(file.p, bytes.p, file.size);
    lego_model *loaded;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &loaded), LEGO_OK);
    assert_int_equal(model->fingerprint, loaded->fingerprint);
    assert_memory_equal(model->table16, loaded->table16, sizeof model->table16);
    assert_true(model->mean_weight == loaded->mean_weight);
    lego_model_destroy(loaded);
    free(file.p);
    free(bytes.p);
}

/* Saved sketches name it by these: whoever changes them makes all of those unreadable. */
static void compact_is_what_it_was(void **unused)
{
    (void)unused;
    lego_model_info info;
    lego_model_describe(lego_model_builtin("compact"), &info);
    assert_string_equal(info.name, "compact");
    assert_int_equal(info.rows, 3);
    assert_int_equal(info.columns, 0);
    assert_int_equal(info.quantum, 4);
    assert_int_equal(info.fingerprint, UINT64_C(0x32746361706d6f63)); /* "compact2", the least byte first */
}

static void files_are_read_as_written(void **unused)
{
    (void)unused;
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &model), LEGO_OK);
    struct bytes again = model_to_bytes(model);
    assert_int_equal(file.size, again.size);
    assert_memory_equal(file.p, again.p, file.size);
    lego_model_info info;
    lego_model_describe(model, &info);
    assert_string_equal(info.name, "random");
    assert_int_equal(info.rows, 5);
    assert_int_equal(info.columns, 5120);
    assert_int_equal(info.quantum, 1024);
    lego_model_destroy(model);
    lego_model_destroy(NULL);
    free(file.p);
    free(again.p);
}

/* A worked example: Q = 8 and values 1, 1/2, 1/4, 1/4 are divided by their sum and rounded. */
static void weights_are_normalised_and_rounded(void **unused)
{
    (void)unused;
    struct lego_model model;
    model_of(&model, 4, 64, 8);
    const uint32_t one_half_quarter[] = {0, 3, 6, 6}; /* the table of model_of(): three entries a power */
    uint32_t w[ROWS_MAX];
    embed_weights(&model, one_half_quarter, w);
    assert_int_equal(w[0], 4);
    assert_int_equal(w[1], 2);
    assert_int_equal(w[2], 1);
    assert_int_equal(w[3], 1);
    const uint32_t small[] = {0, 0, 0, 15}; /* 8 / 32 / 3.03 = 0.08: rounds to 0, but is never 0 */
    embed_weights(&model, small, w);
    assert_int_equal(w[0], 3);
    assert_int_equal(w[3], 1);
    model.quantum = QUANTUM_MAX; /* the largest numbers: nothing overflows */
    const uint32_t same[] = {0, 0, 0, 0};
    embed_weights(&model, same, w);
    assert_int_equal(w[0], QUANTUM_MAX / 4);
}

/* The one division gives what integer division would: for all items of a coarse model, and a sample with a fine Q. */
static void weights_are_exact(void **unused)
{
    (void)unused;
    struct lego_model fine, coarse;
    const lego_model *plain = model_of(&coarse, 4, 5120, 8);
    uint64_t state = 3;
    model_of(&fine, 4, 5120, 8);
    fine.table_size = TABLE_MAX;
    for (uint32_t i = 0; i < 200000; i++) {
        if (i % 1000 == 0) { /* now and then another table, another Q */
            for (uint32_t j = 0; j < TABLE_MAX; j++) fine.table16[j] = 66 + (uint32_t)draw_below(&state, 65536 - 65);
            fine.quantum = 8 + (uint32_t)draw_below(&state, QUANTUM_MAX - 7);
            fine.rows = 1 + (uint32_t)draw_below(&state, ROWS_MAX);
        }
        const lego_model *model = i < 65536 ? plain : &fine;
        uint32_t index[ROWS_MAX], w[ROWS_MAX], sum = 0;
        for (uint32_t k = 0; k < model->rows; k++) {
            index[k] = i < 65536 ? i >> (4 * k) & 15 : (uint32_t)draw_below(&state, TABLE_MAX);
            sum += model->table16[index[k]];
        }
        embed_weights(model, index, w);
        for (uint32_t k = 0; k < model->rows; k++) {
            uint32_t exact = (2 * model->quantum * model->table16[index[k]] + sum) / (2 * sum);
            assert_int_equal(w[k], exact ? exact : 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_is_consistent),
        cmocka_unit_test(the_paper_is_its_file),
        cmocka_unit_test(compact_is_what_it_was),
        cmocka_unit_test(files_are_read_as_written),
        cmocka_unit_test(weights_are_normalised_and_rounded),
        cmocka_unit_test(weights_are_exact),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
