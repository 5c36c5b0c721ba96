/* No memory to grow: whatever is done, whichever allocation fails, once or from then on, the sketch is what it was. */
#include "support.h"

/* Items whose blocks are next to each other when there are many: for room for a few, blocks double several times. */
static uint64_t crowded_item(uint64_t *state)
{
    for (;;) {
        uint64_t item = draw(state);
        if (spot_of(64, hash_u64(item, seed_of(0))).block == 0) return item;
    }
}

enum { KINDS = 6, FIRST = 25, N = 2000 };

/* A stream that makes a sketch grow: spread or crowded; with large counts; and with some negative. */
static struct stream_of stream_of_kind(int kind, uint64_t seed)
{
    uint64_t state = seed;
    struct stream_of s = make_stream(&state, N, 3000, kind % 3 == 1 ? 12 : 1, kind % 3 == 2);
    for (size_t i = 0; kind >= 3 && i < s.n; i++) s.items[i] = crowded_item(&state);
    return s;
}

struct scene {
    struct books books;
    lego_sketch *sketch, *other;
    struct stream_of s;
};

static void open_scene(struct scene *scene, int kind, uint64_t top)
{
    lego_allocator allocator = books_allocator(&scene->books);
    lego_options options = {300000, top, NULL, 0, &allocator, NULL};
    scene->s = stream_of_kind(kind, 1 + (uint64_t)kind);
    assert_int_equal(lego_create(&options, &scene->sketch), LEGO_OK);
    assert_int_equal(lego_create(&options, &scene->other), LEGO_OK);
    assert_int_equal(add_u64s(scene->sketch, scene->s.items, scene->s.counts, FIRST), LEGO_OK);
    assert_int_equal(add_u64s(scene->other, scene->s.items + FIRST, scene->s.counts + FIRST, N - FIRST), LEGO_OK);
}

static void close_scene(struct scene *scene)
{
    lego_destroy(scene->sketch);
    lego_destroy(scene->other);
    assert_int_equal(scene->books.now, 0);
    free_stream(&scene->s);
}

/* ---- what can fail ----------------------------------------------------------------------------------------------- */

static lego_status do_batch(struct scene *scene)
{
    return add_u64s(scene->sketch, scene->s.items + FIRST, scene->s.counts + FIRST, N - FIRST);
}

static lego_status do_small_batch(struct scene *scene)
{
    return add_u64s(scene->sketch, scene->s.items + FIRST, scene->s.counts + FIRST, 200);
}

static lego_status do_batch_of_ones(struct scene *scene)
{
    return add_u64s(scene->sketch, scene->s.items + FIRST, NULL, N - FIRST);
}

static lego_status do_merge(struct scene *scene)
{
    return lego_merge(scene->sketch, scene->other);
}

static lego_status do_self_merge(struct scene *scene)
{
    return lego_merge(scene->other, scene->other);
}

static lego_status do_subtract(struct scene *scene)
{
    return has_top(scene->sketch) ? lego_merge(scene->sketch, scene->other)
                                  : lego_subtract(scene->sketch, scene->other);
}

static lego_status do_merge_many(struct scene *scene)
{
    const lego_sketch *const from[] = {scene->other, scene->sketch, scene->other};
    const int64_t weights[] = {3, 2, 1};
    return lego_merge_many(scene->sketch, from, weights, 3);
}

static lego_status do_fold(struct scene *scene)
{
    return lego_fold(scene->other, info_of(scene->other).blocks / 4);
}

static lego_status do_copy(struct scene *scene)
{
    lego_sketch *copy = NULL;
    lego_status status = lego_copy(scene->other, &copy);
    assert_true((copy != NULL) == (status == LEGO_OK));
    lego_destroy(copy);
    return status;
}

static lego_status do_load(struct scene *scene)
{
    struct bytes bytes = sketch_to_bytes(scene->other);
    lego_sketch *loaded = NULL;
    lego_status status =
        lego_load(bytes.p, bytes.size, &(lego_options){.allocator = &scene->other->allocator}, &loaded);
    assert_true((loaded != NULL) == (status == LEGO_OK));
    lego_destroy(loaded);
    free(bytes.p);
    return status;
}

