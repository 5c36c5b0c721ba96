/* The laws of the sketch, on random streams and shapes: bytes are compared, not estimates. */
#include "support.h"

/* A random small shape. */
struct trial {
    uint64_t state;
    uint32_t bricks, columns, bits;
    struct lego_model model;
};

static struct trial make_trial(uint64_t seed)
{
    static const uint32_t bricks[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24}, bits[] = {8, 8, 8, 16, 32, 64};
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d)};
    t.bricks = bricks[draw_below(&t.state, 10)];
    t.columns = 64 * (uint32_t)(1 + draw_below(&t.state, 3));
    t.bits = bits[draw_below(&t.state, 6)];
    uint32_t rows = 1 + (uint32_t)draw_below(&t.state, LEGO_ROWS_MAX);
    model_of(&t.model, rows, 192, draw_below(&t.state, 4) ? 8 : 1024);
    return t;
}

static struct stream_of trial_stream(struct trial *t, bool deletions)
{
    size_t n = 1 + draw_below(&t->state, 400);
    unsigned digits = (unsigned)draw_below(&t->state, 13);
    return make_stream(&t->state, n, 1 + draw_below(&t->state, 2000), digits, deletions);
}

static lego_sketch *trial_sketch(struct trial *t)
{
    return make(t->bricks, t->columns, t->bits, &t->model);
}

static void order_and_batches_do_not_matter(void **unused)
{
    (void)unused;
    uint32_t folded = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = trial_sketch(&t), *b = trial_sketch(&t);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        for (size_t i = 0, size; i < s.n; i += size) {
            size = 1 + draw_below(&t.state, s.n - i);
            assert_int_equal(lego_sketch_add_u64s(b, s.items + i, s.counts + i, size), LEGO_OK);
        }
        assert_same(a, b);
        folded += a->memory.level + a->memory.folded > 0;
        lego_sketch_destroy(a);
        lego_sketch_destroy(b);
        free_stream(&s);
    }
    assert_in_range(folded, 300, 1400); /* both kinds were among them */
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
        for (int j = 0; j < 8; j++) bytes[8 * i + (uint64_t)j] = (unsigned char)(keys[i] >> (8 * j));
        offsets[i] = 8 * i;
        assert_int_equal(lego_sketch_add(a, bytes + 8 * i, 8, 1), LEGO_OK);
    }
    offsets[100] = 800;
    assert_int_equal(lego_sketch_add_u64s(b, keys, NULL, 100), LEGO_OK);
    assert_int_equal(lego_sketch_add_batch(c, bytes, offsets, NULL, 100), LEGO_OK);
    assert_same(a, b);
    assert_same(a, c);
    lego_estimate one, many[100], raw[100];
    assert_int_equal(lego_sketch_estimate_u64s(a, keys, 100, many), LEGO_OK);
    assert_int_equal(lego_sketch_estimate_batch(a, bytes, offsets, 100, raw), LEGO_OK);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(lego_sketch_estimate_u64(a, keys[i], &one), LEGO_OK);
        assert_memory_equal(&one, &many[i], sizeof one);
        assert_memory_equal(&one, &raw[i], sizeof one);
    }
    offsets[50] = 801; /* falls after that */
    assert_int_equal(lego_sketch_add_batch(c, bytes, offsets, NULL, 100), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_sketch_estimate_batch(c, bytes, offsets, 100, raw), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_sketch_add(c, NULL, 1, 1), LEGO_ERR_ARGUMENT);
    assert_same(a, c);
    assert_int_equal(lego_sketch_add(c, NULL, 0, 1), LEGO_OK); /* the empty item is an item */
    assert_int_equal(lego_sketch_estimate(c, "", 0, &one), LEGO_OK);
    assert_true(one.upper >= 1);
    lego_sketch_destroy(a);
    lego_sketch_destroy(b);
    lego_sketch_destroy(c);
}

