/* The flat packing against the dense one, which is the truth: the same stream gives the same bytes and the same
 * answers, however sketches of either packing are merged, folded, converted and copied. */
#include <pthread.h>

#include "support.h"

/* The compact model with networks that answer anything, so that a scan or a read of other content is seen. */
static const lego_model *random_compact(void)
{
    static struct lego_model model;
    static float *weights;
    if (weights) return &model;
    uint64_t n = model_weights(MODEL_COMPACT), state = 1;
    weights = malloc(n * sizeof *weights);
    assert_non_null(weights);
    for (uint64_t i = 0; i < n; i++) weights[i] = (float)draw_below(&state, 2001) / 5000 - 0.2F;
    model = *lego_model_builtin("compact");
    model.weights = weights;
    model.fingerprint = 1;
    return &model;
}

static lego_sketch *blocks_from(uint32_t blocks, lego_packing packing, const lego_allocator *allocator)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 0;
    options.bricks = blocks;
    options.packing = packing;
    options.model = random_compact();
    options.allocator = allocator;
    lego_sketch *sketch;
    assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
    return sketch;
}

static lego_sketch *blocks_of(uint32_t blocks, lego_packing packing)
{
    return blocks_from(blocks, packing, NULL);
}

static lego_sketch *copy_as(const lego_sketch *sketch, lego_packing packing)
{
    lego_sketch *copy;
    assert_int_equal(lego_sketch_copy(sketch, &copy), LEGO_OK);
    assert_int_equal(copy->packing, sketch->packing);
    assert_int_equal(lego_sketch_convert(copy, packing), LEGO_OK);
    assert_int_equal(copy->packing, packing);
    return copy;
}

/* Equal bytes, equal answers. */
static void assert_alike(const lego_sketch *a, const lego_sketch *b)
{
    assert_same(a, b);
    for (uint64_t item = 0; item < 40; item++) {
        lego_estimate x, y;
        assert_int_equal(lego_sketch_estimate_u64(a, item, &x), LEGO_OK);
        assert_int_equal(lego_sketch_estimate_u64(b, item, &y), LEGO_OK);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

/* Random blocks, and streams that leave them light or drive them down the ladder. */
struct trial {
    uint64_t state;
    uint32_t blocks;
};

static struct trial make_trial(uint64_t seed)
{
    static const uint32_t blocks[] = {1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 24, 60, 70, 200};
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d)};
    t.blocks = blocks[draw_below(&t.state, 14)];
    return t;
}

static struct stream_of trial_stream(struct trial *t, bool deletions)
{
    size_t n = 1 + draw_below(&t->state, draw_below(&t->state, 2) ? 3000 : 100);
    unsigned digits = (unsigned)draw_below(&t->state, 13);
    struct stream_of s = make_stream(&t->state, n, 1 + draw_below(&t->state, 2000), digits, deletions);
    if (draw_below(&t->state, 4) == 0) /* one item is nearly all */
        for (size_t i = 0; i < n; i++) s.items[i] = draw_below(&t->state, 100) ? 7 : s.items[i];
    return s;
}

static lego_sketch *trial_sketch(struct trial *t, lego_packing packing)
{
    lego_sketch *sketch = blocks_of(t->blocks, packing);
    struct stream_of s = trial_stream(t, false);
    assert_int_equal(lego_sketch_add_u64s(sketch, s.items, s.counts, s.n), LEGO_OK);
    free_stream(&s);
    return sketch;
}

/* A dense sketch of anything: with negative cells too, and with blocks that were once fuller. */
static lego_sketch *trial_difference(struct trial *t)
{
    lego_sketch *a = trial_sketch(t, LEGO_DENSE), *b = trial_sketch(t, LEGO_DENSE);
    if (draw_below(&t->state, 3)) assert_int_equal(lego_sketch_subtract(a, b), LEGO_OK);
    if (draw_below(&t->state, 2)) assert_int_equal(lego_sketch_merge(a, b), LEGO_OK);
    lego_sketch_destroy(b);
    return a;
}

