/* The laws of sketches of blocks, on random streams, orders, batches, threads and budgets, young and full: bytes are
 * compared, not estimates. Until a block keeps the heaviest, they follow from the content; what holds from then on is
 * here of merging, and in test_order.c of adding. test_laws.c has the laws of bricks, test_blocks.c those of the blocks
 * themselves. */
#include "support.h"

static const uint64_t budgets[] = {4096, 20000, 65536, 300000, 1 << 20};

static lego_sketch *make_most(uint32_t most)
{
    return make(most, 0, NULL);
}

/* A budget, and a stream that may leave a sketch of it nearly empty, or fill it many times over. */
struct trial {
    uint64_t state, budget;
    struct stream_of s;
};

/* As many distinct items as there are bytes, or a thousandth. (Of a megabyte 2^17 fill all.) */
static struct stream_of trial_stream(uint64_t *state, uint64_t budget, bool deletions)
{
    uint64_t distinct = 1 + draw_below(state, budget >> draw_below(state, 10));
    if (distinct > 1 << 17) distinct = 1 << 17;
    size_t n = 1 + (size_t)(distinct * (1 + draw_below(state, 3)) / 2);
    return make_stream(state, n, distinct, (unsigned)draw_below(state, 7), deletions);
}

static struct trial make_trial(uint64_t seed, bool deletions)
{
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d), .budget = budgets[seed % 16 ? seed % 4 : 4]};
    t.s = trial_stream(&t.state, t.budget, deletions);
    return t;
}

static lego_sketch *trial_sketch(const struct trial *t)
{
    return make_within("compact", t->budget, 0);
}

static bool keeps(const lego_sketch *sketch)
{
    return info_of(sketch).keeping > 0;
}

/* ---- order and growth -------------------------------------------------------------------------------------------- */

/* In their order, batches are single additions. In any, as long as no block keeps, which does not depend on it. */
static void order_and_batches_do_not_matter(void **unused)
{
    (void)unused;
    unsigned young = 0, lost = 0, full = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(120); seed++) {
        struct trial t = make_trial(seed, false);
        lego_sketch *a = trial_sketch(&t), *b = trial_sketch(&t), *c = trial_sketch(&t);
        add_stream(a, &t.s, 1);
        lego_set_threads(c, 1 + seed % 2);
        assert_int_equal(add_u64s(c, t.s.items, t.s.counts, t.s.n), LEGO_OK);
        shuffle_stream(&t.s, &t.state);
        add_in_batches(b, &t.s, &t.state);
        assert_same(a, c);
        assert_true(info_of(a).keeping == info_of(b).keeping);
        if (!keeps(a)) assert_same(a, b);
        young += blocks_grow(&a->blocks);
        lost += !is_whole(a) && !keeps(a);
        full += keeps(a);
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(c);
        free_stream(&t.s);
    }
    if (FULL) assert_true(young > 6 && lost > 4 && full > 6); /* each kind was among them */
}

/* While keys are whole a sketch is what it counts, whatever came and went. */
static void whole_sketches_forget_what_went(void **unused)
{
    (void)unused;
    unsigned tried = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(120); seed++) {
        struct trial t = make_trial(seed, true);
        lego_sketch *a = trial_sketch(&t), *b = trial_sketch(&t);
        add_stream(a, &t.s, 1);
        shuffle_stream(&t.s, &t.state);
        add_in_batches(b, &t.s, &t.state);
        assert_int_equal(info_of(a).total, info_of(b).total);
        if (is_whole(a) && is_whole(b)) assert_same(a, b);
        tried += is_whole(a) && is_whole(b);
        lego_destroy(reload(a)); /* whatever was lost, it is a sketch */
        lego_destroy(reload(b));
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&t.s);
    }
    assert_true(tried > ROUNDS(36) && tried < ROUNDS(120));
}

