/* The ways of a batch (batch.h), each called by itself: whichever is taken, by however many threads, of whatever items
 * and counts, the sketch is that of single calls. And what many items go through at once: hashes and places. */
#include "sketch/batch.h"
#include "support.h"

#include <string.h>

static lego_sketch *blocks_of(uint32_t blocks, const lego_allocator *allocator)
{
    lego_options options = {0, 0, NULL, blocks, allocator};
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, blocks, 0, &sketch), LEGO_OK);
    return sketch;
}

/* The same items as bytes: those of the keys, so that a sketch can not tell. */
static void as_bytes(const struct stream_of *s, unsigned char *bytes, uint64_t *offsets)
{
    for (size_t i = 0; i <= s->n; i++) offsets[i] = 8 * i;
    for (size_t i = 0; i < 8 * s->n; i++) bytes[i] = (unsigned char)(s->items[i / 8] >> 8 * (i % 8));
}

/* Calls a way, and does what lego_add_items() does around it. */
static bool take_way(bool (*way)(const struct batch *), const struct batch *batch)
{
    lego_sketch *sketch = batch->sketch;
    assert_int_equal(sketch_take_counts(sketch, batch->items->counts, batch->items->n), LEGO_OK);
    if (!way(batch)) return false;
    for (size_t i = 0; i < batch->items->n; i++) sketch->dense.total += batch_count(batch, i);
    return true;
}

/* blocks: so few that a tally fits, or so many that a bucket has some of them. */
static void check_way(bool (*way)(const struct batch *), uint64_t seed, uint32_t blocks)
{
    uint64_t state = seed;
    const size_t n = 3000 + draw_below(&state, 40000);
    const bool tally = way == batch_tally;
    const unsigned digits = (unsigned)(seed % (tally ? 4 : 8));
    struct stream_of s = make_stream(&state, n, 1 + draw_below(&state, n), digits, false);
    unsigned char *bytes = malloc(8 * n);
    uint64_t *offsets = malloc((n + 1) * sizeof *offsets);
    assert_true(bytes && offsets);
    as_bytes(&s, bytes, offsets);
    const int64_t *counts = seed % 3 ? s.counts : NULL;
    const lego_items items[2] = {{.n = n, .integers = s.items, .counts = counts},
                                 {.n = n, .bytes = bytes, .offsets = offsets, .counts = counts}};
    lego_sketch *single = blocks_of(blocks, NULL);
    struct hot hot = {{0}}; /* of every slot some item, often or not */
    for (size_t i = 0; i < n; i++) hot.key[hot_slot(s.items[i])] = s.items[i];
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < n; i++)
            assert_int_equal(lego_add_u64(single, s.items[i], counts ? counts[i] : 1), LEGO_OK);
    for (unsigned threads = 1; threads <= 3; threads++)
        for (int kind = 0; kind < 2; kind++) {
            lego_sketch *many = blocks_of(blocks, NULL);
            struct batch batch = {many, &items[kind], kind == 0 && !counts && seed % 2 ? &hot : NULL};
            lego_set_threads(many, threads);
            for (int twice = 0; twice < 2; twice++) { /* into an empty sketch, and into one that is not */
                if (tally) assert_true(batch_tally_fits(&batch));
                assert_true(take_way(way, &batch));
                if (twice) assert_same(single, many);
            }
            lego_destroy(many);
        }
    lego_destroy(single);
    free_stream(&s);
    free(bytes);
    free(offsets);
}

static void notes_are_single_calls(void **unused)
{
    (void)unused;
    static const uint32_t blocks[] = {1, 7, 1000, 5000};
    for (uint64_t seed = 1; seed <= ROUNDS(20); seed++) check_way(batch_notes, seed, blocks[seed % 4]);
}

static void tallies_are_single_calls(void **unused)
{
    (void)unused;
    static const uint32_t blocks[] = {1, 2, 12, 70};
    for (uint64_t seed = 1; seed <= ROUNDS(40); seed++) check_way(batch_tally, seed, blocks[seed / 2 % 4]);
}

/* A batch that is longer than the room for its notes, so that they are added several times; of many items or of few,
 * most of which are hot, with counts and without. */