static void the_same_stream_is_the_same_sketch(void **unused)
{
    (void)unused;
    uint32_t at_step[BLOCK_STEPS] = {0};
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *dense = blocks_of(t.blocks, LEGO_DENSE), *single = blocks_of(t.blocks, LEGO_FLAT);
        lego_sketch *batch = blocks_of(t.blocks, LEGO_FLAT);
        assert_int_equal(lego_sketch_add_u64s(dense, s.items, s.counts, s.n), LEGO_OK);
        for (size_t i = 0; i < s.n; i++) { /* with questions between, which what they found out must not outlive */
            assert_int_equal(lego_sketch_add_u64(single, s.items[i], s.counts[i]), LEGO_OK);
            lego_estimate between;
            if (i % 64 == 0) assert_int_equal(lego_sketch_estimate_u64(single, s.items[i], &between), LEGO_OK);
        }
        for (size_t i = 0, size; i < s.n; i += size) {
            size = 1 + draw_below(&t.state, s.n - i);
            assert_int_equal(lego_sketch_add_u64s(batch, s.items + i, s.counts + i, size), LEGO_OK);
        }
        assert_alike(dense, single);
        assert_alike(dense, batch);
        for (uint32_t i = 0; i < t.blocks; i++) {
            at_step[block_step(&dense->dense.block[i])]++;
            assert_int_equal(single->flat.step[i], 0);
        }
        lego_sketch_destroy(dense);
        lego_sketch_destroy(single);
        lego_sketch_destroy(batch);
        free_stream(&s);
    }
    for (unsigned step = 0; step < BLOCK_STEPS - 3; step++) assert_true(!FULL || at_step[step] > 10);
}

static void bytes_are_items_too(void **unused)
{
    (void)unused;
    lego_sketch *a = blocks_of(6, LEGO_DENSE), *b = blocks_of(6, LEGO_FLAT);
    const char *words = "the quick brown fox jumps over the lazy dog and over all the other dogs";
    uint64_t offsets[65];
    for (uint64_t i = 0; i <= 64; i++) offsets[i] = i + i / 16;
    assert_int_equal(lego_sketch_add_batch(a, words, offsets, NULL, 64), LEGO_OK);
    assert_int_equal(lego_sketch_add_batch(b, words, offsets, NULL, 63), LEGO_OK);
    assert_int_equal(lego_sketch_add(b, words + offsets[63], offsets[64] - offsets[63], 1), LEGO_OK);
    assert_alike(a, b);
    lego_estimate x[64], y[64];
    assert_int_equal(lego_sketch_estimate_batch(a, words, offsets, 64, x), LEGO_OK);
    assert_int_equal(lego_sketch_estimate_batch(b, words, offsets, 64, y), LEGO_OK);
    assert_memory_equal(x, y, sizeof x);
    lego_sketch_destroy(a);
    lego_sketch_destroy(b);
}

/* What is known of a block packed is what packing it gives, whatever was stored since. */
static unsigned assert_known(const lego_sketch *sketch)
{
    const struct flat *flat = &sketch->flat;
    lego_sketch *copy = copy_as(sketch, LEGO_FLAT); /* knows nothing */
    unsigned followed = 0;
    for (uint32_t i = 0; i < flat->dense.blocks; i++) {
        struct block fresh = flat_block(&copy->flat, i), same = flat_block(flat, i);
        uint32_t known = flat->packed[i];
        assert_memory_equal(&fresh, &same, sizeof fresh);
        assert_true((known & FLAT_STEP) <= block_step(&fresh));
        if (!(known & FLAT_KNOWN)) continue;
        assert_int_equal(known & FLAT_STEP, block_step(&fresh));
        unsigned g = known >> FLAT_G_AT & 31, length = known >> FLAT_LENGTH_AT & 511, wanted = 0;
        if (length == 0) continue;
        for (unsigned row = 0; row < BLOCK_ROWS; row++)
            for (uint32_t c = 0; c < block_columns[block_step(&fresh)][row]; c++) {
                int64_t value = flat_get(flat, i, block_step(&fresh), row, c);
                assert_true(value >= 0);
                wanted += 1 + g + block_digit_bits((uint64_t)value >> g);
            }
        assert_int_equal(length, wanted);
        followed += known >> FLAT_FOLLOWED_AT > 0;
    }
    lego_sketch_destroy(copy);
    return followed;
}

static void the_packed_step_follows_stores(void **unused)
{
    (void)unused;
    unsigned followed = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, seed % 4 == 0);
        lego_sketch *flat;
        if (seed % 5 == 0) { /* of several steps, and some of it negative */
            lego_sketch *dense = trial_difference(&t);
            flat = copy_as(dense, LEGO_FLAT);
            lego_sketch_destroy(dense);
        } else {
            flat = blocks_of(t.blocks, LEGO_FLAT);
        }
        unsigned often = 1 + (unsigned)draw_below(&t.state, 300);
        for (size_t i = 0; i < s.n; i++) {
            lego_estimate between;
            assert_int_equal(lego_sketch_add_u64(flat, s.items[i], s.counts[i]), LEGO_OK);
            if (draw_below(&t.state, often) == 0)
                assert_int_equal(lego_sketch_estimate_u64(flat, s.items[(i * 7) % s.n], &between), LEGO_OK);
            if (draw_below(&t.state, 200) == 0) followed += assert_known(flat);
        }
        followed += assert_known(flat);
        lego_sketch *copy = copy_as(flat, LEGO_FLAT); /* whose answers owe nothing to what was known */
        assert_alike(flat, copy);
        lego_sketch_destroy(copy);
        lego_sketch_destroy(flat);
        free_stream(&s);
    }
    assert_true(followed > 0);
}

