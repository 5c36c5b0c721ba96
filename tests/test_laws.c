/* The laws of a sketch of bricks, on random streams and shapes: bytes are compared, not estimates. test_sketch_laws.c
 * has those of blocks. */
#include "support.h"

/* A random small shape. */
struct trial {
    uint64_t state;
    uint32_t bricks, columns;
    struct lego_model model;
};

static struct trial make_trial(uint64_t seed)
{
    static const uint32_t bricks[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24};
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d)};
    t.bricks = bricks[draw_below(&t.state, 10)];
    t.columns = 16 + 2 * (uint32_t)draw_below(&t.state, 90);
    uint32_t rows = 1 + (uint32_t)draw_below(&t.state, ROWS_MAX);
    model_of(&t.model, rows, 192, draw_below(&t.state, 4) ? 8 : 1024);
    return t;
}

/* Counts up to 10^12, beyond 32 bits, in most of them: rows become wide. */
static struct stream_of trial_stream(struct trial *t, bool deletions)
{
    size_t n = 1 + draw_below(&t->state, 400);
    unsigned digits = (unsigned)draw_below(&t->state, 13);
    return make_stream(&t->state, n, 1 + draw_below(&t->state, 2000), digits, deletions);
}

static lego_sketch *trial_sketch(struct trial *t)
{
    return make(t->bricks, t->columns, &t->model);
}

/* Rows with cells of 64 bits, of all bricks together. */
static unsigned wide_rows(const lego_sketch *sketch)
{
    unsigned n = 0;
    for (uint32_t b = 0; b < sketch->bricks.bricks.d; b++) n += (unsigned)__builtin_popcount(sketch->bricks.marks[b]);
    return n;
}

static void order_and_batches_do_not_matter(void **unused)
{
    (void)unused;
    uint32_t some_wide = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(1000); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = trial_sketch(&t), *b = trial_sketch(&t);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        for (size_t i = 0, size; i < s.n; i += size) {
            size = 1 + draw_below(&t.state, s.n - i);
            assert_int_equal(add_u64s(b, s.items + i, s.counts + i, size), LEGO_OK);
        }
        assert_same(a, b);
        some_wide += wide_rows(a) > 0;
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&s);
    }
    assert_in_range(some_wide, ROUNDS(100), ROUNDS(900)); /* both kinds were among them */
}

static void bytes_and_integers_are_one_kind_of_item(void **unused)
{
    (void)unused;
    struct trial t = make_trial(7);
    lego_sketch *a = trial_sketch(&t), *b = trial_sketch(&t), *c = trial_sketch(&t);
    uint64_t offsets[101], keys[100];
    unsigned char bytes[800];
    for (uint64_t i = 0; i < 100; i++) {
        keys[i] = i * UINT64_C(0x123456789abcdef);
        put_number(bytes + 8 * i, keys[i], 8);
        offsets[i] = 8 * i;
        assert_int_equal(lego_add(a, bytes + 8 * i, 8, 1), LEGO_OK);
    }
    offsets[100] = 800;
    assert_int_equal(add_u64s(b, keys, NULL, 100), LEGO_OK);
    assert_int_equal(add_strings(c, bytes, offsets, NULL, 100), LEGO_OK);
    assert_same(a, c);
    a->items = b->items; /* but for that */
    assert_same(a, b);
    lego_estimate one, many[100], raw[100];
    assert_int_equal(query_u64s(a, keys, 100, many), LEGO_OK);
    assert_int_equal(query_strings(a, bytes, offsets, 100, raw), LEGO_OK);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(lego_query_u64(a, keys[i], &one), LEGO_OK);
        assert_memory_equal(&one, &many[i], sizeof one);
        assert_memory_equal(&one, &raw[i], sizeof one);
    }
    assert_int_equal(lego_add(c, NULL, 0, 1), LEGO_OK); /* the empty item is an item */
    assert_int_equal(lego_query(c, "", 0, &one), LEGO_OK);
    assert_true(one.upper >= 1);
    lego_destroy(a);
    lego_destroy(b);
    lego_destroy(c);
}