/* One that has all its blocks from the start has the bytes of one that grew. */
static void growth_is_made_large(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(120); seed++) {
        struct trial t = make_trial(seed, false);
        lego_sketch *grown = trial_sketch(&t), *large, *by_hand;
        struct shape shape = sketch_shape(grown);
        lego_options options = {0, 0, NULL, grown->seed.number, NULL, NULL};
        assert_int_equal(sketch_make(grown->model, grown->seed, &shape, shape.blocks, 0, NULL, &large), LEGO_OK);
        assert_int_equal(lego_lab_create(&options, shape.blocks, 0, &by_hand), LEGO_OK);
        assert_same(grown, large);
        add_stream(grown, &t.s, 1);
        add_in_batches(large, &t.s, &t.state);
        assert_int_equal(add_u64s(by_hand, t.s.items, t.s.counts, t.s.n), LEGO_OK);
        assert_same(grown, large);
        assert_same(grown, by_hand);
        lego_destroy(grown);
        lego_destroy(large);
        lego_destroy(by_hand);
        free_stream(&t.s);
    }
}

/* An item next to where the first of three blocks ends, on either side. */
static uint64_t near_a_third(uint64_t *state, struct seed seed, bool behind)
{
    for (;;) {
        uint64_t item = draw(state);
        struct hash hash = hash_u64(item, seed);
        if (spot_of(7, hash).block == 2 && spot_of(3, hash).block == behind) return item;
    }
}

/* Items chosen such that three blocks have room for more than seven: a sketch that can have more goes on to these, and
 * is exact; one that can not loses bits as it grows, and has the bytes of one that had all its blocks before, unless it
 * comes to keep as it grows: it does not know in which order its items came. */
static void numbers_that_do_not_nest(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        lego_sketch *more = make_most(60), *few = make_most(7), *large = make_most(7);
        uint64_t state = seed, item[200];
        int64_t count = seed % 2 ? 1 : INT64_C(1) << 40;
        size_t n = 0;
        take_all_blocks(large);
        for (; few->blocks.blocks < 7; n++) {
            assert_true(is_whole(few) && few->blocks.blocks == more->blocks.blocks);
            item[n] = near_a_third(&state, few->seed, n % 2);
            assert_int_equal(lego_add_u64(more, item[n], count), LEGO_OK);
            assert_int_equal(lego_add_u64(few, item[n], count), LEGO_OK);
            assert_int_equal(lego_add_u64(large, item[n], count), LEGO_OK);
        }
        assert_in_range(more->blocks.blocks, 15, 30);
        assert_true(!is_whole(few) && keeps(few) == (count > 1));
        if (count == 1) assert_same(few, large);
        for (size_t i = 0; i < n; i++) {
            lego_estimate e;
            assert_int_equal(lego_query_u64(more, item[i], &e), LEGO_OK);
            assert_true(e.lower == count && e.upper == count);
        }
        lego_destroy(reload(more));
        lego_destroy(reload(few));
        lego_destroy(more);
        lego_destroy(few);
        lego_destroy(large);
    }
}

/* ---- merging and folding ----------------------------------------------------------------------------------------- */

/* While no block of the whole keeps; it is the same blocks that do. */
static void parts_merge_to_the_whole(void **unused)
{
    (void)unused;
    unsigned full = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(120); seed++) {
        struct trial t = make_trial(seed, false);
        lego_sketch *whole = trial_sketch(&t), *merged = trial_sketch(&t);
        free_stream(&t.s);
        for (uint64_t parts = 1 + draw_below(&t.state, 4); parts > 0; parts--) {
            struct stream_of s = trial_stream(&t.state, t.budget, false);
            lego_sketch *part = trial_sketch(&t);
            add_in_batches(whole, &s, &t.state);
            add_in_batches(part, &s, &t.state);
            lego_sketch *into = draw_below(&t.state, 2) ? merged : part, *from = into == part ? merged : part;
            assert_int_equal(lego_merge(into, from), LEGO_OK);
            lego_destroy(from);
            merged = into;
            free_stream(&s);
        }
        if (!keeps(whole)) assert_same(whole, merged);
        assert_true(info_of(whole).keeping == info_of(merged).keeping);
        assert_sums(merged);
        assert_int_equal(lego_total(merged), lego_total(whole));
        full += keeps(whole);
        lego_destroy(reload(merged));
        lego_destroy(whole);
        lego_destroy(merged);
    }
    if (FULL) assert_in_range(full, 12, 100);
}

/* What sketches of these sizes come to: into's own size where the keys of `from` are whole, that of `from` where it is
 * smaller and the keys of `into` are, else the smaller if one divides the other. */
static uint32_t merged_size(const lego_sketch *into, const lego_sketch *from)
{
    uint32_t a = info_of(into).blocks, b = info_of(from).blocks;
    if (is_whole(from)) return a;
    if (is_whole(into) && b <= a) return b;
    return a % b == 0 ? b : b % a == 0 ? a : 0;
}

