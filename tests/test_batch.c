/* Batches: whatever their size, the kind of items, the counts and the threads, the sketch is that of single calls. And
 * what many items go through at once: hashes and parts. test_order.c has batches of
 * all sizes, one after the other. */
#include "sketch/tally.h"
#include "support.h"

#include <string.h>

static lego_sketch *blocks_of(uint32_t blocks, const lego_allocator *allocator)
{
    lego_options options = {0, 0, NULL, blocks, allocator, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, blocks, 0, &sketch), LEGO_OK);
    return sketch;
}

/* Memory that is never empty when it comes: who reads what was not written is found out. */
static void *dirty_alloc(void *context, size_t size)
{
    (void)context;
    void *memory = malloc(size);
    return memory ? memset(memory, 0xa5, size) : NULL;
}

static void dirty_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static const lego_allocator dirty = {dirty_alloc, dirty_free, NULL};

/* The batch twice, into an empty sketch and into one that is not, by 1 to 3 threads, of integers and of bytes. */
static void check_batch(const struct stream_of *s, const int64_t *counts, uint32_t blocks)
{
    unsigned char *bytes = malloc(8 * s->n);
    uint64_t *offsets = malloc((s->n + 1) * sizeof *offsets);
    assert_true(bytes && offsets);
    keys_as_bytes(s->items, s->n, bytes, offsets); /* a sketch can not tell */
    const lego_items items[2] = {{.n = s->n, .integers = s->items, .counts = counts},
                                 {.n = s->n, .bytes = bytes, .offsets = offsets, .counts = counts}};
    lego_sketch *single[2];
    for (int twice = 0; twice < 2; twice++) {
        if (twice) assert_int_equal(lego_copy(single[0], &single[1]), LEGO_OK);
        else single[0] = blocks_of(blocks, NULL);
        for (size_t i = 0; i < s->n; i++)
            assert_int_equal(lego_add_u64(single[twice], s->items[i], counts ? counts[i] : 1), LEGO_OK);
    }
    for (unsigned threads = 1; threads <= 3; threads++)
        for (int kind = 0; kind < 2; kind++) {
            lego_sketch *many = blocks_of(blocks, &dirty);
            lego_set_threads(many, threads);
            for (int twice = 0; twice < 2; twice++) {
                assert_int_equal(lego_add_items(many, &items[kind]), LEGO_OK);
                many->items = single[twice]->items; /* these are others */
                assert_same(single[twice], many);
            }
            lego_destroy(many);
        }
    lego_destroy(single[0]);
    lego_destroy(single[1]);
    free(bytes);
    free(offsets);
}

static void batches_are_single_calls(void **unused)
{
    (void)unused;
    static const uint32_t blocks[] = {1, 7, 70, 300, 1000, 5000};
    for (uint64_t seed = 1; seed <= ROUNDS(24); seed++) {
        uint64_t state = seed;
        const size_t n = seed % 4 ? 1 + draw_below(&state, 5000) : 32768 + draw_below(&state, 20000);
        struct stream_of s = make_stream(&state, n, 1 + draw_below(&state, n), (unsigned)(seed % 8), false);
        check_batch(&s, seed % 3 ? s.counts : NULL, blocks[seed % 6]);
        free_stream(&s);
    }
}

/* Of sizes that all but fill the tables that are made for them, in one part. */
static void batches_that_fill_their_tables(void **unused)
{
    (void)unused;
    for (size_t n = 256; n <= 8192; n *= 2) {
        uint64_t state = n;
        struct stream_of s = make_stream(&state, n - 8, n, 2, false);
        check_batch(&s, NULL, 7);
        check_batch(&s, s.counts, 7);
        free_stream(&s);
    }
}

/* Items that are all of one block, and half of them of a small part of its keys: there is no room for so many near the
 * place of each, and more are added before the table is full. */
static void batches_of_one_block(void **unused)
{
    (void)unused;
    enum { N = 4000, BLOCKS = 200, BLOCK = 70 };
    uint64_t state = 9;
    struct stream_of s = make_stream(&state, N, N, 2, false);
    uint64_t key = 0;
    for (size_t i = 0; i < N; key++) {
        const struct spot spot = spot_of(BLOCKS, hash_u64(key, seed_of(BLOCKS)));
        if (spot.block == BLOCK && (i % 2 || spot.key >> 59 == 5)) s.items[i++] = key;
    }
    check_batch(&s, NULL, BLOCKS);
    check_batch(&s, s.counts, BLOCKS);
    free_stream(&s);
}

