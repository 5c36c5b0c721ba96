/* Sketches that keep their most frequent items: exact residents, bounds, sums through evictions, deletions, merges and
 * folds, and the list of them. test_top_files.c has their bytes, and faults. */
#include "support_top.h"

/* ---- laws -------------------------------------------------------------------------------------------------------- */

static void everything_holds(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    static struct truth truth;
    for (int round = 0; round < ROUNDS(30); round++) {
        uint64_t top = round % 2 ? 600 + 1000 * (uint64_t)round : 20000;
        lego_sketch *sketch = make_within(models[round % 3 == 2], 160000, top);
        truth = (struct truth){0};
        for (int part = 0; part < 3; part++) {
            feed(sketch, &truth, &state, 4000, round % 4 >= 2);
            check_top(sketch, &truth);
        }
        lego_destroy(sketch);
    }
}

/* Where there is room for everything all counts are exact, deletions and all. */
static void with_room_all_is_exact(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    lego_sketch *sketch = make_within("compact", 1 << 20, 1 << 19);
    static struct truth truth;
    feed(sketch, &truth, &state, 20000, true);
    check_top(sketch, &truth);
    for (uint64_t number = 0; number < DOMAIN; number++) {
        unsigned char item[300];
        size_t size = item_of(number, item);
        lego_estimate e;
        if (size > 20 || first_of(number) != number) continue; /* of the long ones many share a bucket */
        lego_query(sketch, item, size, &e);
        assert_int_equal(e.upper, truth.count[number]);
        assert_int_equal(e.lower, truth.count[number]);
        if (truth.count[number]) assert_int_equal(lego_add(sketch, item, size, -truth.count[number]), LEGO_OK);
    }
    lego_destroy(sketch);
}

/* A sketch of few items has a top of few buckets, and the bytes of one that had more and deleted what was in them. */
static void a_top_grows(void **unused)
{
    (void)unused;
    for (int m = 0; m < 2; m++) {
        lego_sketch *sketch = make_within(models[m], 1 << 20, 1 << 18), *few = make_within(models[m], 1 << 20, 1 << 18);
        uint64_t before = info_of(sketch).bytes;
        assert_int_equal(sketch->top.buckets.d, 1);
        for (uint64_t i = 0; i < 10; i++) {
            assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
            assert_int_equal(lego_add_u64(few, i, 1), LEGO_OK);
        }
        assert_int_equal(info_of(sketch).bytes, before);
        for (uint64_t i = 10; i < 10000; i++) assert_int_equal(lego_add_u64(sketch, i, 1), LEGO_OK);
        assert_true(sketch->top.buckets.d > 100 && info_of(sketch).bytes > before);
        assert_false(top_leaks(&sketch->top));
        for (uint64_t i = 10; i < 10000; i++) assert_int_equal(lego_add_u64(sketch, i, -1), LEGO_OK);
        assert_same(sketch, few);
        lego_destroy(sketch);
        lego_destroy(few);
    }
}

static void deleting_everything_leaves_nothing(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (int m = 0; m < 2; m++) {
        lego_sketch *sketch = make_within(models[m], 160000, 2000);
        static struct truth truth;
        truth = (struct truth){0};
        feed(sketch, &truth, &state, 10000, false);
        for (uint64_t number = 0; number < DOMAIN; number++) {
            unsigned char item[300];
            size_t size = item_of(number, item);
            if (truth.count[number]) assert_int_equal(lego_add(sketch, item, size, -truth.count[number]), LEGO_OK);
        }
        assert_int_equal(info_of(sketch).total, 0);
        for (uint64_t i = 0; i < 100; i++) {
            lego_estimate e;
            lego_query_u64(sketch, i, &e);
            assert_int_equal(e.upper, 0); /* no votes are left, and the cells are 0 again */
        }
        lego_clear(sketch);
        lego_sketch *fresh = make_within(models[m], 160000, 2000);
        assert_same(sketch, fresh);
        lego_destroy(sketch);
        lego_destroy(fresh);
    }
}