static lego_status (*const operations[])(struct scene *) = {do_batch,      do_small_batch, do_batch_of_ones, do_merge,
                                                            do_self_merge, do_subtract,    do_merge_many,    do_fold,
                                                            do_copy,       do_load};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void assert_bytes(const lego_sketch *sketch, const struct bytes *before)
{
    struct bytes now = sketch_to_bytes(sketch);
    assert_int_equal(now.size, before->size);
    assert_memory_equal(now.p, before->p, now.size);
    free(now.p);
    lego_destroy(reload(sketch));
}

/* The k-th allocation fails, and `more` after it. Then it is tried again, and all is as if it had not failed. */
static bool fails_at(lego_status (*operation)(struct scene *), int kind, uint64_t top, long k, long more)
{
    struct scene scene, plain;
    open_scene(&scene, kind, top);
    open_scene(&plain, kind, top);
    struct bytes one = sketch_to_bytes(scene.sketch), two = sketch_to_bytes(scene.other);
    uint64_t mass = scene.sketch->mass;
    scene.books.calls = 0;
    scene.books.fail_at = k;
    scene.books.more = more;
    lego_status status = operation(&scene);
    scene.books.fail_at = 0;
    bool failed = status != LEGO_OK;
    if (failed) {
        assert_int_equal(status, LEGO_ERR_MEMORY);
        assert_bytes(scene.sketch, &one);
        assert_bytes(scene.other, &two);
        assert_true(scene.sketch->mass == mass);
        assert_int_equal(operation(&scene), LEGO_OK);
    }
    assert_int_equal(operation(&plain), LEGO_OK);
    assert_same(scene.sketch, plain.sketch);
    assert_same(scene.other, plain.other);
    close_scene(&scene);
    close_scene(&plain);
    free(one.p);
    free(two.p);
    return failed;
}

/* Until it succeeds without any failure: a batch does without its parts, so one that is refused may not matter. */
static void check_operations(uint64_t top)
{
    unsigned all = 0;
    for (int kind = 0; kind < KINDS; kind += top || !FULL ? 2 : 1)
        for (int o = 0; o < OPERATIONS; o++)
            for (long more = 0; more <= 1000; more += 1000) {
                unsigned failures = 0, successes = 0;
                for (long k = 1; successes < 3; k++) {
                    bool failed = fails_at(operations[o], kind, top, k, more);
                    failures += failed;
                    successes += !failed;
                }
                assert_true(failures >= 1 || top); /* with a top a few crowded items make all blocks come */
                all += failures;
            }
    assert_true(all > 100);
}

static void growing_may_fail(void **unused)
{
    (void)unused;
    check_operations(0);
}

static void growing_with_a_top_may_fail(void **unused)
{
    (void)unused;
    check_operations(6000);
}

/* Adds an item, with the first allocation refused, then the second, ... until it succeeds; returns how many were. */
static unsigned add_at_last(struct scene *scene, size_t i)
{
    bool grows = blocks_grow(&scene->sketch->blocks);
    struct bytes before = {NULL, 0};
    if (grows) before = sketch_to_bytes(scene->sketch);
    for (long k = 1;; k++) {
        scene->books.fail_at = grows ? scene->books.calls + k : 0;
        lego_status status = lego_add_u64(scene->sketch, scene->s.items[i], scene->s.counts[i]);
        scene->books.fail_at = 0;
        if (status != LEGO_OK) {
            assert_int_equal(status, LEGO_ERR_MEMORY);
            assert_bytes(scene->sketch, &before);
            continue;
        }
        free(before.p);
        return (unsigned)k - 1;
    }
}

