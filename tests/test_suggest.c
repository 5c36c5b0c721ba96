/* What lego_suggest() says of budgets, against sketches of other streams that have them. */
#include <math.h>

#include "support.h"

enum { N = 12000 };

/* As legosketch gen zipf has them, in a random order. */
static void zipf(int64_t counts[N], double skew, uint64_t state)
{
    for (size_t i = 0; i < N; i++) counts[i] = (int64_t)(pow((N + 1.0) / ((double)i + 2), skew) + 0.5);
    for (size_t i = N; i > 1; i--) {
        size_t j = draw_below(&state, i);
        int64_t count = counts[i - 1];
        counts[i - 1] = counts[j];
        counts[j] = count;
    }
}

/* The mean relative error of sketches whose items come one by one in random order, over some seeds; and how many of
 * these sketches are exact. A count above MOST comes in so many parts. */
static double error_of(const int64_t counts[N], uint64_t budget, unsigned *exact)
{
    enum { SEEDS = FULL ? 8 : 2, MOST = 32 };
    static uint64_t items[N];
    static lego_estimate answers[N];
    struct stream_of s = {0, malloc(MOST * N * sizeof(uint64_t)), malloc(MOST * N * sizeof(int64_t))};
    double sum = 0;
    assert_true(s.items && s.counts);
    for (size_t i = 0; i < N; i++) {
        items[i] = 1000000 + i;
        for (int64_t j = 0; j < counts[i] && j < MOST; j++) {
            s.items[s.n] = items[i];
            s.counts[s.n++] = counts[i] <= MOST ? 1 : counts[i] / MOST + (j < counts[i] % MOST);
        }
    }
    *exact = 0;
    for (uint64_t seed = 500; seed < 500 + SEEDS; seed++) {
        lego_options options = {budget, 0, NULL, seed, NULL, NULL};
        lego_sketch *sketch;
        uint64_t state = seed;
        shuffle_stream(&s, &state);
        assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
        assert_int_equal(add_u64s(sketch, s.items, s.counts, s.n), LEGO_OK);
        assert_int_equal(query_u64s(sketch, items, N, answers), LEGO_OK);
        for (size_t i = 0; i < N; i++) sum += fabs(answers[i].value - (double)counts[i]) / (double)counts[i];
        *exact += is_whole(sketch);
        lego_destroy(sketch);
    }
    free_stream(&s);
    return sum / SEEDS / N;
}

static uint64_t suggest(const lego_wish *wish, double *expected)
{
    uint64_t budget = 0;
    assert_int_equal(lego_suggest(wish, NULL, &budget, expected), LEGO_OK);
    return budget;
}

static void assert_about(double a, double b, double part)
{
    if (!(fabs(a - b) <= part * b)) fail_msg("%g is not about %g", a, b);
}

static void wishes_are_granted(void **unused)
{
    (void)unused;
    static const double errors[] = {0.1, 0.01};
    static int64_t counts[N];
    for (int skew = 0; skew < 3; skew++) {
        uint64_t before = 0;
        zipf(counts, 0.7 + 0.3 * skew, 5);
        for (int i = 0; i < 2; i++) {
            lego_wish wish = {.counts = counts, .n = N, .error = errors[i]};
            double expected = -1;
            unsigned exact;
            uint64_t budget = suggest(&wish, &expected);
            assert_true(expected > errors[i] / 4 && expected <= errors[i]);
            assert_true(error_of(counts, budget, &exact) < 1.3 * errors[i]);
            assert_true(error_of(counts, budget * 85 / 100, &exact) > errors[i]);
            assert_true(budget > before);
            before = budget;
        }
    }
}

static void exact_is_exact(void **unused)
{
    (void)unused;
    static int64_t counts[N];
    zipf(counts, 1, 5);
    double expected = -1;
    unsigned exact;
    uint64_t budget = suggest(&(lego_wish){.counts = counts, .n = N}, &expected);
    assert_true(expected == 0);
    assert_true(error_of(counts, budget, &exact) == 0 && exact >= (FULL ? 7 : 2)); /* of 8 or 2 */
    error_of(counts, budget * 60 / 100, &exact);
    assert_true(exact < 4);
}

/* Neither the order of a sample, nor its size, nor whether it is one or the law itself. */
static void only_the_distribution_counts(void **unused)
{
    (void)unused;
    static int64_t counts[N], other[N];
    zipf(counts, 1, 5);
    zipf(other, 1, 6);
    lego_wish wish = {.counts = counts, .n = N, .error = 0.01};
    uint64_t budget = suggest(&wish, NULL);
    assert_int_equal(suggest(&wish, NULL), budget);
    assert_about((double)suggest(&(lego_wish){.counts = other, .n = N, .error = 0.01}, NULL), (double)budget, 0.07);
    assert_about((double)suggest(&(lego_wish){.skew = 1, .distinct = N, .error = 0.01}, NULL), (double)budget, 0.07);
    wish.distinct = N; /* of a third of them, if it is a fair one */
    wish.n = N / 3;
    assert_about((double)suggest(&wish, NULL), (double)budget, 0.1);
    wish.distinct = 1e6;
    assert_about((double)suggest(&wish, NULL), (double)budget / N * 1e6, 0.1);
}