/* Flat blocks are sums: what was deleted leaves no trace. A dense block that was fuller once may be at a later step. */
static void what_is_deleted_was_never_there(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of kept = trial_stream(&t, false), gone = trial_stream(&t, false);
        lego_sketch *dense = blocks_of(t.blocks, LEGO_DENSE), *flat = blocks_of(t.blocks, LEGO_FLAT);
        lego_sketch *empty = blocks_of(t.blocks, LEGO_FLAT);
        assert_int_equal(lego_sketch_add_u64s(dense, kept.items, kept.counts, kept.n), LEGO_OK);
        if (seed % 2) { /* negative meanwhile */
            add_stream(flat, &gone, -1);
            assert_int_equal(lego_sketch_add_u64s(flat, kept.items, kept.counts, kept.n), LEGO_OK);
            add_stream(flat, &gone, 1);
        } else {
            assert_int_equal(lego_sketch_add_u64s(flat, gone.items, gone.counts, gone.n), LEGO_OK);
            add_stream(flat, &kept, 1);
            for (size_t i = 0; i < gone.n; i++) gone.counts[i] = -gone.counts[i];
            assert_int_equal(lego_sketch_add_u64s(flat, gone.items, gone.counts, gone.n), LEGO_OK);
        }
        assert_alike(dense, flat);
        add_stream(flat, &kept, -1);
        assert_alike(flat, empty);
        lego_sketch_destroy(dense);
        lego_sketch_destroy(flat);
        lego_sketch_destroy(empty);
        free_stream(&kept);
        free_stream(&gone);
    }
}

/* Beside a dense sketch with deletions, a flat one has blocks at the same step or an earlier one; and bounds hold. */
static void deletions_leave_flat_no_worse(void **unused)
{
    (void)unused;
    uint64_t earlier = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(60); seed++) {
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *dense = blocks_of(t.blocks, LEGO_DENSE), *flat = blocks_of(t.blocks, LEGO_FLAT);
        add_stream(dense, &s, 1);
        add_stream(flat, &s, 1);
        for (size_t i = 0; i < s.n; i++) s.counts[i] = i % 4 ? s.counts[i] : 0;
        add_stream(dense, &s, -1);
        add_stream(flat, &s, -1);
        for (uint32_t i = 0; i < t.blocks; i++) {
            struct block packed = flat_block(&flat->flat, i);
            assert_true(block_step(&packed) <= block_step(&dense->dense.block[i]));
            earlier += block_step(&packed) < block_step(&dense->dense.block[i]);
        }
        lego_estimate x, y;
        for (uint64_t item = 0; item < 200; item++) {
            lego_sketch_estimate_u64(dense, item, &x);
            lego_sketch_estimate_u64(flat, item, &y);
            assert_true(y.upper <= x.upper && y.upper >= 0);
        }
        lego_sketch_destroy(dense);
        lego_sketch_destroy(flat);
        free_stream(&s);
    }
    assert_true(earlier > 0);
}

static void conversion_loses_nothing(void **unused)
{
    (void)unused;
    uint32_t at_step[BLOCK_STEPS] = {0}, negative = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        struct trial t = make_trial(seed);
        lego_sketch *dense = trial_difference(&t), *flat = copy_as(dense, LEGO_FLAT), *back = copy_as(flat, LEGO_DENSE);
        for (uint32_t i = 0; i < t.blocks; i++) {
            at_step[block_step(&dense->dense.block[i])]++;
            assert_int_equal(flat->flat.step[i], block_step(&dense->dense.block[i]));
        }
        negative += dense_signed(&dense->dense);
        assert_alike(dense, flat);
        assert_alike(dense, back);
        struct bytes bytes = sketch_to_bytes(flat);
        lego_sketch *loaded;
        assert_int_equal(lego_sketch_load(bytes.p, bytes.size, random_compact(), NULL, &loaded), LEGO_OK);
        assert_int_equal(loaded->packing, LEGO_DENSE);
        assert_int_equal(lego_sketch_convert(loaded, LEGO_FLAT), LEGO_OK);
        assert_alike(dense, loaded);

        struct stream_of more = trial_stream(&t, false); /* and they go on alike */
        lego_sketch *same[] = {dense, flat, back, loaded};
        if (!dense_signed(&dense->dense)) {
            add_stream(flat, &more, 1);
            for (int i = 0; i < 4; i++)
                if (i != 1) assert_int_equal(lego_sketch_add_u64s(same[i], more.items, more.counts, more.n), LEGO_OK);
            for (int i = 1; i < 4; i++) assert_alike(dense, same[i]);
        }
        free_stream(&more);
        free(bytes.p);
        for (int i = 0; i < 4; i++) lego_sketch_destroy(same[i]);
    }
    for (unsigned step = 0; step < BLOCK_STEPS; step++) assert_true(!FULL || step > 13 || at_step[step] > 5);
    assert_true(negative > 5);
}

