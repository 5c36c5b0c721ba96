/* The order of additions is all that matters: however they are cut into calls, put into batches, counted by threads or
 * hindered by memory that fails, a sketch has the bytes of one that got its items one by one. Here are streams that
 * fill the blocks until these keep their heaviest; as long as none does, order does not matter either
 * (test_sketch_laws.c). */
#include "support.h"

/* ---- streams ----------------------------------------------------------------------------------------------------- */

enum counting { ONCE, FEW, WEIGHTS, GIANTS, TAKEN_BACK, BELOW_ZERO, COUNTINGS };

/* Integers, or texts of many lengths; each counts once where there are no counts. */
struct course {
    lego_items items;
    uint64_t *integers, *offsets;
    char *bytes;
    int64_t *counts;
};

/* Some numbers come far more often than others, or all alike. */
static uint64_t draw_number(uint64_t *state, uint64_t domain, bool skewed)
{
    return skewed ? draw_below(state, 1 + draw_below(state, 1 + draw_below(state, domain))) : draw_below(state, domain);
}

static int64_t draw_weight(uint64_t *state, enum counting counting)
{
    switch (counting) {
    case FEW: return 1 + (int64_t)draw_below(state, 4);
    case WEIGHTS: return draw_below(state, 50) ? draw_count(state, 4) : 0;
    case GIANTS: /* all of them together stay within 64 bits */
        return draw_below(state, 3000) ? draw_count(state, 9) : INT64_C(1) << (40 + draw_below(state, 14));
    case BELOW_ZERO: return draw_below(state, 3) ? draw_count(state, 3) : -draw_count(state, 3);
    default: return 1;
    }
}

/* Of n numbers, a third takes back what came before, all of it or a part. */
static void take_back_some(struct course *course, uint64_t *state)
{
    for (size_t i = 1; i < course->items.n; i++) {
        if (draw_below(state, 3)) continue;
        const size_t earlier = draw_below(state, i);
        if (course->counts[earlier] <= 0) continue;
        course->integers[i] = course->integers[earlier];
        course->counts[i] = -(int64_t)(1 + draw_below(state, (uint64_t)course->counts[earlier]));
    }
}

static void write_texts(struct course *course)
{
    static const int length[] = {1, 8, 3, 12, 30, 17};
    const size_t n = course->items.n;
    course->offsets = calloc(n + 1, sizeof *course->offsets);
    course->bytes = malloc(64 * n + 64);
    assert_true(course->offsets && course->bytes);
    for (size_t i = 0; i < n; i++) {
        char *to = course->bytes + course->offsets[i];
        const uint64_t number = course->integers[i];
        course->offsets[i + 1] =
            course->offsets[i] + (uint64_t)sprintf(to, "%llu:%0*d", (unsigned long long)number, length[number % 6], 0);
    }
    course->items.integers = NULL;
    course->items.bytes = course->bytes;
    course->items.offsets = course->offsets;
}

static struct course make_course(uint64_t *state, size_t n, uint64_t domain, enum counting counting, bool texts)
{
    struct course course = {.items.n = n, .integers = malloc(8 * n + 8), .counts = malloc(8 * n + 8)};
    const bool skewed = draw_below(state, 2);
    assert_true(course.integers && course.counts);
    for (size_t i = 0; i < n; i++) {
        course.integers[i] = draw_number(state, domain, skewed);
        course.counts[i] = draw_weight(state, counting == TAKEN_BACK ? FEW : counting);
    }
    if (counting == TAKEN_BACK) take_back_some(&course, state);
    course.items.integers = course.integers;
    course.items.counts = counting == ONCE ? NULL : course.counts;
    if (texts) write_texts(&course);
    return course;
}

static void free_course(struct course *course)
{
    free(course->integers);
    free(course->offsets);
    free(course->bytes);
    free(course->counts);
}

/* So many of its items, from `first` on. */
static lego_items part_of(const struct course *course, size_t first, size_t n)
{
    lego_items part = course->items;
    part.n = n;
    if (part.integers) part.integers += first;
    else part.offsets += first;
    if (part.counts) part.counts += first;
    return part;
}

/* ---- ways to add them -------------------------------------------------------------------------------------------- */

static void add_single(lego_sketch *sketch, const struct course *course, size_t i)
{
    const lego_items *items = &course->items;
    const int64_t count = items->counts ? items->counts[i] : 1;
    if (items->integers) {
        assert_int_equal(lego_add_u64(sketch, items->integers[i], count), LEGO_OK);
        return;
    }
    const size_t size = (size_t)(items->offsets[i + 1] - items->offsets[i]);
    assert_int_equal(lego_add(sketch, course->bytes + items->offsets[i], size, count), LEGO_OK);
}

