/* The bytes of sketches that keep their most frequent items, and what fails while they are worked on. */
#include "support_top.h"

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* A byte is changed: without the right checksum the file is refused; with it, it is refused or it is what it says. */
static bool is_taken(struct bytes *bad)
{
    lego_sketch *loaded = NULL;
    assert_int_not_equal(lego_load(bad->p, bad->size, NULL, &loaded), LEGO_OK);
    assert_null(loaded);
    put_number(bad->p + bad->size - 8, XXH3_64bits(bad->p, bad->size - 8), 8);
    if (lego_load(bad->p, bad->size, NULL, &loaded) != LEGO_OK) {
        assert_null(loaded);
        return false;
    }
    struct bytes again = sketch_to_bytes(loaded);
    assert_int_equal(again.size, bad->size);
    assert_memory_equal(again.p, bad->p, bad->size);
    free(again.p);
    lego_destroy(loaded);
    return true;
}

static void every_change_is_seen(void **unused)
{
    (void)unused;
    uint64_t state = 8;
    for (int m = 0; m < 2; m++) {
        lego_sketch *sketch = make_top(models[m], 2, 1100), *loaded = NULL;
        static struct truth truth;
        truth = (struct truth){0};
        feed(sketch, &truth, &state, 400, false);
        struct bytes good = sketch_to_bytes(sketch), bad = {malloc(good.size), good.size};
        size_t buckets = good.size - 8 - 4 * TOP_BUCKET, accepted = 0; /* all of them, since some have left */
        assert_int_equal(sketch->top.buckets.d, 4);
        assert_true(top_leaks(&sketch->top));
        for (size_t at = 0; at < good.size; at++)
            for (int change = 0; change < (FULL ? 9 : 3); change++) {
                memcpy(bad.p, good.p, good.size);
                bad.p[at] ^= (unsigned char)(change < 8 ? 1u << change : 1 + draw_below(&state, 255));
                bool taken = is_taken(&bad);
                assert_false(taken && at >= 24 && at < 76); /* even another seed: its items would be elsewhere */
                assert_false(taken && at >= buckets - 12 && at < buckets); /* buckets and votes */
                accepted += at >= buckets && taken;
            }
        assert_true(accepted <
                    4 * TOP_BUCKET); /* of 36 each: votes against, flags, keys that are as good as those there */
        for (size_t size = 0; size < good.size; size++)
            assert_int_not_equal(lego_load(good.p, size, NULL, &loaded), LEGO_OK);
        char name[16];
        assert_int_equal(lego_saved_model(good.p, good.size, name), LEGO_OK);
        assert_string_equal(name, models[m]);
        const lego_model *other = lego_model_builtin(models[1 - m]);
        assert_int_equal(lego_load(good.p, good.size, &(lego_options){.model = other}, &loaded), LEGO_ERR_MODEL);
        free(good.p);
        free(bad.p);
        lego_destroy(sketch);
    }
}

