/* The laws of the sketch for the compact model, whose memory is blocks: bytes are compared, not estimates. What an
 * estimate promises is in test_answers.c. */
#include "support.h"

static const lego_model *compact(void)
{
    return lego_model_builtin("compact");
}

static lego_sketch *blocks_of(uint32_t blocks)
{
    return make(blocks, 0, NULL);
}

static lego_sketch *sketch_within(uint64_t budget, uint64_t seed)
{
    lego_options options = {budget, 0, compact(), seed, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    return sketch;
}

static unsigned step_at(const lego_sketch *sketch, uint32_t block)
{
    return block_step(&sketch->dense.block[block]);
}

/* A random number of blocks, and streams that leave them light or drive them down the ladder. */
struct trial {
    uint64_t state;
    uint32_t blocks;
};

static struct trial make_trial(uint64_t seed)
{
    static const uint32_t blocks[] = {1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 24, 60};
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d)};
    t.blocks = blocks[draw_below(&t.state, 12)];
    return t;
}

static struct stream_of trial_stream(struct trial *t, bool deletions)
{
    size_t n = 1 + draw_below(&t->state, draw_below(&t->state, 2) ? 3000 : 100);
    unsigned digits = (unsigned)draw_below(&t->state, 13);
    return make_stream(&t->state, n, 1 + draw_below(&t->state, 2000), digits, deletions);
}

static void add_part(lego_sketch *sketch, const struct stream_of *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) assert_int_equal(lego_add_u64(sketch, s->items[i], s->counts[i]), LEGO_OK);
}

static void order_and_batches_do_not_matter(void **unused)
{
    (void)unused;
    uint32_t at_step[BLOCK_STEPS] = {0};
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = blocks_of(t.blocks), *b = blocks_of(t.blocks);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        for (size_t i = 0, size; i < s.n; i += size) {
            size = 1 + draw_below(&t.state, s.n - i);
            assert_int_equal(add_u64s(b, s.items + i, s.counts + i, size), LEGO_OK);
        }
        assert_same(a, b);
        for (uint32_t i = 0; i < t.blocks; i++) at_step[step_at(a, i)]++;
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&s);
    }
    for (unsigned step = 0; step < BLOCK_STEPS - 3; step++) assert_true(!FULL || at_step[step] > 10);
}

static void bytes_and_integers_are_one_kind_of_item(void **unused)
{
    (void)unused;
    lego_sketch *a = blocks_of(6), *b = blocks_of(6), *c = blocks_of(6);
    uint64_t offsets[101], keys[100];
    unsigned char bytes[800];
    for (uint64_t i = 0; i < 100; i++) {
        keys[i] = i * UINT64_C(0x123456789abcdef);
        for (int j = 0; j < 8; j++) bytes[8 * i + (uint64_t)j] = (unsigned char)(keys[i] >> (8 * j));
        offsets[i] = 8 * i;
        assert_int_equal(lego_add(a, bytes + 8 * i, 8, 1), LEGO_OK);
    }
    offsets[100] = 800;
    assert_int_equal(add_u64s(b, keys, NULL, 100), LEGO_OK);
    assert_int_equal(add_strings(c, bytes, offsets, NULL, 100), LEGO_OK);
    assert_same(a, b);
    assert_same(a, c);
    lego_estimate one, many[100], raw[100];
    assert_int_equal(query_u64s(a, keys, 100, many), LEGO_OK);
    assert_int_equal(query_strings(a, bytes, offsets, 100, raw), LEGO_OK);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(lego_query_u64(a, keys[i], &one), LEGO_OK);
        assert_memory_equal(&one, &many[i], sizeof one);
        assert_memory_equal(&one, &raw[i], sizeof one);
    }
    offsets[50] = 801; /* falls after that */
    assert_int_equal(add_strings(c, bytes, offsets, NULL, 100), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_add(c, NULL, 1, 1), LEGO_ERR_ARGUMENT);
    assert_same(a, c);
    lego_destroy(a);
    lego_destroy(b);
    lego_destroy(c);
}