static void long_batches(void **unused)
{
    (void)unused;
    enum { N = 900000, BLOCKS = 40000, FEW = 5000 };
    for (int kind = 0; kind < 4; kind++) {
        uint64_t state = 3;
        struct stream_of s = make_stream(&state, N, kind & 1 ? N : FEW, 2, false);
        const int64_t *counts = kind & 2 ? s.counts : NULL;
        const lego_items items = {.n = N, .integers = s.items, .counts = counts};
        lego_sketch *whole = blocks_of(BLOCKS, NULL), *parts = blocks_of(BLOCKS, NULL);
        lego_sketch *chosen = blocks_of(BLOCKS, NULL);
        lego_set_threads(whole, 2);
        assert_true(take_way(batch_notes, &(struct batch){whole, &items, NULL}));
        assert_int_equal(add_u64s(chosen, s.items, counts, N), LEGO_OK);
        for (size_t i = 0; i < N; i += 1000)
            assert_int_equal(add_u64s(parts, s.items + i, counts ? counts + i : NULL, 1000), LEGO_OK);
        assert_same(whole, parts);
        assert_same(chosen, parts);
        lego_destroy(whole);
        lego_destroy(parts);
        lego_destroy(chosen);
        free_stream(&s);
    }
}

/* The items that make up most of a stream are found, and counted where they come; the rest is left, in order. */
static void hot_items_are_counted_aside(void **unused)
{
    (void)unused;
    enum { N = 1 << 18, HEAVY = 500 };
    static struct hot hot;
    static uint32_t times[HOT_SLOTS];
    static uint64_t keys[N], rest[N];
    uint64_t state = 5, seen = 0;
    for (size_t i = 0; i < N; i++) keys[i] = draw_below(&state, 2) ? draw_below(&state, HEAVY) : HEAVY + i;
    assert_true(hot_find(&hot, keys, N));
    unsigned left = hot_pass(&hot, keys, N, times, rest);
    assert_in_range(left, N * 45 / 100, N * 7 / 10); /* a few light ones are in, two heavy ones of a slot may be out */
    for (size_t i = 0, j = 0; i < N; i++) {
        bool is_hot = hot.key[hot_slot(keys[i])] == keys[i];
        seen += is_hot;
        if (!is_hot) assert_true(rest[j++] == keys[i]);
    }
    for (size_t i = 0; i < HOT_SLOTS; i++) seen -= times[i];
    assert_true(seen == 0);
    for (size_t i = 0; i < N; i++) keys[i] = i;
    assert_false(hot_find(&hot, keys, N)); /* none is */
    memset(keys, 0, sizeof keys);
    assert_false(hot_find(&hot, keys, 255)); /* too few to look at */
    assert_true(hot_find(&hot, keys, N));
}

static bool tally_fits(lego_sketch *sketch, size_t n, const int64_t *counts)
{
    static const uint64_t keys[4096];
    const lego_items items = {.n = n, .integers = keys, .counts = counts};
    return batch_tally_fits(&(struct batch){sketch, &items, NULL});
}

static void tallies_know_when_not_to(void **unused)
{
    (void)unused;
    enum { N = 4096 };
    static int64_t counts[N];
    for (int i = 0; i < N; i++) counts[i] = 1;
    lego_sketch *few = blocks_of(4, NULL), *many = blocks_of(N, NULL);
    assert_true(tally_fits(few, N, counts));
    assert_true(tally_fits(few, N, NULL));
    assert_false(tally_fits(few, 100, NULL));
    assert_false(tally_fits(many, N, NULL));
    counts[9] = INT32_MAX - N + 1;
    assert_true(tally_fits(few, N, counts));
    counts[9]++;
    assert_false(tally_fits(few, N, counts));
    counts[9] = -1;
    assert_false(tally_fits(few, N, counts));
    counts[9] = 1;
    assert_int_equal(lego_add_u64(few, 7, -3), LEGO_OK); /* then blocks care how sums rise */
    assert_false(tally_fits(few, N, counts));
    lego_destroy(few);
    lego_destroy(many);
}