static void add_singles(lego_sketch *sketch, const struct course *course)
{
    for (size_t i = 0; i < course->items.n; i++) add_single(sketch, course, i);
}

/* ONES is a call of one item for each; EDGES are sizes at which batches go another way, and those next to them. */
enum cuts { WHOLE, ONES, ANY, SMALL, EDGES, MIXED, CUTS };

static size_t draw_cut(uint64_t *state, enum cuts cuts, size_t n)
{
    static const size_t edges[] = {4, 12, 255, 256, 1 << 14, (1 << 15) - 1, 1 << 15, (1 << 16) - 1};
    static const size_t most[] = {1, 30, 3000, 100000};
    switch (cuts) {
    case ONES: return 1;
    case ANY: return 1 + draw_below(state, n);
    case SMALL: return 1 + draw_below(state, 600);
    case EDGES: return edges[draw_below(state, 8)] + draw_below(state, 2);
    case MIXED: return 1 + draw_below(state, most[draw_below(state, 4)]);
    default: return n;
    }
}

/* In MIXED cuts some of the calls are single additions, and the number of threads changes. */
static void add_cut(lego_sketch *sketch, const struct course *course, enum cuts cuts, uint64_t *state)
{
    const size_t n = course->items.n;
    for (size_t first = 0, size; first < n; first += size) {
        size = draw_cut(state, cuts, n);
        if (size > n - first) size = n - first;
        const lego_items part = part_of(course, first, size);
        if (cuts == MIXED) lego_set_threads(sketch, 1 + (unsigned)draw_below(state, 3));
        if (cuts == MIXED && size == 1) add_single(sketch, course, first);
        else assert_int_equal(lego_add_items(sketch, &part), LEGO_OK);
    }
}

/* ---- the law ----------------------------------------------------------------------------------------------------- */

static lego_sketch *make_most(uint32_t most, const lego_allocator *allocator)
{
    lego_options options = {0, 0, NULL, most, allocator, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, most, 0, &sketch), LEGO_OK);
    return sketch;
}

static double keeping(const lego_sketch *sketch)
{
    return info_of(sketch).keeping;
}

/* A stream for so many blocks, of which in most rounds some come to keep, or all. */
static struct course draw_course(uint64_t *state, uint32_t most, enum counting counting)
{
    const uint64_t domain = 1 + draw_below(state, most * UINT64_C(800));
    const size_t n = draw_below(state, 4) ? 1 + draw_below(state, 12000) : 30000 + draw_below(state, 45000);
    return make_course(state, n, domain, counting, draw_below(state, 2));
}

static void cuts_do_not_matter(void **unused)
{
    (void)unused;
    static const uint32_t most[] = {1, 3, 7, 13, 33, 64, 73, 200, 600};
    unsigned some = 0, all = 0, at_once = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(180); seed++) {
        uint64_t state = seed * UINT64_C(0x2545f4914f6cdd1d);
        const uint32_t blocks = most[draw_below(&state, 9)];
        struct course course = draw_course(&state, blocks, (enum counting)(seed % COUNTINGS));
        lego_sketch *single = make_most(blocks, NULL);
        add_singles(single, &course);
        for (enum cuts cuts = WHOLE; cuts < CUTS; cuts++) {
            lego_sketch *cut = make_most(blocks, NULL);
            lego_set_threads(cut, 1 + (unsigned)(seed + cuts) % 3);
            if (draw_below(&state, 4) == 0) take_all_blocks(cut);
            const bool young = cut->blocks.blocks == 1 && blocks > 1;
            add_cut(cut, &course, cuts, &state);
            assert_same(single, cut);
            at_once += cuts == WHOLE && young && cut->blocks.keeps;
            lego_destroy(cut);
        }
        some += keeping(single) > 0;
        all += keeping(single) == 1;
        lego_destroy(single);
        free_course(&course);
    }
    assert_in_range(some, ROUNDS(180) / 3, ROUNDS(180) - ROUNDS(12)); /* some only list */
    assert_true(all > ROUNDS(30));
    assert_true(at_once > ROUNDS(30)); /* grew to their most and came to keep in one call */
}

/* Two streams, so that batches come to sketches that keep already, too; and one after the other is no matter of calls
 * either. */