/* The heaviest hundred of a skewed stream are found, in order, in a few KB. */
struct names {
    uint64_t name[100];
    size_t n;
};

static int take_name(void *context, const lego_top_item *top)
{
    struct names *names = context;
    assert_int_equal(top->size, 8);
    names->name[names->n++] = key_of_bytes(top->item);
    return names->n == 100;
}

static void the_top_is_found(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    lego_sketch *sketch = make_within("compact", 100 << 10, 12800);
    enum { N = 20000 };
    struct stream_of s = {0, malloc(400000 * 8), malloc(400000 * 8)};
    for (uint64_t rank = 1; rank <= N; rank++)
        for (uint64_t i = 0; i < N / rank; i++) {
            s.items[s.n] = rank;
            s.counts[s.n++] = 1;
        }
    shuffle_stream(&s, &state);
    assert_int_equal(add_u64s(sketch, s.items, NULL, s.n), LEGO_OK);
    struct names names = {.n = 0};
    assert_int_equal(lego_top(sketch, 1000, take_name, &names), LEGO_OK); /* which stops it at 100 */
    assert_int_equal(names.n, 100);
    for (uint64_t i = 0; i < 100; i++) assert_true(names.name[i] >= i && names.name[i] <= i + 4);
    free_stream(&s);
    lego_destroy(sketch);
}

/* As long as the top has sent nobody away. */
static void batches_are_single_calls(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct stream_of s = make_stream(&state, 30000, 3000, 3, false);
    lego_sketch *one = make_within("compact", 100000, 60000), *all = make_within("compact", 100000, 60000);
    lego_sketch *text = make_within("compact", 100000, 60000);
    uint64_t *offsets = malloc((s.n + 1) * 8);
    unsigned char *bytes = malloc(8 * s.n);
    keys_as_bytes(s.items, s.n, bytes, offsets);
    for (size_t i = 0; i < s.n; i++) assert_int_equal(lego_add_u64(one, s.items[i], s.counts[i]), LEGO_OK);
    assert_int_equal(add_u64s(all, s.items, s.counts, s.n), LEGO_OK);
    assert_int_equal(add_strings(text, bytes, offsets, s.counts, s.n), LEGO_OK);
    assert_false(top_leaks(&one->top));
    assert_same(one, all);
    text->items = one->items;
    assert_same(one, text);
    lego_estimate *a = malloc(s.n * sizeof *a), *b = malloc(s.n * sizeof *b);
    assert_int_equal(query_u64s(one, s.items, s.n, a), LEGO_OK);
    assert_int_equal(query_strings(one, bytes, offsets, s.n, b), LEGO_OK);
    assert_memory_equal(a, b, s.n * sizeof *a);
    offsets[5] = 99999;
    assert_int_equal(add_strings(text, bytes, offsets, NULL, s.n), LEGO_ERR_ARGUMENT);
    assert_int_equal(query_strings(text, bytes, offsets, s.n, b), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_add(text, NULL, 3, 1), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_query(text, NULL, 3, b), LEGO_ERR_ARGUMENT);
    assert_same(one, text);
    free(bytes);
    free(offsets);
    free(a);
    free(b);
    free_stream(&s);
    lego_destroy(one);
    lego_destroy(all);
    lego_destroy(text);
}

/* n skewed items in one call, most of which are of a part of the domain that moves on; with counts if asked. */
static lego_status feed_call(lego_sketch *sketch, struct truth *truth, uint64_t *state, size_t n, bool counted)
{
    unsigned char *bytes = malloc(n * 300);
    uint64_t *offsets = malloc((n + 1) * 8), first = draw_below(state, DOMAIN);
    int64_t *counts = malloc(n * 8);
    struct truth now = *truth;
    offsets[0] = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = first_of((first + draw_below(state, 1 + draw_below(state, DOMAIN))) % DOMAIN);
        counts[i] = counted && draw_below(state, 20) == 0 ? draw_count(state, 4) : 1;
        offsets[i + 1] = offsets[i] + item_of(number, bytes + offsets[i]);
        now.count[number] += counts[i];
        now.total += counts[i];
    }
    lego_status status = lego_add_items(
        sketch, &(lego_items){.n = n, .bytes = bytes, .offsets = offsets, .counts = counted ? counts : NULL});
    if (status == LEGO_OK) *truth = now;
    free(bytes);
    free(offsets);
    free(counts);
    return status;
}

