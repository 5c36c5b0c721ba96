/* Every allocation and every write made to fail in turn: a clean error, nothing leaked, nothing changed. */
#include "support.h"

/* Of bricks, and of blocks. */
static const char *const models[] = {"paper", "compact"};
enum { MODELS = 2 };

/* Two sketches of unequal shape, so that a merge and a fold allocate. */
struct pair {
    lego_sketch *large, *small;
};

static lego_status make_pair(const lego_allocator *allocator, int model, struct pair *pair)
{
    lego_options options = {0, 0, lego_model_builtin(models[model]), 0, allocator, NULL};
    uint32_t columns = has_blocks(options.model) ? 0 : 64;
    *pair = (struct pair){NULL, NULL};
    lego_status status = lego_lab_create(&options, 8, columns, &pair->large);
    if (status != LEGO_OK) return status;
    status = lego_lab_create(&options, 4, columns, &pair->small);
    for (uint64_t i = 0; status == LEGO_OK && i < 2000; i++) { /* so many that blocks keep the heaviest */
        status = lego_add_u64(pair->large, i, 3);
        if (status == LEGO_OK) status = lego_add_u64(pair->small, i, 5);
    }
    if (status == LEGO_OK && !columns) assert_true(info_of(pair->large).keeping == 1);
    return status;
}

static void destroy_pair(struct pair *pair)
{
    lego_destroy(pair->large);
    lego_destroy(pair->small);
}

static lego_status do_merge(struct pair *pair)
{
    return lego_merge(pair->large, pair->small);
}

static lego_status do_self_merge(struct pair *pair)
{
    return lego_merge(pair->large, pair->large);
}

/* Of shapes that are not into's, once and several times. */
static lego_status do_merge_many(struct pair *pair)
{
    const lego_sketch *const from[] = {pair->small, pair->large, pair->small};
    const int64_t weights[] = {2, 1, 3};
    return lego_merge_many(pair->large, from, weights, 3);
}

static lego_status do_merge_into_small(struct pair *pair)
{
    const lego_sketch *const from[] = {pair->small, pair->small};
    return lego_merge_many(pair->large, from, NULL, 2);
}

static lego_status do_fold(struct pair *pair)
{
    return lego_fold(pair->large, 2);
}

static lego_status do_fold_within(struct pair *pair)
{
    lego_sketch *large = pair->large; /* at least 4096 bytes are asked of a budget */
    return bytes_of(large) <= LEGO_BUDGET_MIN ? lego_fold(large, 1) : lego_fold_within(large, LEGO_BUDGET_MIN);
}

static lego_status do_copy(struct pair *pair)
{
    lego_sketch *copy = NULL;
    lego_status status = lego_copy(pair->large, &copy);
    assert_true((copy != NULL) == (status == LEGO_OK));
    lego_destroy(copy);
    return status;
}

static lego_status do_load(struct pair *pair)
{
    struct bytes bytes = sketch_to_bytes(pair->large);
    lego_sketch *loaded = NULL;
    lego_status status = lego_load(bytes.p, bytes.size, &(lego_options){.allocator = &pair->large->allocator}, &loaded);
    assert_true((loaded != NULL) == (status == LEGO_OK));
    lego_destroy(loaded);
    free(bytes.p);
    return status;
}

static lego_status do_load_model(struct pair *pair)
{
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model = NULL;
    lego_status status = lego_model_load(file.p, file.size, &pair->large->allocator, &model);
    assert_true((model != NULL) == (status == LEGO_OK));
    lego_model_destroy(model);
    free(file.p);
    return status;
}