/* ---- nothing ----------------------------------------------------------------------------------------------------- */

/* Where there are no bytes, NULL points to them as well as anything; sanitizers see whether it is used. */
static void nothing_may_be_null(void **unused)
{
    (void)unused;
    const uint64_t zeros[300] = {0};
    for (int k = 0; k < 4; k++) {
        lego_sketch *a = make_within(k == 3 ? "paper" : NULL, 160000, k == 2 ? 8000 : 0), *b;
        lego_estimate null, empty, many[299];
        for (uint64_t i = 0; k == 1 && i < 200000; i++) lego_add_u64(a, i, 1); /* until blocks share */
        assert_int_equal(lego_copy(a, &b), LEGO_OK);
        assert_int_equal(lego_add(a, NULL, 0, 3), LEGO_OK);
        assert_int_equal(lego_add(b, "", 0, 3), LEGO_OK);
        assert_int_equal(add_strings(a, NULL, zeros, NULL, 299), LEGO_OK);
        assert_int_equal(add_strings(b, "", zeros, NULL, 299), LEGO_OK);
        assert_int_equal(lego_add_items(a, &(lego_items){0}), LEGO_OK);
        assert_same(a, b);
        assert_int_equal(lego_query(a, NULL, 0, &null), LEGO_OK);
        assert_int_equal(lego_query(a, "", 0, &empty), LEGO_OK);
        assert_int_equal(query_strings(a, NULL, zeros, 299, many), LEGO_OK);
        assert_memory_equal(&null, &empty, sizeof null);
        assert_memory_equal(&many[298], &empty, sizeof empty);
        assert_true(empty.upper >= 302);
        assert_int_equal(lego_query_items(a, &(lego_items){0}, NULL, NULL), LEGO_OK);
        lego_destroy(a);
        lego_destroy(b);
    }
    assert_int_equal(lego_group(NULL, 0, 7, 100), lego_group("", 0, 7, 100));
}

/* ---- items that are none ----------------------------------------------------------------------------------------- */

/* Refused as something to count and as a question, and nothing has changed. */
static void refuse_items(const char *model, uint64_t top, const lego_items *items)
{
    lego_sketch *sketch = make_within(model, 160000, top), *before;
    lego_estimate answers[4], untouched[4];
    assert_int_equal(lego_add_u64(sketch, 5, 3), LEGO_OK);
    assert_int_equal(lego_copy(sketch, &before), LEGO_OK);
    memset(answers, 0x5a, sizeof answers);
    memcpy(untouched, answers, sizeof answers);
    assert_int_equal(lego_add_items(sketch, items), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_query_items(sketch, items, NULL, answers), LEGO_ERR_ARGUMENT);
    assert_memory_equal(answers, untouched, sizeof answers);
    assert_same(sketch, before);
    assert_int_equal(info_of(sketch).total, 3);
    assert_int_equal(lego_add(sketch, NULL, 1, 1), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_query(sketch, NULL, 1, answers), LEGO_ERR_ARGUMENT);
    assert_same(sketch, before);
    lego_destroy(sketch);
    lego_destroy(before);
}

static void items_that_fall_or_are_missing_are_refused(void **unused)
{
    (void)unused;
    const uint64_t falls[] = {0, 4, 3, 5}, ends[] = {0, 1, 2, 1}, rises[] = {0, 1, 2, 3};
    const lego_items wrong[] = {{.n = 3, .bytes = "pears", .offsets = falls},
                                {.n = 3, .bytes = "pears", .offsets = ends},
                                {.n = 3, .bytes = "pears"},
                                {.n = 3, .offsets = rises},
                                {.n = 3}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refuse_items("compact", 0, &wrong[i]);
        refuse_items("paper", 0, &wrong[i]);
        refuse_items("compact", 4000, &wrong[i]);
    }
}

/* ---- sketches and sketches --------------------------------------------------------------------------------------- */