static void cuts_of_what_keeps_do_not_matter(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(60); seed++) {
        uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15);
        const uint32_t blocks = 1 + (uint32_t)draw_below(&state, 40);
        struct course full = make_course(&state, 300 * (size_t)blocks, 10000 * (uint64_t)blocks, FEW, false);
        struct course course = draw_course(&state, blocks, (enum counting)(seed % COUNTINGS));
        lego_sketch *single = make_most(blocks, NULL), *before;
        add_singles(single, &full);
        assert_true(keeping(single) == 1);
        assert_int_equal(lego_copy(single, &before), LEGO_OK);
        add_singles(single, &course);
        for (enum cuts cuts = WHOLE; cuts < CUTS; cuts++) {
            lego_sketch *cut;
            assert_int_equal(lego_copy(before, &cut), LEGO_OK);
            lego_set_threads(cut, 1 + (unsigned)draw_below(&state, 3));
            add_cut(cut, &course, cuts, &state);
            assert_same(single, cut);
            lego_destroy(cut);
        }
        lego_destroy(single);
        lego_destroy(before);
        free_course(&full);
        free_course(&course);
    }
}

/* But it is their order: a crowd that is added the other way round leaves other bytes. Else this file could not fail.
 * */
static void order_matters_where_blocks_keep(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct stream_of s = make_stream(&state, 20000, 1 << 20, 3, false);
    lego_sketch *a = make_most(10, NULL), *b = make_most(10, NULL);
    add_stream(a, &s, 1);
    shuffle_stream(&s, &state);
    add_stream(b, &s, 1);
    struct bytes x = sketch_to_bytes(a), y = sketch_to_bytes(b);
    assert_true(x.size == y.size && memcmp(x.p, y.p, x.size) != 0);
    assert_int_equal(lego_total(a), lego_total(b));
    free(x.p);
    free(y.p);
    lego_destroy(a);
    lego_destroy(b);
    free_stream(&s);
}

/* ---- what is between two calls ----------------------------------------------------------------------------------- */

static void *move_it(void *context, void *memory, size_t size)
{
    (void)context;
    void *to = malloc(size);
    assert_non_null(to);
    memcpy(to, memory, size);
    free(memory);
    return to;
}

/* Asks many questions of all kinds. */
static void read_it(const lego_sketch *sketch, const struct course *course)
{
    enum { SOME = 3000 };
    static lego_estimate answers[SOME];
    const lego_items part = part_of(course, 0, course->items.n < SOME ? course->items.n : SOME);
    const lego_asking asking = {0.5};
    assert_int_equal(lego_query_items(sketch, &part, NULL, answers), LEGO_OK);
    assert_int_equal(lego_query_items(sketch, &part, &asking, answers), LEGO_OK);
    (void)info_of(sketch);
    struct bytes bytes = sketch_to_bytes(sketch);
    free(bytes.p);
}

/* A copy, what comes back from the bytes, a sketch that was moved, one that was read: all go on alike. */
static lego_sketch *interrupt(lego_sketch *sketch, const struct course *course, uint64_t *state)
{
    lego_sketch *other = NULL;
    switch (draw_below(state, 4)) {
    case 0: assert_int_equal(lego_copy(sketch, &other), LEGO_OK); break;
    case 1: other = reload(sketch); break;
    case 2: return lego_relocate(sketch, move_it, NULL);
    default: read_it(sketch, course); return sketch;
    }
    lego_destroy(sketch);
    return other;
}

static void interruptions_do_not_matter(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(90); seed++) {
        uint64_t state = seed * UINT64_C(0xbf58476d1ce4e5b9);
        const uint32_t blocks = 1 + (uint32_t)draw_below(&state, 80);
        struct course course = draw_course(&state, blocks, (enum counting)(seed % COUNTINGS));
        const size_t n = course.items.n;
        lego_sketch *single = make_most(blocks, NULL), *other = make_most(blocks, NULL);
        add_singles(single, &course);
        for (size_t first = 0, size; first < n; first += size) {
            size = 1 + draw_below(&state, 1 + n / 8);
            if (size > n - first) size = n - first;
            const lego_items part = part_of(&course, first, size);
            lego_set_threads(other, 1 + (unsigned)draw_below(&state, 3));
            assert_int_equal(lego_add_items(other, &part), LEGO_OK);
            other = interrupt(other, &course, &state);
        }
        assert_same(single, other);
        for (uint64_t i = 0; i < 300 && course.items.integers; i++) { /* and they answer alike */
            lego_estimate e, f;
            assert_int_equal(lego_query_u64(single, i, &e), LEGO_OK);
            assert_int_equal(lego_query_u64(other, i, &f), LEGO_OK);
            assert_memory_equal(&e, &f, sizeof e);
        }
        lego_destroy(single);
        lego_destroy(other);
        free_course(&course);
    }
}