static void thread_count_does_not_matter(void **unused)
{
    (void)unused;
    static const uint32_t blocks[] = {1, 3, 64, 1000};
    for (uint64_t seed = 1; seed <= 8; seed += FULL ? 1 : 3) { /* deletions too: threads make no difference at all */
        uint64_t state = seed;
        size_t n = 32768 + draw_below(&state, seed == 3 ? 300000 : 60000);
        struct stream_of s = make_stream(&state, n, 1 + draw_below(&state, 50000), (unsigned)(seed % 8), seed % 4 == 3);
        const int64_t *counts = seed % 3 ? s.counts : NULL;
        lego_sketch *one = blocks_of(blocks[seed % 4]);
        assert_int_equal(add_u64s(one, s.items, counts, n), LEGO_OK);
        for (unsigned threads = 2; threads <= 5; threads++) {
            lego_sketch *many = blocks_of(blocks[seed % 4]);
            lego_set_threads(many, threads);
            assert_int_equal(add_u64s(many, s.items, counts, n), LEGO_OK);
            assert_same(one, many);
            assert_int_equal(one->mass, many->mass);
            if (seed == 1) {
                lego_estimate *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
                assert_true(a && b);
                query_u64s(one, s.items, n, a);
                query_u64s(many, s.items, n, b);
                assert_memory_equal(a, b, n * sizeof *a);
                free(a);
                free(b);
            }
            lego_destroy(many);
        }
        lego_destroy(one);
        free_stream(&s);
    }
}

/* So many blocks that a batch has hardly two items for one of them. */
static void batches_into_many_blocks(void **unused)
{
    (void)unused;
    enum { BLOCKS = 600000, N = 150000 };
    uint64_t state = 11;
    struct stream_of s = make_stream(&state, N, N, 7, false);
    lego_sketch *single = blocks_of(BLOCKS), *batch = blocks_of(BLOCKS);
    add_stream(single, &s, 1);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        lego_clear(batch);
        lego_set_threads(batch, threads);
        assert_int_equal(add_u64s(batch, s.items, s.counts, N), LEGO_OK);
        assert_same(single, batch);
    }
    lego_destroy(single);
    lego_destroy(batch);
    free_stream(&s);
}

/* The stream cut into parts, each in a sketch of its own; then any two of them merged until one is left. */
static void any_tree_of_merges_is_the_sketch_of_all(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *whole = blocks_of(t.blocks), *part[8];
        add_stream(whole, &s, 1);
        uint32_t parts = 1 + (uint32_t)draw_below(&t.state, 8);
        for (uint32_t i = 0; i < parts; i++) {
            part[i] = blocks_of(t.blocks);
            add_part(part[i], &s, s.n * i / parts, s.n * (i + 1) / parts);
        }
        while (parts > 1) {
            uint32_t into = (uint32_t)draw_below(&t.state, parts), from = (uint32_t)draw_below(&t.state, parts - 1);
            if (from >= into) from++;
            assert_int_equal(lego_merge(part[into], part[from]), LEGO_OK);
            lego_destroy(part[from]);
            part[from] = part[--parts];
        }
        assert_same(part[0], whole);
        lego_destroy(part[0]);
        lego_destroy(whole);
        free_stream(&s);
    }
}

static void fold_is_the_sketch_of_fewer_blocks(void **unused)
{
    (void)unused;
    uint32_t folded = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *a = blocks_of(t.blocks);
        add_stream(a, &s, 1);
        for (uint32_t fewer = 1; fewer <= t.blocks; fewer++) {
            lego_sketch *b, *c = blocks_of(fewer);
            assert_int_equal(lego_copy(a, &b), LEGO_OK);
            if (t.blocks % fewer != 0) {
                assert_int_equal(lego_fold(b, fewer), LEGO_ERR_SHAPE);
                assert_same(a, b);
            } else {
                add_stream(c, &s, 1);
                assert_int_equal(lego_fold(b, fewer), LEGO_OK);
                assert_same(b, c);
                assert_int_equal(bytes_of(b), bytes_of(c));
                folded++;
            }
            lego_destroy(b);
            lego_destroy(c);
        }
        assert_int_equal(lego_fold(a, 0), LEGO_ERR_SHAPE);
        assert_int_equal(lego_fold(a, 2 * t.blocks), LEGO_ERR_SHAPE);
        lego_destroy(a);
        free_stream(&s);
    }
    assert_true(folded > ROUNDS(300));
}

/* At the smaller number where it divides the larger, else not at all. */
static void unequal_numbers_of_blocks_merge_where_they_nest(void **unused)
{
    (void)unused;
    uint32_t nested = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct trial t = make_trial(seed), u = make_trial(seed + 1000);
        struct stream_of s = trial_stream(&t, false), r = trial_stream(&t, false);
        uint32_t small = t.blocks < u.blocks ? t.blocks : u.blocks, large = t.blocks + u.blocks - small;
        bool nests = large % small == 0;
        lego_sketch *a = blocks_of(t.blocks), *b = blocks_of(u.blocks), *whole = blocks_of(nests ? small : t.blocks);
        add_stream(a, &s, 1);
        add_stream(b, &r, 1);
        add_stream(whole, &s, 1);
        if (nests) add_stream(whole, &r, 1);
        struct bytes before = sketch_to_bytes(b);
        assert_int_equal(lego_merge(a, b), nests ? LEGO_OK : LEGO_ERR_SHAPE);
        assert_same(a, whole);
        struct bytes after = sketch_to_bytes(b);
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.p, after.p, after.size);
        nested += nests && small < large;
        free(before.p);
        free(after.p);
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(whole);
        free_stream(&s);
        free_stream(&r);
    }
    assert_in_range(nested, ROUNDS(50), ROUNDS(250));
}