/* What the head says of the buckets: how many at most, how many there are, and their votes. */
static void heads_must_agree_with_buckets(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_top("compact", 2, 1100), *loaded = NULL;
    assert_int_equal(lego_add_u64(sketch, 1, 5), LEGO_OK);
    struct bytes good = sketch_to_bytes(sketch), work = {malloc(good.size), good.size};
    enum { MOST = 72, BUCKETS = 76 + 5, VOTES = BUCKETS + 4 }; /* behind one empty block */
    assert_int_equal(good.size, VOTES + 8 + TOP_BUCKET + 8);
    const struct {
        size_t at;
        uint64_t value;
        lego_status status;
    } cases[] = {{MOST, 4, LEGO_OK},
                 {MOST, 3, LEGO_OK}, /* a young top may grow to another number */
                 {MOST, 0, LEGO_ERR_TRUNCATED},
                 {MOST, 17, LEGO_ERR_CORRUPT}, /* more than four bits */
                 {MOST, UINT32_MAX, LEGO_ERR_CORRUPT},
                 {BUCKETS, 1, LEGO_OK},
                 {BUCKETS, 0, LEGO_ERR_CORRUPT},
                 {BUCKETS, 2, LEGO_ERR_CORRUPT},
                 {BUCKETS, 4, LEGO_ERR_TRUNCATED},
                 {BUCKETS, UINT32_MAX, LEGO_ERR_CORRUPT},
                 {VOTES, 5, LEGO_OK},
                 {VOTES, 4, LEGO_ERR_CORRUPT},
                 {VOTES, UINT64_MAX, LEGO_ERR_CORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(work.p, good.p, good.size);
        put_number(work.p + cases[i].at, cases[i].value, cases[i].at == VOTES ? 8 : 4);
        seal(&work);
        assert_int_equal(lego_load(work.p, work.size, NULL, &loaded), cases[i].status);
        if (cases[i].status == LEGO_OK) lego_destroy(loaded);
    }
    free(good.p);
    free(work.p);
    lego_destroy(sketch);
}

/* The bytes of a bucket, one after another, as docs/format.md has them. */
static void a_bucket_is_as_documented(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_top("compact", 2, 512);
    assert_int_equal(sketch->top.buckets.d, 1);
    lego_add(sketch, "pear", 4, 300);
    lego_add_u64(sketch, 0x1234, 2);
    lego_add(sketch, "", 0, 1);
    unsigned tags[3] = {(unsigned)hash_bytes("", 0, seed_of(7)).lo & 15,
                        (unsigned)hash_bytes("pear", 4, seed_of(7)).lo & 15,
                        (unsigned)hash_u64(0x1234, seed_of(7)).lo & 15};
    unsigned char wanted[TOP_BUCKET] = {0,   0, 0, 0,  0, 0,   3,   16,  0,   0, 4,    0,
                                        250, 0, 1, 44, 1, 'p', 'e', 'a', 'r', 2, 0x34, 0x12};
    for (int i = 0; i < 3; i++) wanted[9 + 2 * i] = (unsigned char)((i == 1 ? 2 : 0) | tags[i] << 4);
    struct bytes bytes = sketch_to_bytes(sketch);
    assert_memory_equal(bytes.p, "LEGOSKCH\5\0\0\0\2\3\0\0", 16);
    assert_memory_equal(bytes.p + 56, "\2\0\0\0\1\0\0\0", 8);           /* two blocks at most, one is enough */
    assert_memory_equal(bytes.p + 64, "\0\0\0\0\0\0\0\0\1\0\0\0", 12);  /* nothing in them; one bucket at most */
    assert_memory_equal(bytes.p + 76, "\0\0\0\0\0", 5);                 /* the block */
    assert_memory_equal(bytes.p + 81, "\1\0\0\0\57\1\0\0\0\0\0\0", 12); /* one bucket, 303 votes */
    assert_memory_equal(bytes.p + 93, wanted, TOP_BUCKET);
    assert_int_equal(bytes.size, 93 + TOP_BUCKET + 8);
    free(bytes.p);
    lego_destroy(sketch);
}

/* Loading costs what is there, even if the top has all its buckets and the head promises many blocks. */
static void a_small_file_loads_small(void **unused)
{
    (void)unused;
    static const uint32_t most[] = {2, 1 << 10, 1 << 20, 240 << 20}; /* the last can grow to 62 GiB */
    lego_sketch *sketch = make_top("compact", 2, 512), *loaded, *copy;
    for (uint64_t i = 0; i < 5; i++) assert_int_equal(lego_add_u64(sketch, i, 3), LEGO_OK);
    struct bytes file = sketch_to_bytes(sketch);
    for (int i = 0; i < 4; i++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        put_number(file.p + 56, most[i], 4);
        seal(&file);
        assert_int_equal(lego_load(file.p, file.size, &(lego_options){.allocator = &allocator}, &loaded), LEGO_OK);
        assert_int_equal(lego_copy(loaded, &copy), LEGO_OK);
        assert_same(loaded, copy);
        lego_clear(copy);
        assert_int_equal(info_of(copy).total, 0);
        assert_true(books.most < 8192);
        lego_destroy(copy);
        lego_destroy(loaded);
        assert_int_equal(books.now, 0);
    }
    free(file.p);
    lego_destroy(sketch);
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static int ignore(void *context, const lego_top_item *top)
{
    (void)context;
    (void)top;
    return 0;
}

static lego_status do_copy(lego_sketch *sketch, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)bytes, (void)allocator;
    lego_sketch *copy = NULL;
    lego_status status = lego_copy(sketch, &copy);
    assert_true((copy != NULL) == (status == LEGO_OK));
    lego_destroy(copy);
    return status;
}

static lego_status do_load(lego_sketch *sketch, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)sketch;
    lego_sketch *loaded = NULL;
    lego_status status = lego_load(bytes->p, bytes->size, &(lego_options){.allocator = allocator}, &loaded);
    assert_true((loaded != NULL) == (status == LEGO_OK));
    lego_destroy(loaded);
    return status;
}

