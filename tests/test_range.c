/* Sums never leave 64 bits: what could is refused, whether it is added, merged or loaded, and nothing is ever negative
 * that was not taken away. */
#include "support.h"

static void sums_never_wrap(void **unused)
{
    (void)unused;
    for (int m = 0; m < 2; m++) {
        lego_sketch *a = make(2, m ? 64 : 0, NULL), *b = make(2, m ? 64 : 0, NULL), *before;
        const int64_t most = INT64_MAX / (int64_t)a->model->quantum;
        assert_int_equal(lego_add_u64(a, 1, most), LEGO_OK);
        assert_int_equal(lego_copy(a, &before), LEGO_OK);
        assert_int_equal(lego_add_u64(a, 1, 1), LEGO_ERR_RANGE);
        assert_int_equal(lego_add_u64(before, 1, 1), LEGO_ERR_RANGE);
        assert_int_equal(lego_add_u64(a, 1, INT64_MIN), LEGO_ERR_RANGE);
        assert_int_equal(lego_add(a, "x", 1, -INT64_MAX), LEGO_ERR_RANGE);
        uint64_t keys[3] = {1, 2, 3};
        int64_t counts[3] = {0, INT64_MIN, INT64_MIN}; /* their sum as unsigned numbers is 0 */
        assert_int_equal(add_u64s(a, keys, counts, 3), LEGO_ERR_RANGE);
        assert_int_equal(add_u64s(b, keys, counts, 3), LEGO_ERR_RANGE);
        assert_int_equal(lego_add_u64(b, 2, 1), LEGO_OK);
        assert_int_equal(lego_merge(a, b), LEGO_ERR_RANGE);
        assert_int_equal(lego_subtract(a, b), LEGO_ERR_RANGE);
        assert_same(a, before);
        lego_estimate e;
        lego_query_u64(a, 1, &e);
        if (m == 0) assert_int_equal(e.upper, most);
        assert_true(e.upper >= most - most / 100);
        lego_clear(b);
        assert_int_equal(lego_add_u64(b, 1, -most), LEGO_OK); /* the other end */
        lego_query_u64(b, 1, &e);
        assert_true(e.upper < 0 && e.lower == e.upper && e.value == (double)e.upper);
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(before);
    }
}

/* `x` 2^60 times, in a file. */
static struct bytes saved_x(uint64_t top)
{
    lego_sketch *sketch = make_within("compact", 65536, top);
    assert_int_equal(lego_add(sketch, "x", 1, INT64_C(1) << 60), LEGO_OK);
    struct bytes bytes = sketch_to_bytes(sketch);
    lego_destroy(sketch);
    return bytes;
}

/* 2^61 times the quantum, 4, is 2^63. */
static void three_large_files_do_not_merge(void **unused)
{
    (void)unused;
    for (uint64_t top = 0; top <= 8192; top += 8192) {
        lego_sketch *sketch[3], *before;
        lego_estimate e;
        for (int i = 0; i < 3; i++) {
            struct bytes bytes = saved_x(top);
            assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &sketch[i]), LEGO_OK);
            assert_int_equal(info_of(sketch[i]).total, INT64_C(1) << 60);
            free(bytes.p);
        }
        assert_int_equal(lego_copy(sketch[0], &before), LEGO_OK);
        for (int i = 1; i < 3; i++) {
            assert_int_equal(lego_merge(sketch[0], sketch[i]), LEGO_ERR_RANGE);
            assert_same(sketch[0], before);
            assert_int_equal(lego_query(sketch[0], "x", 1, &e), LEGO_OK);
            assert_int_equal(e.upper, INT64_C(1) << 60);
            assert_true(e.lower > 0 && e.value > 0);
        }
        assert_int_equal(lego_merge(sketch[1], sketch[1]), LEGO_ERR_RANGE);
        assert_int_equal(lego_add(sketch[1], "x", 1, INT64_C(1) << 60), LEGO_ERR_RANGE);
        assert_int_equal(lego_add(sketch[1], "x", 1, (INT64_C(1) << 60) - 1), LEGO_OK);
        assert_int_equal(info_of(sketch[1]).total, INT64_MAX / 4);
        for (int i = 0; i < 3; i++) lego_destroy(sketch[i]);
        lego_destroy(before);
    }
}