/* A call that tallies, which counts show: nothing else makes one allocation, of a tally a thread. */
static void a_call_that_tallies_is_single_calls(void **unused)
{
    (void)unused;
    uint64_t state = 6;
    struct stream_of s = make_stream(&state, 20000, 3000, 3, false);
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_sketch *many = blocks_of(12, &allocator), *single = blocks_of(12, NULL);
        lego_set_threads(many, threads);
        size_t before = books.now;
        assert_int_equal(add_u64s(many, s.items, s.counts, s.n), LEGO_OK);
        assert_int_equal(books.most - before, threads * 12 * BLOCK_CELLS * sizeof(int32_t) + DENSE_LINE);
        add_stream(single, &s, 1);
        assert_same(many, single);
        lego_destroy(many);
        lego_destroy(single);
    }
    free_stream(&s);
}

/* Without memory for it a batch goes another way, or without any item by item, to the same sketch. */
static void memory_may_be_short(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct stream_of s = make_stream(&state, 40000, 5000, 3, false);
    static const uint32_t blocks[] = {12, 5000};
    for (int i = 0; i < 2; i++) {
        lego_sketch *sketch[3];
        struct books books[3];
        for (int fails = 0; fails < 3; fails++) {
            lego_allocator allocator = books_allocator(&books[fails]);
            sketch[fails] = blocks_of(blocks[i], &allocator);
            lego_set_threads(sketch[fails], 2);
            books[fails].fail_at = fails ? books[fails].calls + 1 : 0;
            books[fails].more = fails == 2;
            assert_int_equal(add_u64s(sketch[fails], s.items, s.counts, s.n), LEGO_OK);
            assert_same(sketch[0], sketch[fails]);
        }
        for (int fails = 0; fails < 3; fails++) {
            lego_destroy(sketch[fails]);
            assert_int_equal(books[fails].now, 0);
        }
    }
    free_stream(&s);
}

/* ---- many at once ------------------------------------------------------------------------------------------------ */

static void many_keys_hash_as_one(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (int k = 0; block_kernels_all[k]; k++)
        for (unsigned n = 0; n <= DECODE_MOST && block_kernels_all[k]->supported(); n++) {
            uint64_t key[DECODE_MOST], seed = n % 2 ? draw(&state) : n;
            struct hashes hashes;
            for (unsigned i = 0; i < n; i++) key[i] = i % 3 ? draw(&state) : i % 2 ? UINT64_MAX - i : i;
            block_kernels_all[k]->hash_keys(key, n, seed, &hashes);
            for (unsigned i = 0; i < n; i++) {
                struct hash hash = hash_u64(key[i], seed);
                assert_true(hashes.lo[i] == hash.lo && hashes.hi[i] == hash.hi);
            }
        }
}

static void many_hashes_have_their_places(void **unused)
{
    (void)unused;
    static const uint32_t blocks[] = {1, 2, 3, 8, 10, 19, 4096, 19660, 2093750, 1u << 30, UINT32_MAX - 2};
    uint64_t state = 2;
    for (int k = 0; block_kernels_all[k]; k++)
        for (unsigned b = 0; b < 11 && block_kernels_all[k]->supported(); b++) {
            struct hashes hashes;
            struct decode_places places;
            struct dense dense;
            unsigned n = b == 5 ? 13 : DECODE_MOST;
            dense_place(&dense, blocks[b]);
            for (unsigned i = 0; i < n; i++) {
                hashes.lo[i] = i % 7 ? draw(&state) : UINT64_MAX;
                hashes.hi[i] = i % 5 ? draw(&state) : UINT64_MAX;
            }
            block_kernels_all[k]->place(&hashes, n, dense.odd, dense.mask, &places);
            for (unsigned i = 0; i < n; i++)
                for (unsigned which = 0; which < 2; which++) {
                    struct half half = dense_half(&dense, (struct hash){hashes.lo[i], hashes.hi[i]}, which);
                    assert_true(half.block < blocks[b]);
                    assert_int_equal(places.block[which][i], half.block);
                    assert_int_equal(places.column[which][0][i], half.column[0]);
                    assert_int_equal(places.column[which][1][i], half.column[1]);
                }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hot_items_are_counted_aside),   cmocka_unit_test(notes_are_single_calls),
        cmocka_unit_test(tallies_are_single_calls),      cmocka_unit_test(long_batches),
        cmocka_unit_test(tallies_know_when_not_to),      cmocka_unit_test(a_call_that_tallies_is_single_calls),
        cmocka_unit_test(memory_may_be_short),           cmocka_unit_test(many_keys_hash_as_one),
        cmocka_unit_test(many_hashes_have_their_places),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
