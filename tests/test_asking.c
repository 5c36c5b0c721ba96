/* How a question is meant (lego_asking): what is refused, what ignores it, and that one item and many agree. */
#include <limits.h>
#include <math.h>

#include "support.h"

enum { ITEMS = 5000, ABSENT = 1000 };

static const lego_asking ways[] = {LEGO_ASKING_INIT, {0.1}, {LEGO_ABSENT}, {0.5}, {0.999}};
enum { WAYS = sizeof ways / sizeof *ways };

static int64_t count_of(uint64_t item)
{
    return item < ITEMS ? 1 + (int64_t)(ITEMS / (item + 1)) : 0;
}

static lego_sketch *sketch_of(const char *model, uint64_t budget, uint64_t top)
{
    lego_sketch *sketch = make_within(model, budget, top);
    for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(sketch, i, count_of(i)), LEGO_OK);
    return sketch;
}

static lego_status ask(const lego_sketch *sketch, const uint64_t *items, size_t n, const lego_asking *asking,
                       lego_estimate *answers)
{
    return lego_query_items(sketch, &(lego_items){.n = n, .integers = items}, asking, answers);
}

/* Refused, also for no items at all, and nothing is written. */
static void refuse(const lego_sketch *sketch, lego_asking asking, lego_status expected)
{
    const uint64_t items[] = {1, 2};
    lego_estimate answers[2], untouched[2];
    memset(answers, 0x5a, sizeof answers);
    memcpy(untouched, answers, sizeof answers);
    for (size_t n = 0; n <= 2; n++) assert_int_equal(ask(sketch, items, n, &asking, answers), expected);
    assert_memory_equal(answers, untouched, sizeof answers);
}

static void what_is_out_of_range_is_refused(void **unused)
{
    (void)unused;
    const lego_asking wrong[] = {{-0.001}, {1}, {2}, {NAN}, {INFINITY}, {-INFINITY}};
    lego_sketch *of[] = {sketch_of("compact", 4096, 0), sketch_of("compact", 1 << 20, 0),
                         sketch_of("compact", 6000, 600), sketch_of("paper", 160000, 0)};
    for (size_t s = 0; s < sizeof of / sizeof *of; s++) {
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse(of[s], wrong[i], LEGO_ERR_ARGUMENT);
        lego_destroy(of[s]);
    }
}

/* Its networks were trained for one kind of question. */
static void the_papers_model_has_one_way(void **unused)
{
    (void)unused;
    const uint64_t items[] = {1, ITEMS};
    lego_estimate plain[2], same[2];
    lego_sketch *sketch = sketch_of("paper", 160000, 0);
    for (size_t i = 1; i < WAYS; i++) refuse(sketch, ways[i], LEGO_ERR_MODEL);
    assert_int_equal(ask(sketch, items, 2, NULL, plain), LEGO_OK);
    assert_int_equal(ask(sketch, items, 2, &ways[0], same), LEGO_OK);
    assert_memory_equal(plain, same, sizeof plain);
    lego_destroy(sketch);
}

static void assert_ordered(const lego_estimate *e)
{
    assert_true((double)e->lower <= e->value && e->value <= (double)e->likely && e->likely <= e->upper);
}

/* However it is meant, an answer is the same alone and among others, and within its bounds. */
static void check_way(const lego_sketch *sketch, const uint64_t *items, const lego_asking *asking)
{
    static lego_estimate many[ITEMS + ABSENT];
    assert_int_equal(ask(sketch, items, ITEMS + ABSENT, asking, many), LEGO_OK);
    for (size_t i = 0; i < ITEMS + ABSENT; i++) {
        lego_estimate one;
        assert_int_equal(ask(sketch, &items[i], 1, asking, &one), LEGO_OK);
        assert_memory_equal(&one, &many[i], sizeof one);
        assert_ordered(&one);
        assert_true(one.upper >= count_of(items[i]));
        if (asking != NULL) continue;
        assert_int_equal(lego_query_u64(sketch, items[i], &one), LEGO_OK);
        assert_memory_equal(&one, &many[i], sizeof one);
    }
}

static void one_and_many_agree(void **unused)
{
    (void)unused;
    static uint64_t items[ITEMS + ABSENT];
    for (size_t i = 0; i < ITEMS + ABSENT; i++) items[i] = i;
    for (uint64_t top = 0; top <= 600; top += 600) {
        lego_sketch *sketch = sketch_of("compact", 5000 + top, top);
        assert_true(info_of(sketch).keeping > 0.5); /* else next to nothing is lost, and nothing is tested */
        check_way(sketch, items, NULL);
        for (size_t i = 0; i < WAYS; i++) check_way(sketch, items, &ways[i]);
        lego_destroy(sketch);
    }
}

/* An item that may never have come is 0 if it is not listed, from a threshold on. What is listed, and the bounds, are
 * the same however it is meant. */
