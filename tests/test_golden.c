/* Sketches that a Python program which knows only docs/format.md has written (tests/reference/make_golden.py): of
 * blocks and of bricks. Networks change; so the model in those of blocks is none that there is, and that in those of
 * bricks is the random one. */
#include "support.h"

struct golden {
    const char *file;
    uint32_t blocks, columns;
    uint64_t seed;
    int64_t items;
};

static lego_status add_golden(lego_sketch *sketch, int stream, int64_t i)
{
    char word[32];
    uint64_t u = (uint64_t)i;
    size_t size = (size_t)snprintf(word, sizeof word, "word %d", (int)i);
    if (stream == 0) return lego_add(sketch, word, size, 1 + i % 5);
    if (stream == 1 && i % 60 == 0) return lego_add(sketch, word, size, i * i * i);
    if (stream == 1) return lego_add_u64(sketch, u << 40, 1 + i % 3);
    if (stream == 2) return lego_add_u64(sketch, u * u, i * i * i * i * i);
    return lego_add_u64(sketch, u % 250, i * 37 % 23 - 9);
}

/* Every kernel reads and writes the same. */
static void check_kernels(const lego_sketch *sketch, int stream, int64_t items)
{
    for (int k = 0; block_kernels_all[k]; k++) {
        lego_sketch *other;
        if (!block_kernels_all[k]->supported()) continue;
        assert_int_equal(lego_copy(sketch, &other), LEGO_OK);
        other->blocks.kernels = block_kernels_all[k];
        assert_same(sketch, other);
        for (int64_t i = 0; i < 2 * items; i++) { /* items of the stream, if it has integers, and others */
            lego_estimate a, b;
            uint64_t u = (uint64_t)i, item = stream == 1 ? u << 40 : stream == 2 ? u * u : u;
            assert_int_equal(lego_query_u64(sketch, item, &a), LEGO_OK);
            assert_int_equal(lego_query_u64(other, item, &b), LEGO_OK);
            assert_memory_equal(&a, &b, sizeof a);
        }
        lego_destroy(other);
    }
}

static void check_golden(const struct golden *g, int stream, const lego_model *model)
{
    lego_options options = {0, 0, model, g->seed, NULL, NULL};
    lego_sketch *sketch, *loaded;
    assert_int_equal(lego_lab_create(&options, g->blocks, g->columns, &sketch), LEGO_OK);
    for (int64_t i = 0; i < g->items; i++) assert_int_equal(add_golden(sketch, stream, i), LEGO_OK);
    struct bytes now = sketch_to_bytes(sketch), then = read_file(g->file);
    assert_int_equal(now.size, then.size);
    assert_memory_equal(now.p, then.p, now.size);
    assert_int_equal(lego_load(then.p, then.size, &(lego_options){.model = model}, &loaded), LEGO_OK);
    assert_same(loaded, sketch);
    if (g->columns == 0) check_kernels(loaded, stream, g->items);
    lego_destroy(loaded);
    lego_destroy(sketch);
    free(now.p);
    free(then.p);
}

static void golden_blocks(void **unused)
{
    (void)unused;
    static const struct golden golden[] = {{"tests/golden/blocks-light.sketch", 6, 0, 42, 100},
                                           {"tests/golden/blocks-mixed.sketch", 3, 0, 0, 800},
                                           {"tests/golden/blocks-deep.sketch", 5, 0, UINT64_MAX, 400},
                                           {"tests/golden/blocks-signed.sketch", 2, 0, 7, 300}};
    struct lego_model model = *lego_model_builtin("compact");
    memcpy(model.name, "golden\0\0", 8);
    model.fingerprint = UINT64_C(0x0123456789abcdef);
    for (int stream = 0; stream < 4; stream++) check_golden(&golden[stream], stream, &model);
}

static void golden_bricks(void **unused)
{
    (void)unused;
    static const struct golden golden[] = {{"tests/golden/bricks-light.sketch", 2, 64, 42, 100},
                                           {"tests/golden/bricks-mixed.sketch", 6, 32, 0, 800},
                                           {"tests/golden/bricks-deep.sketch", 3, 18, UINT64_MAX, 400},
                                           {"tests/golden/bricks-signed.sketch", 1, 100, 7, 300}};
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &model), LEGO_OK);
    for (int stream = 0; stream < 4; stream++) check_golden(&golden[stream], stream, model);
    lego_model_destroy(model);
    free(file.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_blocks),
        cmocka_unit_test(golden_bricks),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