static void sizes_that_nest_merge_and_young_ones_always(void **unused)
{
    (void)unused;
    static const uint32_t sizes[] = {1, 3, 5, 12, 24, 33, 60, 64, 96, 128, 200, 256, 600, 1024};
    unsigned refused = 0, folded = 0, kept = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(400); seed++) {
        uint64_t state = seed;
        uint32_t own = sizes[draw_below(&state, 14)], other = sizes[draw_below(&state, 14)];
        struct stream_of s = trial_stream(&state, UINT64_C(256) * own, false);
        struct stream_of r = trial_stream(&state, UINT64_C(1024) * other, false);
        lego_sketch *into = make_most(own), *from = make_most(other), *before;
        add_in_batches(into, &s, &state);
        add_in_batches(from, &r, &state);
        if (draw_below(&state, 4) == 0) take_all_blocks(into); /* with more blocks than needed */
        if (draw_below(&state, 4) == 0) take_all_blocks(from);
        assert_int_equal(lego_copy(into, &before), LEGO_OK);
        uint32_t size = merged_size(into, from);
        lego_status status = lego_merge(into, from);
        assert_int_equal(status, size ? LEGO_OK : LEGO_ERR_SHAPE);
        if (size) {
            lego_sketch *whole = make_most(size);
            add_in_batches(whole, &s, &state);
            add_in_batches(whole, &r, &state);
            if (!keeps(whole)) assert_same(into, whole);
            assert_true(info_of(into).keeping == info_of(whole).keeping);
            assert_sums(into);
            assert_int_equal(lego_subtract(into, from), LEGO_OK); /* it has the size of both already */
            assert_int_equal(info_of(into).blocks, size);
            assert_int_equal(info_of(into).total, info_of(before).total);
            if (is_whole(whole) && size == own) assert_same(into, before);
            lego_destroy(reload(into));
            lego_destroy(whole);
        } else {
            assert_same(into, before);
        }
        refused += size == 0;
        folded += size && size < own;
        kept += size == own && other != own;
        lego_destroy(into);
        lego_destroy(from);
        lego_destroy(before);
        free_stream(&s);
        free_stream(&r);
    }
    assert_true(refused > ROUNDS(20) && folded > ROUNDS(20) && kept > ROUNDS(60));
}

/* So many sketches of one size, each of its own stream, some of them young, some full. */
enum { SOURCES = 5 };

struct sources {
    uint64_t state;
    uint32_t most;
    lego_sketch *sketch[SOURCES];
    struct stream_of s[SOURCES];
};

static struct sources make_sources(uint64_t seed, bool deletions)
{
    struct sources all = {.state = seed * UINT64_C(0x2545f4914f6cdd1d)};
    all.most = 1 + (uint32_t)draw_below(&all.state, 60);
    for (int i = 0; i < SOURCES; i++) {
        const uint64_t domain = 1 + draw_below(&all.state, all.most * UINT64_C(1000) >> draw_below(&all.state, 7));
        const size_t n = 1 + draw_below(&all.state, 2 * domain);
        all.s[i] = make_stream(&all.state, n, domain, (unsigned)draw_below(&all.state, 6), deletions);
        all.sketch[i] = make_most(all.most);
        add_in_batches(all.sketch[i], &all.s[i], &all.state);
    }
    return all;
}

static void free_sources(struct sources *all)
{
    for (int i = 0; i < SOURCES; i++) {
        lego_destroy(all->sketch[i]);
        free_stream(&all->s[i]);
    }
}

static lego_sketch *copy_of(const lego_sketch *sketch)
{
    lego_sketch *copy;
    assert_int_equal(lego_copy(sketch, &copy), LEGO_OK);
    return copy;
}

/* Into either, the same comes out; and what is merged is only read. */
static void merging_has_no_direction(void **unused)
{
    (void)unused;
    unsigned full = 0, both = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        struct sources all = make_sources(seed, seed % 3 == 0);
        const lego_sketch *one = all.sketch[0], *other = all.sketch[1];
        lego_sketch *a = copy_of(one), *b = copy_of(other), *was = copy_of(other);
        assert_int_equal(lego_merge(a, other), LEGO_OK);
        assert_int_equal(lego_merge(b, one), LEGO_OK);
        assert_same(a, b);
        assert_same(other, was);
        assert_sums(a);
        assert_int_equal(lego_total(a), lego_total(one) + lego_total(other));
        full += keeps(a);
        both += keeps(one) && keeps(other);
        lego_destroy(reload(a));
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(was);
        free_sources(&all);
    }
    assert_true(full > ROUNDS(60) && full < ROUNDS(250) && both > ROUNDS(10));
}

