/* Streams that hate blocks that keep the heaviest: who comes late, in small pieces, in runs, in turn, in parts, or is
 * deleted again. What is demanded of most is 1.3 times what the first trial of the rule had (issue 34). */
#include <math.h>

#include "support.h"

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* Arrivals of one each, and how often each item comes in all of them; items are below `domain`. */
struct arrivals {
    size_t n, most, domain;
    uint64_t *item;
    int64_t *truth;
};

static struct arrivals arrivals_make(size_t most, size_t domain)
{
    struct arrivals a = {0, most, domain, malloc(most * sizeof *a.item), calloc(domain, sizeof *a.truth)};
    assert_true(a.item && a.truth);
    return a;
}

static void arrivals_free(struct arrivals *a)
{
    free(a->item);
    free(a->truth);
}

static void arrive(struct arrivals *a, uint64_t item, int64_t times)
{
    assert_true(item < a->domain && a->n + (size_t)times <= a->most);
    a->truth[item] += times;
    for (int64_t i = 0; i < times; i++) a->item[a->n++] = item;
}

static void shuffle(struct arrivals *a, size_t from, uint64_t seed)
{
    for (size_t i = a->n; i > from + 1; i--) {
        const size_t j = from + draw_below(&seed, i - from);
        const uint64_t item = a->item[i - 1];
        a->item[i - 1] = a->item[j];
        a->item[j] = item;
    }
}

/* Counts of a Zipf stream of so many items, those from `first` on. */
static void arrive_zipf(struct arrivals *a, uint64_t first, uint64_t items, double skew)
{
    for (uint64_t i = 0; i < items; i++)
        arrive(a, first + i, (int64_t)(pow((double)items / (double)(i + 1), skew) + 0.5));
}

static void add_arrivals(lego_sketch *sketch, const struct arrivals *a, size_t from, size_t end)
{
    assert_int_equal(add_u64s(sketch, a->item + from, NULL, end - from), LEGO_OK);
}

static lego_sketch *sketch_of(const struct arrivals *a, uint64_t budget)
{
    lego_sketch *sketch = make_within("compact", budget, 0);
    add_arrivals(sketch, a, 0, a->n);
    return sketch;
}

/* ---- what comes of them ------------------------------------------------------------------------------------------ */

static lego_estimate ask(const lego_sketch *sketch, uint64_t item)
{
    lego_estimate e;
    assert_int_equal(lego_query_u64(sketch, item, &e), LEGO_OK);
    return e;
}

struct errors {
    double aae, are, below; /* below: the share of the items whose count is above upper */
};

static struct errors errors_of(const lego_sketch *sketch, const int64_t *truth, size_t items)
{
    struct errors e = {0};
    double n = 0;
    for (uint64_t i = 0; i < items; i++) {
        const lego_estimate found = ask(sketch, i);
        const double off = fabs(found.value - (double)truth[i]);
        if (truth[i] == 0) continue;
        n++;
        e.aae += off;
        e.are += off / (double)truth[i];
        e.below += found.upper < truth[i];
    }
    return (struct errors){e.aae / n, e.are / n, e.below / n};
}

/* What of the weight of items from `first` on is counted. */
static double share_counted(const lego_sketch *sketch, const int64_t *truth, uint64_t first, uint64_t items)
{
    double counted = 0, all = 0;
    for (uint64_t i = first; i < first + items; i++) {
        const double value = ask(sketch, i).value;
        counted += fmin(value, (double)truth[i]);
        all += (double)truth[i];
    }
    return counted / all;
}

static void assert_below(const char *what, double x, double most)
{
    print_message("%s: %.4f, at most %.4f\n", what, x, most);
    if (!(x <= most)) fail_msg("%s: %g is above %g", what, x, most);
}

static void assert_above(const char *what, double x, double least)
{
    print_message("%s: %.4f, at least %.4f\n", what, x, least);
    if (!(x >= least)) fail_msg("%s: %g is below %g", what, x, least);
}

