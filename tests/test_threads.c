/* Several threads: the same bytes whatever their number, and readers beside each other. */
#include <pthread.h>

#include "support.h"

static void thread_count_does_not_matter(void **unused)
{
    (void)unused;
    static const uint32_t shapes[][3] = {{1, 64, 8}, {7, 128, 8}, {16, 320, 8}, {32, 1024, 8}, {8, 64, 16}};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t state = seed;
        const uint32_t *shape = shapes[seed % 5];
        size_t n = 32768 + draw_below(&state, 60000);
        struct stream_of s = make_stream(&state, n, 1 + draw_below(&state, 50000), (unsigned)(seed % 8), false);
        lego_sketch *one = make(shape[0], shape[1], shape[2], NULL);
        const int64_t *counts = seed % 3 ? s.counts : NULL;
        assert_int_equal(add_u64s(one, s.items, counts, n), LEGO_OK);
        for (unsigned threads = 2; threads <= 5; threads++) {
            lego_sketch *many = make(shape[0], shape[1], shape[2], NULL);
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
    lego_scan scan;
};

static void *read_all(void *argument)
{
    struct reader *reader = argument;
    for (uint64_t i = 0; i < 200; i++) lego_query_u64(reader->sketch, i, &reader->estimates[i]);
    lego_sketch_scan(reader->sketch, 0, &reader->scan);
    return NULL;
}

/* All start with an empty cache of scans and fill it at the same time; the answers must not show it. */
static void readers_do_not_disturb_each_other(void **unused)
{
    (void)unused;
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &model), LEGO_OK);
    lego_sketch *sketch = make(4, 640, 32, model);
    static struct reader alone, readers[4];
    for (uint64_t i = 0; i < 3000; i++) lego_add_u64(sketch, i, (int64_t)(3000 / (i + 1) + 1));
    alone.sketch = sketch;
    read_all(&alone);
    for (int round = 0; round < 20; round++) {
        pthread_t threads[4];
        lego_add_u64(sketch, 9, 1); /* makes the caches stale, */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_count_does_not_matter),
        cmocka_unit_test(readers_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