/* No count is above its upper bound, if none was taken away. */
static void check_bounds(const lego_sketch *sketch, const struct sources *all, const int64_t weights[])
{
    enum { DOMAIN = 60000 };
    static int64_t count[DOMAIN];
    memset(count, 0, sizeof count);
    for (int i = 0; i < SOURCES; i++)
        for (size_t k = 0; k < all->s[i].n; k++)
            count[all->s[i].items[k]] += all->s[i].counts[k] * (i > 0 && weights ? weights[i - 1] : 1);
    for (uint64_t item = 0; item < DOMAIN; item += 1 + item / 10000) {
        lego_estimate e;
        assert_int_equal(lego_query_u64(sketch, item, &e), LEGO_OK);
        assert_true(e.upper >= count[item]);
        assert_true((double)e.lower <= e.value && e.value <= (double)e.likely && e.likely <= e.upper);
    }
}

static void shuffle_sketches(const lego_sketch *from[], int64_t weights[], size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = draw_below(state, i);
        const lego_sketch *other = from[i - 1];
        const int64_t weight = weights[i - 1];
        from[i - 1] = from[j], weights[i - 1] = weights[j];
        from[j] = other, weights[j] = weight;
    }
}

/* Many at once: in whatever order they are named, and as often as their weights say. */
static void many_merge_in_any_order(void **unused)
{
    (void)unused;
    unsigned full = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct sources all = make_sources(seed, seed % 3 == 0);
        const lego_sketch *from[SOURCES - 1];
        int64_t numbers[SOURCES - 1], total = lego_total(all.sketch[0]), *weights = seed % 2 ? numbers : NULL;
        for (int i = 0; i < SOURCES - 1; i++) {
            from[i] = all.sketch[i + 1];
            numbers[i] = 1 + (int64_t)draw_below(&all.state, 5);
            if (seed % 3 == 0 && draw_below(&all.state, 2)) numbers[i] = -numbers[i];
            total += lego_total(from[i]) * (weights ? weights[i] : 1);
        }
        lego_sketch *a = copy_of(all.sketch[0]), *b = copy_of(all.sketch[0]);
        assert_int_equal(lego_merge_many(a, from, weights, SOURCES - 1), LEGO_OK);
        if (seed % 3) check_bounds(a, &all, weights);
        shuffle_sketches(from, numbers, SOURCES - 1, &all.state);
        assert_int_equal(lego_merge_many(b, from, weights, SOURCES - 1), LEGO_OK);
        assert_same(a, b);
        assert_int_equal(lego_total(a), total);
        assert_sums(a);
        full += keeps(a);
        lego_destroy(reload(a));
        lego_destroy(a);
        lego_destroy(b);
        free_sources(&all);
    }
    assert_true(full > ROUNDS(60) && full < ROUNDS(150));
}

/* A weight is so many merges as long as no block keeps, and -1 is a difference; a sketch may be merged into itself
 * beside others. */
static void weights_are_merges(void **unused)
{
    (void)unused;
    unsigned lists = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(150); seed++) {
        struct sources all = make_sources(seed, false);
        const lego_sketch *one = all.sketch[0], *other = all.sketch[1];
        lego_sketch *a = copy_of(one), *b = copy_of(one), *c = copy_of(one), *d = copy_of(one);
        const lego_sketch *from[] = {other, c};
        const int64_t three[] = {3, 1}, less[] = {-1};
        assert_int_equal(lego_merge_many(a, from, three, 1), LEGO_OK);
        for (int i = 0; i < 3; i++) assert_int_equal(lego_merge(b, other), LEGO_OK);
        if (!keeps(a)) assert_same(a, b);
        lists += !keeps(a);
        assert_int_equal(lego_merge_many(d, from, three, 2), LEGO_OK);
        assert_int_equal(lego_merge_many(c, from, three, 2), LEGO_OK); /* of which it is one */
        assert_same(c, d);
        assert_int_equal(lego_merge_many(a, from, less, 1), LEGO_OK);
        assert_int_equal(lego_subtract(b, other), LEGO_OK);
        if (!keeps(a)) assert_same(a, b);
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(c);
        lego_destroy(d);
        free_sources(&all);
    }
    assert_in_range(lists, ROUNDS(30), ROUNDS(140));
}

