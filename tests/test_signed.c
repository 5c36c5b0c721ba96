/* Counts of both signs: differences of sketches, and what their answers and bounds are then. */
#include <math.h>

#include "support.h"

enum { ITEMS = 20000 };

static int64_t zipf(uint64_t i)
{
    return 1 + ITEMS / (int64_t)(i + 1);
}

/* What items that come now and then are between a day and the next. */
static int64_t change(uint64_t i)
{
    return i % 20 == 0 ? 0 : i % 20 == 1 ? -zipf(i / 20) : i % 20 == 2 ? zipf(i / 20) : i % 2 ? 1 : -1;
}

/* One half of a stream minus the other: item i is in the first if i is even. */
static int64_t halves(uint64_t i)
{
    return i % 2 ? -zipf(i / 2) : zipf(i / 2);
}

typedef int64_t (*counts)(uint64_t);

static lego_sketch *sketch_of(counts count, int sign, double bytes_a_key)
{
    lego_sketch *sketch = make_within("compact", (uint64_t)(ITEMS * bytes_a_key), 0);
    for (uint64_t i = 0; i < ITEMS; i++)
        if (sign == 0 || count(i) * sign > 0)
            assert_int_equal(lego_add_u64(sketch, i, sign ? count(i) * sign : count(i)), LEGO_OK);
    return sketch;
}

/* What is above 0 minus what is below. */
static lego_sketch *difference_of(counts count, double bytes_a_key)
{
    lego_sketch *plus = sketch_of(count, 1, bytes_a_key), *minus = sketch_of(count, -1, bytes_a_key);
    assert_int_equal(lego_subtract(plus, minus), LEGO_OK);
    lego_destroy(minus);
    return plus;
}

struct errors {
    double aae, nothing; /* of the answers, and of the constant 0 */
    double between;      /* the share of the counts within their bounds */
};

static struct errors errors_of(const lego_sketch *sketch, counts count)
{
    struct errors e = {0};
    for (uint64_t i = 0; i < ITEMS; i++) {
        lego_estimate found;
        assert_int_equal(lego_query_u64(sketch, i, &found), LEGO_OK);
        assert_true((double)found.lower <= found.value && found.value <= (double)found.likely);
        assert_true(found.likely <= found.upper);
        e.aae += fabs(found.value - (double)count(i)) / ITEMS;
        e.nothing += fabs((double)count(i)) / ITEMS;
        e.between += (found.lower <= count(i) && count(i) <= found.upper) / (double)ITEMS;
    }
    return e;
}

/* What is listed is of the right sign, and who is not listed is 0: so answers are better than to say 0 of all. */
static void check_signed(const char *what, counts count, double bytes_a_key, lego_sketch *sketch)
{
    struct errors e = errors_of(sketch, count);
    const lego_info info = info_of(sketch);
    print_message("%s, %g bytes a key: AAE %g (expected %g), of 0 %g; %.4f between\n", what, bytes_a_key, e.aae,
                  info.expected_aae, e.nothing, e.between);
    assert_true(e.aae < (bytes_a_key >= 4 ? 0.01 : bytes_a_key >= 1 ? 0.2 : 0.5) * e.nothing);
    assert_true(e.between >= 0.99);
    if (info.keeping == 1) assert_true(info.expected_aae > e.aae / 2 && info.expected_aae < 2 * e.aae);
    lego_destroy(sketch);
}

static const double budgets[] = {0.25, 0.5, 1, 2, 4};

static void differences(void **unused)
{
    (void)unused;
    for (unsigned b = 0; b < 5; b++) {
        check_signed("a change", change, budgets[b], difference_of(change, budgets[b]));
        check_signed("two halves", halves, budgets[b], difference_of(halves, budgets[b]));
    }
}

/* Who is counted below 0 without having been there takes that off what others have lost: the bounds do not hold for
 * as many then. */
static void below_0_without_a_reason(void **unused)
{
    (void)unused;
    for (unsigned b = 0; b < 5; b++) {
        lego_sketch *sketch = sketch_of(halves, 0, budgets[b]);
        const struct errors e = errors_of(sketch, halves);
        print_message("counted so, %g bytes a key: AAE %g, of 0 %g; %.4f between\n", budgets[b], e.aae, e.nothing,
                      e.between);
        assert_true(e.aae < 0.5 * e.nothing && e.between >= 0.95);
        lego_destroy(sketch);
    }
}

/* A sketch minus another of the same items, but for one, has that one. */
static void what_cancels_is_gone(void **unused)
{
    (void)unused;
    for (int sign = 1; sign >= -1; sign -= 2) {
        lego_sketch *a = sketch_of(zipf, 1, 0.5), *b = sketch_of(zipf, 1, 0.5);
        assert_int_equal(lego_add_u64(sign > 0 ? a : b, 17, 1000), LEGO_OK);
        assert_int_equal(lego_subtract(a, b), LEGO_OK);
        for (uint64_t i = 0; i < ITEMS; i++) {
            lego_estimate e;
            assert_int_equal(lego_query_u64(a, i, &e), LEGO_OK);
            if (i == 17) assert_true(e.value == sign * 1000);
            else
                assert_true(e.value == 0 || spot_of(a->blocks.blocks, hash_u64(i, a->seed)).block ==
                                                spot_of(a->blocks.blocks, hash_u64(17, a->seed)).block);
        }
        lego_destroy(a);
        lego_destroy(b);
    }
}

/* What sketches of a difference answer does not depend on how it came to be. */
static void order_does_not_matter(void **unused)
{
    (void)unused;
    lego_sketch *a = difference_of(halves, 0.5), *b = difference_of(halves, 0.5), *loaded = reload(a);
    for (uint64_t i = 0; i < ITEMS; i += 3) {
        lego_estimate one, other, third;
        assert_int_equal(lego_query_u64(a, i, &one), LEGO_OK);
        assert_int_equal(lego_query_u64(loaded, ITEMS - 1 - i, &third), LEGO_OK); /* asked in another order */
        assert_int_equal(lego_query_u64(loaded, i, &third), LEGO_OK);
        assert_int_equal(query_u64s(b, &i, 1, &other), LEGO_OK);
        assert_memory_equal(&one, &other, sizeof one);
        assert_memory_equal(&one, &third, sizeof one);
    }
    lego_destroy(a);
    lego_destroy(b);
    lego_destroy(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences),
        cmocka_unit_test(below_0_without_a_reason),
        cmocka_unit_test(what_cancels_is_gone),
        cmocka_unit_test(order_does_not_matter),
    };
    return cmocka_run_group_tests_name("signed", tests, NULL, NULL);
}