/* ---- who comes late ---------------------------------------------------------------------------------------------- */

/* 20,000 items 100 times each; then new ones 1,000 times each, among others that come once. */
static void check_risers(uint64_t risers, uint64_t others, double least)
{
    enum { OLD = 20000 };
    struct arrivals a = arrivals_make(OLD * 100 + risers * 1000 + others, OLD + risers + others);
    for (uint64_t i = 0; i < OLD; i++) arrive(&a, i, 100);
    shuffle(&a, 0, 1);
    for (uint64_t i = 0; i < risers; i++) arrive(&a, OLD + i, 1000);
    for (uint64_t i = 0; i < others; i++) arrive(&a, OLD + risers + i, 1);
    shuffle(&a, OLD * 100, 2);
    lego_sketch *sketch = make(46, 0, NULL);
    add_arrivals(sketch, &a, 0, a.n);
    assert_above("late risers", share_counted(sketch, a.truth, OLD, risers), least);
    lego_destroy(sketch);
    arrivals_free(&a);
}

static void late_risers_are_counted(void **unused)
{
    (void)unused;
    check_risers(100, 100000, 0.9);
    check_risers(20, 180000, 0.8);
}

/* One block, full of items of 1,000; then one newcomer in `one_in` is the same. */
static double giant_counted(uint64_t one_in)
{
    enum { MIGHTY = 200, NEWCOMERS = 100000, GIANT = 1 << 20 };
    lego_sketch *sketch = make(1, 0, NULL);
    uint64_t state = one_in;
    int64_t giant = 0;
    for (uint64_t i = 0; i < MIGHTY; i++) assert_int_equal(lego_add_u64(sketch, i, 1000), LEGO_OK);
    for (uint64_t i = 0; i < NEWCOMERS; i++) {
        const bool is = draw_below(&state, one_in) == 0;
        assert_int_equal(lego_add_u64(sketch, is ? GIANT : MIGHTY + i, 1), LEGO_OK);
        giant += is;
    }
    const double value = ask(sketch, GIANT).value;
    lego_destroy(sketch);
    return fmin(value, (double)giant) / (double)giant;
}

/* At 1 in 50 nearly all of it is counted; at 1 in 100 it may be missed, as is said, but not altogether. */
static void giants_among_newcomers(void **unused)
{
    (void)unused;
    assert_above("1 in 50", giant_counted(50), 0.89 / 1.3);
    assert_above("1 in 100", giant_counted(100), 0.08 / 1.3);
}

static void one_late_weight(void **unused)
{
    (void)unused;
    for (uint32_t blocks = 1; blocks <= 2; blocks++) {
        lego_sketch *sketch = make(blocks, 0, NULL);
        for (uint64_t i = 0; i < 10000; i++) assert_int_equal(lego_add_u64(sketch, i, 50), LEGO_OK);
        const uint64_t late = 1 << 20;
        assert_int_equal(lego_add_u64(sketch, late, 1000000000), LEGO_OK);
        for (uint64_t i = 0; i < 10000; i++) assert_int_equal(lego_add_u64(sketch, 20000 + i, 50), LEGO_OK);
        assert_true(fabs(ask(sketch, late).value - 1e9) <= 50);
        lego_destroy(sketch);
    }
}

/* ---- orders ------------------------------------------------------------------------------------------------------ */

enum { ITEMS = 20000 };

/* The errors of a stream in random order, against which other orders are held. */
static struct errors errors_shuffled(struct arrivals *a, uint64_t budget)
{
    shuffle(a, 0, 3);
    lego_sketch *sketch = sketch_of(a, budget);
    const struct errors e = errors_of(sketch, a->truth, a->domain);
    assert_true(info_of(sketch).keeping == 1);
    lego_destroy(sketch);
    return e;
}