/* Negative counts are added as they come: what a block gives up for a moment stays given up. */
static void batches_with_deletions_are_single_calls(void **unused)
{
    (void)unused;
    static const uint32_t blocks[] = {3, 40, 200};
    for (uint64_t seed = 1; seed <= ROUNDS(6); seed++) {
        uint64_t state = seed;
        struct stream_of s = make_stream(&state, 6000, 1 + draw_below(&state, 6000), (unsigned)(seed % 8), true);
        check_batch(&s, s.counts, blocks[seed % 3]);
        free_stream(&s);
    }
}

/* So are batches without any, into a sketch where something is negative. */
static void negative_blocks_are_added_to_as_items_come(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(10); seed++) {
        uint64_t state = seed;
        struct stream_of less = make_stream(&state, 3000, 3000, 5, true), s = make_stream(&state, 6000, 3000, 5, false);
        lego_sketch *single = blocks_of(20, NULL), *many = blocks_of(20, NULL);
        add_stream(single, &less, 1);
        add_stream(many, &less, 1);
        add_stream(single, &s, 1);
        assert_int_equal(add_u64s(many, s.items, s.counts, s.n), LEGO_OK);
        assert_same(single, many);
        lego_destroy(single);
        lego_destroy(many);
        free_stream(&less);
        free_stream(&s);
    }
}

/* Long batches of a few items and of many, with counts and without, as integers and as bytes, whose frequent items are
 * counted aside: of three threads, into a sketch that has all its blocks and into one that grows. The longest are
 * longer than the room for their parts, so that these are added several times. */
static void long_batches(void **unused)
{
    (void)unused;
    enum { N = FULL ? 4600000 : 600000, LATE = N / 46 * 42, FEW = 5000 };
    for (int kind = 0; kind < 8; kind++) {
        uint64_t state = 3;
        const uint32_t blocks = !FULL && kind & 1 ? 300 : kind % 4 == 3 ? 2048 : kind & 1 ? 6000 : 10240;
        struct stream_of s = make_stream(&state, N, kind & 1 ? N / 4 : FEW, 2, false);
        for (size_t i = 0; kind % 4 == 3 && i < LATE; i++) s.items[i] %= FEW;
        lego_items items = {.n = N, .integers = s.items, .counts = kind & 2 ? s.counts : NULL};
        unsigned char *bytes = malloc(8 * (size_t)N);
        uint64_t *offsets = malloc((N + 1) * sizeof *offsets);
        keys_as_bytes(s.items, N, bytes, offsets);
        if (kind & 4) items = (lego_items){.n = N, .bytes = bytes, .offsets = offsets, .counts = items.counts};
        lego_sketch *whole, *young = blocks_of(blocks, NULL), *parts = blocks_of(blocks, NULL);
        const struct shape shape = sketch_shape(parts);
        assert_int_equal(sketch_make(parts->model, parts->seed, &shape, blocks, 0, NULL, &whole), LEGO_OK);
        whole->blocks.loose = true;
        lego_set_threads(whole, 3);
        lego_set_threads(young, 3);
        assert_int_equal(lego_add_items(whole, &items), LEGO_OK);
        assert_int_equal(lego_add_items(young, &items), LEGO_OK);
        for (size_t i = 0; i < N; i += 10000)
            assert_int_equal(add_u64s(parts, s.items + i, items.counts ? items.counts + i : NULL, 10000), LEGO_OK);
        parts->items = whole->items;
        assert_same(whole, parts);
        assert_same(young, parts);
        assert_int_equal(whole->blocks.keeps, kind & 1);
        lego_destroy(whole);
        lego_destroy(young);
        lego_destroy(parts);
        free(bytes);
        free(offsets);
        free_stream(&s);
    }
}

/* Of 187 blocks at most, 11 are a divisor, but parts of 32 do not end where one of these does: such a block is of two
 * parts, and of one thread nevertheless. */
static void parts_of_uneven_blocks(void **unused)
{
    (void)unused;
    enum { N = 33000, BLOCKS = 187, DISTINCT = 170 };
    uint64_t state = 7;
    struct stream_of s = make_stream(&state, N, DISTINCT, 2, false);
    lego_sketch *alone = blocks_of(BLOCKS, NULL), *many = blocks_of(BLOCKS, NULL);
    lego_set_threads(many, 8);
    for (int i = 0; i < ROUNDS(300); i++) {
        assert_int_equal(add_u64s(alone, s.items, s.counts, N), LEGO_OK);
        assert_int_equal(add_u64s(many, s.items, s.counts, N), LEGO_OK);
        assert_same(alone, many);
    }
    assert_int_equal(many->blocks.blocks, 11);
    lego_destroy(alone);
    lego_destroy(many);
    free_stream(&s);
}