static void packings_mix_in_merges(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        struct trial t = make_trial(seed);
        bool any = seed % 2; /* of any content, converted; or never dense before */
        uint32_t unequal = draw_below(&t.state, 2) ? 1 : 1 + (uint32_t)draw_below(&t.state, 4);
        struct trial u = t, v = t, w = t;
        lego_sketch *a = any ? trial_difference(&t) : trial_sketch(&t, LEGO_DENSE);
        t.blocks *= unequal;
        lego_sketch *b = any ? trial_difference(&t) : trial_sketch(&t, LEGO_DENSE);
        for (int sign = any ? -1 : 1; sign <= 1; sign += 2) {
            lego_sketch *sum = copy_as(a, LEGO_DENSE);
            lego_status (*combine)(lego_sketch *, const lego_sketch *) = lego_sketch_merge;
            if (sign < 0) combine = lego_sketch_subtract;
            assert_int_equal(combine(sum, b), LEGO_OK);
            for (int mix = 1; mix < 4; mix++) {
                lego_sketch *x = copy_as(a, mix & 1 ? LEGO_FLAT : LEGO_DENSE);
                lego_sketch *y = copy_as(b, mix & 2 ? LEGO_FLAT : LEGO_DENSE);
                assert_int_equal(combine(x, y), LEGO_OK);
                assert_int_equal(x->packing, mix & 1 ? LEGO_FLAT : LEGO_DENSE);
                assert_alike(x, sum);
                lego_sketch *other = copy_as(b, y->packing); /* into the larger one, which is folded */
                assert_int_equal(lego_sketch_merge(other, a), LEGO_OK);
                lego_sketch *plain = copy_as(b, LEGO_DENSE);
                assert_int_equal(lego_sketch_merge(plain, a), LEGO_OK);
                assert_alike(other, plain);
                lego_sketch_destroy(other);
                lego_sketch_destroy(plain);
                lego_sketch_destroy(x);
                lego_sketch_destroy(y);
            }
            lego_sketch_destroy(sum);
        }
        if (!any) {
            lego_sketch *x = trial_sketch(&u, LEGO_FLAT), *before = copy_as(x, LEGO_FLAT);
            v.state = u.state;
            v.blocks = w.blocks * unequal;
            lego_sketch *y = trial_sketch(&v, LEGO_FLAT), *sum = copy_as(a, LEGO_DENSE);
            assert_int_equal(lego_sketch_merge(sum, b), LEGO_OK);
            assert_int_equal(lego_sketch_merge(x, y), LEGO_OK);
            assert_alike(x, sum);
            assert_int_equal(lego_sketch_subtract(x, y), LEGO_OK);
            assert_alike(x, before);
            assert_int_equal(lego_sketch_subtract(x, x), LEGO_OK);
            lego_sketch_clear(before);
            assert_alike(x, before);
            lego_sketch_destroy(before);
            lego_sketch_destroy(sum);
            lego_sketch_destroy(x);
            lego_sketch_destroy(y);
        }
        lego_sketch_destroy(a);
        lego_sketch_destroy(b);
    }
}

static void folding_commutes_with_packing(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(60); seed++) {
        struct trial t = make_trial(seed);
        t.blocks = seed % 2 ? 120 : 60;
        lego_sketch *dense = seed % 3 ? trial_sketch(&t, LEGO_DENSE) : trial_difference(&t);
        for (uint32_t to = 1; to < t.blocks; to++) {
            if (t.blocks % to) continue;
            lego_sketch *folded = copy_as(dense, LEGO_DENSE), *flat = copy_as(dense, LEGO_FLAT);
            assert_int_equal(lego_sketch_fold(folded, to), LEGO_OK);
            assert_int_equal(lego_sketch_fold(flat, to), LEGO_OK);
            assert_int_equal(flat->packing, LEGO_FLAT);
            assert_alike(folded, flat);
            lego_sketch_destroy(folded);
            lego_sketch_destroy(flat);
        }
        lego_sketch_destroy(dense);
    }
    for (uint64_t seed = 1; seed <= ROUNDS(20); seed++) { /* never dense */
        struct trial t = make_trial(seed);
        struct stream_of s = trial_stream(&t, false);
        lego_sketch *large = blocks_of(48, LEGO_FLAT), *small = blocks_of(12, LEGO_DENSE);
        add_stream(large, &s, 1);
        add_stream(small, &s, 1);
        assert_int_equal(lego_sketch_fold(large, 12), LEGO_OK);
        assert_alike(large, small);
        lego_sketch_destroy(large);
        lego_sketch_destroy(small);
        free_stream(&s);
    }
}