/* The operation with its first, second, ... allocation refused, until it goes through. */
static void refuse_allocations(int model, lego_status (*operation)(struct pair *))
{
    lego_status status = LEGO_ERR_MEMORY;
    long failures = 0;
    for (long at = 1; status != LEGO_OK; at++) {
        struct books books;
        struct pair pair;
        lego_allocator allocator = books_allocator(&books);
        assert_int_equal(make_pair(&allocator, model, &pair), LEGO_OK);
        lego_sketch *large, *small;
        lego_allocator plain = allocator_or_default(NULL);
        pair.large->allocator = pair.small->allocator = plain; /* copies that the books do not see */
        lego_copy(pair.large, &large);
        lego_copy(pair.small, &small);
        pair.large->allocator = pair.small->allocator = allocator;

        size_t before = books.now;
        books.calls = 0;
        books.fail_at = at;
        status = operation(&pair);
        if (status != LEGO_OK) {
            assert_int_equal(status, LEGO_ERR_MEMORY);
            assert_int_equal(books.now, before);
            assert_same(pair.large, large);
            failures++;
        }
        assert_same(pair.small, small);
        destroy_pair(&pair);
        assert_int_equal(books.now, 0);
        lego_destroy(large);
        lego_destroy(small);
    }
    assert_true(failures >= 1);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    static lego_status (*const operations[])(struct pair *) = {
        do_merge,       do_self_merge, do_merge_many, do_merge_into_small, do_fold,
        do_fold_within, do_copy,       do_load,       do_load_model};
    for (int model = 0; model < MODELS; model++)
        for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) refuse_allocations(model, operations[o]);
}

static void create_may_fail(void **unused)
{
    (void)unused;
    for (int model = 0; model < MODELS; model++)
        for (long at = 1; at <= 4; at++) {
            struct books books;
            struct pair pair;
            lego_allocator allocator = books_allocator(&books);
            books.fail_at = at;
            assert_int_equal(make_pair(&allocator, model, &pair), LEGO_ERR_MEMORY);
            destroy_pair(&pair);
            assert_int_equal(books.now, 0);
        }
}

/* Without memory for the threads' scratch a batch is done by one thread. */
static void batches_do_without_scratch(void **unused)
{
    (void)unused;
    enum { N = 40000 };
    static uint64_t keys[N];
    for (uint64_t i = 0; i < N; i++) keys[i] = i % 977;
    for (int model = 0; model < MODELS; model++) {
        struct books books;
        struct pair pair;
        lego_allocator allocator = books_allocator(&books);
        assert_int_equal(make_pair(&allocator, model, &pair), LEGO_OK);
        lego_sketch *plain;
        lego_copy(pair.large, &plain);
        lego_set_threads(pair.large, 4);
        books.calls = 0;
        books.fail_at = 1;
        books.more = 9; /* ways that a batch may try */
        assert_int_equal(add_u64s(pair.large, keys, NULL, N), LEGO_OK);
        assert_int_equal(books.calls > 0, has_blocks(plain->model)); /* bricks need none */
        assert_true(books.calls < books.more);
        books.fail_at = 0;
        assert_int_equal(add_u64s(plain, keys, NULL, N), LEGO_OK);
        assert_same(pair.large, plain);
        lego_destroy(plain);
        destroy_pair(&pair);
        assert_int_equal(books.now, 0);
    }
}

struct sink {
    long calls, fail_at;
};

static int write_or_fail(void *context, const void *bytes, size_t size)
{
    struct sink *sink = context;
    assert_true(bytes != NULL && size > 0);
    assert_true(sink->fail_at == 0 || sink->calls < sink->fail_at); /* never called again after a failure */
    return ++sink->calls == sink->fail_at;
}

static void every_write_may_fail(void **unused)
{
    (void)unused;
    lego_sketch *sketches[] = {make(8, 64, NULL), make(3, 5120, NULL), make(300, 0, NULL)};
    for (uint64_t i = 0; i < 900; i++) lego_add_u64(sketches[i % 3], i, (int64_t)(i * i));
    for (int which = 0; which < 5; which++) { /* the model of blocks is in no file */
        const lego_sketch *sketch = sketches[which % 3];
        lego_status status = LEGO_ERR_WRITE;
        long at = 0;
        while (status != LEGO_OK) {
            struct sink sink = {0, ++at};
            status = which < 3 ? lego_save(sketch, write_or_fail, &sink)
                               : lego_model_save(sketch->model, write_or_fail, &sink);
            assert_true(status == LEGO_OK || status == LEGO_ERR_WRITE);
        }
        assert_true(at > 1);
    }
    for (int i = 0; i < 3; i++) lego_destroy(sketches[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(create_may_fail),
        cmocka_unit_test(batches_do_without_scratch),
        cmocka_unit_test(every_write_may_fail),
    };
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