/* Weights count: what they come to is refused before anything has changed; and so is what has been let go. */
static void weights_out_of_range_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *one = make(3, 0, NULL), *into = make(3, 0, NULL), *before;
    for (uint64_t i = 0; i < 3000; i++) assert_int_equal(lego_add_u64(one, i, INT64_C(1) << 30), LEGO_OK);
    assert_int_equal(lego_add_u64(into, 5, 7), LEGO_OK);
    assert_int_equal(lego_copy(into, &before), LEGO_OK);
    assert_true(info_of(one).keeping == 1);
    const int64_t total = lego_total(one), most = INT64_MAX / (int64_t)one->model->quantum;
    const lego_sketch *const two[] = {one, one};
    const int64_t fits[] = {most / total - 1}, large[] = {most / total + 1}, below[] = {-(most / total) - 1},
                  least[] = {INT64_MIN}, both[] = {most / total / 2 + 1, -(most / total / 2) - 1}, none[] = {1, 0};
    assert_int_equal(lego_merge_many(into, two, large, 1), LEGO_ERR_RANGE);
    assert_int_equal(lego_merge_many(into, two, below, 1), LEGO_ERR_RANGE);
    assert_int_equal(lego_merge_many(into, two, least, 1), LEGO_ERR_RANGE);
    assert_int_equal(lego_merge_many(into, two, both, 2), LEGO_ERR_RANGE);
    assert_int_equal(lego_merge_many(into, two, none, 2), LEGO_ERR_ARGUMENT);
    assert_same(into, before);
    assert_int_equal(lego_merge_many(into, two, none, 0), LEGO_OK);
    assert_same(into, before);
    assert_int_equal(lego_merge_many(into, two, fits, 1), LEGO_OK);
    assert_int_equal(lego_total(into), 7 + fits[0] * total);
    assert_sums(into);
    for (uint64_t i = 0; i < 3000; i++) {
        lego_estimate e;
        assert_int_equal(lego_query_u64(into, i, &e), LEGO_OK);
        assert_true(e.upper >= fits[0] << 30 && e.lower <= e.upper);
    }
    assert_int_equal(lego_add_u64(into, 1, most / 2), LEGO_ERR_RANGE);
    lego_destroy(reload(into));
    lego_destroy(one);
    lego_destroy(into);
    lego_destroy(before);
}

/* The file of a sketch of `x`, with sums by hand that are right in themselves, and the checksum. */
static struct bytes file_with(int64_t count)
{
    lego_sketch *sketch = make_within("compact", 65536, 0);
    assert_int_equal(lego_add(sketch, "x", 1, 1), LEGO_OK);
    struct spot spot = spot_of(1, hash_bytes("x", 1, sketch->seed));
    assert_true(block_kernels_best()->add(sketch->blocks.block, sketch->blocks.whole, spot.key, count - 1));
    sketch->blocks.total = count;
    struct bytes bytes = sketch_to_bytes(sketch);
    lego_destroy(sketch);
    return bytes;
}

static void files_out_of_range_are_refused(void **unused)
{
    (void)unused;
    const int64_t most = INT64_MAX / 4;
    const int64_t counts[] = {1, most - 1, most, most + 1, INT64_C(1) << 61, INT64_C(1) << 62, INT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct bytes bytes = file_with(counts[i]);
        lego_sketch *loaded = NULL;
        bool possible = counts[i] <= most;
        assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &loaded), possible ? LEGO_OK : LEGO_ERR_CORRUPT);
        if (possible) {
            lego_estimate e;
            assert_int_equal(lego_query(loaded, "x", 1, &e), LEGO_OK);
            assert_int_equal(e.upper, counts[i]);
            assert_int_equal(lego_add(loaded, "y", 1, most), LEGO_ERR_RANGE); /* what was loaded counts */
        } else {
            assert_null(loaded);
        }
        lego_destroy(loaded);
        free(bytes.p);
    }
}