/* Keys in runs: each item's arrivals follow each other. */
static void keys_in_runs(void **unused)
{
    (void)unused;
    for (unsigned quarters = 1; quarters <= 4; quarters *= 2) {
        struct arrivals a = arrivals_make(20 * ITEMS, ITEMS), mixed = arrivals_make(20 * ITEMS, ITEMS);
        arrive_zipf(&mixed, 0, ITEMS, 1);
        const struct errors once = errors_shuffled(&mixed, quarters * ITEMS / 4);
        for (uint64_t i = 0; i < ITEMS; i++) arrive(&a, i * 7919 % ITEMS, mixed.truth[i * 7919 % ITEMS]);
        lego_sketch *sketch = sketch_of(&a, quarters * ITEMS / 4);
        const struct errors runs = errors_of(sketch, a.truth, ITEMS);
        assert_below("in runs, AAE", runs.aae, 1.3 * once.aae);
        assert_below("in runs, ARE", runs.are, 1.3 * once.are);
        assert_true(runs.below == 0 && once.below == 0);
        lego_destroy(sketch);
        arrivals_free(&a);
        arrivals_free(&mixed);
    }
}

/* Four streams of other items, one after the other. */
static void four_phases(void **unused)
{
    (void)unused;
    struct arrivals a = arrivals_make(20 * ITEMS, ITEMS), mixed = arrivals_make(20 * ITEMS, ITEMS);
    for (uint64_t phase = 0; phase < 4; phase++) {
        const size_t from = a.n;
        arrive_zipf(&a, phase * ITEMS / 4, ITEMS / 4, 1);
        arrive_zipf(&mixed, phase * ITEMS / 4, ITEMS / 4, 1);
        shuffle(&a, from, phase);
    }
    const struct errors once = errors_shuffled(&mixed, ITEMS / 4);
    lego_sketch *sketch = sketch_of(&a, ITEMS / 4);
    const struct errors phases = errors_of(sketch, a.truth, ITEMS);
    assert_below("four phases, AAE", phases.aae, 1.3 * once.aae);
    assert_below("four phases, ARE", phases.are, 1.3 * once.are);
    lego_destroy(sketch);
    arrivals_free(&a);
    arrivals_free(&mixed);
}

/* All count alike: who is not listed is answered that. In a loop, and in random order. */
static void all_counts_alike(void **unused)
{
    (void)unused;
    for (int order = 0; order < 2; order++) {
        struct arrivals a = arrivals_make(20 * ITEMS, ITEMS);
        for (int time = 0; time < 20; time++)
            for (uint64_t i = 0; i < ITEMS; i++) arrive(&a, i, 1);
        if (order) shuffle(&a, 0, 5);
        lego_sketch *sketch = sketch_of(&a, ITEMS);
        const struct errors e = errors_of(sketch, a.truth, ITEMS);
        assert_below(order ? "alike, AAE" : "a loop, AAE", e.aae, order ? 1.3 * 4 : 1.3 * 0.07);
        lego_destroy(sketch);
        arrivals_free(&a);
    }
}