/* Takes every block to the step that it has in `other`, if it is not there yet. */
static void go_down(lego_sketch *sketch, const lego_sketch *other)
{
    lego_sketch *empty = blocks_of(other->dense.blocks);
    for (uint32_t i = 0; i < other->dense.blocks; i++)
        empty->dense.block[i].word[7] = (uint64_t)step_at(other, i) << 53;
    assert_int_equal(lego_merge(sketch, empty), LEGO_OK);
    lego_destroy(empty);
}

static void subtract_gives_back(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, seed % 2), r = trial_stream(&t, seed % 4 == 1);
        lego_sketch *a = blocks_of(t.blocks), *b = blocks_of(t.blocks), *both = blocks_of(t.blocks), *deleted;
        add_stream(a, &s, 1);
        add_stream(b, &r, 1);
        add_stream(both, &s, 1);
        add_stream(both, &r, 1);
        assert_int_equal(lego_copy(both, &deleted), LEGO_OK);
        assert_int_equal(lego_subtract(both, b), LEGO_OK);
        shuffle_stream(&r, &t.state);
        add_stream(deleted, &r, -1); /* one by one; sums on the way may have gone further down */
        go_down(both, deleted);
        go_down(deleted, both);
        assert_same(both, deleted);
        go_down(a, both);
        assert_same(a, both);
        lego_sketch *all[] = {a, b, both, deleted};
        for (int i = 0; i < 4; i++) lego_destroy(all[i]);
        free_stream(&s);
        free_stream(&r);
    }
}

static void deleting_everything_leaves_zeros(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, seed % 2);
        lego_sketch *a = blocks_of(t.blocks), *empty = blocks_of(t.blocks), *fresh = blocks_of(t.blocks);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        if (seed % 3 == 0) {
            lego_sketch *b = blocks_of(t.blocks);
            add_stream(b, &s, 1);
            assert_int_equal(lego_subtract(a, b), LEGO_OK);
            lego_destroy(b);
        } else {
            for (size_t i = 0; i < s.n; i++) s.counts[i] = -s.counts[i];
            assert_int_equal(add_u64s(a, s.items, s.counts, s.n), LEGO_OK);
        }
        for (uint64_t i = 0; i < 2000; i++) {
            lego_estimate e;
            lego_query_u64(a, i, &e);
            assert_true(e.value == 0 && e.lower == 0 && e.upper == 0);
        }
        lego_info info;
        lego_describe(a, &info);
        assert_int_equal(info.total, 0);
        go_down(empty, a);
        assert_same(a, empty);
        lego_clear(a);
        assert_same(a, fresh);
        lego_destroy(a);
        lego_destroy(empty);
        lego_destroy(fresh);
        free_stream(&s);
    }
}

static void deletions_commute_at_equal_steps(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, true);
        lego_sketch *a = blocks_of(t.blocks), *b = blocks_of(t.blocks);
        add_stream(a, &s, 1);
        shuffle_stream(&s, &t.state);
        add_stream(b, &s, 1);
        go_down(a, b);
        go_down(b, a);
        assert_same(a, b);
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&s);
    }
}

/* Copies, loaded sketches and self-merges, each of which goes on like the original. */
static void copies_and_self_merges(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, seed % 3 == 0), more = trial_stream(&t, seed % 3 == 0);
        lego_sketch *a = blocks_of(t.blocks), *copy, *loaded, *twice = blocks_of(t.blocks);
        add_stream(a, &s, 1);
        struct bytes bytes = sketch_to_bytes(a);
        assert_int_equal(lego_copy(a, &copy), LEGO_OK);
        assert_int_equal(lego_load(bytes.p, bytes.size, NULL, NULL, &loaded), LEGO_OK);
        assert_same(a, copy);
        assert_same(a, loaded);
        assert_true(loaded->mass <= a->mass);
        for (uint64_t i = 0; i < 300; i++) {
            lego_estimate x, y, z;
            lego_query_u64(a, i, &x);
            lego_query_u64(copy, i, &y);
            lego_query_u64(loaded, i, &z);
            assert_memory_equal(&x, &y, sizeof x);
            assert_memory_equal(&x, &z, sizeof x);
        }
        add_stream(a, &more, 1);
        add_stream(copy, &more, 1);
        add_stream(loaded, &more, 1);
        assert_same(a, copy);
        assert_same(a, loaded);

        if (seed % 3) {
            for (int i = 0; i < 2; i++) add_stream(twice, &s, 1), add_stream(twice, &more, 1);
            assert_int_equal(lego_merge(copy, copy), LEGO_OK);
            assert_same(copy, twice);
        }
        assert_int_equal(lego_subtract(copy, copy), LEGO_OK);
        lego_clear(twice);
        go_down(twice, copy);
        assert_same(copy, twice);
        lego_sketch *all[] = {a, copy, loaded, twice};
        for (int i = 0; i < 4; i++) lego_destroy(all[i]);
        free_stream(&s);
        free_stream(&more);
        free(bytes.p);
    }
}