/* The same calls to a sketch and to one that was loaded in between are taken or refused alike: what was deleted again
 * takes no room. */
static void what_is_refused_follows_from_the_content(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    int refused = 0, taken = 0;
    for (int kind = 0; kind < 3; kind++) {
        const char *model = kind == 2 ? "paper" : "compact";
        lego_sketch *one = make_within(model, 65536, kind == 1 ? 8192 : 0);
        const int64_t most = INT64_MAX / (int64_t)one->model->quantum;
        int64_t count[8] = {0};
        for (int i = 0; i < 600; i++) {
            const uint64_t key = draw_below(&state, 8);
            int64_t by = count[key] ? -count[key] : most / (int64_t)(3 + draw_below(&state, 9));
            lego_sketch *loaded = reload(one), *twice = reload(one);
            assert_int_equal(lego_merge(twice, one), lego_merge(loaded, loaded));
            assert_same(twice, loaded);
            lego_destroy(twice);
            lego_destroy(loaded);
            loaded = reload(one);
            lego_status status = lego_add_u64(one, key, by);
            assert_int_equal(lego_add_u64(loaded, key, by), status);
            assert_same(one, loaded);
            lego_destroy(loaded);
            count[key] += by;
            taken += status == LEGO_OK;
            if (status == LEGO_OK) continue;
            refused++;
            lego_clear(one);
            memset(count, 0, sizeof count);
        }
        lego_destroy(one);
    }
    assert_true(refused > 100 && taken > 1000);
}

/* In bricks: one cell that is alone too large, and totals that are. */
static void bricks_out_of_range_are_refused(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make(1, 16, NULL), *loaded = NULL;
    uint64_t quantum = sketch->model->quantum, most = INT64_MAX / quantum;
    struct bytes good = sketch_to_bytes(sketch);
    size_t cells = 76, totals = cells + sketch->model->rows * (size_t)64, marks = totals + 8;
    good.p[13] = LEGO_ITEMS_BYTES;
    for (uint64_t total = most; total <= most + 1; total++) {
        put_number(good.p + 64, total, 8);
        put_number(good.p + totals, total, 8);
        seal(&good);
        assert_int_equal(lego_load(good.p, good.size, NULL, &loaded), total == most ? LEGO_OK : LEGO_ERR_CORRUPT);
        lego_destroy(loaded);
        loaded = NULL;
    }
    put_number(good.p + 64, 0, 8);
    put_number(good.p + totals, 0, 8);
    good.p[marks] = 1; /* row 0 is wide: 14 cells, of which the first four are two pairs */
    good.p[cells + 4 * 14] = 3;
    for (int large = 0; large < 2; large++) {
        put_number(good.p + cells, INT64_MAX, 8);
        put_number(good.p + cells + 8, (uint64_t)large, 8);
        seal(&good);
        assert_int_equal(lego_load(good.p, good.size, NULL, &loaded), large ? LEGO_ERR_CORRUPT : LEGO_OK);
        if (!large) assert_int_equal(lego_add_u64(loaded, 1, 1), LEGO_ERR_RANGE);
        lego_destroy(loaded);
        loaded = NULL;
    }
    free(good.p);
    lego_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_never_wrap),
        cmocka_unit_test(three_large_files_do_not_merge),
        cmocka_unit_test(weights_out_of_range_are_refused),
        cmocka_unit_test(files_out_of_range_are_refused),
        cmocka_unit_test(what_is_refused_follows_from_the_content),
        cmocka_unit_test(bricks_out_of_range_are_refused),
    };
    return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