static void merge_is_the_sketch_of_both(void **unused)
{
    (void)unused;
    uint32_t unequal = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct trial t = make_trial(seed);
        lego_sketch *whole = trial_sketch(&t), *merged = trial_sketch(&t);
        for (uint64_t parts = 1 + draw_below(&t.state, 4); parts > 0; parts--) {
            struct stream_of s = trial_stream(&t, false); /* of its own length and size of counts: folds differ */
            lego_sketch *part = trial_sketch(&t);
            add_stream(whole, &s, 1);
            add_stream(part, &s, 1);
            unequal += part->memory.level != merged->memory.level || part->memory.folded != merged->memory.folded;
            if (draw_below(&t.state, 2)) {
                assert_int_equal(lego_sketch_merge(merged, part), LEGO_OK);
                lego_sketch_destroy(part);
            } else { /* the other way round */
                assert_int_equal(lego_sketch_merge(part, merged), LEGO_OK);
                lego_sketch_destroy(merged);
                merged = part;
            }
            free_stream(&s);
        }
        assert_same(whole, merged);
        lego_sketch_destroy(whole);
        lego_sketch_destroy(merged);
    }
    assert_true(unequal > 300);
}

static uint32_t power_of_two_divisor(uint32_t bricks, uint64_t *state)
{
    uint32_t d = 1;
    while (bricks % (2 * d) == 0 && draw_below(state, 3)) d *= 2;
    return d;
}

static void fold_is_the_sketch_of_fewer_bricks(void **unused)
{
    (void)unused;
    uint32_t real = 0, odd = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = trial_sketch(&t);
        add_stream(a, &s, 1);
        uint32_t d = power_of_two_divisor(t.bricks, &t.state);
        if (t.bricks % (3 * d) == 0 && a->memory.folded == 0 && draw_below(&t.state, 2)) d *= 3, odd++;
        t.bricks /= d;
        lego_sketch *b = trial_sketch(&t);
        add_stream(b, &s, 1);
        assert_int_equal(lego_sketch_fold(a, t.bricks), LEGO_OK);
        assert_same(a, b);
        assert_int_equal(lego_sketch_bytes(a), lego_sketch_bytes(b));
        real += d > 1;
        lego_sketch_destroy(a);
        lego_sketch_destroy(b);
        free_stream(&s);
    }
    assert_true(real > 400);
    assert_true(odd > 50);
}

static void unequal_shapes_merge_at_a_common_divisor(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 800; seed++) {
        struct trial t = make_trial(seed), u = t;
        t.bricks *= 1u << draw_below(&t.state, 3);
        if (draw_below(&t.state, 2)) u.columns = 64, t.columns = 128;
        struct stream_of s = trial_stream(&t, false), r = trial_stream(&t, false);
        lego_sketch *large = trial_sketch(&t), *small = trial_sketch(&u), *whole = trial_sketch(&u);
        add_stream(large, &s, 1);
        add_stream(small, &r, 1);
        add_stream(whole, &s, 1);
        add_stream(whole, &r, 1);
        if (seed % 2) {
            assert_int_equal(lego_sketch_merge(small, large), LEGO_OK);
            assert_same(small, whole);
        } else {
            assert_int_equal(lego_sketch_merge(large, small), LEGO_OK);
            assert_same(large, whole);
        }
        lego_sketch_destroy(large);
        lego_sketch_destroy(small);
        lego_sketch_destroy(whole);
        free_stream(&s);
        free_stream(&r);
    }
}

/* Folds an empty sketch to where the other one is on the ladder. */
static void fold_to(lego_sketch *sketch, const lego_sketch *other)
{
    while (sketch->memory.level != other->memory.level || sketch->memory.folded != other->memory.folded)
        memory_fold(&sketch->memory);
}

static void deleting_everything_leaves_an_empty_sketch(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
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
            assert_int_equal(lego_sketch_subtract(a, b), LEGO_OK);
            lego_sketch_destroy(b);
        }
        fold_to(empty, a);
        assert_same(a, empty);
        lego_sketch_clear(a);
        lego_sketch_clear(empty);
        assert_same(a, empty);
        assert_int_equal(a->memory.level + a->memory.folded, 0);
        lego_sketch_destroy(a);
        lego_sketch_destroy(empty);
        free_stream(&s);
    }
}

