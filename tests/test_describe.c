/* What lego_describe() says of the content: distinct items, whether all is exact, how many blocks list. */
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
    lego_options options = {(uint64_t)(ITEMS * bytes_a_key), 0, NULL, seed, NULL, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(sketch, i, frequency(zipf, i)), LEGO_OK);
    return sketch;
}

static void distinct_is_near(void **unused)
{
    (void)unused;
    static const double bytes[] = {0.5, 0.6, 0.75, 0.9, 1, 1.2, 1.5, 1.8, 2, 3, 4, 6, 8, 12};
    unsigned exact = 0, listing = 0, mixed = 0;
    for (int zipf = 0; zipf < 2; zipf++)
        for (int b = 0; b < 14; b++) {
            lego_sketch *sketch = sketch_of(zipf, bytes[b], (uint64_t)b);
            lego_info info = info_of(sketch);
            double off = fabs(info.distinct / ITEMS - 1);
            bool lists = info.listing == 1;
            if (off > (info.exact ? 0 : lists ? 0.01 : 0.05))
                fail_msg("%g bytes a key, zipf %d: %g of %d", bytes[b], zipf, info.distinct, ITEMS);
            assert_int_equal(info.exact != 0, is_whole(sketch));
            if (info.exact) assert_true(info.expected_aae == 0 && info.expected_are == 0);
            exact += info.exact != 0;
            listing += lists && !info.exact;
            mixed += !lists;
            lego_destroy(sketch);
        }
    assert_true(exact > 0 && listing > 0 && mixed > 0);
}

/* The share of blocks that list falls as a sketch fills, from 1 to 0; and exact is over for good. */
static void listing_falls(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_within("compact", 50000, 0);
    lego_info before = info_of(sketch);
    assert_true(before.listing == 1 && before.exact && before.distinct == 0);
    for (uint64_t i = 0; i < 300000; i++) {
        assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
        if (i % 1000) continue;
        lego_info info = info_of(sketch);
        uint32_t lists = 0;
        for (uint32_t b = 0; b < sketch->blocks.blocks; b++) lists += step_lists(block_step(&sketch->blocks.block[b]));
        assert_true(info.listing == (double)lists / sketch->blocks.blocks);
        assert_true(info.listing <= before.listing && info.exact <= before.exact && info.bytes >= before.bytes);
        assert_true(info.bytes <= info.budget && info.budget <= 50000);
        if (info.exact) assert_true(info.distinct == (double)(i + 1));
        before = info;
    }
    assert_true(before.listing == 0 && !before.exact);
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
    assert_true(!info.exact && fabs(info.distinct / 100000 - 1) < 0.005);
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

/* Both say the same of what needs no look; what was learnt for the one is kept, and the other looks at nothing. */
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
        assert_true(brief.distinct == 0 && brief.exact == 0 && brief.listing == 0);
        info = info_of(of[s]);
        assert_int_equal(info.cache_bytes > brief.cache_bytes, has_blocks(of[s]->model));
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
        cmocka_unit_test(what_needs_no_look_is_the_same),
        cmocka_unit_test(distinct_is_near),
        cmocka_unit_test(listing_falls),
        cmocka_unit_test(what_is_in_the_top_counts_once),
        cmocka_unit_test(bricks_expect_nothing),
    };
    return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
