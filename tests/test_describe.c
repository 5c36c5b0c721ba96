/* What lego_describe() says of the content: distinct items, whether all is exact, how many blocks
 * keep, what errors are to be expected, and how many items come how often. */
#include <math.h>

#include "support.h"

enum { ITEMS = FULL ? 200000 : 30000 };

/* Item i of a Zipf stream of exponent 1, or all once. */
static int64_t frequency(bool zipf, uint64_t i)
{
    return zipf ? 1 + (int64_t)(ITEMS / (i + 1)) / 2 : 1;
}

/* So many bytes for each distinct item. */
static lego_sketch *sketch_of(bool zipf, double bytes_a_key, uint64_t seed)
{
    const uint64_t bytes = (uint64_t)(ITEMS * bytes_a_key);
    lego_options options = {bytes < LEGO_BUDGET_MIN ? LEGO_BUDGET_MIN : bytes, 0, NULL, seed, NULL, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(sketch, i, frequency(zipf, i)), LEGO_OK);
    return sketch;
}

static void distinct_is_near(void **unused)
{
    (void)unused;
    static const double bytes[] = {0.1, 0.25, 0.5, 0.75, 1, 1.2, 1.5, 1.8, 2, 3, 4, 6, 8, 12};
    unsigned exact = 0, listing = 0, keeping = 0;
    for (int zipf = 0; zipf < 2; zipf++)
        for (int b = 0; b < 14; b++) {
            lego_sketch *sketch = sketch_of(zipf, bytes[b], (uint64_t)b);
            lego_info info = info_of(sketch);
            const double off = fabs(info.distinct / ITEMS - 1);
            const bool lists = info.keeping == 0;
            if (off > (info.exact ? 0 : lists ? 0.001 : 3 * 1.3 / sqrt(4. * info.blocks)))
                fail_msg("%g bytes a key, zipf %d: %g of %d", bytes[b], zipf, info.distinct, ITEMS);
            assert_int_equal(info.exact != 0, is_whole(sketch));
            if (lists) assert_true(info.distinct_error == 0);
            else assert_true(info.distinct_error >= 0 && info.distinct_error < 1.3 * ITEMS / sqrt(4. * info.blocks));
            if (info.exact) assert_true(info.expected_aae == 0 && info.expected_are == 0);
            exact += info.exact != 0;
            listing += lists && !info.exact;
            keeping += !lists;
            lego_destroy(sketch);
        }
    assert_true(exact > 0 && listing > 0 && keeping > 0);
}

/* 1.3 / sqrt(4 x blocks) is what the mean of the squares must not exceed: 30 blocks that have seen a million items. */
static void a_million_items_in_8_kb(void **unused)
{
    (void)unused;
    enum { MANY = FULL ? 1000000 : 100000, SEEDS = 3 };
    static uint64_t items[MANY];
    double squares = 0;
    uint32_t blocks = 1;
    for (uint64_t i = 0; i < MANY; i++) items[i] = i;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        lego_options options = {8192, 0, NULL, seed, NULL, NULL};
        lego_sketch *sketch;
        assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
        assert_int_equal(add_u64s(sketch, items, NULL, MANY), LEGO_OK);
        lego_info info = info_of(sketch);
        const double off = info.distinct / MANY - 1;
        squares += off * off / SEEDS;
        blocks = info.blocks;
        print_message("%g off, error %g\n", off, info.distinct_error / MANY);
        assert_true(fabs(off) < 3 * info.distinct_error / MANY);
        lego_destroy(sketch);
    }
    assert_true(sqrt(squares) < 1.3 / sqrt(4. * blocks));
}

/* The share of blocks that keep rises as a sketch fills, from 0 to 1; and exact is over for good. */
static void keeping_rises(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_within("compact", 50000, 0);
    lego_info before = info_of(sketch);
    assert_true(before.keeping == 0 && before.exact && before.distinct == 0);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
        if (i % 1000) continue;
        lego_info info = info_of(sketch);
        uint32_t keeps = 0;
        for (uint32_t b = 0; b < sketch->blocks.blocks; b++) keeps += block_keeps(&sketch->blocks.block[b]);
        assert_true(info.keeping == (double)keeps / sketch->blocks.blocks);
        assert_true(info.keeping >= before.keeping && info.exact <= before.exact && info.bytes >= before.bytes);
        assert_true(info.bytes <= info.budget && info.budget <= 50000);
        if (info.exact) assert_true(info.distinct == (double)(i + 1));
        before = info;
    }
    assert_true(before.keeping == 1 && !before.exact);
    lego_destroy(sketch);
}