/* Single additions. */
static void single_additions_may_fail(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++)
        for (uint64_t top = 0; top <= 6000; top += 6000) {
            struct scene scene;
            unsigned failures = 0;
            open_scene(&scene, kind, top);
            bool grew = !blocks_grow(&scene.sketch->blocks);
            lego_sketch *plain;
            scene.sketch->allocator = allocator_or_default(NULL); /* a copy that the books do not see */
            assert_int_equal(lego_copy(scene.sketch, &plain), LEGO_OK);
            scene.sketch->allocator = scene.other->allocator;
            for (size_t i = FIRST; i < N; i++) {
                failures += add_at_last(&scene, i);
                assert_int_equal(lego_add_u64(plain, scene.s.items[i], scene.s.counts[i]), LEGO_OK);
            }
            assert_same(scene.sketch, plain);
            assert_true(failures >= 1 || grew);
            lego_destroy(plain);
            close_scene(&scene);
        }
}

/* ---- on several threads ------------------------------------------------------------------------------------------ */

/* A sketch of some blocks, so that threads have some each, and many items for the last of these: all of them stop when
 * one must have more. */
static void threads_may_fail_to_grow(void **unused)
{
    (void)unused;
    enum { SPREAD = 3000, CROWD = 40000 };
    static uint64_t items[SPREAD + CROWD];
    uint64_t state = 7;
    for (size_t i = 0; i < SPREAD; i++) items[i] = draw(&state);
    for (size_t i = SPREAD; i < SPREAD + CROWD; i++) {
        do items[i] = draw(&state);
        while (spot_of(64, hash_u64(items[i], seed_of(0))).block < 40);
    }
    for (unsigned failures = 0, failed = 1; failed; failures += failed) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_options options = {4800000, 0, NULL, 0, &allocator, NULL};
        lego_sketch *sketch, *plain;
        assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
        options.allocator = NULL;
        assert_int_equal(lego_create(&options, &plain), LEGO_OK);
        lego_set_threads(sketch, 3);
        assert_int_equal(add_u64s(sketch, items, NULL, SPREAD), LEGO_OK);
        struct bytes before = sketch_to_bytes(sketch);
        books.fail_at = books.calls + 2 + (long)failures; /* the first is for the parts */
        lego_status status = add_u64s(sketch, items + SPREAD, NULL, CROWD);
        books.fail_at = 0;
        failed = status != LEGO_OK;
        if (failed) {
            assert_int_equal(status, LEGO_ERR_MEMORY);
            assert_bytes(sketch, &before);
            assert_int_equal(add_u64s(sketch, items + SPREAD, NULL, CROWD), LEGO_OK);
        }
        assert_int_equal(add_u64s(plain, items, NULL, SPREAD + CROWD), LEGO_OK);
        assert_same(sketch, plain);
        assert_true(failed || failures >= 2);
        free(before.p);
        lego_destroy(sketch);
        lego_destroy(plain);
        assert_int_equal(books.now, 0);
    }
}

/* Clearing gives memory back if it can have the little that an empty sketch takes, and never fails. */
static void clear_never_fails(void **unused)
{
    (void)unused;
    for (uint64_t top = 0; top <= 6000; top += 6000)
        for (long k = 0; k <= 3; k++) {
            struct scene scene;
            open_scene(&scene, 0, top);
            lego_options options = {300000, top, NULL, 0, NULL, NULL};
            lego_sketch *empty;
            assert_int_equal(lego_create(&options, &empty), LEGO_OK);
            scene.books.calls = 0;
            scene.books.fail_at = k;
            lego_clear(scene.other);
            scene.books.fail_at = 0;
            assert_same(scene.other, empty);
            if (k == 0) assert_int_equal(info_of(scene.other).bytes, info_of(empty).bytes);
            assert_int_equal(lego_merge(scene.other, scene.sketch), LEGO_OK);
            assert_int_equal(lego_merge(empty, scene.sketch), LEGO_OK);
            assert_same(scene.other, empty);
            lego_destroy(empty);
            close_scene(&scene);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_may_fail),          cmocka_unit_test(growing_with_a_top_may_fail),
        cmocka_unit_test(single_additions_may_fail), cmocka_unit_test(threads_may_fail_to_grow),
        cmocka_unit_test(clear_never_fails),
    };
    return cmocka_run_group_tests_name("growth faults", tests, NULL, NULL);
}
