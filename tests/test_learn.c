/* What is learnt of a stream from the cells that its items share: near the truth, and from the content alone. */
#include <math.h>
#include <stddef.h>

#include "support.h"

static _Alignas(max_align_t) unsigned char room[LEARN_BYTES];

/* ---- bins -------------------------------------------------------------------------------------------------------- */

/* Bins are apart, in order, and there is none between them; each has the integers that it says. */
static void bins_follow_each_other(void **unused)
{
    (void)unused;
    for (unsigned b = 0; b + 1 < LEARN_BINS; b++) {
        float first = bin_first(b), last = first + (bin_length(b) - 1);
        assert_true(bin_first(b + 1) == first + bin_length(b)); /* powers of two times 4 to 8: floats have them all */
        assert_int_equal(bin_of(first), b);
        if (last < 0x1p24f) assert_int_equal(bin_of(last), b);
        assert_int_equal(bin_of(nextafterf(first + bin_length(b), 0)), b);
    }
    assert_in_range(bin_of(0x1p63f), 0, LEARN_BINS - 1); /* no sum is larger */
}

static void assert_in_bin(uint64_t sum)
{
    float x = (float)sum; /* which may be the next power of two */
    unsigned bin = bin_of(x);
    assert_in_range(bin, 0, LEARN_BINS - 1);
    assert_true(bin_first(bin) <= x && x < bin_first(bin) + bin_length(bin));
}

static void sums_are_in_their_bins(void **unused)
{
    (void)unused;
    for (uint64_t sum = 0; sum < 5000; sum++) assert_in_bin(sum);
    for (unsigned e = 2; e <= 62; e++)
        for (uint64_t quarter = 0; quarter < 4; quarter++) {
            uint64_t power = UINT64_C(1) << e, sum = power + quarter * (power / 4);
            for (int64_t beside = -2; beside <= 2; beside++) assert_in_bin(sum + (uint64_t)beside);
        }
}

/* ---- known streams ----------------------------------------------------------------------------------------------- */

enum { ITEMS = FULL ? 100000 : 20000 };

static int64_t once(uint64_t i)
{
    (void)i;
    return 1;
}

static int64_t few(uint64_t i)
{
    return i % 10 < 6 ? 1 : i % 10 < 9 ? 2 : 3;
}

static int64_t tenth_of_100(uint64_t i)
{
    return i % 10 ? 1 : 100;
}

static int64_t hundred_each(uint64_t i)
{
    (void)i;
    return 100;
}

static int64_t zipf(uint64_t i)
{
    return 1 + ITEMS / 2 / (int64_t)(i + 1);
}

static lego_sketch *sketch_of(int64_t (*count)(uint64_t), double bytes_a_key)
{
    lego_sketch *sketch = make_within("compact", (uint64_t)(ITEMS * bytes_a_key), 0);
    for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(sketch, i, count(i)), LEGO_OK);
    return sketch;
}

/* What is compared as bytes, so with nothing of before between its fields. */
static struct learnt *learn_of(const lego_sketch *sketch)
{
    struct learnt *learnt = calloc(1, sizeof *learnt);
    assert_non_null(learnt);
    learn(&sketch->blocks, learnt, room);
    return learnt;
}

/* Of the items of blocks that share: how many a block has, and the shares of those of count 1, 2, 3, and above, in
 * units. */
static double truth_of(const lego_sketch *sketch, int64_t (*count)(uint64_t), int64_t unit, double share[4])
{
    const struct blocks *blocks = &sketch->blocks;
    double items = 0, sharing = 0;
    memset(share, 0, 4 * sizeof *share);
    for (uint32_t b = 0; b < blocks->blocks; b++) sharing += !step_lists(block_step(&blocks->block[b]));
    for (uint64_t i = 0; i < ITEMS; i++) {
        uint32_t b = spot_of(blocks->blocks, hash_u64(i, sketch->seed)).block;
        if (step_lists(block_step(&blocks->block[b]))) continue;
        items++;
        share[count(i) <= 3 * unit ? count(i) / unit - 1 : 3]++;
    }
    for (unsigned k = 0; k < 4; k++) share[k] /= items;
    return items / sharing;
}