/* As long as nothing is deleted, any history in any packing is the history of a dense sketch. */
static void any_history_is_the_same(void **unused)
{
    (void)unused;
    enum { SKETCHES = 3 };
    for (uint64_t seed = 1; seed <= ROUNDS(60); seed++) {
        struct trial t = make_trial(seed);
        t.blocks = 24;
        lego_sketch *dense[SKETCHES], *mixed[SKETCHES];
        for (int i = 0; i < SKETCHES; i++) {
            dense[i] = blocks_of(t.blocks, LEGO_DENSE);
            mixed[i] = blocks_of(t.blocks, LEGO_FLAT);
        }
        for (int round = 0; round < 40; round++) {
            uint64_t i = draw_below(&t.state, SKETCHES), j = draw_below(&t.state, SKETCHES);
            switch (draw_below(&t.state, 8)) {
            case 0:
                assert_int_equal(lego_sketch_convert(mixed[i], LEGO_DENSE), LEGO_OK);
                break;
            case 1:
            case 2:
                assert_int_equal(lego_sketch_convert(mixed[i], LEGO_FLAT), LEGO_OK);
                break;
            case 3:
                if (dense[i]->mass >> 58 || dense[j]->mass >> 58) break;
                assert_int_equal(lego_sketch_merge(dense[i], dense[j]), LEGO_OK);
                assert_int_equal(lego_sketch_merge(mixed[i], mixed[j]), LEGO_OK);
                break;
            case 4: {
                uint32_t to = dense[i]->dense.blocks / (draw_below(&t.state, 8) ? 1 : 2);
                assert_int_equal(lego_sketch_fold(mixed[i], to ? to : 1), lego_sketch_fold(dense[i], to ? to : 1));
                break;
            }
            case 5:
                lego_sketch_clear(draw_below(&t.state, 3) ? dense[SKETCHES - 1] : dense[i]);
                for (int k = 0; k < SKETCHES; k++)
                    if (dense[k]->mass == 0) lego_sketch_clear(mixed[k]);
                break;
            default: {
                struct stream_of s = trial_stream(&t, false);
                assert_int_equal(lego_sketch_add_u64s(dense[i], s.items, s.counts, s.n), LEGO_OK);
                if (round % 2) add_stream(mixed[i], &s, 1);
                else assert_int_equal(lego_sketch_add_u64s(mixed[i], s.items, s.counts, s.n), LEGO_OK);
                free_stream(&s);
            }
            }
            if (round % 5 == 4) assert_alike(dense[i], mixed[i]);
        }
        for (int i = 0; i < SKETCHES; i++) {
            assert_alike(dense[i], mixed[i]);
            lego_sketch_destroy(dense[i]);
            lego_sketch_destroy(mixed[i]);
        }
    }
}

/* ---- 64 bits ----------------------------------------------------------------------------------------------------- */

enum { NARROW_MOST = INT32_MAX / 4 }; /* counts of the compact model, whose quantum is 4 */

