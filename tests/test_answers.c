/* What an answer of the compact model promises: bounds, and that it follows from the bytes alone. */
#include <math.h>
#include <pthread.h>

#include "support.h"

static lego_sketch *sketch_within(uint64_t budget, uint64_t seed)
{
    lego_options options = {budget, 0, NULL, seed, NULL, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    return sketch;
}

enum { ITEMS = 20000, SHAPES = 6 };

static int64_t frequency(int shape, uint64_t i)
{
    static const double alpha[] = {0.5, 0.9, 1.3};
    if (shape < 3) return llround(pow((ITEMS + 1.0) / (double)(i + 2), alpha[shape]));
    if (shape == 3) return 1;                          /* all once */
    if (shape == 4) return i == 0 ? 99 * ITEMS : 1;    /* one item is 99 % of the stream */
    return i % 100 == 0 ? 5000 : (int64_t)(i % 3) + 1; /* a flat body and a heavy head */
}

struct held {
    uint32_t asked, lower, likely, absent, keeping;
};

static void check_bounds(const lego_sketch *sketch, int shape, struct held *held)
{
    const bool keeps = sketch->blocks.keeps, whole = is_whole(sketch);
    for (uint64_t i = 0; i < ITEMS; i += i < 100 ? 1 : 7) {
        const int64_t count = frequency(shape, i);
        lego_estimate e;
        lego_query_u64(sketch, i, &e);
        assert_true(e.upper >= count);
        assert_true(e.lower >= 0 && (double)e.lower <= e.value && e.value <= (double)e.likely && e.likely <= e.upper);
        if (!keeps) assert_true(e.lower == e.upper && e.likely == e.upper && e.value == (double)e.upper);
        if (whole) assert_int_equal(e.upper, count);
        held->asked++;
        held->keeping += keeps;
        held->lower += e.lower <= count;
        held->likely += e.likely >= count;
        lego_query_u64(sketch, ITEMS + i, &e);
        held->absent += e.lower <= 0;
    }
}

static void bounds_hold(void **unused)
{
    (void)unused;
    static const uint64_t budgets[] = {4096, 10000, 20000, 30000, 40000, 60000, 80000, 160000, 1 << 20};
    struct held all = {0};
    for (int shape = 0; shape < SHAPES; shape++)
        for (int b = 0; b < 9; b++) {
            struct held held = {0};
            lego_sketch *sketch = sketch_within(budgets[b], (uint64_t)b);
            for (uint64_t i = 0; i < ITEMS; i++)
                assert_int_equal(lego_add_u64(sketch, i, frequency(shape, i)), LEGO_OK);
            check_bounds(sketch, shape, &held);
            if (held.lower < 0.99 * held.asked || held.absent < 0.99 * held.asked || held.likely < 0.985 * held.asked)
                fail_msg("shape %d in %lu: %u asked, lower right for %u, of absent ones %u, likely for %u", shape,
                         (unsigned long)budgets[b], held.asked, held.lower, held.absent, held.likely);
            all.asked += held.asked;
            all.keeping += held.keeping;
            all.likely += held.likely;
            lego_destroy(sketch);
        }
    assert_true(all.keeping > 10000 && all.asked - all.keeping > 10000);
    assert_true(all.likely >= 0.99 * all.asked);
}

/* Answers follow from the bytes: what was done before, and asked before, does not show. */
static void assert_answers(const lego_sketch *sketch)
{
    lego_sketch *fresh = reload(sketch);
    for (uint64_t i = 0; i < 100; i++) {
        lego_estimate a, b;
        lego_query_u64(sketch, i, &a);
        lego_query_u64(fresh, i, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
    lego_destroy(fresh);
}

static void answers_follow_from_the_bytes(void **unused)
{
    (void)unused;
    enum { BATCH = 40000 };
    static uint64_t keys[BATCH];
    for (uint64_t i = 0; i < BATCH; i++) keys[i] = i % 30000;
    static const uint32_t numbers[] = {200, 1, 3, 24, 60, 15}; /* one and many */
    for (uint64_t seed = 1; seed <= ROUNDS(12); seed++) {
        uint64_t state = seed;
        uint32_t blocks = numbers[seed % 6];
        struct stream_of s = make_stream(&state, 2000, 1000, (unsigned)seed, seed % 3 == 0);
        lego_sketch *a = make(blocks, 0, NULL), *b = make(blocks, 0, NULL), *copy;
        assert_answers(a);
        for (size_t i = 0; i < s.n; i++) { /* one at a time, with questions in between */
            assert_int_equal(lego_add_u64(a, s.items[i], s.counts[i]), LEGO_OK);
            if (i % 200 == 0) assert_answers(a);
        }
        assert_answers(a);
        assert_int_equal(add_u64s(b, keys, NULL, 1000), LEGO_OK);
        assert_answers(b);
        lego_set_threads(b, 3);
        assert_int_equal(add_u64s(b, keys, NULL, BATCH), LEGO_OK);
        assert_answers(b);
        assert_int_equal(lego_add(b, "item", 4, 1000), LEGO_OK);
        assert_answers(b);
        assert_int_equal(lego_copy(a, &copy), LEGO_OK);
        assert_answers(copy);
        assert_int_equal(lego_merge(copy, b), LEGO_OK);
        assert_answers(copy);
        assert_int_equal(lego_subtract(copy, a), LEGO_OK);
        assert_answers(copy);
        assert_int_equal(lego_merge(copy, copy), LEGO_OK);
        assert_answers(copy);
        if (blocks > 1) assert_int_equal(lego_fold(copy, blocks % 2 ? 1 : blocks / 2), LEGO_OK);
        assert_answers(copy);
        lego_clear(copy);
        assert_answers(copy);
        assert_int_equal(lego_merge(b, copy), LEGO_OK); /* of unequal shape, but with nothing in it */
        assert_answers(b);
        lego_sketch *all[] = {a, b, copy};
        for (int i = 0; i < 3; i++) lego_destroy(all[i]);
        free_stream(&s);
    }
}

enum { ASKED = 20000 };

static void ask_singly(const lego_sketch *sketch, lego_estimate *answers)
{
    for (uint64_t i = 0; i < ASKED; i++) assert_int_equal(lego_query_u64(sketch, i, &answers[i]), LEGO_OK);
}

static void ask_together(lego_sketch *sketch, unsigned threads, lego_estimate *answers)
{
    static uint64_t items[ASKED];
    for (uint64_t i = 0; i < ASKED; i++) items[i] = i;
    lego_set_threads(sketch, threads);
    assert_int_equal(query_u64s(sketch, items, ASKED, answers), LEGO_OK);
}

/* Of a sketch that was asked before its last change: singly and together, by one thread and by four, itself, its copy
 * and what its file gives. */
static void assert_fresh(lego_sketch *sketch)
{
    static lego_estimate answers[ASKED], others[ASKED];
    lego_sketch *copy, *loaded[] = {reload(sketch), reload(sketch), reload(sketch)};
    ask_singly(loaded[0], answers);
    assert_int_equal(lego_copy(sketch, &copy), LEGO_OK);
    lego_sketch *const asked[] = {copy, loaded[1], loaded[2], sketch, sketch, copy};
    static const unsigned threads[] = {0, 1, 4, 0, 1, 4}; /* 0: singly */
    for (unsigned i = 0; i < 6; i++) {
        if (threads[i] > 0) ask_together(asked[i], threads[i], others);
        else ask_singly(asked[i], others);
        assert_memory_equal(others, answers, sizeof answers);
    }
    lego_destroy(copy);
    for (unsigned i = 0; i < 3; i++) lego_destroy(loaded[i]);
}

/* Whoever asks, and has asked before: items that many asked for at once, in a sketch that changes in between. */
static void it_does_not_matter_how_one_asks(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make(70, 0, NULL);
    uint64_t state = 3;
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < ASKED; i++) {
            const uint64_t item = draw_below(&state, 1 + draw_below(&state, ASKED));
            assert_int_equal(lego_add_u64(sketch, item, 1 + 3000 / (int64_t)(1 + item)), LEGO_OK);
        }
        assert_fresh(sketch);
    }
    assert_true(sketch->blocks.keeps);
    lego_destroy(sketch);
}

struct reader {
    const lego_sketch *sketch;
    lego_estimate estimates[200];
};

static void *read_all(void *argument)
{
    struct reader *reader = argument;
    for (uint64_t i = 0; i < 200; i++) lego_query_u64(reader->sketch, i, &reader->estimates[i]);
    return NULL;
}

/* Who only reads changes nothing: four at a time have the answers of one alone. */
static void readers_do_not_disturb_each_other(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make(10, 0, NULL);
    static struct reader alone, readers[4];
    for (uint64_t i = 0; i < 5000; i++) lego_add_u64(sketch, i, (int64_t)(5000 / (i + 1) + 1));
    assert_true(block_keeps(sketch->blocks.block));
    for (int round = 0; round < 20; round++) {
        pthread_t threads[4];
        lego_sketch *copy;
        for (uint64_t i = 0; i < (round % 2 ? 3 : 200); i++) lego_add_u64(sketch, i, 1);
        assert_int_equal(lego_copy(sketch, &copy), LEGO_OK);
        alone.sketch = copy;
        read_all(&alone);
        lego_destroy(copy);
        for (int t = 0; t < 4; t++) {
            readers[t].sketch = sketch;
            assert_int_equal(pthread_create(&threads[t], NULL, read_all, &readers[t]), 0);
        }
        for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
        for (int t = 0; t < 4; t++) assert_memory_equal(readers[t].estimates, alone.estimates, sizeof alone.estimates);
    }
    lego_destroy(sketch);
}

static void upper_holds_while_items_come_and_go(void **unused)
{
    (void)unused;
    enum { FEW = 300 };
    for (uint64_t seed = 1; seed <= ROUNDS(100); seed++) {
        uint64_t state = seed;
        int64_t truth[FEW] = {0};
        lego_sketch *sketch = make(1 + (uint32_t)draw_below(&state, 4), 0, NULL);
        for (int step = 0; step < 1000; step++) {
            uint64_t i = draw_below(&state, FEW);
            int64_t count = draw_count(&state, 6);
            if (draw_below(&state, 2)) count = -(int64_t)draw_below(&state, (uint64_t)truth[i] + 1);
            assert_int_equal(lego_add_u64(sketch, i, count), LEGO_OK);
            truth[i] += count;
        }
        for (uint64_t i = 0; i < FEW; i++) {
            lego_estimate e;
            lego_query_u64(sketch, i, &e);
            assert_true(e.upper >= truth[i]);
        }
        lego_destroy(sketch);
    }
}

static void short_streams_are_exact(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < ROUNDS(20); seed++) {
        lego_sketch *sketch = sketch_within(300 * 1024, seed); /* room for 35,000 items with whole keys */
        for (uint64_t i = 0; i < 1000; i++) lego_add_u64(sketch, i, (int64_t)(1 + i % 7 + (i % 50 == 0 ? i * i : 0)));
        for (uint64_t i = 0; i < 1000; i++) {
            lego_estimate e;
            lego_query_u64(sketch, i, &e);
            assert_int_equal(e.upper, 1 + i % 7 + (i % 50 == 0 ? i * i : 0));
        }
        lego_destroy(sketch);
    }
}