/* Long calls count aside what is resident or frequent, and bring the rest to the blocks together once the top is
 * full. */
static void long_calls_hold(void **unused)
{
    (void)unused;
    static struct truth truth;
    for (int round = 0; round < ROUNDS(16); round++) {
        uint64_t state = 50 + (uint64_t)round, top = round % 4 == 3 ? 90000 : 600 + 2000 * (uint64_t)round;
        lego_sketch *sketch = make_within(models[round % 8 == 5], 160000, top);
        lego_sketch *threads = make_within(models[round % 8 == 5], 160000, top);
        lego_set_threads(threads, 3);
        truth = (struct truth){0};
        for (int call = 0; call < 4; call++) {
            static struct truth same;
            const size_t n = call == 1 ? 300 : 4096 + draw_below(&state, 60000);
            uint64_t again = state;
            same = truth;
            assert_int_equal(feed_call(sketch, &truth, &state, n, round % 2), LEGO_OK);
            assert_int_equal(feed_call(threads, &same, &again, n, round % 2), LEGO_OK);
            assert_same(sketch, threads);
            check_top(sketch, &truth);
        }
        lego_destroy(sketch);
        lego_destroy(threads);
    }
}

/* What a call does follows from the content: a large sketch that was loaded, and may have more blocks than it needs as
 * far as it knows, does the same. */
static void loaded_ones_take_long_calls_alike(void **unused)
{
    (void)unused;
    enum { N = 900000, CALL = 5000 };
    uint64_t *items = malloc(N * sizeof *items), state = 90;
    lego_sketch *live = make_within("compact", 12 << 20, 600);
    for (size_t i = 0; i < N; i++) items[i] = draw(&state);
    assert_int_equal(add_u64s(live, items, NULL, N), LEGO_OK);
    lego_sketch *loaded = reload(live);
    assert_true(loaded->blocks.loose && loaded->blocks.blocks / 8 > CALL);
    for (size_t i = 0; i < CALL; i++) items[i] = draw_below(&state, 1 + draw_below(&state, CALL));
    assert_int_equal(add_u64s(live, items, NULL, CALL), LEGO_OK);
    assert_int_equal(add_u64s(loaded, items, NULL, CALL), LEGO_OK);
    assert_same(live, loaded);
    lego_destroy(live);
    lego_destroy(loaded);
    free(items);
}