static void fill_whole(lego_sketch *sketch)
{
    for (uint64_t i = 0; is_whole(sketch); i++) assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
}

/* Sizes nest or do not, in whatever order the sketches are named. What is refused has changed nothing. */
static void sizes_of_many_nest_in_any_order(void **unused)
{
    (void)unused;
    static const uint32_t sizes[][4] = {/* into, which is empty or full; two that are full; what comes out, or 0 */
                                        {100, 60, 120, 60}, {100, 300, 75, 75}, {100, 200, 400, 100}, {100, 60, 40, 0},
                                        {100, 120, 150, 0}, {100, 200, 120, 0}, {60, 120, 180, 60},   {7, 7, 7, 7}};
    for (int k = 0; k < 8; k++)
        for (int full = 0; full < 2; full++) {
            lego_sketch *two[] = {make_most(sizes[k][1]), make_most(sizes[k][2])}, *into[2], *before;
            const lego_sketch *const order[2][2] = {{two[0], two[1]}, {two[1], two[0]}};
            const uint32_t own = sizes[k][0], made = sizes[k][3], nests = made && full && own % made ? 0 : made;
            fill_whole(two[0]);
            fill_whole(two[1]);
            before = make_most(own);
            if (full) fill_whole(before);
            for (int o = 0; o < 2; o++) {
                into[o] = copy_of(before);
                const lego_status status = lego_merge_many(into[o], order[o], NULL, 2);
                assert_int_equal(status, nests ? LEGO_OK : LEGO_ERR_SHAPE);
                assert_int_equal(info_of(into[o]).blocks, nests ? nests : own);
                if (!nests) assert_same(into[o], before);
            }
            assert_same(into[0], into[1]);
            lego_sketch *gone[] = {two[0], two[1], into[0], into[1], before};
            for (int i = 0; i < 5; i++) lego_destroy(gone[i]);
        }
}

static void a_sketch_merges_with_itself(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        struct trial t = make_trial(seed, false);
        lego_sketch *a = trial_sketch(&t), *twice = trial_sketch(&t);
        add_in_batches(a, &t.s, &t.state);
        assert_int_equal(lego_merge(a, a), LEGO_OK);
        add_in_batches(twice, &t.s, &t.state);
        add_in_batches(twice, &t.s, &t.state);
        if (!keeps(twice)) assert_same(a, twice);
        assert_true(keeps(a) == keeps(twice));
        assert_int_equal(lego_total(a), lego_total(twice));
        assert_sums(a);
        assert_int_equal(lego_subtract(a, a), LEGO_OK);
        assert_int_equal(info_of(a).total, 0);
        assert_sums(a);
        lego_destroy(reload(a));
        lego_destroy(a);
        lego_destroy(twice);
        free_stream(&t.s);
    }
}

static void fold_is_made_smaller(void **unused)
{
    (void)unused;
    unsigned full = 0, lists = 0;
    static const uint32_t sizes[] = {12, 60, 64, 96, 210, 256};
    for (uint64_t seed = 1; seed <= ROUNDS(36); seed++) {
        uint64_t state = seed;
        uint32_t most = sizes[seed % 6];
        struct stream_of s = trial_stream(&state, UINT64_C(256) * most, false);
        lego_sketch *sketch = make_most(most);
        add_in_batches(sketch, &s, &state);
        for (uint32_t blocks = 0; blocks <= most + 1; blocks++) {
            bool divides = blocks > 0 && most % blocks == 0;
            lego_sketch *folded, *small = make_most(divides ? blocks : most);
            assert_int_equal(lego_copy(sketch, &folded), LEGO_OK);
            assert_int_equal(lego_fold(folded, blocks), divides ? LEGO_OK : LEGO_ERR_SHAPE);
            if (divides) add_in_batches(small, &s, &state);
            if (!divides || !keeps(small)) assert_same(folded, divides ? small : sketch);
            if (divides) assert_true(keeps(folded) == keeps(small));
            assert_sums(folded);
            assert_int_equal(lego_total(folded), lego_total(sketch));
            full += divides && keeps(small);
            lists += divides && !keeps(small);
            lego_destroy(folded);
            lego_destroy(small);
        }
        lego_destroy(sketch);
        free_stream(&s);
    }
    assert_true(full > ROUNDS(36) && lists > ROUNDS(36));
}