static lego_status do_create(lego_sketch *sketch, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)sketch, (void)bytes;
    lego_options options = {1 << 20, 1 << 17, NULL, 0, allocator, NULL};
    lego_sketch *made = NULL;
    lego_status status = lego_create(&options, &made);
    assert_true((made != NULL) == (status == LEGO_OK));
    lego_destroy(made);
    return status;
}

static lego_status do_merge(lego_sketch *sketch, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)bytes, (void)allocator;
    return lego_merge(sketch, sketch);
}

static lego_status do_fold(lego_sketch *sketch, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)bytes, (void)allocator;
    size_t before = ((struct books *)sketch->allocator.context)->now, after;
    lego_status status = lego_fold_within(sketch, 8192);
    after = ((struct books *)sketch->allocator.context)->now;
    assert_true(status == LEGO_OK ? after <= before : after == before);
    return status;
}

static lego_status do_top(lego_sketch *sketch, const struct bytes *bytes, const lego_allocator *allocator)
{
    (void)bytes, (void)allocator;
    return lego_top(sketch, 10, ignore, NULL);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    static lego_status (*const operations[])(lego_sketch *, const struct bytes *, const lego_allocator *) = {
        do_copy, do_load, do_create, do_merge, do_fold, do_top};
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        lego_status status = LEGO_ERR_MEMORY;
        long at = 1;
        for (; status != LEGO_OK; at++) {
            struct books books;
            lego_allocator allocator = books_allocator(&books);
            lego_options options = {20000, 2500, NULL, 7, &allocator, NULL};
            lego_sketch *sketch;
            assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
            for (uint64_t i = 0; i < 5000; i++) lego_add_u64(sketch, i * i % 901, 1);
            struct bytes before = sketch_to_bytes(sketch), after;
            size_t held = books.now;
            books.calls = 0;
            books.fail_at = at;
            status = operations[o](sketch, &before, &allocator);
            if (operations[o] != do_fold) assert_int_equal(books.now, held);
            if (status != LEGO_OK) {
                assert_int_equal(status, LEGO_ERR_MEMORY);
                after = sketch_to_bytes(sketch);
                assert_memory_equal(before.p, after.p, before.size);
                free(after.p);
            }
            free(before.p);
            lego_destroy(sketch);
            assert_int_equal(books.now, 0);
        }
        assert_true(at > 2); /* it failed at least once */
    }
}

