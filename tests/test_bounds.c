/* What an estimate promises: upper always holds, lower for 95 %, and the error bound of Theorem 4.3. Against exact
 * counts, and against Count-Min at equal bytes. */
#include <math.h>

#include "support.h"

/* Shapes of streams, the last four nothing like Zipf. */
enum { SHAPES = 7, N = 20000 };

static int64_t frequency(int shape, uint64_t i)
{
    static const double alpha[] = {0.5, 0.9, 1.3};
    if (shape < 3) return llround(pow((N + 1.0) / (double)(i + 2), alpha[shape]));
    if (shape == 3) return 1;                          /* all once */
    if (shape == 4) return 37;                         /* all the same */
    if (shape == 5) return i == 0 ? 99 * N : 1;        /* one item is 99 % of the stream */
    return i % 100 == 0 ? 5000 : (int64_t)(i % 3) + 1; /* a flat body and a heavy head */
}

static lego_sketch *sketch_of(const char *model, int shape, uint64_t budget, uint64_t seed, int64_t *total)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.model = lego_model_builtin(model);
    options.budget = budget;
    options.seed = seed;
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    *total = 0;
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(lego_add_u64(sketch, i, frequency(shape, i)), LEGO_OK);
        *total += frequency(shape, i);
    }
    return sketch;
}

static void upper_holds_and_lower_is_calibrated(void **unused)
{
    (void)unused;
    static const uint64_t budgets[] = {4096, 10000, 40000, 160000};
    for (int shape = 0; shape < SHAPES; shape++)
        for (int b = 0; b < 4; b++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                int64_t total;
                lego_sketch *sketch = sketch_of("paper", shape, budgets[b], seed, &total);
                uint32_t held = 0, absent = 0;
                for (uint64_t i = 0; i < N; i++) {
                    lego_estimate e;
                    lego_query_u64(sketch, i, &e);
                    assert_true(e.upper >= frequency(shape, i));
                    assert_true(e.lower <= e.upper && e.lower >= 0);
                    assert_true(e.value <= (double)e.upper && e.value >= 0);
                    held += e.lower <= frequency(shape, i);
                    lego_query_u64(sketch, N + i, &e);
                    absent += e.lower <= 0;
                }
                assert_true(held >= N * 95 / 100);
                assert_true(absent >= N * 95 / 100);
                lego_destroy(sketch);
            }
}

static void upper_holds_while_items_come_and_go(void **unused)
{
    (void)unused;
    enum { ITEMS = 300 };
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t state = seed;
        int64_t truth[ITEMS] = {0};
        lego_sketch *sketch = make(1 + (uint32_t)draw_below(&state, 4), 64, NULL);
        for (int step = 0; step < 1000; step++) {
            uint64_t i = draw_below(&state, ITEMS);
            int64_t count = draw_count(&state, 6);
            if (draw_below(&state, 2)) count = -(int64_t)draw_below(&state, (uint64_t)truth[i] + 1);
            assert_int_equal(lego_add_u64(sketch, i, count), LEGO_OK);
            truth[i] += count;
        }
        for (uint64_t i = 0; i < ITEMS; i++) {
            lego_estimate e;
            lego_query_u64(sketch, i, &e);
            assert_true(e.upper >= truth[i]);
        }
        lego_destroy(sketch);
    }
}

/* Theorem 4.3, for one brick: P(f'' - f >= eps N) <= 1 / (eps d2), for any eps. Its proof takes the plain mean over
 * the rows and E[v_j / v_i] <= 1, which Jensen's inequality denies; with the mean weighted by v_i it goes through:
 * min_k x_k <= sum_k v_ik x_k / sum_k v_ik, whose expectation is N / d2 times the ratio of the total weights of the
 * others to the item's own. That ratio is 1 in the paper; quantised weights of Q = 1024 sum to 1022 .. 1026. */
static void theorem_4_3(void **unused)
{
    (void)unused;
    static const double times[] = {1.5, 2, 3, 5, 10}; /* eps as a multiple of 1 / d2 */
    for (int shape = 0; shape < SHAPES; shape++) {
        uint32_t beyond[5] = {0}, asked = 0;
        for (uint64_t seed = 0; seed < 5; seed++) {
            int64_t total;
            lego_sketch *sketch = sketch_of("paper", shape, 16000, seed, &total);
            lego_info info;
            lego_describe(sketch, &info);
            assert_int_equal(info.blocks, 1);
            for (uint64_t i = 0; i < N; i++, asked++) {
                lego_estimate e;
                lego_query_u64(sketch, i, &e);
                double error = (double)(e.upper - frequency(shape, i));
                for (int t = 0; t < 5; t++) beyond[t] += error >= times[t] * (double)total / info.columns;
            }
            lego_destroy(sketch);
        }
        for (int t = 0; t < 5; t++) assert_true(beyond[t] <= asked / times[t]);
    }
}

/* Count-Min, 3 rows of 4-byte cells, in the same number of bytes. */
static double count_min_error(int shape, uint64_t bytes)
{
    uint32_t columns = (uint32_t)(bytes / 12);
    uint32_t *cells = calloc(3 * (size_t)columns, 4);
    assert_non_null(cells);
    double error = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < N; i++) {
            uint32_t least = UINT32_MAX;
            for (uint64_t k = 0; k < 3; k++) {
                uint32_t *cell = cells + k * columns + hash_u64(i, seed_of(1000 + k)).lo % columns;
                if (pass == 0) *cell += (uint32_t)frequency(shape, i);
                else if (*cell < least) least = *cell;
            }
            if (pass == 1) error += least - (double)frequency(shape, i);
        }
    free(cells);
    return error / N;
}

static void beats_count_min_at_equal_bytes(void **unused)
{
    (void)unused;
    static const uint64_t budgets[] = {20000, 40000, 80000};
    for (int shape = 0; shape < SHAPES; shape++) {
        for (int b = 0; b < 3; b++) {
            int64_t total;
            lego_sketch *sketch = sketch_of("compact", shape, budgets[b], 0, &total);
            double error = 0;
            for (uint64_t i = 0; i < N; i++) {
                lego_estimate e;
                lego_query_u64(sketch, i, &e);
                error += fabs(e.value - (double)frequency(shape, i));
            }
            assert_true(bytes_of(sketch) <= budgets[b]);
            assert_true(error / N < 0.75 * count_min_error(shape, budgets[b]));
            lego_destroy(sketch);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upper_holds_and_lower_is_calibrated),
        cmocka_unit_test(upper_holds_while_items_come_and_go),
        cmocka_unit_test(theorem_4_3),
        cmocka_unit_test(beats_count_min_at_equal_bytes),
    };
    return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