/* ---- taking away ------------------------------------------------------------------------------------------------- */

/* The stream taken away again, item by item, in batches, or as a sketch. */
static void take_away(lego_sketch *sketch, struct stream_of *s, uint64_t *state)
{
    uint64_t way = draw_below(state, 3);
    lego_sketch *other = make_most(info_of(sketch).blocks);
    other->seed = sketch->seed;
    if (way == 2) add_in_batches(other, s, state);
    shuffle_stream(s, state);
    if (way == 0) add_stream(sketch, s, -1);
    for (size_t i = 0; i < s->n; i++) s->counts[i] = -s->counts[i];
    if (way == 1) add_in_batches(sketch, s, state);
    for (size_t i = 0; i < s->n; i++) s->counts[i] = -s->counts[i];
    if (way == 2) assert_int_equal(lego_subtract(sketch, other), LEGO_OK);
    lego_destroy(other);
}

static void deleting_all_leaves_the_empty_sketch(void **unused)
{
    (void)unused;
    unsigned tried = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(120); seed++) {
        struct trial t = make_trial(seed, seed % 2);
        lego_sketch *a = trial_sketch(&t), *empty = trial_sketch(&t);
        add_in_batches(a, &t.s, &t.state);
        bool whole = is_whole(a);
        take_away(a, &t.s, &t.state);
        assert_int_equal(info_of(a).total, 0);
        if (whole && is_whole(a)) assert_same(a, empty);
        tried += whole && is_whole(a);
        lego_destroy(reload(a));
        lego_clear(a);
        assert_same(a, empty);
        assert_int_equal(info_of(a).bytes, info_of(empty).bytes);
        lego_destroy(a);
        lego_destroy(empty);
        free_stream(&t.s);
    }
    assert_true(tried > ROUNDS(36));
}

/* Adds new items until there are all blocks, and takes them away again. False if bits were lost on the way. */
static bool fill_and_empty(lego_sketch *sketch, uint64_t *state)
{
    const uint64_t start = *state;
    uint64_t n = 0;
    for (; blocks_grow(&sketch->blocks); n++) assert_int_equal(lego_add_u64(sketch, draw(state), 1), LEGO_OK);
    bool whole = is_whole(sketch);
    for (*state = start; n > 0; n--) assert_int_equal(lego_add_u64(sketch, draw(state), -1), LEGO_OK);
    return whole;
}

/* Once emptied, a sketch is exact as long as a new one, to the item, though it has all its blocks already. */
static void what_went_does_not_cost_bits(void **unused)
{
    (void)unused;
    static const uint32_t sizes[] = {2, 3, 5, 6, 17, 33, 34, 65, 66, 129, 130, 136, 144, 200, 247, 260, 272, 516};
    unsigned tried = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(180); seed++) {
        uint64_t state = seed;
        lego_sketch *old = make_most(sizes[seed % 18]), *new = make_most(sizes[seed % 18]);
        bool whole = fill_and_empty(old, &state);
        while (whole && is_whole(old) && is_whole(new)) {
            uint64_t item = draw(&state);
            int64_t count = 1 + (int64_t)draw_below(&state, 3);
            assert_int_equal(lego_add_u64(old, item, count), LEGO_OK);
            assert_int_equal(lego_add_u64(new, item, count), LEGO_OK);
        }
        if (whole) assert_same(old, new);
        tried += whole;
        lego_destroy(old);
        lego_destroy(new);
    }
    assert_true(tried > ROUNDS(120));
}