/* ---- what to expect ---------------------------------------------------------------------------------------------- */

enum { ZIPF = 30000 };

static int64_t zipf_count(uint64_t i, double skew)
{
    return (int64_t)(pow((double)ZIPF / (double)(i + 1), skew) + 0.5);
}

static unsigned class_of(int64_t count)
{
    unsigned k = 0;
    while (INT64_C(1) << k < count) k++;
    return k;
}

/* A stream of such counts, each item's in three parts, in random order. */
static struct stream_of zipf_stream(double skew, uint64_t *state)
{
    struct stream_of s = {0, malloc(3 * ZIPF * sizeof *s.items), malloc(3 * ZIPF * sizeof *s.counts)};
    assert_true(s.items && s.counts);
    for (uint64_t i = 0; i < ZIPF; i++)
        for (int part = 0; part < 3; part++) {
            const int64_t count = (zipf_count(i, skew) + part) / 3;
            if (count == 0) continue;
            s.items[s.n] = i;
            s.counts[s.n++] = count;
        }
    shuffle_stream(&s, state);
    return s;
}

static bool is_within(double x, double truth, double part)
{
    return x >= truth * (1 - part) && x <= truth / (1 - part);
}

/* How far off a mean may be for a point to count, and how many points may be off: one in ten. */
static void errors_and_classes_are_foreseen(void **unused)
{
    (void)unused;
    static const double skews[] = {0.8, 1, 1.3}, bytes[] = {0.1, 0.25, 0.5, 1};
    unsigned points = 0, off = 0, classes = 0, classes_off = 0;
    uint64_t state = 7;
    for (size_t k = 0; k < 3; k++) {
        struct stream_of s = zipf_stream(skews[k], &state);
        double truth[LEGO_CLASSES] = {0};
        for (uint64_t i = 0; i < ZIPF; i++) truth[class_of(zipf_count(i, skews[k]))]++;
        for (size_t b = 0; b < 4; b++) {
            double aae = 0, are = 0;
            lego_sketch *sketch = make_within("compact", (uint64_t)fmax(LEGO_BUDGET_MIN, bytes[b] * ZIPF), 0);
            assert_int_equal(add_u64s(sketch, s.items, s.counts, s.n), LEGO_OK);
            for (uint64_t i = 0; i < ZIPF; i++) {
                lego_estimate e;
                assert_int_equal(lego_query_u64(sketch, i, &e), LEGO_OK);
                const double error = fabs(e.value - (double)zipf_count(i, skews[k]));
                aae += error / ZIPF;
                are += error / (double)zipf_count(i, skews[k]) / ZIPF;
            }
            const lego_info info = info_of(sketch);
            points += 2;
            off += !is_within(info.expected_are, are, 0.2);
            off += !is_within(info.expected_aae, aae, 0.35);
            print_message("zipf %g, %g bytes: AAE %.4f, expected %.4f; ARE %.4f, expected %.4f\n", skews[k], bytes[b],
                          aae, info.expected_aae, are, info.expected_are);
            assert_true(info.expected_aae_error >= 0 && info.expected_are_error >= 0); /* they are no NaN */
            for (unsigned c = 0; c < LEGO_CLASSES; c++) {
                classes++;
                classes_off += fabs(info.classes[c] - truth[c]) > 3 * info.class_errors[c] + 1;
            }
            lego_destroy(sketch);
        }
        free_stream(&s);
    }
    print_message("%u of %u points are off, and %u of %u classes\n", off, points, classes_off, classes);
    assert_true(off <= points / 10);
    assert_true(classes_off <= classes / 50);
}

