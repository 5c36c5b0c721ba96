/* What a sketch knows of its items: bytes or integers. Two bits, which stay as long as it lives. */
#include "support.h"

/* Of blocks and of bricks, without a top and with one. */
enum { SKETCHES = 4 };
static lego_sketch *make_kind(int i, const lego_allocator *allocator)
{
    lego_options options = {0, i % 2 ? 2000 : 0, lego_model_builtin(i / 2 ? "paper" : "compact"), 7, allocator, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, 8, i / 2 ? 64 : 0, &sketch), LEGO_OK);
    return sketch;
}

/* Both functions say it, and the bytes of a sketch that has something do. */
static void assert_items(const lego_sketch *sketch, lego_kind kind)
{
    lego_info brief;
    struct bytes bytes = sketch_to_bytes(sketch);
    lego_measure(sketch, &brief);
    assert_int_equal(brief.items, kind);
    assert_int_equal(info_of(sketch).items, kind);
    assert_int_equal(get32(bytes.p + 12), sketch->model->kind | (sketch_untouched(sketch) ? 0 : (unsigned)kind << 8));
    free(bytes.p);
}

/* Some items of a kind, one by one or in a call. */
static void add_kind(lego_sketch *sketch, lego_kind kind, bool at_once, int64_t count)
{
    enum { N = 3 };
    static const uint64_t integers[N] = {1, 256, UINT64_MAX}, offsets[N + 1] = {0, 3, 3, 8};
    static const char bytes[] = "oneapple";
    int64_t counts[N] = {count, 0, count};
    for (size_t i = 0; i < N && !at_once; i++) {
        if (kind & LEGO_ITEMS_INTEGERS) assert_int_equal(lego_add_u64(sketch, integers[i], counts[i]), LEGO_OK);
        if (kind & LEGO_ITEMS_BYTES)
            assert_int_equal(lego_add(sketch, bytes + offsets[i], offsets[i + 1] - offsets[i], counts[i]), LEGO_OK);
    }
    if (at_once && kind & LEGO_ITEMS_INTEGERS) assert_int_equal(add_u64s(sketch, integers, counts, N), LEGO_OK);
    if (at_once && kind & LEGO_ITEMS_BYTES) assert_int_equal(add_strings(sketch, bytes, offsets, counts, N), LEGO_OK);
}

static void adding_tells_it(void **unused)
{
    (void)unused;
    for (int i = 0; i < SKETCHES; i++)
        for (int at_once = 0; at_once < 2; at_once++) {
            lego_sketch *sketch = make_kind(i, NULL), *other = make_kind(i, NULL);
            assert_items(sketch, LEGO_ITEMS_NONE);
            add_kind(sketch, LEGO_ITEMS_MIXED, at_once, 0); /* nothing */
            assert_int_equal(add_u64s(sketch, NULL, NULL, 0), LEGO_OK);
            assert_items(sketch, LEGO_ITEMS_NONE);
            add_kind(sketch, LEGO_ITEMS_BYTES, at_once, 1);
            assert_items(sketch, LEGO_ITEMS_BYTES);
            add_kind(other, LEGO_ITEMS_INTEGERS, at_once, -1); /* a deletion is an item too */
            assert_items(other, LEGO_ITEMS_INTEGERS);
            add_kind(sketch, LEGO_ITEMS_INTEGERS, at_once, 0);
            assert_items(sketch, LEGO_ITEMS_BYTES);
            add_kind(sketch, LEGO_ITEMS_INTEGERS, at_once, 1);
            assert_items(sketch, LEGO_ITEMS_MIXED);
            lego_clear(sketch);
            assert_items(sketch, LEGO_ITEMS_NONE);
            lego_items said = {.n = 1, .bytes = "12345678", .offsets = (uint64_t[]){0, 8}, .kind = LEGO_ITEMS_INTEGERS};
            assert_int_equal(lego_add_items(sketch, &said), LEGO_OK);
            assert_items(sketch, LEGO_ITEMS_INTEGERS);
            said.kind = LEGO_ITEMS_MIXED + 1;
            assert_int_equal(lego_add_items(sketch, &said), LEGO_ERR_ARGUMENT);
            said.kind = LEGO_ITEMS_MIXED;
            assert_int_equal(lego_add_items(sketch, &said), LEGO_OK);
            assert_items(sketch, LEGO_ITEMS_MIXED);
            lego_destroy(sketch);
            lego_destroy(other);
        }
}

static void sketches_pass_it_on(void **unused)
{
    (void)unused;
    for (int i = 0; i < SKETCHES; i++)
        for (lego_kind a = LEGO_ITEMS_NONE; a <= LEGO_ITEMS_MIXED; a++)
            for (lego_kind b = LEGO_ITEMS_NONE; b <= LEGO_ITEMS_MIXED; b++) {
                lego_sketch *into = make_kind(i, NULL), *from = make_kind(i, NULL), *copy;
                add_kind(into, a, false, 3);
                add_kind(from, b, true, 2);
                assert_int_equal(lego_copy(into, &copy), LEGO_OK);
                assert_items(copy, a);
                assert_int_equal(lego_merge(copy, from), LEGO_OK);
                assert_items(copy, a | b);
                assert_int_equal(lego_merge(copy, copy), LEGO_OK);
                lego_sketch *loaded = reload(copy);
                assert_items(loaded, a | b);
                assert_int_equal(lego_subtract(into, from), i % 2 ? LEGO_ERR_TOP : LEGO_OK);
                assert_items(into, i % 2 ? a : a | b);
                assert_int_equal(lego_fold(copy, 4), LEGO_OK);
                assert_items(copy, a | b);
                lego_destroy(into);
                lego_destroy(from);
                lego_destroy(copy);
                lego_destroy(loaded);
            }
}