/* An allocation that fails leaves the sketch as it was, or the call does without. */
static void long_calls_may_fail(void **unused)
{
    (void)unused;
    static struct truth truth;
    unsigned failures = 0, calls = 0;
    for (long k = 1; k < 12; k++)
        for (int grown = 0; grown < 2; grown++) {
            struct books books = {0};
            lego_allocator allocator = books_allocator(&books);
            lego_options options = {grown ? 12000 : 300000, 4000, NULL, 7, &allocator, NULL};
            lego_sketch *sketch;
            uint64_t state = 70;
            truth = (struct truth){0};
            assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
            for (int call = 0; call < 1 + 3 * grown; call++)
                assert_int_equal(feed_call(sketch, &truth, &state, 20000, false), LEGO_OK);
            struct bytes before = sketch_to_bytes(sketch);
            books.calls = 0;
            books.fail_at = k;
            books.more = k % 2 ? 1000 : 0;
            lego_status status = feed_call(sketch, &truth, &state, 30000, true);
            books.fail_at = 0;
            calls += status == LEGO_OK;
            if (grown) assert_int_equal(status, LEGO_OK); /* what has grown needs no memory */
            if (status != LEGO_OK) {
                struct bytes now = sketch_to_bytes(sketch);
                assert_int_equal(status, LEGO_ERR_MEMORY);
                assert_true(now.size == before.size && memcmp(now.p, before.p, now.size) == 0);
                free(now.p);
                failures++;
            }
            check_top(sketch, &truth);
            free(before.p);
            lego_destroy(sketch);
            assert_int_equal(books.now, 0);
        }
    assert_true(failures > 0 && calls > 0);
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

static void merged_sums_are_conserved(void **unused)
{
    (void)unused;
    uint64_t state = 6;
    static struct truth truth, other;
    for (int round = 0; round < ROUNDS(20); round++) {
        const char *model = models[round % 3 == 2];
        uint64_t top = 600 + 700 * (uint64_t)round;
        lego_sketch *a = make_within(model, 160000, top), *b = make_within(model, 160000, top), *c, *d;
        truth = other = (struct truth){0};
        feed(a, &truth, &state, 3000, round % 2);
        feed(b, &other, &state, round % 5 ? 3000 : 30, round % 2); /* some whose buckets never leaked */
        assert_int_equal(lego_copy(a, &c), LEGO_OK);
        assert_int_equal(lego_copy(b, &d), LEGO_OK);
        assert_same(a, c);
        assert_int_equal(lego_merge(a, b), LEGO_OK);
        assert_int_equal(lego_merge(d, c), LEGO_OK);
        if (round % 2 == 0) assert_same(a, d); /* either way round; deletions may leave other blocks */
        add_truth(&truth, &other);
        check_top(a, &truth);
        check_top(d, &truth);

        assert_int_equal(lego_merge(a, a), LEGO_OK);
        add_truth(&truth, &truth);
        check_top(a, &truth);
        feed(a, &truth, &state, 3000, round % 2);
        check_top(a, &truth);
        lego_sketch *all[] = {a, b, c, d};
        for (int i = 0; i < 4; i++) lego_destroy(all[i]);
    }
}

/* The counts of a sketch without a top are in blocks alone: no resident is exact then that was there before. */
static void plain_merges_into_top(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    static struct truth truth, other;
    for (int round = 0; round < ROUNDS(12); round++) {
        const char *model = models[round % 3 == 2];
        lego_sketch *into = make_top(model, 48, 4000), *plain = make_top(model, round % 4 ? 48 : 96, 0), *before;
        truth = other = (struct truth){0};
        feed(into, &truth, &state, 2000, round % 2);
        assert_int_equal(lego_copy(into, &before), LEGO_OK);
        assert_int_equal(lego_merge(into, plain), LEGO_OK); /* nothing yet: all is as it was */
        assert_same(into, before);
        assert_true(check_top(into, &truth) > 0);
        feed(plain, &other, &state, 2000, false);
        assert_int_equal(lego_merge(into, plain), LEGO_OK);
        add_truth(&truth, &other);
        assert_int_equal(info_of(into).top_total, info_of(before).top_total);
        assert_int_equal(check_top(into, &truth), 0);
        feed(into, &truth, &state, 2000, false); /* nor is one that comes later */
        assert_int_equal(check_top(into, &truth), 0);
        lego_destroy(into);
        lego_destroy(plain);
        lego_destroy(before);
    }
}

/* Everything is counted by the blocks: the bytes are those of the plain sketch of the whole stream. */
static void top_merges_into_plain(void **unused)
{
    (void)unused;
    uint64_t state = 8;
    static struct truth truth, other;
    for (int round = 0; round < ROUNDS(12); round++) {
        const char *model = models[round % 3 == 2];
        lego_sketch *into = make_top(model, 48, 0), *whole = make_top(model, 48, 0);
        lego_sketch *from = make_top(model, round % 4 ? 48 : 144, 4000), *before;
        uint64_t again = state, late;
        truth = other = (struct truth){0};
        feed(into, &truth, &state, 2000, false);
        late = state;
        feed(from, &other, &state, 4000, false);
        assert_int_equal(lego_copy(from, &before), LEGO_OK);
        assert_int_equal(lego_merge(into, from), LEGO_OK);
        assert_same(from, before);
        add_truth(&truth, &other);
        assert_int_equal(info_of(into).total, truth.total);
        assert_int_equal(info_of(into).top_bytes, 0);
        static struct truth unused_truth;
        unused_truth = (struct truth){0};
        feed(whole, &unused_truth, &again, 2000, false);
        feed(whole, &unused_truth, &late, 4000, false);
        assert_same(into, whole);
        lego_sketch *all[] = {into, whole, from, before};
        for (int i = 0; i < 4; i++) lego_destroy(all[i]);
    }
}

/* Two buckets become one, whichever side has more of them; if what is added does not leak there is no need. */
static void tops_of_unequal_size_merge(void **unused)
{
    (void)unused;
    uint64_t state = 9;
    static struct truth truth, other;
    for (int round = 0; round < ROUNDS(12); round++) {
        const char *model = models[round % 3 == 2];
        bool wider = round % 2;
        lego_sketch *into = make_top(model, 48, wider ? 4160 : 2112), *from = make_top(model, 48, wider ? 2112 : 4160);
        assert_int_equal(into->top.most, wider ? 16 : 8);
        assert_int_equal(from->top.most, wider ? 8 : 16);
        truth = other = (struct truth){0};
        feed(into, &truth, &state, 2000, round % 4 > 1);
        feed(from, &other, &state, round % 5 ? 2000 : 5, false);
        bool leaks = top_leaks(&from->top);
        assert_true(leaks == (round % 5 > 0));
        assert_int_equal(lego_merge(into, from), LEGO_OK);
        add_truth(&truth, &other);
        check_top(into, &truth);
        assert_int_equal(into->top.most, leaks || !wider ? 8 : 16);
        feed(into, &truth, &state, 1000, false);
        check_top(into, &truth);
        lego_destroy(into);
        lego_destroy(from);
    }
}

/* Sketches that have counted little merge whatever their size; what is checked are full ones. */
static void fill(lego_sketch *sketch)
{
    for (uint64_t i = 0; i < 20000; i++) assert_int_equal(lego_add_u64(sketch, i * i, 1), LEGO_OK);
}

/* Tops that do not leak merge into any: it is the sketch of both streams. */
static void young_tops_merge_exactly(void **unused)
{
    (void)unused;
    static const uint64_t tops[] = {600, 2112, 3000, 4000, 4160, 20000, 70000};
    uint64_t state = 12;
    int merged = 0;
    static struct truth truth, other;
    for (int round = 0; round < ROUNDS(49); round++) {
        const char *model = models[round % 3 == 2];
        lego_sketch *into = make_top(model, 48, tops[round % 7]), *from = make_top(model, 48, tops[round / 7]);
        truth = other = (struct truth){0};
        feed(into, &truth, &state, 1 << draw_below(&state, 7), false);
        feed(from, &other, &state, 1 << draw_below(&state, 7), false);
        if (!top_leaks(&from->top)) {
            uint32_t most = into->top.most;
            assert_int_equal(lego_merge(into, from), LEGO_OK);
            add_truth(&truth, &other);
            check_top(into, &truth);
            assert_int_equal(into->top.most, most);
            merged++;
        }
        lego_destroy(into);
        lego_destroy(from);
    }
    assert_true(merged > ROUNDS(49) / 4);
}

static void others_do_not_merge(void **unused)
{
    (void)unused;
    lego_options seed = {0, 4000, lego_model_builtin("compact"), 8, NULL, NULL};
    lego_sketch *a = make_top("compact", 48, 4000), *model = make_top("paper", 48, 4000), *other_seed, *before;
    lego_sketch *blocks = make_top("compact", 40, 4000), *buckets = make_top("compact", 48, 3000);
    lego_sketch *plain = make_top("compact", 48, 0);
    assert_int_equal(lego_lab_create(&seed, 48, 0, &other_seed), LEGO_OK);
    lego_sketch *full[] = {a, model, other_seed, blocks, buckets, plain};
    for (int i = 0; i < 6; i++) fill(full[i]);
    assert_true(top_leaks(&a->top) && top_leaks(&buckets->top));
    assert_int_equal(lego_copy(a, &before), LEGO_OK);
    assert_int_equal(lego_merge(a, model), LEGO_ERR_MODEL);
    assert_int_equal(lego_merge(a, blocks), LEGO_ERR_SHAPE);
    assert_int_equal(lego_merge(a, buckets), LEGO_ERR_SHAPE); /* 15 and 11 */
    assert_int_equal(lego_merge(a, other_seed), LEGO_ERR_SEED);
    assert_int_equal(lego_subtract(a, plain), LEGO_ERR_TOP);
    assert_int_equal(lego_subtract(a, before), LEGO_ERR_TOP);
    assert_int_equal(lego_subtract(a, a), LEGO_ERR_TOP);
    assert_same(a, before);
    lego_sketch *same;
    assert_int_equal(lego_copy(plain, &same), LEGO_OK);
    assert_int_equal(lego_subtract(plain, a), LEGO_ERR_TOP);
    assert_same(plain, same);
    lego_sketch *all[] = {a, model, other_seed, before, blocks, buckets, plain, same};
    for (int i = 0; i < 8; i++) lego_destroy(all[i]);
}

/* ---- folding ----------------------------------------------------------------------------------------------------- */

static void folding_keeps_within_the_budget(void **unused)
{
    (void)unused;
    uint64_t state = 10;
    static struct truth truth;
    for (int m = 0; m < 2; m++) {
        lego_sketch *sketch = make_within(models[m], 400 << 10, 50 << 10);
        truth = (struct truth){0};
        feed(sketch, &truth, &state, 5000, false);
        uint64_t full = info_of(sketch).budget, top = info_of(sketch).top_bytes;
        for (uint64_t budget = 399 << 10; budget > 9000; budget = budget * 5 / 6) {
            lego_sketch *copy;
            assert_int_equal(lego_copy(sketch, &copy), LEGO_OK);
            lego_status status = lego_fold_within(copy, budget);
            if (m == 0) assert_int_equal(status, LEGO_OK);
            if (status == LEGO_OK) assert_true(bytes_of(copy) <= budget);
            if (status == LEGO_OK && budget >= full) assert_same(copy, sketch);
            if (status != LEGO_OK) assert_same(copy, sketch);
            assert_true(info_of(copy).top_bytes > 0 && info_of(copy).top_bytes <= top);
            check_top(copy, &truth);
            lego_destroy(copy);
        }
        lego_destroy(sketch);
    }
}

/* Of blocks by hand, the top keeps all its bytes. */
static int count_exact(void *context, const lego_top_item *item)
{
    *(int *)context += item->exact;
    return 0;
}

/* What a plain sketch has counted is what its bytes say, not how it came to them. */
static void a_plain_merge_depends_on_content_alone(void **unused)
{
    (void)unused;
    for (int m = 0; m < 2; m++)
        for (int touched = 0; touched < 2; touched++) {
            lego_sketch *a = make_within(models[m], 160000, 20000), *b, *loaded;
            lego_options options = LEGO_OPTIONS_INIT;
            options.model = lego_model_builtin(models[m]);
            options.seed = info_of(a).seed;
            assert_int_equal(lego_lab_create(&options, info_of(a).blocks, info_of(a).columns, &b), LEGO_OK);
            for (uint64_t i = 0; i < 50; i++) lego_add_u64(a, i, 10);
            lego_add_u64(b, 7, 5);
            lego_add_u64(b, 7, touched - 5); /* back to nothing, or to 1 */
            struct bytes saved = sketch_to_bytes(b);
            assert_int_equal(lego_load(saved.p, saved.size, NULL, &loaded), LEGO_OK);
            lego_sketch *other;
            assert_int_equal(lego_copy(a, &other), LEGO_OK);
            assert_int_equal(lego_merge(a, b), LEGO_OK);
            assert_int_equal(lego_merge(other, loaded), LEGO_OK);
            assert_same(a, other);
            int exact = 0;
            assert_int_equal(lego_top(a, SIZE_MAX, count_exact, &exact), LEGO_OK);
            assert_int_equal(exact, touched ? 0 : 50);
            free(saved.p);
            lego_destroy(a);
            lego_destroy(b);
            lego_destroy(loaded);
            lego_destroy(other);
        }
}

/* Where a little less is asked for the top does not lose more than half. */
static void a_top_keeps_its_share_in_a_fold(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_within("compact", 1 << 20, TOP_LINE + 416 * TOP_BUCKET);
    for (uint64_t i = 0; i < 20000; i++) lego_add_u64(sketch, i, i < 100 ? 1000 : 1);
    lego_info before = info_of(sketch);
    assert_int_equal(lego_fold_within(sketch, 1000000), LEGO_OK);
    assert_true(info_of(sketch).bytes <= 1000000);
    assert_true(info_of(sketch).top_bytes >= before.top_bytes / 2);
    lego_destroy(sketch);
}

static void folding_blocks_leaves_the_top(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    static struct truth truth;
    lego_sketch *sketch = make_top("compact", 48, 4000);
    feed(sketch, &truth, &state, 5000, false);
    for (uint32_t blocks = 24; blocks >= 3; blocks /= 2) {
        lego_info before = info_of(sketch);
        uint64_t exact = check_top(sketch, &truth);
        assert_int_equal(lego_fold(sketch, blocks), LEGO_OK);
        assert_int_equal(info_of(sketch).blocks, blocks);
        assert_int_equal(info_of(sketch).top_bytes, before.top_bytes);
        assert_int_equal(info_of(sketch).top_total, before.top_total);
        assert_int_equal(check_top(sketch, &truth), exact);
    }
    assert_int_equal(lego_fold(sketch, 2), LEGO_ERR_SHAPE);
    lego_destroy(sketch);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static int ignore(void *context, const lego_top_item *top)
{
    (void)context;
    (void)top;
    return 0;
}

static void a_plain_sketch_has_no_list(void **unused)
{
    (void)unused;
    for (int m = 0; m < 2; m++) {
        lego_sketch *plain = make_within(models[m], 160000, 0), *empty = make_within(models[m], 160000, 2000);
        assert_int_equal(lego_add_u64(plain, 1, 5), LEGO_OK);
        assert_int_equal(lego_top(plain, 10, ignore, NULL), LEGO_ERR_ARGUMENT);
        assert_int_equal(lego_top(empty, 10, ignore, NULL), LEGO_OK);
        lego_destroy(plain);
        lego_destroy(empty);
    }
}

static void sums_do_not_overflow(void **unused)
{
    (void)unused;
    for (int m = 0; m < 2; m++) {
        lego_sketch *sketch = make_within(models[m], 160000, 600), *before, *loaded;
        int64_t most = INT64_MAX / (int64_t)sketch->model->quantum, part = most / 100;
        for (uint64_t i = 0; i < 100; i++) /* few places, so that most of it goes on to blocks */
            assert_int_equal(lego_add_u64(sketch, i * UINT64_C(0x9e3779b97f4a7c15), part), LEGO_OK);
        assert_int_equal(lego_copy(sketch, &before), LEGO_OK);
        assert_int_equal(lego_add_u64(sketch, 1, part), LEGO_ERR_RANGE);
        assert_int_equal(lego_add_u64(sketch, 1, INT64_MIN), LEGO_ERR_RANGE);
        assert_int_equal(lego_merge(sketch, before), LEGO_ERR_RANGE);
        assert_same(sketch, before);
        assert_int_equal(info_of(sketch).total, part * 100);
        struct bytes bytes = sketch_to_bytes(sketch);
        assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &loaded), LEGO_OK);
        assert_int_equal(lego_add_u64(loaded, 1, part), LEGO_ERR_RANGE);
        free(bytes.p);
        lego_destroy(loaded);
        lego_destroy(sketch);
        lego_destroy(before);
    }
}