/* ---- memory that fails ------------------------------------------------------------------------------------------- */

/* Where there is no memory for parts, items are added as they come. */
static void missing_buffers_do_not_matter(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= ROUNDS(36); seed++) {
        uint64_t state = seed * UINT64_C(0x94d049bb133111eb);
        const uint32_t blocks = 1 + (uint32_t)draw_below(&state, 60);
        struct course course = draw_course(&state, blocks, (enum counting)(seed % COUNTINGS));
        struct books books;
        const lego_allocator allocator = books_allocator(&books);
        lego_sketch *single = make_most(blocks, NULL), *poor = make_most(blocks, &allocator);
        take_all_blocks(poor); /* it never needs memory again, but for buffers */
        add_singles(single, &course);
        books.fail_at = books.calls + 1;
        books.more = INT32_MAX;
        lego_set_threads(poor, 3);
        add_cut(poor, &course, seed % 2 ? WHOLE : EDGES, &state);
        books.fail_at = 0;
        assert_same(single, poor);
        lego_destroy(single);
        lego_destroy(poor);
        assert_int_equal(books.now, 0);
        free_course(&course);
    }
}

/* The batch with its k-th allocation refused, and `more` after it: refused, it has left nothing. Returns whether it
 * was. */
static bool fails_at(const struct course *course, const lego_sketch *single, size_t before, unsigned threads, long k,
                     long more)
{
    struct books books;
    const lego_allocator allocator = books_allocator(&books);
    lego_sketch *sketch = make_most(info_of(single).blocks, &allocator);
    const lego_items first = part_of(course, 0, before), rest = part_of(course, before, course->items.n - before);
    lego_set_threads(sketch, threads);
    assert_int_equal(lego_add_items(sketch, &first), LEGO_OK);
    struct bytes was = sketch_to_bytes(sketch);
    books.fail_at = books.calls + k;
    books.more = more;
    const lego_status status = lego_add_items(sketch, &rest);
    books.fail_at = 0;
    if (status != LEGO_OK) {
        struct bytes now = sketch_to_bytes(sketch);
        assert_int_equal(status, LEGO_ERR_MEMORY);
        assert_int_equal(now.size, was.size);
        assert_memory_equal(now.p, was.p, now.size);
        free(now.p);
        assert_int_equal(lego_add_items(sketch, &rest), LEGO_OK);
    }
    assert_same(sketch, single);
    lego_destroy(sketch);
    assert_int_equal(books.now, 0);
    free(was.p);
    return status != LEGO_OK;
}

/* A batch with which a young sketch grows to its most and comes to keep, or nearly. */
static void batches_that_fail_are_taken_back(void **unused)
{
    (void)unused;
    static const uint32_t most[] = {13, 40, 73, 256};
    static const size_t before[] = {0, 20, 500};
    unsigned failures = 0, kept = 0;
    for (int counting = 0; counting < COUNTINGS; counting++)
        for (int size = 0; size < 4; size++) {
            uint64_t state = 10 * (uint64_t)counting + (uint64_t)size + 1;
            const uint32_t blocks = most[size];
            struct course course =
                make_course(&state, size % 2 ? 33000 : 9000, blocks * UINT64_C(300), (enum counting)counting, size > 1);
            lego_sketch *single = make_most(blocks, NULL);
            add_singles(single, &course);
            kept += single->blocks.keeps;
            for (long more = 0; more <= 1000; more += 1000)
                for (long k = 1, passed = 0; passed < 2; k++) {
                    const bool failed =
                        fails_at(&course, single, before[(size + counting) % 3], 1 + (unsigned)k % 3, k, more);
                    failures += failed;
                    passed += !failed;
                }
            lego_destroy(single);
            free_course(&course);
        }
    assert_true(failures > 60);
    assert_true(kept > 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(cuts_of_what_keeps_do_not_matter),
        cmocka_unit_test(order_matters_where_blocks_keep),
        cmocka_unit_test(interruptions_do_not_matter),
        cmocka_unit_test(missing_buffers_do_not_matter),
        cmocka_unit_test(batches_that_fail_are_taken_back),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
