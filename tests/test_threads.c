/* Several threads: the same bytes whatever their number, and readers beside each other. */
#include <pthread.h>
#include <sched.h>

#include "support.h"

static void thread_count_does_not_matter(void **unused)
{
    (void)unused;
    static const uint32_t shapes[][2] = {{1, 64}, {7, 128}, {16, 320}, {32, 1024}, {8, 64}};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint64_t state = seed;
        const uint32_t *shape = shapes[seed % 5];
        size_t n = 32768 + draw_below(&state, 60000);
        struct stream_of s = make_stream(&state, n, 1 + draw_below(&state, 50000), (unsigned)(seed % 8), false);
        lego_sketch *one = make(shape[0], shape[1], NULL);
        const int64_t *counts = seed % 3 ? s.counts : NULL;
        assert_int_equal(add_u64s(one, s.items, counts, n), LEGO_OK);
        for (unsigned threads = 2; threads <= 5; threads++) {
            lego_sketch *many = make(shape[0], shape[1], NULL);
            lego_set_threads(many, threads);
            assert_int_equal(add_u64s(many, s.items, counts, n), LEGO_OK);
            assert_same(one, many);

            lego_estimate *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
            assert_true(a && b);
            query_u64s(one, s.items, n, a);
            query_u64s(many, s.items, n, b);
            assert_memory_equal(a, b, n * sizeof *a);
            free(a);
            free(b);
            lego_destroy(many);
        }
        lego_destroy(one);
        free_stream(&s);
    }
}

struct reader {
    const lego_sketch *sketch;
    lego_estimate estimates[200];
    lego_lab_scan scan;
};

static void *read_all(void *argument)
{
    struct reader *reader = argument;
    for (uint64_t i = 0; i < 200; i++) lego_query_u64(reader->sketch, i, &reader->estimates[i]);
    lego_lab_scan_brick(reader->sketch, 0, &reader->scan);
    return NULL;
}

/* All start with an empty cache of scans and fill it at the same time; the answers must not show it. */
static void readers_do_not_disturb_each_other(void **unused)
{
    (void)unused;
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &model), LEGO_OK);
    lego_sketch *sketch = make(4, 640, model);
    static struct reader alone, readers[4];
    for (uint64_t i = 0; i < 3000; i++) lego_add_u64(sketch, i, (int64_t)(3000 / (i + 1) + 1));
    alone.sketch = sketch;
    read_all(&alone);
    for (int round = 0; round < 20; round++) {
        pthread_t threads[4];
        lego_add_u64(sketch, 9, 1);  /* makes the caches stale, */
        lego_add_u64(sketch, 9, -1); /* not the content different */
        for (uint64_t i = 0; i < 200; i++) lego_add_u64(sketch, i, 0);
        for (int t = 0; t < 4; t++) {
            readers[t].sketch = sketch;
            assert_int_equal(pthread_create(&threads[t], NULL, read_all, &readers[t]), 0);
        }
        for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
        for (int t = 0; t < 4; t++) {
            assert_memory_equal(readers[t].estimates, alone.estimates, sizeof alone.estimates);
            assert_memory_equal(&readers[t].scan, &alone.scan, sizeof alone.scan);
        }
    }
    lego_destroy(sketch);
    lego_model_destroy(model);
    free(file.p);
}

/* What a sketch that keeps its most frequent items counts aside is counted by all threads; questions are cut into
 * shares. */
static void thread_count_does_not_matter_to_the_top(void **unused)
{
    (void)unused;
    enum { N = 100000 };
    uint64_t state = 3;
    struct stream_of s = make_stream(&state, N, 30000, 2, false);
    lego_estimate *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    for (int m = 0; m < 2; m++) {
        lego_sketch *one = make_within(m ? "paper" : "compact", 100 << 10, 12 << 10);
        assert_int_equal(add_u64s(one, s.items, s.counts, N), LEGO_OK);
        assert_int_equal(query_u64s(one, s.items, N, a), LEGO_OK);
        for (unsigned threads = 2; threads <= 5; threads++) {
            lego_sketch *many = make_within(m ? "paper" : "compact", 100 << 10, 12 << 10);
            lego_set_threads(many, threads);
            assert_int_equal(add_u64s(many, s.items, s.counts, N), LEGO_OK);
            assert_same(one, many);
            memset(b, 0, N * sizeof *b);
            assert_int_equal(query_u64s(many, s.items, N, b), LEGO_OK);
            assert_memory_equal(a, b, N * sizeof *a);
            lego_destroy(many);
        }
        lego_destroy(one);
    }
    free(a);
    free(b);
    free_stream(&s);
}

/* ---- bytes that change while they are loaded --------------------------------------------------------------------- */