static void merge_is_the_sketch_of_both(void **unused)
{
    (void)unused;
    uint32_t unequal = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(1000); seed++) {
        struct trial t = make_trial(seed);
        lego_sketch *whole = trial_sketch(&t), *merged = trial_sketch(&t);
        for (uint64_t parts = 1 + draw_below(&t.state, 4); parts > 0; parts--) {
            struct stream_of s = trial_stream(&t, false); /* of its own length and size of counts */
            lego_sketch *part = trial_sketch(&t);
            add_stream(whole, &s, 1);
            add_stream(part, &s, 1);
            unequal += (wide_rows(part) > 0) != (wide_rows(merged) > 0);
            if (draw_below(&t.state, 2)) {
                assert_int_equal(lego_merge(merged, part), LEGO_OK);
                lego_destroy(part);
            } else { /* the other way round */
                assert_int_equal(lego_merge(part, merged), LEGO_OK);
                lego_destroy(merged);
                merged = part;
            }
            free_stream(&s);
        }
        assert_same(whole, merged);
        lego_destroy(whole);
        lego_destroy(merged);
    }
    assert_true(unequal > ROUNDS(200));
}

static void fold_is_the_sketch_of_fewer_bricks(void **unused)
{
    (void)unused;
    uint32_t real = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(1000); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = trial_sketch(&t);
        add_stream(a, &s, 1);
        uint32_t fewer = 1 + (uint32_t)draw_below(&t.state, t.bricks), left = t.bricks % fewer;
        lego_status status = lego_fold(a, fewer);
        assert_int_equal(status, left ? LEGO_ERR_SHAPE : LEGO_OK);
        real += !left && fewer < t.bricks;
        if (!left) t.bricks = fewer;
        lego_sketch *b = trial_sketch(&t);
        add_stream(b, &s, 1);
        assert_same(a, b);
        assert_int_equal(bytes_of(a), bytes_of(b));
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&s);
    }
    assert_true(real > ROUNDS(200));
}

static void unequal_numbers_of_bricks_merge_at_the_smaller(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(800); seed++) {
        struct trial t = make_trial(seed), u = t;
        t.bricks *= 1 + (uint32_t)draw_below(&t.state, 4);
        struct stream_of s = trial_stream(&t, false), r = trial_stream(&t, false);
        lego_sketch *large = trial_sketch(&t), *small = trial_sketch(&u), *whole = trial_sketch(&u);
        add_stream(large, &s, 1);
        add_stream(small, &r, 1);
        add_stream(whole, &s, 1);
        add_stream(whole, &r, 1);
        lego_sketch *into = seed % 2 ? small : large;
        assert_int_equal(lego_merge(into, seed % 2 ? large : small), LEGO_OK);
        assert_same(into, whole);
        lego_destroy(large);
        lego_destroy(small);
        lego_destroy(whole);
        free_stream(&s);
        free_stream(&r);
    }
}

static struct cells row_at(const lego_sketch *sketch, uint32_t brick, uint32_t k)
{
    uint32_t columns = sketch->bricks.columns.d, n = columns;
    bool wide = sketch->bricks.marks[brick] >> k & 1;
    if (wide) n -= row_tail(columns);
    return (struct cells){sketch->bricks.cells + 4 * ((size_t)brick * sketch->model->rows + k) * columns, n, wide};
}

/* Makes the rows wide, and the cells pairs, that are so in the other. */
static void widen_to(lego_sketch *sketch, const lego_sketch *other)
{
    for (uint32_t b = 0; b < sketch->bricks.bricks.d; b++)
        for (uint32_t k = 0; k < sketch->model->rows; k++) {
            struct cells cells = row_at(sketch, b, k), wanted = row_at(other, b, k);
            if (wanted.wide && !cells.wide) row_widen(&cells);
            for (uint32_t i = 0; wanted.wide && i < wanted.n; i += 2)
                if (row_is_pair(&wanted, i)) row_pair(&cells, i);
            if (cells.wide) sketch->bricks.marks[b] |= (unsigned char)(1u << k);
        }
}