/* One item in ten comes a million times: who is taken for one of these is off by that, however rare it is. */
static void giants_are_reckoned_with(void **unused)
{
    (void)unused;
    static int64_t counts[N];
    uint64_t state = 9;
    for (size_t i = 0; i < N; i++) counts[i] = draw_below(&state, 10) ? 1 : 1000000;
    double expected = -1;
    unsigned exact;
    uint64_t budget = suggest(&(lego_wish){.counts = counts, .n = N, .error = 0.1}, &expected);
    const double error = error_of(counts, budget, &exact);
    print_message("giants: %lu bytes, error %g, expected %g\n", (unsigned long)budget, error, expected);
    assert_true(expected > 0 && expected <= 0.1 && error <= 0.1);
}

static void few_items_take_the_least_budget(void **unused)
{
    (void)unused;
    static const double few[] = {0.5, 1, 10, 100};
    for (int i = 0; i < 4; i++)
        for (int error = 0; error < 2; error++) {
            double expected = -1;
            lego_wish wish = {
                .counts = (int64_t[]){7, INT64_C(1) << 40, 1}, .n = 3, .distinct = few[i], .error = error};
            assert_int_equal(suggest(&wish, &expected), LEGO_BUDGET_MIN);
            assert_true(expected == 0);
        }
    double expected = -1; /* whatever is wished, some bytes an item */
    assert_int_equal(suggest(&(lego_wish){.skew = 2, .distinct = 32768, .error = INFINITY}, &expected), 8438);
    assert_true(expected > 0);
}

static void what_is_no_wish_is_refused(void **unused)
{
    (void)unused;
    static const int64_t good[] = {1, 2}, zero[] = {1, 0}, negative[] = {-1, 2}, large[] = {1, INT64_MAX};
    const struct {
        lego_wish wish;
        lego_status status;
    } cases[] = {{{good, 2, 0, 0, -0.1}, LEGO_ERR_ARGUMENT},     {{good, 2, 0, 0, NAN}, LEGO_ERR_ARGUMENT},
                 {{good, 2, 0, -1, 0.1}, LEGO_ERR_ARGUMENT},     {{good, 2, 0, NAN, 0.1}, LEGO_ERR_ARGUMENT},
                 {{good, 0, 0, 10, 0.1}, LEGO_ERR_ARGUMENT},     {{NULL, 2, 0, 10, 0.1}, LEGO_ERR_ARGUMENT},
                 {{NULL, 0, 1, 0, 0.1}, LEGO_ERR_ARGUMENT},      {{NULL, 0, -1, 10, 0.1}, LEGO_ERR_ARGUMENT},
                 {{NULL, 0, 3.1, 10, 0.1}, LEGO_ERR_ARGUMENT},   {{NULL, 0, NAN, 10, 0.1}, LEGO_ERR_ARGUMENT},
                 {{zero, 2, 0, 0, 0.1}, LEGO_ERR_ARGUMENT},      {{negative, 2, 0, 0, 0.1}, LEGO_ERR_ARGUMENT},
                 {{large, 2, 0, 0, 0.1}, LEGO_ERR_RANGE},        {{good, 2, 0, 1e12, 0.01}, LEGO_ERR_BUDGET},
                 {{good, 2, 0, INFINITY, 0.01}, LEGO_ERR_BUDGET}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t budget = 77;
        double expected = 77;
        assert_int_equal(lego_suggest(&cases[i].wish, NULL, &budget, &expected), cases[i].status);
        assert_true(budget == 77 && expected == 77);
    }
}

static void memory_may_fail(void **unused)
{
    (void)unused;
    struct books books;
    lego_allocator allocator = books_allocator(&books);
    const lego_wish wish = {.skew = 1, .distinct = 500, .error = 0.1};
    uint64_t wanted, budget;
    assert_int_equal(lego_suggest(&wish, &allocator, &wanted, NULL), LEGO_OK);
    long calls = books.calls;
    for (long at = 1; at <= calls; at += 1 + at / 8) {
        allocator = books_allocator(&books);
        books.fail_at = at;
        books.more = at % 2 ? 1 << 30 : 0;
        lego_status status = lego_suggest(&wish, &allocator, &budget, NULL);
        assert_true(status == LEGO_ERR_MEMORY || (status == LEGO_OK && budget == wanted));
        assert_int_equal(books.now, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wishes_are_granted),
        cmocka_unit_test(exact_is_exact),
        cmocka_unit_test(only_the_distribution_counts),
        cmocka_unit_test(giants_are_reckoned_with),
        cmocka_unit_test(few_items_take_the_least_budget),
        cmocka_unit_test(what_is_no_wish_is_refused),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