/* Whatever was loaded is a sketch in its own right: it can be saved, loaded again, asked and merged. */
static void check_loaded(lego_sketch *sketch)
{
    lego_sketch *again;
    lego_estimate e;
    struct bytes bytes = sketch_to_bytes(sketch);
    assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &again), LEGO_OK);
    assert_same(sketch, again);
    for (uint64_t i = 0; i < 20; i++) assert_int_equal(lego_query_u64(sketch, i, &e), LEGO_OK);
    assert_int_equal(lego_merge(again, sketch), LEGO_OK);
    free(bytes.p);
    lego_destroy(again);
}

static lego_sketch *sketch_of_kind(int kind)
{
    lego_options options = {0, kind & 2 ? 1024 : 0, lego_model_builtin(kind & 1 ? "paper" : "compact"), 0, NULL, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, 3, kind & 1 ? 32 : 0, &sketch), LEGO_OK);
    for (uint64_t i = 0; i < 1200; i++) assert_int_equal(lego_add_u64(sketch, i % 400, (int64_t)i), LEGO_OK);
    return sketch;
}

/* An allocator that spoils a byte: lego_load() has seen head, length and checksum when it asks for memory. */
struct spoiler {
    unsigned char *byte, change;
};

static void *spoiling_alloc(void *context, size_t size)
{
    struct spoiler *spoiler = context;
    *spoiler->byte ^= spoiler->change;
    spoiler->change = 0;
    return malloc(size);
}

static void plain_free(void *context, void *p, size_t size)
{
    (void)context;
    (void)size;
    free(p);
}

static void bytes_that_change_after_the_checksum_are_checked(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        lego_sketch *sketch = sketch_of_kind(kind), *loaded;
        struct bytes file = sketch_to_bytes(sketch);
        unsigned refused = 0;
        for (size_t at = 0; at < file.size; at += FULL ? 1 : 3) {
            unsigned char change = (unsigned char)(1 << at % 8);
            struct spoiler spoiler = {file.p + at, change};
            lego_allocator allocator = {spoiling_alloc, plain_free, &spoiler};
            lego_status status = lego_load(file.p, file.size, &(lego_options){.allocator = &allocator}, &loaded);
            assert_true(status == LEGO_OK || status == LEGO_ERR_CORRUPT || status == LEGO_ERR_TRUNCATED);
            if (status == LEGO_OK) check_loaded(loaded);
            if (status == LEGO_OK) lego_destroy(loaded);
            refused += status != LEGO_OK;
            file.p[at] ^= change;
        }
        assert_true(refused > 10); /* cells of bricks, and a head that was read, may be anything */
        lego_destroy(sketch);
        free(file.p);
    }
}

/* A thread that writes all over the file, and makes it whole again. */
struct spoilt {
    struct bytes file;
    unsigned char *good;
    atomic_bool stop;
};

static void *spoil(void *argument)
{
    struct spoilt *spoilt = argument;
    volatile unsigned char *p = spoilt->file.p;
    for (uint64_t state = 1; !atomic_load(&spoilt->stop); sched_yield()) {
        size_t first = draw_below(&state, 8) ? 76 : 0, at = first + draw_below(&state, spoilt->file.size - first);
        p[at] = (unsigned char)draw(&state);
        for (volatile uint64_t left = draw_below(&state, 2000); left > 0; left--) continue;
        p[at] = spoilt->good[at];
    }
    return NULL;
}

static void bytes_may_change_while_they_are_loaded(void **unused)
{
    (void)unused;
#if defined __SANITIZE_THREAD__
    skip(); /* the race is the point */
#endif
    for (int kind = 0; kind < 4; kind++) {
        lego_sketch *sketch = sketch_of_kind(kind), *loaded;
        struct spoilt spoilt = {.file = sketch_to_bytes(sketch)};
        spoilt.good = malloc(spoilt.file.size);
        memcpy(spoilt.good, spoilt.file.p, spoilt.file.size);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, spoil, &spoilt), 0);
        for (int round = 0; round < ROUNDS(2000); round++) {
            lego_status status = lego_load(spoilt.file.p, spoilt.file.size, NULL, &loaded);
            if (status == LEGO_OK) check_loaded(loaded);
            if (status == LEGO_OK) lego_destroy(loaded);
            else sched_yield();
        }
        atomic_store(&spoilt.stop, true);
        pthread_join(thread, NULL);
        assert_int_equal(lego_load(spoilt.file.p, spoilt.file.size, NULL, &loaded), LEGO_OK);
        assert_same(loaded, sketch);
        lego_destroy(loaded);
        free(spoilt.good);
        free(spoilt.file.p);
        lego_destroy(sketch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_count_does_not_matter),
        cmocka_unit_test(readers_do_not_disturb_each_other),
        cmocka_unit_test(thread_count_does_not_matter_to_the_top),
        cmocka_unit_test(bytes_that_change_after_the_checksum_are_checked),
        cmocka_unit_test(bytes_may_change_while_they_are_loaded),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