static void check_learnt(const char *what, int64_t (*count)(uint64_t), double bytes_a_key, double margin)
{
    lego_sketch *sketch = sketch_of(count, bytes_a_key);
    struct learnt *learnt = learn_of(sketch);
    double share[4], items = truth_of(sketch, count, learnt->unit, share), above = 1;
    assert_int_equal(learnt->unit, count == hundred_each ? 100 : 1);
    assert_true(learnt->any && learnt->sign == 1 && !learnt->crowded);
    print_message("%s, %g bytes a key: %.1f items a block of %.1f; shares", what, bytes_a_key, (double)learnt->items,
                  items);
    for (unsigned k = 0; k < 3; k++) above -= (double)learnt->count[k + 1];
    for (unsigned k = 0; k < 4; k++) {
        double found = k < 3 ? (double)learnt->count[k + 1] : above;
        print_message(" %.3f of %.3f%s", found, share[k], k < 3 ? "," : "\n");
        assert_true(fabs(found - share[k]) <= margin);
    }
    assert_true(fabs((double)learnt->items / items - 1) <= 0.05);
    free(learnt);
    lego_destroy(sketch);
}

static void what_is_learnt_is_near(void **unused)
{
    (void)unused;
    static const double bytes[] = {0.5, 0.75, 1};
    for (unsigned b = 0; b < 3; b++) {
        check_learnt("once", once, bytes[b], 0.05);
        check_learnt("1, 2, 3", few, bytes[b], 0.05);
        check_learnt("a tenth of 100", tenth_of_100, bytes[b], 0.05);
        check_learnt("100 each", hundred_each, bytes[b], 0.05);
        check_learnt("zipf", zipf, bytes[b], 0.1);
    }
}

/* Counts below 0 are learnt as those above, but for their sign. */
static void signs_are_known(void **unused)
{
    (void)unused;
    lego_sketch *plus = sketch_of(zipf, 0.75), *minus = make_within("compact", (uint64_t)(ITEMS * 0.75), 0);
    for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(minus, i, -zipf(i)), LEGO_OK);
    struct learnt *above = learn_of(plus), *below = learn_of(minus);
    assert_true(above->sign == 1 && above->negative == 0);
    assert_true(below->sign == -1 && below->negative == 1);
    assert_true(fabs((double)(below->items / above->items) - 1) < 0.05);
    for (unsigned b = 1; b < LEARN_BINS; b++) assert_true(fabs((double)(below->below[b] - above->below[b])) < 0.1);
    for (uint64_t i = 0; i < ITEMS; i += 2) assert_int_equal(lego_add_u64(minus, i, 2 * zipf(i)), LEGO_OK);
    learn(&minus->blocks, below, room);
    assert_true(below->sign == 0 && fabs((double)below->negative - 0.5) < 0.1);
    free(above);
    free(below);
    lego_destroy(plus);
    lego_destroy(minus);
}

static void nothing_is_learnt_of_lists(void **unused)
{
    (void)unused;
    lego_sketch *empty = make_within("compact", 5000, 0), *lists = sketch_of(zipf, 4);
    struct learnt *learnt = learn_of(empty);
    assert_false(learnt->any);
    free(learnt);
    learnt = learn_of(lists);
    assert_false(learnt->any);
    free(learnt);
    lego_destroy(empty);
    lego_destroy(lists);
}

/* ---- from the content alone -------------------------------------------------------------------------------------- */

static void assert_learns_the_same(const struct learnt *expected, lego_sketch *sketch)
{
    struct learnt *learnt = learn_of(sketch);
    assert_memory_equal(learnt, expected, sizeof *learnt);
    free(learnt);
    lego_destroy(sketch);
}

static void it_follows_from_the_content(void **unused)
{
    (void)unused;
    static const double bytes[] = {0.25, 0.5, 1, 1.3};
    for (unsigned b = 0; b < 4; b++) {
        uint64_t budget = (uint64_t)(ITEMS * bytes[b]);
        lego_sketch *forth = sketch_of(zipf, bytes[b]), *back = make_within("compact", budget, 0), *halves[2], *copy;
        struct learnt *learnt = learn_of(forth);
        assert_true(learnt->any);
        for (uint64_t i = ITEMS; i-- > 0;) assert_int_equal(lego_add_u64(back, i, zipf(i)), LEGO_OK);
        for (unsigned h = 0; h < 2; h++) halves[h] = make_within("compact", budget, 0);
        for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(halves[i % 3 == 0], i, zipf(i)), LEGO_OK);
        assert_int_equal(lego_merge(halves[0], halves[1]), LEGO_OK);
        assert_learns_the_same(learnt, back);
        assert_learns_the_same(learnt, halves[0]);
        assert_learns_the_same(learnt, reload(forth));
        for (int k = 0; block_kernels_all[k]; k++) { /* whatever the machine */
            assert_int_equal(lego_copy(forth, &copy), LEGO_OK);
            if (block_kernels_all[k]->supported()) copy->blocks.kernels = block_kernels_all[k];
            assert_learns_the_same(learnt, copy);
        }
        free(learnt);
        lego_destroy(halves[1]);
        lego_destroy(forth);
    }
}