/* Ten million counts in batches on two threads, some of them huge, on few items. */
static void a_long_stream(void **unused)
{
    (void)unused;
    enum { BATCHES = FULL ? 100 : 4, N = 100000, DOMAIN = 1 << 20 };
    static uint64_t items[N];
    static int64_t counts[N], truth[DOMAIN];
    uint64_t state = 9;
    int64_t total = 0;
    lego_sketch *sketch = sketch_within(512 * 1024, 0);
    lego_set_threads(sketch, 2);
    for (int batch = 0; batch < BATCHES; batch++) {
        for (size_t i = 0; i < N; i++) {
            items[i] = draw_below(&state, 1 + draw_below(&state, 1 + draw_below(&state, DOMAIN)));
            counts[i] = i % 10000 == 0 ? (INT64_C(1) << 50) + (int64_t)draw_below(&state, 1 << 20) : 1;
            if (counts[i] > 1) items[i] = 7919 * (1 + draw_below(&state, 5));
            truth[items[i]] += counts[i];
            total += counts[i];
        }
        assert_int_equal(add_u64s(sketch, items, counts, N), LEGO_OK);
    }
    lego_info info;
    lego_describe(sketch, &info);
    assert_int_equal(info.total, total);
    assert_int_equal(info.columns, 0);
    assert_int_equal(info.blocks, sketch->blocks.most);
    lego_estimate e;
    for (uint64_t i = 0; i < DOMAIN; i += i < 1000 ? 1 : 29) {
        lego_query_u64(sketch, i, &e);
        assert_true(e.upper >= truth[i]);
    }
    for (uint64_t i = 1; i <= 5; i++) { /* 2^52 and more: they are listed */
        lego_query_u64(sketch, 7919 * i, &e);
        assert_true(fabs(e.value - (double)truth[7919 * i]) < BATCHES * N);
    }
    lego_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_follow_from_the_bytes),
        cmocka_unit_test(it_does_not_matter_how_one_asks),
        cmocka_unit_test(readers_do_not_disturb_each_other),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(upper_holds_while_items_come_and_go),
        cmocka_unit_test(short_streams_are_exact),
        cmocka_unit_test(a_long_stream),
    };
    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