/* Weights of a thousand take 10 bits more each, that is all: in a sketch of 5 bytes they are as good as ones in 3. */
static void weights_times_1000(void **unused)
{
    (void)unused;
    for (unsigned quarters = 1; quarters <= 4; quarters *= 2) {
        const uint64_t budget = quarters * ITEMS / 4 + ITEMS / 4;
        struct arrivals a = arrivals_make(20 * ITEMS, ITEMS);
        arrive_zipf(&a, 0, ITEMS, 1);
        const struct errors once = errors_shuffled(&a, budget * 3 / 5);
        lego_sketch *sketch = make_within("compact", budget, 0);
        int64_t *thousand = malloc(a.n * sizeof *thousand), *truth = malloc(ITEMS * sizeof *truth);
        assert_true(thousand && truth);
        for (size_t i = 0; i < a.n; i++) thousand[i] = 1000;
        for (size_t i = 0; i < ITEMS; i++) truth[i] = 1000 * a.truth[i];
        assert_int_equal(add_u64s(sketch, a.item, thousand, a.n), LEGO_OK);
        const struct errors e = errors_of(sketch, truth, ITEMS);
        assert_below("times 1,000, AAE", e.aae / 1000, 1.3 * once.aae);
        assert_below("times 1,000, ARE", e.are, 1.3 * once.are);
        lego_destroy(sketch);
        free(thousand);
        free(truth);
        arrivals_free(&a);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* 80 items that come a little in each of 100 parts, among others that come in one alone. */
static void risers_in_parts(void **unused)
{
    (void)unused;
    enum { PARTS = 100, NEW = 80, OTHERS = 1000, EACH = 4 };
    struct arrivals a = arrivals_make(PARTS * (NEW * EACH + 3 * OTHERS), NEW + PARTS * OTHERS);
    lego_sketch *part[PARTS], *all = make(46, 0, NULL);
    for (uint64_t p = 0; p < PARTS; p++) {
        const size_t from = a.n;
        for (uint64_t i = 0; i < NEW; i++) arrive(&a, i, EACH);
        for (uint64_t i = 0; i < OTHERS; i++) arrive(&a, NEW + p * OTHERS + i, 3);
        shuffle(&a, from, p);
        part[p] = make(46, 0, NULL);
        add_arrivals(part[p], &a, from, a.n);
    }
    assert_int_equal(lego_merge_many(all, (const lego_sketch *const *)part, NULL, PARTS), LEGO_OK);
    assert_above("80 risers in 100 parts at once", share_counted(all, a.truth, 0, NEW), 0.9);
    for (int step = 1; step < PARTS; step *= 2) /* as a tree */
        for (int p = 0; p + step < PARTS; p += 2 * step) assert_int_equal(lego_merge(part[p], part[p + step]), LEGO_OK);
    assert_above("as a tree", share_counted(part[0], a.truth, 0, NEW), 0.9);
    assert_true(errors_of(all, a.truth, a.domain).below == 0 && errors_of(part[0], a.truth, a.domain).below == 0);
    for (int p = 0; p < PARTS; p++) lego_destroy(part[p]);
    lego_destroy(all);
    arrivals_free(&a);
}

/* ---- deletions --------------------------------------------------------------------------------------------------- */

static void delete_arrivals(lego_sketch *sketch, const struct arrivals *a, size_t from, size_t end)
{
    int64_t *less = malloc((end - from) * sizeof *less);
    assert_non_null(less);
    for (size_t i = 0; i < end - from; i++) less[i] = -1;
    assert_int_equal(add_u64s(sketch, a->item + from, less, end - from), LEGO_OK);
    free(less);
}

/* The first half of a stream, of which a third of the items goes on coming, is deleted again. What was let go does not
 * come back: the others' errors are about those that they had before. (Where the halves are a day and the next, they
 * are about those of a sketch of the second half; that takes a stream as it is.) */
static void half_deleted_again(void **unused)
{
    (void)unused;
    struct arrivals a = arrivals_make(20 * ITEMS, ITEMS);
    int64_t *rest = calloc(ITEMS, sizeof *rest), *both = calloc(ITEMS, sizeof *both);
    assert_true(rest && both);
    arrive_zipf(&a, 0, ITEMS * 3 / 5, 1);
    shuffle(&a, 0, 6);
    const size_t half = a.n;
    for (uint64_t i = 0; i < ITEMS * 3 / 5; i++) arrive(&a, ITEMS - 1 - i, 1 + ITEMS * 3 / 5 / (int64_t)(i + 1));
    shuffle(&a, half, 7);
    for (size_t i = half; i < a.n; i++) rest[a.item[i]]++;
    for (uint64_t i = 0; i < ITEMS; i++) both[i] = rest[i] > 0 ? a.truth[i] : 0;
    for (unsigned quarters = 1; quarters <= 4; quarters *= 2) {
        const uint64_t budget = quarters * ITEMS / 4;
        lego_sketch *sketch = sketch_of(&a, budget);
        const struct errors before = errors_of(sketch, both, ITEMS);
        delete_arrivals(sketch, &a, 0, half);
        const struct errors left = errors_of(sketch, rest, ITEMS);
        assert_below("half deleted, AAE", left.aae, 1.3 * before.aae);
        assert_true(left.below == 0);
        lego_destroy(sketch);
    }
    free(rest);
    free(both);
    arrivals_free(&a);
}

/* 90 % of the items are deleted: the sample still is one. */
static void most_items_deleted(void **unused)
{
    (void)unused;
    enum { MANY = 100000 };
    lego_sketch *sketch = make(100, 0, NULL);
    for (uint64_t i = 0; i < MANY; i++) assert_int_equal(lego_add_u64(sketch, i, 2), LEGO_OK);
    for (uint64_t i = MANY / 10; i < MANY; i++) assert_int_equal(lego_add_u64(sketch, i, -2), LEGO_OK);
    const lego_info info = info_of(sketch);
    print_message("90 %% deleted: %g of %d, +- %g\n", info.distinct, MANY / 10, info.distinct_error);
    assert_true(fabs(info.distinct - MANY / 10) < 3 * info.distinct_error);
    assert_true(info.distinct > 0.5 * MANY / 10 && info.distinct < 2 * MANY / 10);
    lego_destroy(sketch);
}

/* Two days of the same items in the same order are the same sketch: nothing is left. And where one more has come, it.
 * */
static void two_alike_days(void **unused)
{
    (void)unused;
    struct arrivals a = arrivals_make(20 * ITEMS, ITEMS);
    arrive_zipf(&a, 0, ITEMS, 1);
    shuffle(&a, 0, 7);
    lego_sketch *today = sketch_of(&a, ITEMS / 2), *yesterday = sketch_of(&a, ITEMS / 2);
    assert_int_equal(lego_add_u64(today, 17, 1000), LEGO_OK);
    assert_int_equal(lego_subtract(today, yesterday), LEGO_OK);
    double off = 0;
    unsigned beyond = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        const lego_estimate e = ask(today, i);
        const int64_t truth = i == 17 ? 1000 : 0;
        off += fabs(e.value - (double)truth);
        beyond += e.lower > truth || e.upper < truth;
    }
    print_message("two alike days: %g off in all, %u beyond their bounds\n", off, beyond);
    assert_true(ask(today, 17).value == 1000 && off <= 1000); /* who shares the print of 17 has its count */
    assert_true(beyond <= ITEMS / 100);
    assert_true(info_of(today).expected_aae < 1);
    lego_destroy(today);
    lego_destroy(yesterday);
    arrivals_free(&a);
}

/* A day minus another: the ceiling is not below, for 99 % at least. */
static void the_ceiling_after_a_subtraction(void **unused)
{
    (void)unused;
    struct arrivals a = arrivals_make(20 * ITEMS, ITEMS), b = arrivals_make(20 * ITEMS, ITEMS);
    arrive_zipf(&a, 0, ITEMS, 1);
    for (uint64_t i = 0; i < ITEMS; i++) arrive(&b, i, a.truth[ITEMS - 1 - i * 7919 % ITEMS]);
    shuffle(&a, 0, 8);
    shuffle(&b, 0, 9);
    for (unsigned quarters = 1; quarters <= 8; quarters *= 2) {
        unsigned below = 0, above = 0;
        lego_sketch *day = sketch_of(&a, quarters * ITEMS / 4), *other = sketch_of(&b, quarters * ITEMS / 4);
        assert_int_equal(lego_subtract(day, other), LEGO_OK);
        for (uint64_t i = 0; i < ITEMS; i++) {
            const lego_estimate e = ask(day, i);
            below += e.upper < a.truth[i] - b.truth[i];
            above += e.lower > a.truth[i] - b.truth[i];
        }
        print_message("subtracted: %u below, %u above\n", below, above);
        assert_true(below + above <= ITEMS / 100);
        lego_destroy(day);
        lego_destroy(other);
    }
    arrivals_free(&a);
    arrivals_free(&b);
}

/* ---- crowds ------------------------------------------------------------------------------------------------------ */

/* 10,000 items a block, one block and two: the mighty stay, the ceiling holds, and so many are known to be there. */
static void ten_thousand_a_block(void **unused)
{
    (void)unused;
    enum { CROWD = 10000, MIGHTY = 50 };
    for (uint32_t blocks = 1; blocks <= 32; blocks = blocks == 1 ? 2 : 16 * blocks) {
        struct arrivals a = arrivals_make(blocks * (CROWD + MIGHTY * 1000), blocks * CROWD);
        for (uint64_t i = 0; i < a.domain; i++) arrive(&a, i, i < blocks * MIGHTY ? 1000 : 1);
        shuffle(&a, 0, blocks);
        lego_sketch *sketch = make(blocks, 0, NULL);
        add_arrivals(sketch, &a, 0, a.n);
        const lego_info info = info_of(sketch);
        assert_above("the mighty of a crowd", share_counted(sketch, a.truth, 0, blocks * MIGHTY), 0.95);
        assert_true(errors_of(sketch, a.truth, a.domain).below == 0);
        assert_below("their number is off by", fabs(info.distinct / (double)a.domain - 1), 2 * 1.3 / sqrt(4. * blocks));
        lego_destroy(sketch);
        arrivals_free(&a);
    }
}

/* Items that agree in the bits that blocks keep in the end are one then, but for giants, and nothing gets lost. */
static void equal_when_prints_shorten(void **unused)
{
    (void)unused;
    enum { PAIRS = 40, CROWD = 300 };
    lego_sketch *sketch = make(1, 0, NULL);
    uint64_t first[PAIRS], second[PAIRS], last[1 << 12], item = 1 << 20;
    unsigned pairs = 0;
    memset(last, 0, sizeof last);
    for (; pairs < PAIRS; item++) { /* alike in 16 bits of their prints, but not in 20 */
        const uint64_t print = hash_u64(item, sketch->seed).hi;
        if (print >> 60 != 5) continue;
        uint64_t *other = &last[print >> 48 & 4095];
        if (*other && hash_u64(*other, sketch->seed).hi >> 44 == print >> 44) continue;
        if (*other) first[pairs] = *other, second[pairs++] = item;
        *other = *other ? 0 : item;
    }
    for (unsigned i = 0; i < PAIRS; i++) {
        assert_int_equal(lego_add_u64(sketch, first[i], 40), LEGO_OK);
        assert_int_equal(lego_add_u64(sketch, second[i], 30), LEGO_OK);
    }
    for (unsigned i = 0; i < PAIRS; i++) assert_true(ask(sketch, first[i]).value == 40);
    for (uint64_t i = 0; i < CROWD; i++) assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
    assert_int_equal(block_step(sketch->blocks.block), STEP_FLOOR);
    for (unsigned i = 0; i < PAIRS; i++) {
        const lego_estimate a = ask(sketch, first[i]), b = ask(sketch, second[i]);
        assert_true(a.upper >= 70 && b.upper >= 70); /* either may be all of it */
        assert_true(a.value + b.value >= 70 && a.value <= 80 && b.value <= 80);
    }
    lego_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_risers_are_counted),
        cmocka_unit_test(giants_among_newcomers),
        cmocka_unit_test(one_late_weight),
        cmocka_unit_test(keys_in_runs),
        cmocka_unit_test(four_phases),
        cmocka_unit_test(all_counts_alike),
        cmocka_unit_test(weights_times_1000),
        cmocka_unit_test(risers_in_parts),
        cmocka_unit_test(half_deleted_again),
        cmocka_unit_test(most_items_deleted),
        cmocka_unit_test(two_alike_days),
        cmocka_unit_test(the_ceiling_after_a_subtraction),
        cmocka_unit_test(ten_thousand_a_block),
        cmocka_unit_test(equal_when_prints_shorten),
    };
    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