/* What is left of two parts that cancel out. With blocks each part has more bits than a double, which would make 0 of a
 * rest of 3 and 64 of 40. */
static void a_small_rest_of_large_parts_is_exact(void **unused)
{
    (void)unused;
    static const int64_t rests[] = {3, 40};
    for (int i = 0; i < 4; i++) {
        lego_sketch *sketch = make_within(models[i / 2], 160000, 8192);
        int64_t much = (INT64_C(1) << 60) / (int64_t)sketch->model->quantum, rest = rests[i % 2];
        struct resident one;
        lego_estimate e;
        assert_int_equal(lego_add_u64(sketch, 7, -much), LEGO_OK); /* goes to the light part */
        assert_int_equal(lego_add_u64(sketch, 7, much + rest), LEGO_OK);
        assert_true(top_find(&sketch->top, hash_u64(7, sketch->seed), (unsigned char[8]){7}, 8, &one));
        assert_true(one.flagged && one.votes == (uint64_t)(much + rest));
        assert_int_equal(lego_query_u64(sketch, 7, &e), LEGO_OK);
        assert_true(e.value == (double)rest && e.lower == rest && e.upper == rest);
        lego_destroy(sketch);
    }
}

/* After loading, and as a copy, it goes on as if nothing had been. */
static void loads_and_copies_go_on(void **unused)
{
    (void)unused;
    uint64_t state = 10;
    static struct truth truth, same;
    lego_sketch *sketch = make_within("compact", 40000, 5000), *others[2];
    feed(sketch, &truth, &state, 10000, false);
    struct bytes bytes = sketch_to_bytes(sketch);
    assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &others[0]), LEGO_OK);
    assert_int_equal(lego_copy(sketch, &others[1]), LEGO_OK);
    free(bytes.p);
    uint64_t again[2] = {state, state};
    feed(sketch, &truth, &state, 10000, false);
    for (int i = 0; i < 2; i++) {
        same = (struct truth){0};
        feed(others[i], &same, &again[i], 10000, false);
        assert_same(sketch, others[i]);
        lego_destroy(others[i]);
    }
    lego_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_holds),
        cmocka_unit_test(with_room_all_is_exact),
        cmocka_unit_test(a_top_grows),
        cmocka_unit_test(deleting_everything_leaves_nothing),
        cmocka_unit_test(the_top_is_found),
        cmocka_unit_test(batches_are_single_calls),
        cmocka_unit_test(long_calls_hold),
        cmocka_unit_test(loaded_ones_take_long_calls_alike),
        cmocka_unit_test(long_calls_may_fail),
        cmocka_unit_test(merged_sums_are_conserved),
        cmocka_unit_test(plain_merges_into_top),
        cmocka_unit_test(top_merges_into_plain),
        cmocka_unit_test(tops_of_unequal_size_merge),
        cmocka_unit_test(young_tops_merge_exactly),
        cmocka_unit_test(others_do_not_merge),
        cmocka_unit_test(folding_keeps_within_the_budget),
        cmocka_unit_test(folding_blocks_leaves_the_top),
        cmocka_unit_test(a_plain_merge_depends_on_content_alone),
        cmocka_unit_test(a_top_keeps_its_share_in_a_fold),
        cmocka_unit_test(a_plain_sketch_has_no_list),
        cmocka_unit_test(sums_do_not_overflow),
        cmocka_unit_test(a_small_rest_of_large_parts_is_exact),
        cmocka_unit_test(loads_and_copies_go_on),
    };
    return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