static void cells_widen_before_they_overflow(void **unused)
{
    (void)unused;
    for (int way = 0; way < 6; way++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_sketch *dense = blocks_of(12, LEGO_DENSE), *flat = blocks_from(12, LEGO_FLAT, &allocator);
        int64_t sign = way % 2 ? -1 : 1, first = sign * NARROW_MOST, counts[3] = {0, sign * INT64_C(5000000000), sign};
        const uint64_t items[3] = {3, 3, 4};
        uint64_t bytes = lego_sketch_bytes(flat);
        lego_sketch *both[] = {dense, flat}, *more = blocks_of(12, way == 4 ? LEGO_FLAT : LEGO_DENSE);
        assert_int_equal(lego_sketch_add_u64s(more, items, counts, 3), LEGO_OK);
        for (int i = 0; i < 2; i++) assert_int_equal(lego_sketch_add_u64(both[i], 3, first), LEGO_OK);
        assert_alike(dense, flat);
        assert_int_equal(lego_sketch_bytes(flat), bytes);
        assert_false(flat->flat.is_wide);
        assert_int_equal(lego_sketch_add_u64(flat, 3, INT64_MAX / 4), LEGO_ERR_RANGE); /* nothing widens for nothing */
        assert_false(flat->flat.is_wide);

        lego_sketch *before = copy_as(flat, LEGO_FLAT);
        books.calls = 0;
        books.fail_at = 1;
        for (int refused = 1; refused >= 0; refused--) {
            lego_status wanted = refused ? LEGO_ERR_MEMORY : LEGO_OK;
            lego_status status = way < 2   ? lego_sketch_add_u64(flat, 3, sign)
                                 : way < 4 ? lego_sketch_add_u64s(flat, items, counts, 3)
                                           : lego_sketch_merge(flat, more);
            assert_int_equal(status, wanted);
            assert_int_equal(flat->flat.is_wide, !refused);
            if (refused) assert_alike(flat, before);
            if (refused) assert_int_equal(flat->mass, before->mass);
        }
        assert_int_equal(books.calls, 2);
        if (way < 2) lego_sketch_add_u64(dense, 3, sign);
        else if (way < 4) lego_sketch_add_u64s(dense, items, counts, 3);
        else lego_sketch_merge(dense, more);
        assert_alike(dense, flat);
        assert_true(lego_sketch_bytes(flat) > 2 * bytes - 2000 && lego_sketch_bytes(flat) < 2 * bytes);
        assert_int_equal(books.now, 2 * (lego_sketch_bytes(flat) + lego_sketch_cache_bytes(flat)) -
                                        (lego_sketch_bytes(flat) - lego_sketch_bytes(before)));
        lego_sketch_info info;
        lego_sketch_describe(flat, &info);
        assert_int_equal(info.cell_bits, 64);

        struct trial t = make_trial((uint64_t)way + 1);
        struct stream_of s = trial_stream(&t, false); /* wide ones are sketches like others */
        for (int i = 0; i < 2; i++) add_stream(both[i], &s, (int)sign);
        assert_alike(dense, flat);
        for (int i = 0; i < 2; i++) assert_int_equal(lego_sketch_add_u64s(both[i], s.items, s.counts, s.n), LEGO_OK);
        lego_sketch *copy = copy_as(flat, LEGO_FLAT), *folded = copy_as(dense, LEGO_FLAT);
        assert_true(copy->flat.is_wide && folded->flat.is_wide);
        assert_alike(flat, copy);
        assert_alike(dense, folded);
        for (int i = 0; i < 2; i++) assert_int_equal(lego_sketch_fold(both[i], 4), LEGO_OK);
        assert_int_equal(lego_sketch_fold(folded, 4), LEGO_OK);
        assert_alike(dense, folded);
        if (sign > 0) assert_alike(dense, flat);
        free_stream(&s);
        lego_sketch_clear(flat);
        lego_sketch_clear(dense);
        assert_alike(dense, flat);
        lego_sketch_destroy(copy);
        lego_sketch_destroy(folded);
        lego_sketch_destroy(before);
        lego_sketch_destroy(more);
        lego_sketch_destroy(flat);
        lego_sketch_destroy(dense);
        assert_int_equal(books.now, 0);
    }
}