/* Where the two ladders end at the same place, what was between does not matter. */
static void deletions_commute_at_equal_shape(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 800; seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, true);
        lego_sketch *a = trial_sketch(&t), *b = trial_sketch(&t), *empty = trial_sketch(&t);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        add_stream(b, &s, 1);
        fold_to(empty, a); /* merging brings both to the later of the two places */
        assert_int_equal(lego_sketch_merge(b, empty), LEGO_OK);
        lego_sketch_clear(empty);
        fold_to(empty, b);
        assert_int_equal(lego_sketch_merge(a, empty), LEGO_OK);
        assert_same(a, b);
        lego_sketch_destroy(a);
        lego_sketch_destroy(b);
        lego_sketch_destroy(empty);
        free_stream(&s);
    }
}

static void copies_and_self_merges(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = trial_sketch(&t), *b, *twice = trial_sketch(&t);
        add_stream(a, &s, 1);
        assert_int_equal(lego_sketch_copy(a, &b), LEGO_OK);
        assert_same(a, b);
        add_stream(twice, &s, 1);
        add_stream(twice, &s, 1);
        assert_int_equal(lego_sketch_merge(b, b), LEGO_OK);
        assert_same(b, twice);
        assert_int_equal(lego_sketch_subtract(b, b), LEGO_OK);
        lego_sketch_info info;
        lego_sketch_describe(b, &info);
        assert_int_equal(info.total, 0);
        assert_int_equal(info.spill_used, 0);
        lego_sketch_destroy(a);
        lego_sketch_destroy(b);
        lego_sketch_destroy(twice);
        free_stream(&s);
    }
}

static void strangers_do_not_merge(void **unused)
{
    (void)unused;
    struct lego_model other;
    lego_options options = LEGO_OPTIONS_INIT;
    options.model = lego_model_builtin("rule");
    options.budget = 64 * 1024;
    lego_sketch *a, *seed, *model, *bits, *columns;
    lego_sketch_create(&options, &a);
    options.seed = 1;
    lego_sketch_create(&options, &seed);
    options.seed = 0;
    options.model = model_of(&other, 4, 5120, 9);
    lego_sketch_create(&options, &model);
    options.model = lego_model_builtin("rule");
    options.cell_bits = 16;
    lego_sketch_create(&options, &bits);
    columns = make(4, 576, 8, NULL);
    struct bytes before = sketch_to_bytes(a);
    assert_int_equal(lego_sketch_merge(a, seed), LEGO_ERR_SEED);
    assert_int_equal(lego_sketch_subtract(a, model), LEGO_ERR_MODEL);
    assert_int_equal(lego_sketch_merge(a, bits), LEGO_ERR_SHAPE);
    assert_true(a->memory.shape.columns % 576 != 0);
    assert_int_equal(lego_sketch_merge(a, columns), LEGO_ERR_SHAPE);
    assert_int_equal(lego_sketch_fold(a, 0), LEGO_ERR_SHAPE);
    assert_int_equal(lego_sketch_fold(a, 3), LEGO_ERR_SHAPE);
    struct bytes after = sketch_to_bytes(a);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.p, after.p, after.size);
    free(before.p);
    free(after.p);
    lego_sketch *all[] = {a, seed, model, bits, columns};
    for (int i = 0; i < 5; i++) lego_sketch_destroy(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_batches_do_not_matter),
        cmocka_unit_test(bytes_and_integers_are_one_kind_of_item),
        cmocka_unit_test(merge_is_the_sketch_of_both),
        cmocka_unit_test(fold_is_the_sketch_of_fewer_bricks),
        cmocka_unit_test(unequal_shapes_merge_at_a_common_divisor),
        cmocka_unit_test(deleting_everything_leaves_an_empty_sketch),
        cmocka_unit_test(deletions_commute_at_equal_shape),
        cmocka_unit_test(copies_and_self_merges),
        cmocka_unit_test(strangers_do_not_merge),
    };
    return cmocka_run_group_tests_name("laws", tests, NULL, NULL);
}