/* Without memory for its parts a batch is added item by item, to the same sketch. */
static void memory_may_be_short(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct stream_of s = make_stream(&state, 40000, 5000, 3, false);
    static const uint32_t blocks[] = {12, 400};
    for (int i = 0; i < 2; i++) {
        lego_sketch *sketch[2];
        struct books books[2];
        for (int fails = 0; fails < 2; fails++) {
            lego_allocator allocator = books_allocator(&books[fails]);
            sketch[fails] = blocks_of(blocks[i], &allocator);
            take_all_blocks(sketch[fails]);
            lego_set_threads(sketch[fails], 2);
            size_t before = books[fails].most = books[fails].now;
            books[fails].fail_at = fails ? books[fails].calls + 1 : 0;
            assert_int_equal(add_u64s(sketch[fails], s.items, s.counts, s.n), LEGO_OK);
            assert_int_equal(books[fails].now, before);
            assert_int_equal(books[fails].most > before, !fails);
            assert_same(sketch[0], sketch[fails]);
        }
        for (int fails = 0; fails < 2; fails++) {
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
        for (unsigned n = 0; n <= MANY_MOST && block_kernels_all[k]->supported(); n++) {
            uint64_t key[MANY_MOST], word[MANY_MOST + 1] = {0};
            struct seed seed = {n % 2 ? draw(&state) : n, n % 3 ? 0 : draw(&state)};
            for (unsigned i = 0; i < n; i++) key[i] = i % 3 ? draw(&state) : i % 2 ? UINT64_MAX - i : i;
            block_kernels_all[k]->hash_words(key, n, seed, word);
            assert_true(word[n] == 0);
            for (unsigned i = 0; i < n; i++) assert_true(word[i] == hash_word(hash_u64(key[i], seed)));
        }
}

/* A part has the items of its blocks, in the order in which they came, with their counts; and an item's word is all
 * that blocks know of it. */
static void check_part(const struct parts *parts, uint32_t part, const struct stream_of *s, size_t taken,
                       struct seed seed)
{
    uint32_t at = parts_begin(parts, part);
    const uint64_t *word;
    unsigned words;
    size_t i = 0;
    for (; (word = parts_walk(parts, part, &at, &words)); assert_true(words > 0))
        for (unsigned k = 0; k < words; k += 1 + parts->counted, i++) {
            while (i < taken && parts_index(parts, hash_word(hash_u64(s->items[i], seed))) != part) i++;
            assert_in_range(i, 0, taken - 1);
            const struct hash hash = hash_u64(s->items[i], seed);
            const struct spot own = spot_of(parts->blocks, hash), spot = spot_of(parts->blocks, word_hash(word[k]));
            assert_true(word[k] == hash_word(hash));
            assert_true(spot.block == own.block && (spot.key ^ own.key) >> (64 - key_bits(parts->blocks)) == 0);
            assert_in_range(spot.block, parts_first(parts, part), parts_first(parts, part + 1) - 1);
            if (parts->counted) assert_true(word[k + 1] == (uint64_t)s->counts[i]);
        }
    for (; i < taken; i++) assert_true(parts_index(parts, hash_word(hash_u64(s->items[i], seed))) != part);
}

static void parts_have_all_items_in_order(void **unused)
{
    (void)unused;
    static const uint32_t numbers[] = {1, 12, 33, 1000, 40000};
    for (uint64_t seed = 0; seed < 40; seed++) {
        uint64_t state = seed;
        struct stream_of s = make_stream(&state, 1500, 1000, 4, seed % 3 == 0);
        struct parts parts = {.counted = seed % 4 > 0};
        const uint64_t chunks = parts_chunks(1000, parts.counted);
        parts.chunks = (uint32_t)chunks;
        parts.pool = malloc(chunks * PART_CHUNK * sizeof *parts.pool);
        parts.next = malloc(chunks * sizeof *parts.next);
        assert_true(parts.pool && parts.next);
        const lego_items items = {.n = s.n, .integers = s.items, .counts = s.counts};
        parts_start(&parts, numbers[seed % 5], seed % 2 ? 1000 : 1000000);
        size_t taken = parts_take(&parts, &items, 0, s.n, seed_of(seed), block_kernels_best());
        assert_in_range(taken, 1000, s.n);
        for (uint32_t part = 0; part <= parts_last(&parts); part++) check_part(&parts, part, &s, taken, seed_of(seed));
        free(parts.pool);
        free(parts.next);
        free_stream(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(batches_that_fill_their_tables),
        cmocka_unit_test(batches_of_one_block),
        cmocka_unit_test(batches_with_deletions_are_single_calls),
        cmocka_unit_test(negative_blocks_are_added_to_as_items_come),
        cmocka_unit_test(long_batches),
        cmocka_unit_test(parts_of_uneven_blocks),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(many_keys_hash_as_one),
        cmocka_unit_test(parts_have_all_items_in_order),
    };
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