/* While it grows an addition may need memory: without it nothing changes, and with it all goes on. */
static void growing_may_fail(void **unused)
{
    (void)unused;
    struct books books;
    lego_allocator allocator = books_allocator(&books);
    lego_options options = {1 << 17, 1 << 15, NULL, 7, &allocator, NULL};
    lego_sketch *sketch, *other;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    assert_int_equal(lego_create(&options, &other), LEGO_OK);
    uint32_t failed = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t buckets = sketch->top.buckets.d;
        struct bytes before = {NULL, 0}, after;
        bool grows = top_grows(&sketch->top);
        if (grows) before = sketch_to_bytes(sketch);
        books.fail_at = grows ? books.calls + 1 : 0;
        lego_status status = lego_add_u64(sketch, i * i, 1);
        books.fail_at = 0;
        if (status != LEGO_OK) {
            assert_int_equal(status, LEGO_ERR_MEMORY);
            assert_int_equal(sketch->top.buckets.d, buckets);
            after = sketch_to_bytes(sketch);
            assert_int_equal(after.size, before.size);
            assert_memory_equal(after.p, before.p, before.size);
            free(after.p);
            failed++;
            assert_int_equal(lego_add_u64(sketch, i * i, 1), LEGO_OK);
        }
        assert_int_equal(lego_add_u64(other, i * i, 1), LEGO_OK);
        free(before.p);
    }
    assert_true(failed > 3 && !top_grows(&sketch->top));
    assert_same(sketch, other);
    lego_destroy(sketch);
    lego_destroy(other);
    assert_int_equal(books.now, 0);
}

/* So may a merge of two that do not leak yet. */
static void merging_young_ones_may_fail(void **unused)
{
    (void)unused;
    lego_status status = LEGO_ERR_MEMORY;
    long at = 1;
    for (; status != LEGO_OK; at++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_options options = {1 << 17, 1 << 15, NULL, 7, &allocator, NULL};
        lego_sketch *into, *from, *whole;
        assert_int_equal(lego_create(&options, &into), LEGO_OK);
        assert_int_equal(lego_create(&options, &from), LEGO_OK);
        assert_int_equal(lego_create(&options, &whole), LEGO_OK);
        for (uint64_t i = 0; i < 2000; i++) {
            lego_add_u64(i < 100 ? into : from, i, 1);
            lego_add_u64(whole, i, 1);
        }
        struct bytes before = sketch_to_bytes(into), after;
        books.calls = 0;
        books.fail_at = at;
        status = lego_merge(into, from);
        books.fail_at = 0;
        after = sketch_to_bytes(into);
        if (status != LEGO_OK) {
            assert_int_equal(status, LEGO_ERR_MEMORY);
            assert_int_equal(after.size, before.size);
            assert_memory_equal(after.p, before.p, before.size);
        } else {
            assert_same(into, whole);
        }
        free(before.p);
        free(after.p);
        lego_destroy(into);
        lego_destroy(from);
        lego_destroy(whole);
        assert_int_equal(books.now, 0);
    }
    assert_true(at > 2); /* it failed at least once */
}

struct sink {
    long calls, fail_at;
};

static int write_or_fail(void *context, const void *bytes, size_t size)
{
    struct sink *sink = context;
    assert_true(bytes != NULL && size > 0);
    assert_true(sink->fail_at == 0 || sink->calls < sink->fail_at);
    return ++sink->calls == sink->fail_at;
}

static void every_write_may_fail(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make_within("compact", 40000, 5000);
    for (uint64_t i = 0; i < 20000; i++) lego_add_u64(sketch, i * i, 1);
    lego_status status = LEGO_ERR_WRITE;
    long at = 0;
    while (status != LEGO_OK) {
        struct sink sink = {0, ++at};
        status = lego_save(sketch, write_or_fail, &sink);
        assert_true(status == LEGO_OK || status == LEGO_ERR_WRITE);
    }
    assert_true(at > 2);
    lego_destroy(sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_is_seen),        cmocka_unit_test(heads_must_agree_with_buckets),
        cmocka_unit_test(a_bucket_is_as_documented),   cmocka_unit_test(a_small_file_loads_small),
        cmocka_unit_test(every_allocation_may_fail),   cmocka_unit_test(growing_may_fail),
        cmocka_unit_test(merging_young_ones_may_fail), cmocka_unit_test(every_write_may_fail),
    };
    return cmocka_run_group_tests_name("top files", tests, NULL, NULL);
}