/* What is kept, and looks at what changed alone, is what a look at everything gives. */
static void assert_kept_is_anew(const lego_sketch *sketch)
{
    static struct histogram histogram;
    static struct learnt anew; /* static: nothing of before between its fields, neither here nor there */
    const struct learnt *kept = blocks_learnt(sketch);
    assert_non_null(kept);
    histogram_scan(&sketch->blocks, &histogram);
    assert_memory_equal(&sketch->summary->histogram, &histogram, sizeof histogram);
    learn(&sketch->blocks, &anew, room);
    assert_memory_equal(kept, &anew, sizeof anew);
}

/* Items of the same few blocks or of any, each `counts` times, some taken away again; asked now and then. From lists to
 * shared cells, of few blocks and of more than are looked at. */
static void ask_in_between(uint64_t budget, uint64_t items, int64_t unit, int64_t least)
{
    lego_sketch *sketch = make_within("compact", budget, 0);
    uint64_t state = budget + items, asked = 0, scanned = 0, learnt = 0;
    struct hash of = {0, 0};
    for (uint64_t i = 0; i < items; i++) {
        const uint64_t some[2] = {draw_below(&state, items), draw_below(&state, items)};
        const int64_t counts[2] = {unit * (least + (int64_t)draw_below(&state, 3)), unit};
        if (i % 3 == 0) assert_int_equal(add_u64s(sketch, some, counts, 2), LEGO_OK);
        else assert_int_equal(lego_add_u64(sketch, some[0], counts[0]), LEGO_OK);
        if (i < items / 2 || draw_below(&state, 8) != 0) continue;
        const struct blocks_summary *summary = sketch->summary;
        scanned += summary && summary->state == SUMMARY_EMPTY;
        assert_kept_is_anew(sketch);
        learnt += sketch->summary->learnt.of.lo != of.lo;
        of = sketch->summary->learnt.of;
        asked++;
    }
    print_message("%.0f asked, %.0f scans of everything, learnt %.0f times\n", (double)asked, (double)scanned,
                  (double)learnt);
    assert_true(unit > 1 || (learnt < asked && scanned < asked));
    lego_destroy(sketch);
}

static void it_does_not_matter_when_one_asked(void **unused)
{
    (void)unused;
    ask_in_between(4096, ROUNDS(7000), 1, 1);
    ask_in_between(4096, ROUNDS(7000), 1, -1);
    ask_in_between(12000, ROUNDS(18000), 1, 1);
    ask_in_between(12000, ROUNDS(18000), 7, 1);
}

/* ---- what was not seen ------------------------------------------------------------------------------------------- */

/* The first key that has a block that no scan looks at. */
static uint64_t unseen_item(const lego_sketch *sketch)
{
    uint64_t item = UINT64_C(1) << 40;
    while (spot_of(sketch->blocks.blocks, hash_u64(item, sketch->seed)).block < LEARN_AMONG + 2 * BLOCKS_A_CAP) item++;
    return item;
}

static void giants_that_were_not_seen_are_answered(void **unused)
{
    (void)unused;
    enum { BLOCKS = LEARN_AMONG + 200, SINGLETONS = 256 * BLOCKS };
    static const int64_t giants[] = {1000, 1000000, INT64_C(1) << 40, INT64_C(1) << 55};
    lego_sketch *sketch = make(BLOCKS, 0, NULL);
    for (uint64_t i = 0; i < SINGLETONS; i++) assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
    assert_int_equal(sketch->blocks.blocks, BLOCKS);
    uint64_t giant = unseen_item(sketch);
    struct learnt *before = learn_of(sketch);
    int64_t now = 0;
    for (unsigned k = 0; k < 4; k++) {
        lego_estimate e;
        assert_int_equal(lego_add_u64(sketch, giant, giants[k] - now), LEGO_OK);
        now = giants[k];
        assert_int_equal(lego_query_u64(sketch, giant, &e), LEGO_OK);
        print_message("%.0f of %.0f\n", e.value, (double)now);
        assert_true(fabs(e.value / (double)now - 1) < 0.02 && e.upper >= now);
    }
    struct learnt *after = learn_of(sketch);
    assert_memory_equal(before, after, sizeof *before); /* it was not seen, indeed */
    free(before);
    free(after);
    lego_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_follow_each_other),
        cmocka_unit_test(sums_are_in_their_bins),
        cmocka_unit_test(what_is_learnt_is_near),
        cmocka_unit_test(signs_are_known),
        cmocka_unit_test(nothing_is_learnt_of_lists),
        cmocka_unit_test(it_follows_from_the_content),
        cmocka_unit_test(it_does_not_matter_when_one_asked),
        cmocka_unit_test(giants_that_were_not_seen_are_answered),
    };
    return cmocka_run_group_tests_name("learn", tests, NULL, NULL);
}