static void who_may_be_absent_is_0(void **unused)
{
    (void)unused;
    unsigned ones = 0, same = 0;
    lego_sketch *sketch = sketch_of("compact", 5000, 0);
    for (uint64_t i = 0; i < ITEMS + ABSENT; i++) {
        lego_estimate came, perhaps, absent;
        assert_int_equal(lego_query_u64(sketch, i, &came), LEGO_OK);
        assert_int_equal(ask(sketch, &i, 1, &(lego_asking){LEGO_ABSENT - 0.001}, &perhaps), LEGO_OK);
        assert_int_equal(ask(sketch, &i, 1, &(lego_asking){LEGO_ABSENT}, &absent), LEGO_OK);
        assert_memory_equal(&came, &perhaps, sizeof came);
        assert_true(came.lower == absent.lower && came.upper == absent.upper);
        assert_true(absent.value == (came.lower > 0 ? came.value : 0));
        assert_true(came.value > 0);
        ones += absent.value == 0 && came.value == 1;
        same += came.lower > 0;
    }
    assert_true(ones > ITEMS / 2 && same > 500);
    lego_destroy(sketch);
}

/* ---- asked again and again --------------------------------------------------------------------------------------- */

enum { QUESTIONS = 40000, RANKS = 30000 };

/* Few items are most of the questions; more than there are places to keep answers in are asked for in between. */
static void draw_questions(uint64_t items[QUESTIONS])
{
    uint64_t state = 1;
    for (size_t i = 0; i < QUESTIONS; i++) {
        uint64_t rank = draw(&state) % RANKS;
        items[i] = draw(&state) % 2 ? rank % (1 + rank % 50) : rank;
    }
}

/* As many at once, integers or the same bytes as text, each is answered as it is alone. */
static void check_again(const lego_sketch *sketch)
{
    static uint64_t items[QUESTIONS], offsets[QUESTIONS + 1];
    static unsigned char raw[8 * QUESTIONS];
    static lego_estimate many[QUESTIONS], text[QUESTIONS];
    draw_questions(items);
    keys_as_bytes(items, QUESTIONS, raw, offsets);
    const lego_items bytes = {.n = QUESTIONS, .bytes = raw, .offsets = offsets};
    assert_int_equal(ask(sketch, items, QUESTIONS, NULL, many), LEGO_OK);
    assert_int_equal(lego_query_items(sketch, &bytes, NULL, text), LEGO_OK);
    assert_memory_equal(many, text, sizeof many);
    for (size_t i = 0; i < QUESTIONS; i++) {
        lego_estimate one;
        assert_int_equal(lego_query_u64(sketch, items[i], &one), LEGO_OK);
        assert_memory_equal(&one, &many[i], sizeof one);
    }
}

static void one_and_many_agree_when_asked_again(void **unused)
{
    (void)unused;
    const uint64_t budgets[] = {4096, 8192, 20000, 1 << 20};
    for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
        struct books books;
        const lego_allocator allocator = books_allocator(&books);
        const lego_options options = {budgets[b], 0, lego_model_builtin("compact"), 7, &allocator, NULL};
        lego_sketch *sketch;
        assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
        for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(sketch, i, count_of(i)), LEGO_OK);
        check_again(sketch);
        size_t before = books.now;
        books.fail_at = 1; /* no room to keep answers in */
        books.more = LONG_MAX - 1;
        check_again(sketch);
        assert_int_equal(books.now, before);
        lego_destroy(sketch);
        assert_int_equal(books.now, 0);
    }
}

/* What is counted exactly is no matter of opinion. */
static void assert_count(const lego_sketch *sketch, uint64_t item)
{
    for (size_t i = 0; i < WAYS; i++) {
        lego_estimate e;
        assert_int_equal(ask(sketch, &item, 1, &ways[i], &e), LEGO_OK);
        assert_true(e.value == (double)count_of(item) && e.lower == count_of(item) && e.upper == count_of(item));
    }
}

static int check_top(void *context, const lego_top_item *top)
{
    assert_int_equal(top->size, 8);
    if (top->exact) assert_count(context, key_of_bytes(top->item));
    return 0;
}

static void exact_counts_stay(void **unused)
{
    (void)unused;
    lego_sketch *whole = sketch_of("compact", 1 << 20, 0), *crowded = sketch_of("compact", 6000, 600);
    assert_true(info_of(whole).exact && !info_of(crowded).exact);
    for (uint64_t i = 0; i < ITEMS + ABSENT; i++) assert_count(whole, i);
    unsigned exact = 0;
    for (uint64_t i = 0; i < 20; i++) { /* the first are among the most frequent */
        lego_estimate e;
        assert_int_equal(lego_query_u64(crowded, i, &e), LEGO_OK);
        exact += e.lower == e.upper;
    }
    assert_true(exact > 0);
    assert_int_equal(lego_top(crowded, SIZE_MAX, check_top, crowded), LEGO_OK);
    lego_destroy(whole);
    lego_destroy(crowded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(the_papers_model_has_one_way),
        cmocka_unit_test(one_and_many_agree),
        cmocka_unit_test(who_may_be_absent_is_0),
        cmocka_unit_test(one_and_many_agree_when_asked_again),
        cmocka_unit_test(exact_counts_stay),
    };
    return cmocka_run_group_tests_name("asking", tests, NULL, NULL);
}