/* Growing, falling short of memory, losing bits: it stays. */
static void it_outlives_growth(void **unused)
{
    (void)unused;
    for (int i = 0; i < SKETCHES; i++) {
        uint64_t state = 3;
        lego_sketch *one = make_kind(i, NULL), *batches = make_kind(i, NULL), *other = make_kind(i, NULL);
        struct stream_of s = make_stream(&state, 9000, i == 0 ? 400 : 5000, 2, false);
        assert_int_equal(lego_add(other, "word", 4, 1), LEGO_OK);
        assert_int_equal(lego_add(one, "word", 4, 1), LEGO_OK);
        add_stream(one, &s, 1);
        add_in_batches(batches, &s, &state);
        assert_items(one, LEGO_ITEMS_MIXED);
        assert_items(batches, LEGO_ITEMS_INTEGERS);
        assert_int_equal(lego_merge(other, batches), LEGO_OK);
        assert_items(other, LEGO_ITEMS_MIXED);
        if (i == 0) assert_true(!info_of(one).exact && info_of(one).keeping == 0);
        if (i % 2 == 0) assert_same(one, other); /* a top depends on the order, as blocks that keep do */
        lego_destroy(one);
        lego_destroy(batches);
        lego_destroy(other);
        free_stream(&s);
    }
}

static void failures_tell_nothing(void **unused)
{
    (void)unused;
    for (int i = 0; i < SKETCHES; i++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_sketch *sketch = make_kind(i, &allocator), *from = make_kind(i, NULL);
        uint64_t items[200];
        for (uint64_t k = 0; k < 200; k++) items[k] = k * k + (k << 40);
        add_kind(sketch, LEGO_ITEMS_BYTES, false, 1);
        assert_int_equal(add_u64s(from, items, NULL, 200), LEGO_OK);
        struct bytes before = sketch_to_bytes(sketch);
        assert_int_equal(lego_add_u64(sketch, 1, INT64_MAX), LEGO_ERR_RANGE);
        assert_int_equal(add_u64s(sketch, items, (int64_t[]){1, INT64_MAX}, 2), LEGO_ERR_RANGE);
        assert_int_equal(add_strings(sketch, NULL, NULL, NULL, 1), LEGO_ERR_ARGUMENT);
        books.fail_at = 1;
        books.more = 1 << 30;
        lego_status status = add_u64s(sketch, items, NULL, 200);
        if (i != 2) assert_int_equal(status, LEGO_ERR_MEMORY); /* bricks alone do not grow */
        if (i != 2) assert_int_equal(lego_merge(sketch, from), LEGO_ERR_MEMORY);
        struct bytes after = sketch_to_bytes(sketch);
        if (i != 2) assert_items(sketch, LEGO_ITEMS_BYTES);
        if (i != 2) assert_memory_equal(before.p, after.p, after.size);
        free(before.p);
        free(after.p);
        lego_destroy(sketch);
        lego_destroy(from);
    }
}

/* What was deleted leaves no trace in the bytes, though the sketch remembers while it lives. */
static void an_empty_sketch_has_one_form(void **unused)
{
    (void)unused;
    for (int i = 0; i < SKETCHES; i++) {
        lego_sketch *sketch = make_kind(i, NULL), *empty = make_kind(i, NULL);
        add_kind(sketch, LEGO_ITEMS_MIXED, true, 5);
        add_kind(sketch, LEGO_ITEMS_MIXED, false, -5);
        assert_same(sketch, empty);
        assert_items(sketch, LEGO_ITEMS_MIXED);
        lego_sketch *loaded = reload(sketch);
        assert_items(loaded, LEGO_ITEMS_NONE);
        add_kind(sketch, LEGO_ITEMS_BYTES, true, 1);
        assert_items(sketch, LEGO_ITEMS_MIXED);
        lego_destroy(sketch);
        lego_destroy(empty);
        lego_destroy(loaded);
    }
}

static void impossible_kinds_are_refused(void **unused)
{
    (void)unused;
    for (int i = 0; i < SKETCHES; i++)
        for (int content = 0; content < 2; content++) {
            lego_sketch *sketch = make_kind(i, NULL);
            if (content) add_kind(sketch, LEGO_ITEMS_BYTES, true, 1);
            struct bytes bytes = sketch_to_bytes(sketch);
            for (unsigned items = 0; items < 256; items++) {
                lego_sketch *loaded = NULL;
                bool possible = content ? items >= 1 && items <= 3 : items == 0;
                bytes.p[13] = (unsigned char)items;
                seal(&bytes);
                lego_status status = lego_load(bytes.p, bytes.size, NULL, &loaded);
                assert_int_equal(status, possible ? LEGO_OK : LEGO_ERR_CORRUPT);
                if (possible) assert_items(loaded, (lego_kind)items);
                lego_destroy(loaded);
            }
            free(bytes.p);
            lego_destroy(sketch);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding_tells_it),
        cmocka_unit_test(sketches_pass_it_on),
        cmocka_unit_test(it_outlives_growth),
        cmocka_unit_test(failures_tell_nothing),
        cmocka_unit_test(an_empty_sketch_has_one_form),
        cmocka_unit_test(impossible_kinds_are_refused),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