static void strangers_do_not_merge(void **unused)
{
    (void)unused;
    struct lego_model other = *compact();
    other.fingerprint++;
    lego_sketch *a = sketch_within(65536, 0), *seed = sketch_within(65536, 1), *model = make(4, 0, &other);
    lego_sketch *bricks = make(4, 64, NULL);
    lego_add_u64(a, 1, 1);
    struct bytes before = sketch_to_bytes(a);
    assert_int_equal(lego_merge(a, seed), LEGO_ERR_SEED);
    assert_int_equal(lego_subtract(a, seed), LEGO_ERR_SEED);
    assert_int_equal(lego_merge(a, model), LEGO_ERR_MODEL);
    assert_int_equal(lego_merge(a, bricks), LEGO_ERR_MODEL);
    assert_int_equal(lego_merge(bricks, a), LEGO_ERR_MODEL);
    struct bytes after = sketch_to_bytes(a);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.p, after.p, after.size);
    lego_sketch *loaded = NULL;
    assert_int_equal(lego_load(after.p, after.size, lego_model_builtin("paper"), NULL, &loaded), LEGO_ERR_MODEL);
    assert_int_equal(lego_load(after.p, after.size, &other, NULL, &loaded), LEGO_ERR_MODEL);
    assert_null(loaded);
    free(before.p);
    free(after.p);
    lego_sketch *all[] = {a, seed, model, bricks};
    for (int i = 0; i < 4; i++) lego_destroy(all[i]);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Memory that starts anywhere, as an allocator may give it: the blocks are on lines all the same. */
static void *odd_alloc(void *context, size_t size)
{
    size_t *next = context;
    *next = (*next + 16) % 64;
    unsigned char *p = malloc(size + 128);
    assert_non_null(p);
    size_t at = (64 - (uintptr_t)p % 64) % 64 + *next;
    if (at == 0) at = 64;
    p[at - 1] = (unsigned char)at;
    return p + at;
}

static void odd_free(void *context, void *p, size_t size)
{
    (void)context;
    (void)size;
    unsigned char *bytes = p;
    free(bytes - bytes[-1]);
}

static void memory_may_start_anywhere(void **unused)
{
    (void)unused;
    size_t next = 0;
    lego_allocator allocator = {odd_alloc, odd_free, &next};
    lego_sketch *plain = blocks_of(12);
    for (uint64_t i = 0; i < 2000; i++) lego_add_u64(plain, i, (int64_t)i);
    struct bytes bytes = sketch_to_bytes(plain);
    for (int i = 0; i < 8; i++) {
        lego_sketch *loaded, *copy;
        if (i % 2) next += 16; /* two allocations a sketch: so that both meet every start */
        assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &allocator, &loaded), LEGO_OK);
        assert_int_equal(lego_copy(loaded, &copy), LEGO_OK);
        assert_int_equal((uintptr_t)loaded->dense.block % 64, 0);
        assert_int_equal((uintptr_t)copy->dense.block % 64, 0);
        assert_same(plain, copy);
        assert_int_equal(lego_merge(copy, loaded), LEGO_OK);
        assert_int_equal(lego_fold(copy, 3), LEGO_OK);
        lego_destroy(copy);
        lego_destroy(loaded);
    }
    free(bytes.p);
    lego_destroy(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_batches_do_not_matter),
        cmocka_unit_test(bytes_and_integers_are_one_kind_of_item),
        cmocka_unit_test(thread_count_does_not_matter),
        cmocka_unit_test(batches_into_many_blocks),
        cmocka_unit_test(any_tree_of_merges_is_the_sketch_of_all),
        cmocka_unit_test(fold_is_the_sketch_of_fewer_blocks),
        cmocka_unit_test(unequal_numbers_of_blocks_merge_where_they_nest),
        cmocka_unit_test(subtract_gives_back),
        cmocka_unit_test(deleting_everything_leaves_zeros),
        cmocka_unit_test(deletions_commute_at_equal_steps),
        cmocka_unit_test(copies_and_self_merges),
        cmocka_unit_test(strangers_do_not_merge),
        cmocka_unit_test(memory_may_start_anywhere),
    };
    return cmocka_run_group_tests_name("dense", tests, NULL, NULL);
}