/* (w + w) - w is w, and (w + v) - v: however much it had to grow for that. */
static void what_is_added_can_be_taken_away(void **unused)
{
    (void)unused;
    unsigned tried = 0, grew = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(180); seed++) {
        struct trial t = make_trial(seed, false);
        struct stream_of v = seed % 3 ? trial_stream(&t.state, t.budget, false) : t.s;
        lego_sketch *w = trial_sketch(&t), *both, *other = trial_sketch(&t);
        add_in_batches(w, &t.s, &t.state);
        add_in_batches(other, &v, &t.state);
        assert_int_equal(lego_copy(w, &both), LEGO_OK);
        assert_int_equal(lego_merge(both, other), LEGO_OK);
        bool whole = is_whole(both);
        grew += whole && both->blocks.blocks > w->blocks.blocks;
        take_away(both, &v, &t.state);
        if (whole) assert_same(both, w);
        assert_int_equal(info_of(both).total, info_of(w).total);
        tried += whole;
        lego_destroy(reload(both));
        lego_destroy(w);
        lego_destroy(both);
        lego_destroy(other);
        free_stream(&t.s);
        if (seed % 3) free_stream(&v);
    }
    assert_true(tried > ROUNDS(50) && grew > ROUNDS(12));
}

/* However much was let go and taken away, what each block lists and what it has lost come to what its items count. */
static void sums_stay_exact(void **unused)
{
    (void)unused;
    unsigned full = 0, below = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(36); seed++) {
        uint64_t state = seed;
        uint32_t most = 1 + (uint32_t)draw_below(&state, 100);
        struct stream_of s =
            make_stream(&state, 300 * most, 100 * most * (seed % 2 ? 1 : 5), (unsigned)(seed % 6), true);
        lego_sketch *sketch = make_most(most);
        int64_t *truth = calloc(most, sizeof *truth);
        add_in_batches(sketch, &s, &state);
        assert_int_equal(sketch->blocks.blocks, most);
        for (size_t i = 0; i < s.n; i++) truth[spot_of(most, hash_u64(s.items[i], sketch->seed)).block] += s.counts[i];
        for (uint32_t i = 0; i < most; i++) {
            struct content content;
            struct block_sums sums = {0};
            sketch->blocks.kernels->open(&sketch->blocks.block[i], sketch->blocks.whole, &content);
            sums_add(&sums, &content);
            assert_true(sums.sum == truth[i]);
            full += content.loss.plus > 0;
            below += content.loss.minus > 0;
        }
        lego_destroy(reload(sketch));
        lego_destroy(sketch);
        free(truth);
        free_stream(&s);
    }
    assert_true(full > ROUNDS(300) && below > ROUNDS(300));
}

/* Where no count is ever negative no upper bound is below one, though most of what has come is taken away, all of it of
 * many items, and many share the bits of their prints that are known. */
static void bounds_hold_whatever_goes(void **unused)
{
    (void)unused;
    enum { DOMAIN = 6000 };
    static int64_t count[DOMAIN];
    unsigned full = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(300); seed++) {
        uint64_t state = seed;
        const uint32_t most = 1 + (uint32_t)draw_below(&state, 12);
        const unsigned domain = 120 * most + (unsigned)draw_below(&state, 300 * most), digits = (unsigned)seed % 4;
        lego_sketch *sketch = make_most(most);
        memset(count, 0, sizeof count);
        for (unsigned i = 0; i < 6 * domain; i++) {
            const uint64_t item = draw_below(&state, domain);
            const bool falls = count[item] > 0 && draw_below(&state, 6 * domain) < i;
            int64_t by = falls ? -(int64_t)(1 + draw_below(&state, (uint64_t)count[item])) : draw_count(&state, digits);
            if (falls && draw_below(&state, 2)) by = -count[item];
            count[item] += by;
            assert_int_equal(lego_add_u64(sketch, item, by), LEGO_OK);
        }
        full += keeps(sketch);
        for (int round = 0; round < 2; round++) { /* in the end nothing is left */
            for (uint64_t item = 0; item < domain; item++) {
                lego_estimate e;
                assert_int_equal(lego_query_u64(sketch, item, &e), LEGO_OK);
                assert_true(e.upper >= count[item]);
            }
            for (uint64_t item = 0; item < domain; item++) {
                assert_int_equal(lego_add_u64(sketch, item, -count[item]), LEGO_OK);
                count[item] = 0;
            }
        }
        lego_destroy(sketch);
    }
    assert_true(full > ROUNDS(100));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* The same bytes, answers and memory, of which one that something was taken from may have more. */
