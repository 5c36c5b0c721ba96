/* Streams far from anything the default model was trained on: it may gain nothing there, but it must not do harm. What
 * it is held against is the bound `upper`, which is what the rule answers. */
#include "support.h"

#include <math.h>

struct errors {
    double value, upper; /* mean absolute errors over the items */
    double value_relative, upper_relative;
};

/* Items 1 to n, item i occurring count(i) times, into blocks that have `bytes` in all. */
static struct errors measure(uint64_t bytes, uint64_t n, int64_t (*count)(uint64_t item))
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = bytes;
    lego_sketch *sketch;
    struct errors e = {0};
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    for (uint64_t i = 1; i <= n; i++) assert_int_equal(lego_add_u64(sketch, i, count(i)), LEGO_OK);
    for (uint64_t i = 1; i <= n; i++) {
        lego_estimate found;
        double truth = (double)count(i);
        assert_int_equal(lego_query_u64(sketch, i, &found), LEGO_OK);
        assert_true(isfinite(found.value));
        assert_true(found.lower <= found.upper && found.upper >= count(i));
        assert_true(found.value >= (double)found.lower && found.value <= (double)found.upper);
        e.value += fabs(found.value - truth) / (double)n;
        e.upper += fabs((double)found.upper - truth) / (double)n;
        e.value_relative += fabs(found.value - truth) / truth / (double)n;
        e.upper_relative += fabs((double)found.upper - truth) / truth / (double)n;
    }
    lego_destroy(sketch);
    return e;
}

/* Not worse than the rule, to one part in a hundred of it or of an item's count. */
static void no_harm(const char *what, struct errors e)
{
    print_message("%s: AAE %g, of the rule %g; ARE %g, %g\n", what, e.value, e.upper, e.value_relative,
                  e.upper_relative);
    assert_true(e.value <= 1.01 * e.upper + 0.01);
    assert_true(e.value_relative <= 1.01 * e.upper_relative + 0.01);
}

static int64_t once(uint64_t item)
{
    (void)item;
    return 1;
}

static int64_t thousandfold(uint64_t item)
{
    (void)item;
    return 1000;
}

/* 99 % of a stream of 30,000 items is the first. */
static int64_t one_giant(uint64_t item)
{
    return item == 1 ? 99 * INT64_C(30000) : 1;
}

/* 10^9 items in all, most of them in few: 30,000 distinct. */
static int64_t billion(uint64_t item)
{
    return 1 + (int64_t)(92000000.0 / (double)item);
}

static int64_t slope(uint64_t item)
{
    return 1 + (int64_t)(30000 / item);
}

static int64_t trillion_each(uint64_t item)
{
    return INT64_C(1000000000000) + (int64_t)item;
}

static void all_items_equal(void **unused)
{
    (void)unused;
    for (uint64_t bytes = 4096; bytes <= 131072; bytes *= 2) {
        no_harm("all once", measure(bytes, 30000, once));
        no_harm("all a thousand times", measure(bytes, 30000, thousandfold));
    }
}

static void one_item_is_nearly_all(void **unused)
{
    (void)unused;
    for (uint64_t bytes = 4096; bytes <= 131072; bytes *= 2) no_harm("one giant", measure(bytes, 30000, one_giant));
}

static void a_billion_items_in_one_brick(void **unused)
{
    (void)unused;
    for (uint64_t bytes = 4096; bytes <= 131072; bytes *= 2) no_harm("a billion", measure(bytes, 30000, billion));
    no_harm("a trillion each", measure(4096, 1000, trillion_each));
}

/* Room for all and more: what the rule answers is nearly exact, and so must be what the networks make of it. */
static void plenty_of_room(void **unused)
{
    (void)unused;
    for (uint64_t n = 100; n <= 30000; n *= 3) {
        no_harm("a skewed few", measure(1 << 20, n, billion));
        no_harm("a few once", measure(1 << 20, n, once));
        no_harm("a giant among few", measure(1 << 20, n, one_giant));
        no_harm("a slope", measure(1 << 20, n, slope));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_items_equal),
        cmocka_unit_test(one_item_is_nearly_all),
        cmocka_unit_test(a_billion_items_in_one_brick),
        cmocka_unit_test(plenty_of_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