/* The very largest sums, in both signs. */
static void sums_may_be_as_large_as_any(void **unused)
{
    (void)unused;
    for (int sign = -1; sign <= 1; sign += 2) {
        lego_sketch *dense = blocks_of(1, LEGO_DENSE), *flat = blocks_of(1, LEGO_FLAT), *both[] = {dense, flat};
        for (int i = 0; i < 2; i++) {
            assert_int_equal(lego_sketch_add_u64(both[i], 1, sign * (INT64_MAX / 8)), LEGO_OK);
            assert_int_equal(lego_sketch_add_u64(both[i], 2, sign * (INT64_MAX / 8)), LEGO_OK);
            assert_int_equal(lego_sketch_add_u64(both[i], 2, 2 * sign), LEGO_ERR_RANGE);
            assert_int_equal(lego_sketch_add_u64(both[i], 2, INT64_MIN), LEGO_ERR_RANGE);
        }
        assert_alike(dense, flat);
        lego_sketch_destroy(dense);
        lego_sketch_destroy(flat);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

struct pair {
    lego_sketch *a, *b;
};

static lego_status do_convert(struct pair *p)
{
    return lego_sketch_convert(p->a, p->a->packing == LEGO_FLAT ? LEGO_DENSE : LEGO_FLAT);
}

static lego_status do_merge(struct pair *p)
{
    return lego_sketch_merge(p->a, p->b);
}

static lego_status do_self_merge(struct pair *p)
{
    return lego_sketch_merge(p->a, p->a);
}

static lego_status do_fold(struct pair *p)
{
    return lego_sketch_fold(p->a, 4);
}

static lego_status do_copy(struct pair *p)
{
    lego_sketch *copy = NULL;
    lego_status status = lego_sketch_copy(p->a, &copy);
    assert_true((copy != NULL) == (status == LEGO_OK));
    lego_sketch_destroy(copy);
    return status;
}

static lego_status do_widen(struct pair *p)
{
    return lego_sketch_add_u64(p->a, 1, NARROW_MOST);
}

static lego_status do_widening_merge(struct pair *p)
{
    p->b->mass = INT32_MAX;
    return lego_sketch_merge(p->a, p->b);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    static lego_status (*const operations[])(struct pair *) = {do_convert, do_merge, do_self_merge, do_fold,
                                                               do_copy,    do_widen, do_widening_merge};
    for (unsigned o = 0; o < 7; o++)
        for (int mix = 0; mix < 4; mix++) {
            lego_status status = LEGO_ERR_MEMORY;
            for (long at = 1; status != LEGO_OK; at++) {
                struct books books;
                lego_allocator allocator = books_allocator(&books);
                struct pair p = {blocks_from(12, mix & 1 ? LEGO_FLAT : LEGO_DENSE, &allocator),
                                 blocks_from(8, mix & 2 ? LEGO_FLAT : LEGO_DENSE, &allocator)};
                for (uint64_t i = 0; i < 300; i++) {
                    lego_sketch_add_u64(p.a, i, 3);
                    lego_sketch_add_u64(p.b, i, 5);
                }
                struct bytes a = sketch_to_bytes(p.a), b = sketch_to_bytes(p.b);
                struct lego_sketch was = *p.a;
                size_t out = books.now;
                books.calls = 0;
                books.fail_at = at;
                status = operations[o](&p);
                struct bytes now = sketch_to_bytes(p.b);
                assert_memory_equal(b.p, now.p, b.size);
                free(now.p);
                if (status != LEGO_OK) {
                    assert_int_equal(status, LEGO_ERR_MEMORY);
                    assert_int_equal(books.now, out);
                    assert_memory_equal(p.a, &was, sizeof was);
                    now = sketch_to_bytes(p.a);
                    assert_memory_equal(a.p, now.p, a.size);
                    free(now.p);
                }
                free(a.p);
                free(b.p);
                lego_sketch_destroy(p.a);
                lego_sketch_destroy(p.b);
                assert_int_equal(books.now, 0);
                assert_true(status != LEGO_OK || at > 1 || (operations[o] == do_widen && !(mix & 1)));
            }
        }
}

static void a_budget_is_of_real_bytes(void **unused)
{
    (void)unused;
    for (uint64_t budget = LEGO_BUDGET_MIN; budget < 40000000; budget += budget / 7) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_options options = LEGO_OPTIONS_INIT;
        options.budget = budget;
        options.packing = LEGO_FLAT;
        options.allocator = &allocator;
        lego_sketch *sketch, *twice;
        assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
        lego_sketch_info info;
        lego_sketch_describe(sketch, &info);
        assert_int_equal(info.packing, LEGO_FLAT);
        assert_int_equal(info.cell_bits, 32);
        assert_int_equal(info.cells, 320 * (uint64_t)info.bricks);
        assert_int_equal(books.now, info.bytes + info.cache_bytes);
        assert_true(info.bytes <= budget);
        assert_true(info.bytes >= budget * 99 / 100 - 2048);
        assert_int_equal((uintptr_t)sketch->flat.cells % 64, 0);
        lego_sketch_destroy(sketch);

        options.bricks = info.bricks; /* named, it fits too; one more than there is room for does not */
        assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
        lego_sketch_destroy(sketch);
        options.bricks = (uint32_t)(budget / 1280 + 1);
        assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_ERR_BUDGET);
        options.bricks = 0;
        options.budget = 1 << 20; /* and twice the budget merges */
        assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
        options.budget *= 2;
        assert_int_equal(lego_sketch_create(&options, &twice), LEGO_OK);
        assert_int_equal(twice->dense.blocks, 2 * sketch->dense.blocks);
        lego_sketch_destroy(sketch);
        lego_sketch_destroy(twice);
        assert_int_equal(books.now, 0);
    }
}