static void what_is_saved_comes_back(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        struct trial t = make_trial(seed, seed % 2);
        lego_sketch *a = trial_sketch(&t);
        add_in_batches(a, &t.s, &t.state);
        lego_sketch *b = reload(a);
        lego_info x = info_of(a), y = info_of(b);
        assert_true(seed % 2 ? y.bytes <= x.bytes : y.bytes == x.bytes);
        assert_true(y.total == x.total && y.exact == x.exact && y.distinct == x.distinct && y.blocks == x.blocks);
        assert_true(b->mass <= a->mass);
        for (size_t i = 0; i < t.s.n; i += 1 + t.s.n / 500) {
            lego_estimate e, f;
            assert_int_equal(lego_query_u64(a, t.s.items[i], &e), LEGO_OK);
            assert_int_equal(lego_query_u64(b, t.s.items[i], &f), LEGO_OK);
            assert_memory_equal(&e, &f, sizeof e);
        }
        struct stream_of more = trial_stream(&t.state, t.budget, false); /* and it goes on as if nothing had been */
        add_in_batches(a, &more, &t.state);
        add_in_batches(b, &more, &t.state);
        assert_int_equal(info_of(a).total, info_of(b).total);
        assert_same(a, b);
        lego_destroy(a);
        lego_destroy(b);
        free_stream(&t.s);
        free_stream(&more);
    }
}

/* An empty sketch of any budget in 128 bytes, 20 items that came a few times in 256, n in 9 n + 128 while exact. */
static void files_have_what_is_used(void **unused)
{
    (void)unused;
    for (uint64_t budget = 4096; budget <= LEGO_BUDGET_MAX; budget *= 16)
        for (uint64_t seed = 0; seed < 4; seed++) {
            lego_options options = {budget, 0, NULL, seed, NULL, NULL};
            lego_sketch *sketch;
            uint64_t state = seed, next = 1;
            assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
            assert_true(lego_saved_size(sketch) <= 128);
            for (uint64_t n = 1; n <= (budget > 1 << 24 ? 100000 : 30000); n++) {
                int64_t count = 1 + (int64_t)draw_below(&state, seed % 2 ? 1000 : 3);
                assert_int_equal(lego_add_u64(sketch, draw(&state), count), LEGO_OK);
                if (n < next && n != 20) continue;
                if (n >= next) next = next * 5 / 4 + 1;
                if (!is_whole(sketch)) break;
                uint64_t size = lego_saved_size(sketch);
                if (n <= 20 && seed % 2 == 0) assert_true(size <= 256);
                if (size > 9 * n + 128) fail_msg("%lu items in %lu bytes, budget %lu", n, size, budget);
            }
            lego_destroy(sketch);
        }
}

/* Loading costs what is there. */
static void an_empty_sketch_loads_small(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_within("compact", 1 << 20, 0), *loaded;
    struct bytes bytes = sketch_to_bytes(sketch);
    struct books books;
    lego_allocator allocator = books_allocator(&books);
    assert_int_equal(lego_load(bytes.p, bytes.size, &(lego_options){.allocator = &allocator}, &loaded), LEGO_OK);
    assert_true(books.most < 2048);
    assert_int_equal(lego_merge(loaded, sketch), LEGO_OK); /* nor does it cost anything to merge nothing */
    assert_true(books.most < 2048);
    lego_destroy(loaded);
    lego_destroy(sketch);
    free(bytes.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_batches_do_not_matter),
        cmocka_unit_test(whole_sketches_forget_what_went),
        cmocka_unit_test(growth_is_made_large),
        cmocka_unit_test(numbers_that_do_not_nest),
        cmocka_unit_test(parts_merge_to_the_whole),
        cmocka_unit_test(sizes_that_nest_merge_and_young_ones_always),
        cmocka_unit_test(merging_has_no_direction),
        cmocka_unit_test(many_merge_in_any_order),
        cmocka_unit_test(weights_are_merges),
        cmocka_unit_test(sizes_of_many_nest_in_any_order),
        cmocka_unit_test(a_sketch_merges_with_itself),
        cmocka_unit_test(fold_is_made_smaller),
        cmocka_unit_test(deleting_all_leaves_the_empty_sketch),
        cmocka_unit_test(what_went_does_not_cost_bits),
        cmocka_unit_test(what_is_added_can_be_taken_away),
        cmocka_unit_test(sums_stay_exact),
        cmocka_unit_test(bounds_hold_whatever_goes),
        cmocka_unit_test(what_is_saved_comes_back),
        cmocka_unit_test(files_have_what_is_used),
        cmocka_unit_test(an_empty_sketch_loads_small),
    };
    return cmocka_run_group_tests_name("sketch laws", tests, NULL, NULL);
}