static void deleting_everything_leaves_an_empty_sketch(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(1000); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, seed % 2);
        lego_sketch *a = trial_sketch(&t), *empty = trial_sketch(&t);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        if (seed % 3) {
            add_stream(a, &s, -1);
        } else {
            lego_sketch *b = trial_sketch(&t);
            add_stream(b, &s, 1);
            assert_int_equal(lego_subtract(a, b), LEGO_OK);
            lego_destroy(b);
        }
        widen_to(empty, a); /* what was wide stays so, and then it is known of what */
        empty->items = a->items;
        assert_same(a, empty);
        assert_int_equal(info_of(a).total, 0);
        lego_clear(a);
        lego_clear(empty);
        assert_same(a, empty);
        assert_int_equal(wide_rows(a), 0);
        lego_destroy(a);
        lego_destroy(empty);
        free_stream(&s);
    }
}

/* Where the same cells are wide in the end, what was between does not matter. */
static void deletions_commute_at_equal_widths(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(800); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, true);
        lego_sketch *a = trial_sketch(&t), *b = trial_sketch(&t);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        add_stream(b, &s, 1);
        widen_to(a, b);
        widen_to(b, a);
        assert_same(a, b);
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&s);
    }
}

static void copies_and_self_merges(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = trial_sketch(&t), *b, *twice = trial_sketch(&t);
        add_stream(a, &s, 1);
        assert_int_equal(lego_copy(a, &b), LEGO_OK);
        assert_same(a, b);
        add_stream(twice, &s, 1);
        add_stream(twice, &s, 1);
        assert_int_equal(lego_merge(b, b), LEGO_OK);
        assert_same(b, twice);
        assert_int_equal(lego_subtract(b, b), LEGO_OK);
        assert_int_equal(info_of(b).total, 0);
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(twice);
        free_stream(&s);
    }
}

static void strangers_do_not_merge(void **unused)
{
    (void)unused;
    struct lego_model one, two;
    model_of(&one, 4, 64, 8);
    model_of(&two, 4, 64, 9);
    lego_options options = {0, 0, &one, 1, NULL, NULL};
    lego_sketch *a = make(4, 64, &one), *seed, *model = make(4, 64, &two), *columns = make(4, 32, &one), *before;
    lego_sketch *bricks = make(6, 64, &one), *blocks = make(4, 0, NULL);
    assert_int_equal(lego_lab_create(&options, 4, 64, &seed), LEGO_OK);
    assert_int_equal(lego_add_u64(a, 1, 1), LEGO_OK);
    assert_int_equal(lego_copy(a, &before), LEGO_OK);
    assert_int_equal(lego_merge(a, seed), LEGO_ERR_SEED);
    assert_int_equal(lego_subtract(a, model), LEGO_ERR_MODEL);
    assert_int_equal(lego_merge(a, blocks), LEGO_ERR_MODEL);
    assert_int_equal(lego_merge(a, columns), LEGO_ERR_SHAPE);
    assert_int_equal(lego_merge(a, bricks), LEGO_ERR_SHAPE);
    assert_int_equal(lego_subtract(a, bricks), LEGO_ERR_SHAPE);
    assert_int_equal(lego_fold(a, 0), LEGO_ERR_SHAPE);
    assert_int_equal(lego_fold(a, 3), LEGO_ERR_SHAPE);
    assert_int_equal(lego_fold(a, 8), LEGO_ERR_SHAPE);
    assert_same(a, before);
    lego_sketch *all[] = {a, seed, model, columns, before, bricks, blocks};
    for (int i = 0; i < 7; i++) lego_destroy(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_batches_do_not_matter),
        cmocka_unit_test(bytes_and_integers_are_one_kind_of_item),
        cmocka_unit_test(nothing_may_be_null),
        cmocka_unit_test(items_that_fall_or_are_missing_are_refused),
        cmocka_unit_test(merge_is_the_sketch_of_both),
        cmocka_unit_test(fold_is_the_sketch_of_fewer_bricks),
        cmocka_unit_test(unequal_numbers_of_bricks_merge_at_the_smaller),
        cmocka_unit_test(deleting_everything_leaves_an_empty_sketch),
        cmocka_unit_test(deletions_commute_at_equal_widths),
        cmocka_unit_test(copies_and_self_merges),
        cmocka_unit_test(strangers_do_not_merge),
    };
    return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