/* A loop over more items than are listed: they all count the same, and so are answered; what is expected is that. */
static void a_loop_is_answered(void **unused)
{
    (void)unused;
    enum { KEYS = 20000, TIMES = FULL ? 20 : 10 };
    lego_sketch *sketch = make_within("compact", KEYS, 0);
    for (int time = 0; time < TIMES; time++)
        for (uint64_t i = 0; i < KEYS; i++) assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
    double aae = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        lego_estimate e;
        assert_int_equal(lego_query_u64(sketch, i, &e), LEGO_OK);
        aae += fabs(e.value - TIMES) / KEYS;
    }
    const lego_info info = info_of(sketch);
    print_message("a loop: AAE %g, expected %g\n", aae, info.expected_aae);
    assert_true(aae < 0.4);
    assert_true(info.classes[class_of(TIMES)] > 0.9 * KEYS);
    lego_destroy(sketch);
}

/* The items that a top keeps count as well, and once, though some of their counts may be in the light part, too. */
static void what_is_in_the_top_counts_once(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_within("compact", 300000, 20000);
    uint64_t state = 1;
    for (uint64_t i = 0; i < 6000; i++) {
        assert_int_equal(lego_add_u64(sketch, i, 1 + (int64_t)i % 5), LEGO_OK);
        assert_int_equal(lego_add_u64(sketch, draw_below(&state, i + 1), 1), LEGO_OK);
        if (i % 100 == 0) assert_true(info_of(sketch).exact && info_of(sketch).distinct == (double)(i + 1));
    }
    assert_true(top_leaks(&sketch->top));
    for (uint64_t i = 6000; i < 100000; i++) { /* until blocks list prints */
        assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
        assert_int_equal(lego_add_u64(sketch, draw_below(&state, i + 1), 1), LEGO_OK);
    }
    lego_info info = info_of(sketch);
    assert_true(!info.exact && fabs(info.distinct / 100000 - 1) < 0.01);
    lego_destroy(sketch);
}

/* No scan of bricks says how far their answers are off. */
static void bricks_expect_nothing(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_within("paper", 160000, 0);
    assert_true(isnan(info_of(sketch).expected_aae) && isnan(info_of(sketch).expected_are));
    assert_int_equal(lego_add_u64(sketch, 1, 5), LEGO_OK);
    assert_true(isnan(info_of(sketch).expected_aae) && isnan(info_of(sketch).expected_are));
    lego_destroy(sketch);
}

/* Both say the same of what needs no look. */
static void what_needs_no_look_is_the_same(void **unused)
{
    (void)unused;
    lego_sketch *of[] = {make_within("compact", 4096, 0), make_within("compact", 8192, 1024),
                         make_within("paper", 160000, 0)};
    for (size_t s = 0; s < 3; s++) {
        for (uint64_t i = 0; i < 20000; i++) assert_int_equal(lego_add_u64(of[s], i, 1), LEGO_OK);
        lego_info brief, info;
        lego_measure(of[s], &brief);
        assert_true(isnan(brief.expected_aae) && isnan(brief.expected_are));
        assert_true(brief.distinct == 0 && brief.exact == 0 && brief.keeping == 0);
        info = info_of(of[s]);
        assert_true(info.expected_aae > 0 || !has_blocks(of[s]->model));
        lego_measure(of[s], &brief);
        assert_true(info.model == brief.model && info.seed == brief.seed && info.total == brief.total);
        assert_true(info.bytes == brief.bytes && info.budget == brief.budget && info.cache_bytes == brief.cache_bytes);
        assert_true(info.blocks == brief.blocks && info.columns == brief.columns && info.top_bytes == brief.top_bytes);
        assert_true(info.top_budget == brief.top_budget && info.top_total == brief.top_total);
        lego_destroy(of[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_no_look_is_the_same),  cmocka_unit_test(distinct_is_near),
        cmocka_unit_test(a_million_items_in_8_kb),         cmocka_unit_test(keeping_rises),
        cmocka_unit_test(errors_and_classes_are_foreseen), cmocka_unit_test(a_loop_is_answered),
        cmocka_unit_test(what_is_in_the_top_counts_once),  cmocka_unit_test(bricks_expect_nothing),
    };
    return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