static void what_packing_means_elsewhere(void **unused)
{
    (void)unused;
    lego_options options = LEGO_OPTIONS_INIT;
    lego_sketch *sketch;
    lego_sketch_info info;
    options.packing = (lego_packing)2;
    assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_ERR_ARGUMENT);
    for (int packing = LEGO_DENSE; packing <= LEGO_FLAT; packing++) { /* bricks have one */
        options.packing = (lego_packing)packing;
        options.model = lego_model_builtin("rule");
        assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
        lego_sketch_add_u64(sketch, 1, 1);
        struct bytes before = sketch_to_bytes(sketch);
        for (int to = LEGO_DENSE; to <= LEGO_FLAT; to++)
            assert_int_equal(lego_sketch_convert(sketch, (lego_packing)to), LEGO_OK);
        struct bytes after = sketch_to_bytes(sketch);
        assert_memory_equal(before.p, after.p, before.size);
        lego_sketch_describe(sketch, &info);
        assert_int_equal(info.packing, LEGO_FLAT);
        lego_sketch_destroy(sketch);
        free(before.p);
        free(after.p);
    }
    options.model = NULL;
    options.packing = LEGO_FLAT;
    options.cell_bits = 32;
    assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_ERR_ARGUMENT);
    options = (lego_options)LEGO_OPTIONS_INIT;
    assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
    assert_int_equal(lego_sketch_convert(sketch, (lego_packing)2), LEGO_ERR_ARGUMENT);
    lego_sketch_describe(sketch, &info);
    assert_int_equal(info.packing, LEGO_DENSE);
    lego_sketch_destroy(sketch);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void thread_count_does_not_matter(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(20); seed++) {
        struct trial t = make_trial(seed);
        size_t n = 32768 + draw_below(&t.state, 60000);
        struct stream_of s = make_stream(&t.state, n, 1 + draw_below(&t.state, 50000), (unsigned)(seed % 6), seed % 2);
        const int64_t *counts = seed % 3 ? s.counts : NULL;
        lego_sketch *start = blocks_of(t.blocks, seed % 4 ? LEGO_FLAT : LEGO_DENSE); /* some start coarse */
        if (seed % 4 == 0) add_stream(start, &s, 1);
        assert_int_equal(lego_sketch_convert(start, LEGO_FLAT), LEGO_OK);
        lego_sketch *one = copy_as(start, LEGO_FLAT);
        assert_int_equal(lego_sketch_add_u64s(one, s.items, counts, n), LEGO_OK);
        for (unsigned threads = 2; threads <= 5; threads++) {
            lego_sketch *many = copy_as(start, LEGO_FLAT);
            lego_sketch_set_threads(many, threads);
            assert_int_equal(lego_sketch_add_u64s(many, s.items, counts, n), LEGO_OK);
            assert_alike(one, many);
            lego_sketch_destroy(many);
        }
        struct books books; /* without memory for tallies or notes, one thread does it */
        lego_allocator allocator = books_allocator(&books);
        lego_sketch *none = blocks_from(t.blocks, LEGO_FLAT, &allocator);
        lego_sketch_merge(none, start);
        bool widens = one->flat.is_wide && !none->flat.is_wide;
        lego_sketch_set_threads(none, 4);
        books.calls = 0;
        books.fail_at = widens ? 2 : 1;
        books.more = 9;
        assert_int_equal(lego_sketch_add_u64s(none, s.items, counts, n), LEGO_OK);
        assert_true(books.calls >= books.fail_at);
        assert_alike(one, none);
        lego_sketch_destroy(none);
        lego_sketch_destroy(one);
        lego_sketch_destroy(start);
        free_stream(&s);
    }
}

enum { READ = 200 };

struct reader {
    const lego_sketch *sketch;
    lego_estimate estimates[READ];
};

static void *read_all(void *argument)
{
    struct reader *reader = argument;
    for (uint64_t i = 0; i < READ; i++) lego_sketch_estimate_u64(reader->sketch, i, &reader->estimates[i]);
    return NULL;
}

/* All start with no packed step known, and find them at the same time. */
static void readers_do_not_disturb_each_other(void **unused)
{
    (void)unused;
    lego_sketch *sketch = blocks_of(30, LEGO_FLAT);
    static struct reader alone, readers[4];
    for (uint64_t i = 0; i < 3000; i++) lego_sketch_add_u64(sketch, i, (int64_t)(3000 / (i + 1) + 1));
    alone.sketch = sketch;
    read_all(&alone);
    for (int round = 0; round < 20; round++) {
        pthread_t threads[4];
        for (uint64_t i = 0; i < READ; i++) lego_sketch_add_u64(sketch, i, 0);
        for (int t = 0; t < 4; t++) {
            readers[t].sketch = sketch;
            assert_int_equal(pthread_create(&threads[t], NULL, read_all, &readers[t]), 0);
        }
        for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
        for (int t = 0; t < 4; t++)
            assert_memory_equal(readers[t].estimates, alone.estimates, sizeof alone.estimates);
    }
    lego_sketch_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_stream_is_the_same_sketch),
        cmocka_unit_test(bytes_are_items_too),
        cmocka_unit_test(the_packed_step_follows_stores),
        cmocka_unit_test(what_is_deleted_was_never_there),
        cmocka_unit_test(deletions_leave_flat_no_worse),
        cmocka_unit_test(conversion_loses_nothing),
        cmocka_unit_test(packings_mix_in_merges),
        cmocka_unit_test(folding_commutes_with_packing),
        cmocka_unit_test(any_history_is_the_same),
        cmocka_unit_test(cells_widen_before_they_overflow),
        cmocka_unit_test(sums_may_be_as_large_as_any),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_budget_is_of_real_bytes),
        cmocka_unit_test(what_packing_means_elsewhere),
        cmocka_unit_test(thread_count_does_not_matter),
        cmocka_unit_test(readers_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests_name("flat", tests, NULL, NULL);
}
