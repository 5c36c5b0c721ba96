/* What a budget buys: numbers of blocks, bytes, which budgets merge; folding; and what lego_describe() says of it
 * all. */
#include "support.h"

static const char *const models[] = {"compact", "paper"};

static uint32_t blocks_within(uint64_t budget)
{
    lego_sketch *sketch = make_within("compact", budget, 0);
    uint32_t blocks = info_of(sketch).blocks;
    lego_destroy(sketch);
    return blocks;
}

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

/* Whether n is m * 2^e with m below 256. */
static bool has_eight_bits(uint32_t n)
{
    while (n >= 256 && n % 2 == 0) n /= 2;
    return n < 256;
}

static void numbers_of_blocks_have_eight_bits(void **unused)
{
    (void)unused;
    uint32_t before = 0;
    for (uint64_t budget = LEGO_BUDGET_MIN; budget < UINT64_C(1) << 36; budget += 1 + budget / 97) {
        uint32_t blocks = blocks_within(budget);
        uint64_t taken = blocks_bytes(blocks);
        assert_true(has_eight_bits(blocks));
        assert_true(blocks >= before);
        assert_true(taken <= budget && taken + 1100 > budget - budget / 64); /* a 128th and the bits below eight */
        before = blocks;
    }
    for (uint64_t top = LEGO_TOP_MIN; top < 1 << 20; top += 1 + top / 97) {
        lego_sketch *sketch = make_within("compact", 2 << 20, top);
        assert_true(has_eight_bits(sketch->top.most));
        assert_true(top_bytes(sketch->top.most) <= top);
        lego_destroy(sketch);
    }
}

static uint64_t whole_top(const lego_sketch *sketch)
{
    return has_top(sketch) ? top_bytes(sketch->top.most) : 0;
}

/* Whoever is told to make a sketch like another is told this budget. */
static void the_least_budget_makes_the_same_shape(void **unused)
{
    (void)unused;
    for (uint64_t budget = 16384; budget < 4 << 20; budget += 1 + budget / 7)
        for (int way = 0; way < 4; way++) {
            lego_sketch *one = make_within(models[way / 2], budget, way % 2 ? budget / 8 : 0);
            lego_info a = info_of(one);
            assert_true(a.budget <= budget && a.bytes <= a.budget);
            lego_sketch *other = make_within(models[way / 2], a.budget, whole_top(one));
            lego_info b = info_of(other);
            assert_int_equal(a.blocks, b.blocks);
            assert_int_equal(a.columns, b.columns);
            assert_int_equal(whole_top(one), whole_top(other));
            assert_int_equal(a.budget, b.budget);
            lego_destroy(one);
            lego_destroy(other);
        }
}

/* What the allocator has given out is what the sketch says. */
static lego_info check_books(const lego_sketch *sketch, const struct books *books, uint64_t budget)
{
    lego_info info = info_of(sketch);
    assert_int_equal(books->now, info.bytes + info.cache_bytes);
    assert_true(info.bytes <= budget && info.budget <= budget);
    return info;
}

/* Never more than the budget, whatever it counts; and when there is no more room for all, nearly that. */
static void check_ceiling(const char *model, uint64_t budget, uint64_t top)
{
    struct books books;
    lego_allocator allocator = books_allocator(&books);
    lego_options options = {budget, top, lego_model_builtin(model), 3, &allocator, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    for (uint64_t i = 0, next = 0; i < budget / 16; i++) {
        assert_int_equal(lego_add_u64(sketch, i, (int64_t)(i * i % 100000)), LEGO_OK);
        if (i < next) continue;
        check_books(sketch, &books, budget);
        next = next * 2 + 1;
    }
    uint64_t bytes = check_books(sketch, &books, budget).bytes;
    assert_true(bytes + 1200 > budget - budget / 50 || sketch->bricks.columns.d || top);
    struct bytes saved = sketch_to_bytes(sketch);
    lego_destroy(sketch);
    assert_int_equal(books.now, 0);
    assert_int_equal(lego_load(saved.p, saved.size, &(lego_options){.allocator = &allocator}, &sketch), LEGO_OK);
    uint64_t loaded = check_books(sketch, &books, budget).bytes;
    assert_true(top ? loaded <= bytes : loaded == bytes); /* behind a top blocks may have come ahead of need */
    assert_int_equal(lego_fold(sketch, 1), LEGO_OK);
    check_books(sketch, &books, budget);
    lego_clear(sketch);
    check_books(sketch, &books, budget);
    lego_destroy(sketch);
    assert_int_equal(books.now, 0);
    free(saved.p);
}

static void bytes_stay_under_the_budget(void **unused)
{
    (void)unused;
    for (uint64_t budget = LEGO_BUDGET_MIN; budget < 1 << 20; budget += 1 + budget / (FULL ? 5 : 2))
        for (int m = 0; m < 2; m++) {
            check_ceiling(models[m], budget, 0);
            if (budget >= 9000) check_ceiling(models[m], budget, budget / 8);
        }
}

static void the_paper_fills_its_budget(void **unused)
{
    (void)unused;
    for (uint64_t budget = 16 << 10; budget < 100 << 20; budget += 1 + budget / 17) {
        lego_sketch *sketch = make_within("paper", budget, 0);
        lego_info info = info_of(sketch);
        assert_true(info.bytes <= budget);
        assert_true(info.bytes >= budget / 100 * 98);
        assert_true(info.columns % 2 == 0);
        if (budget >= 1 << 20) assert_in_range(info.columns, 4000, 6600); /* near what it was trained with */
        lego_destroy(sketch);
    }
}

static lego_status try_budget(uint64_t budget, uint64_t top)
{
    lego_options options = {budget, top, NULL, 0, NULL, NULL};
    lego_sketch *sketch = NULL;
    lego_status status = lego_create(&options, &sketch);
    assert_true((status == LEGO_OK) == (sketch != NULL));
    lego_destroy(sketch);
    return status;
}

static lego_status try_shape(const char *model, uint32_t blocks, uint32_t columns, uint64_t top)
{
    lego_options options = {0, top, lego_model_builtin(model), 0, NULL, NULL};
    lego_sketch *sketch = NULL;
    lego_status status = lego_lab_create(&options, blocks, columns, &sketch);
    assert_true((status == LEGO_OK) == (sketch != NULL));
    lego_destroy(sketch);
    return status;
}

static void impossible_options_are_refused(void **unused)
{
    (void)unused;
    static const uint64_t wrong[][2] = {{0, 0},
                                        {LEGO_BUDGET_MIN - 1, 0},
                                        {LEGO_BUDGET_MAX + 1, 0},
                                        {UINT64_MAX, 0},
                                        {4096, 1},
                                        {4607, 512},
                                        {100000, 100},
                                        {100000, LEGO_TOP_MIN - 1},
                                        {100000, 96000},
                                        {100000, UINT64_MAX},
                                        {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(try_budget(wrong[i][0], wrong[i][1]), LEGO_ERR_BUDGET);
    assert_int_equal(try_budget(LEGO_BUDGET_MIN, 0), LEGO_OK);
    assert_int_equal(try_budget(LEGO_BUDGET_MIN + LEGO_TOP_MIN, LEGO_TOP_MIN), LEGO_OK);

    assert_int_equal(try_shape("compact", 0, 0, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("compact", 4, 128, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("compact", (1u << 28) + 1, 0, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("compact", 1u << 28, 0, 0), LEGO_ERR_ARGUMENT); /* 64 GiB and the handle */
    assert_int_equal(try_shape("compact", UINT32_MAX, 0, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("compact", 1, 0, LEGO_TOP_MIN - 1), LEGO_ERR_BUDGET);
    assert_int_equal(try_shape("compact", 1, 0, LEGO_BUDGET_MAX + 1), LEGO_ERR_BUDGET);
    assert_int_equal(try_shape("compact", 1, 0, LEGO_TOP_MIN), LEGO_OK);
    assert_int_equal(try_shape("paper", 0, 64, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("paper", 1, 0, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("paper", 1, 65, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("paper", 1, 14, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("paper", 1, 16386, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("paper", UINT32_MAX, 64, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try_shape("paper", 3, 16, 0), LEGO_OK);
}

/* ---- which budgets merge ----------------------------------------------------------------------------------------- */

/* No count below what was added: of the first items, whose counts are `counts`. */
static void check_upper(const lego_sketch *sketch, const int64_t counts[], size_t n)
{
    lego_estimate e;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(lego_query_u64(sketch, i, &e), LEGO_OK);
        assert_true(e.upper >= counts[i]);
    }
}

static void count_stream(const struct stream_of *s, int64_t counts[])
{
    for (size_t i = 0; i < s->n; i++) counts[s->items[i]] += s->counts[i];
}

/* Half a stream in a sketch of each budget, merged either way. While nothing keeps, that is the sketch of the whole in
 * the smaller, or, while all are exact, in its own. */
static void check_merge(const char *model, uint64_t small, uint64_t large, size_t n, bool keeps)
{
    uint64_t state = small ^ large;
    struct stream_of s = make_stream(&state, n, n, 3, false), r = make_stream(&state, n, n, 3, false);
    int64_t *counts = calloc(n, sizeof *counts);
    count_stream(&s, counts);
    count_stream(&r, counts);
    for (int way = 0; way < 2; way++) {
        lego_sketch *a = make_within(model, way ? large : small, 0), *b = make_within(model, way ? small : large, 0);
        add_in_batches(a, &s, &state);
        add_in_batches(b, &r, &state);
        const bool exact = info_of(a).exact && info_of(b).exact;
        lego_sketch *whole = make_within(model, way && exact ? large : small, 0);
        add_in_batches(whole, &s, &state);
        add_in_batches(whole, &r, &state);
        if (lego_merge(a, b) != LEGO_OK)
            fail_msg("%s: %lu and %lu do not merge: %u and %u", model, small, large, info_of(a).blocks,
                     info_of(b).blocks);
        assert_int_equal(info_of(a).keeping > 0, keeps);
        assert_int_equal(info_of(a).blocks, info_of(whole).blocks);
        assert_int_equal(lego_total(a), lego_total(whole));
        if (!keeps) assert_same(a, whole);
        check_upper(a, counts, n);
        assert_int_equal(bytes_of(a), bytes_of(whole));
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(whole);
    }
    free(counts);
    free_stream(&s);
    free_stream(&r);
}

static void budgets_that_are_twice_each_other_merge(void **unused)
{
    (void)unused;
    static const uint64_t kb[][2] = {{64, 128}, {512, 2048}, {300, 600}, {100, 200}, {77, 1232}, {64, 1024}};
    for (size_t i = 0; i < sizeof kb / sizeof *kb; i++) {
        const uint64_t small = kb[i][0] << 10, large = kb[i][1] << 10;
        check_merge("compact", small, large, small / 16, false); /* young, and with all blocks */
        check_merge("compact", small, large, small / 6, false);
        check_merge("compact", small, large, small, true);
    }
    check_merge("paper", 300 << 10, 600 << 10, 150 << 10,
                false); /* of bricks, whose columns must agree too, not all do */
    check_merge("paper", 1 << 20, 2 << 20, 300000, false);
    for (uint64_t budget = 128 << 10; budget < 3 << 20; budget += 1 + budget / 997)
        assert_int_equal(blocks_within(2 * budget), 2 * blocks_within(budget));
}

static void numbers_that_do_not_nest_are_refused(void **unused)
{
    (void)unused;
    for (int way = 0; way < 2; way++) {
        lego_sketch *a = make_within("compact", (way ? UINT64_C(65) : 100) << 10, 0), *before;
        lego_sketch *b = make_within("compact", (way ? UINT64_C(100) : 65) << 10, 0), *other;
        for (uint64_t i = 0; i < 60000; i++) {
            assert_int_equal(lego_add_u64(a, i, 3), LEGO_OK);
            assert_int_equal(lego_add_u64(b, i, 5), LEGO_OK);
        }
        assert_true(info_of(a).blocks % info_of(b).blocks != 0 && info_of(b).blocks % info_of(a).blocks != 0);
        assert_int_equal(lego_copy(a, &before), LEGO_OK);
        assert_int_equal(lego_copy(b, &other), LEGO_OK);
        assert_int_equal(lego_merge(a, b), LEGO_ERR_SHAPE);
        assert_int_equal(lego_subtract(a, b), LEGO_ERR_SHAPE);
        assert_same(a, before);
        assert_same(b, other);
        assert_int_equal(info_of(a).total, 180000);
        lego_sketch *all[] = {a, b, before, other};
        for (int i = 0; i < 4; i++) lego_destroy(all[i]);
    }
}

/* ---- folding ----------------------------------------------------------------------------------------------------- */

/* Of blocks that list after a fold, and of bricks, it is what a smaller sketch would be; else it has all that was
 * counted. */
static void check_fold(const lego_sketch *sketch, uint32_t blocks, const struct stream_of *s, bool keeps)
{
    lego_info made = info_of(sketch);
    bool divides = blocks > 0 && made.blocks % blocks == 0;
    lego_options options = {0, 0, made.model, made.seed, NULL, NULL};
    lego_sketch *copy, *same;
    assert_int_equal(lego_copy(sketch, &copy), LEGO_OK);
    assert_int_equal(lego_fold(copy, blocks), divides ? LEGO_OK : LEGO_ERR_SHAPE);
    assert_int_equal(lego_lab_create(&options, divides ? blocks : made.blocks, made.columns, &same), LEGO_OK);
    add_stream(same, s, 1);
    assert_int_equal(info_of(copy).keeping > 0, info_of(same).keeping > 0);
    if (keeps && blocks == 1) assert_true(info_of(copy).keeping > 0);
    if (info_of(copy).keeping > 0 && divides) {
        int64_t counts[2000] = {0};
        count_stream(s, counts);
        check_upper(copy, counts, 2000);
        assert_int_equal(lego_total(copy), lego_total(same));
        lego_sketch *loaded = reload(copy);
        assert_same(loaded, copy);
        lego_destroy(loaded);
    } else assert_same(copy, same);
    lego_destroy(copy);
    lego_destroy(same);
}

static void fold_takes_divisors(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    struct stream_of few = make_stream(&state, 100, 2000, 3, false), many = make_stream(&state, 3000, 2000, 3, false);
    for (int way = 0; way < 4; way++) {
        lego_sketch *sketch = way % 2 ? make(24, 64, NULL) : make_within("compact", 8192, 0);
        const struct stream_of *s = way / 2 ? &many : &few;
        add_stream(sketch, s, 1);
        for (uint32_t blocks = 0; blocks <= 2 * info_of(sketch).blocks; blocks++)
            check_fold(sketch, blocks, s, way == 2);
        lego_destroy(sketch);
    }
    free_stream(&few);
    free_stream(&many);
}

/* What a sketch like this one takes when it has so many blocks or bricks and has grown. */
static uint64_t grown_bytes(const lego_sketch *sketch, uint32_t blocks)
{
    struct shape shape = sketch_shape(sketch);
    shape.blocks = blocks;
    return sketch_bytes(sketch->model, &shape);
}

/* The most blocks that fit when it has grown, of all divisors, and no change where it fits already. */
static void check_fold_within(const lego_sketch *sketch, uint64_t budget)
{
    lego_sketch *copy, *same;
    lego_info made = info_of(sketch);
    assert_int_equal(lego_copy(sketch, &copy), LEGO_OK);
    lego_status status = lego_fold_within(copy, budget);
    lego_info now = info_of(copy);
    assert_int_equal(lego_copy(sketch, &same), LEGO_OK);
    if (status == LEGO_OK) {
        assert_true(grown_bytes(copy, now.blocks) <= budget);
        assert_int_equal(now.total, made.total);
        assert_int_equal(made.blocks % now.blocks, 0);
        assert_int_equal(lego_fold(same, now.blocks), LEGO_OK);
        for (uint32_t blocks = now.blocks + 1; blocks <= made.blocks; blocks++)
            assert_true(made.blocks % blocks || grown_bytes(copy, blocks) > budget);
    } else {
        assert_int_equal(status, LEGO_ERR_SHAPE);
        assert_true(grown_bytes(sketch, 1) > budget); /* not even one fits */
    }
    assert_same(copy, same);
    lego_destroy(copy);
    lego_destroy(same);
}

/* A brick is 1 modulo 8 bytes, so the bytes of many are not those of one times their number. */
static void fold_within_keeps_the_budget_of_many_bricks(void **unused)
{
    (void)unused;
    uint64_t state = 9;
    for (int i = 0; i < 60; i++) {
        lego_sketch *sketch = make(24 * (uint32_t)(1 + draw_below(&state, 200)), 16, NULL);
        uint64_t bytes = info_of(sketch).bytes, budget = bytes - 1 - draw_below(&state, bytes / 2);
        if (budget < LEGO_BUDGET_MIN) budget = LEGO_BUDGET_MIN;
        assert_int_equal(lego_fold_within(sketch, budget), LEGO_OK);
        assert_true(info_of(sketch).bytes <= budget);
        lego_destroy(sketch);
    }
}

static void fold_within_takes_the_most_that_fit(void **unused)
{
    (void)unused;
    uint64_t state = 5;
    struct stream_of s = make_stream(&state, 3000, 2000, 3, false);
    lego_sketch *sketches[] = {make_within("compact", 100 << 10, 0), make(24, 128, NULL), make(2, 5120, NULL)};
    for (int i = 0; i < 3; i++) {
        add_stream(sketches[i], &s, 1);
        for (uint64_t budget = LEGO_BUDGET_MIN; budget < 250 << 10; budget += 1 + budget / 17)
            check_fold_within(sketches[i], budget);
        lego_sketch *before;
        assert_int_equal(lego_copy(sketches[i], &before), LEGO_OK);
        assert_int_equal(lego_fold_within(sketches[i], LEGO_BUDGET_MIN - 1), LEGO_ERR_BUDGET);
        assert_int_equal(lego_fold_within(sketches[i], LEGO_BUDGET_MAX + 1), LEGO_ERR_BUDGET);
        assert_same(sketches[i], before);
        lego_destroy(before);
        lego_destroy(sketches[i]);
    }
    free_stream(&s);
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static void assert_facts(const lego_sketch *sketch, int64_t total)
{
    lego_info info = info_of(sketch);
    assert_int_equal(info.total, total);
    assert_ptr_equal(info.model, sketch->model);
    assert_int_equal(info.seed, 7);
    assert_int_equal(info.columns == 0, has_blocks(sketch->model));
    assert_int_equal(info.top_bytes > 0, has_top(sketch));
    assert_in_range(info.top_total, 0, info.top_bytes ? total : 0);
    assert_int_equal(lego_total(sketch), total);
    int64_t sum = 0; /* of all that blocks list or have lost, or of all bricks */
    for (uint32_t i = 0; i < (info.columns ? info.blocks : sketch->blocks.blocks); i++) {
        struct content content;
        if (info.columns) {
            sum += row_get64(sketch->bricks.totals + 8 * (size_t)i);
            continue;
        }
        sketch->blocks.kernels->open(&sketch->blocks.block[i], sketch->blocks.whole, &content);
        for (unsigned c = 0; c < content.n; c++) sum += content.value[c];
        sum += (int64_t)(content.loss.plus - content.loss.minus);
    }
    assert_int_equal(sum + info.top_total, total);
}

/* What was added, in whatever way, and taken away again. */
static void describe_agrees_with_what_was_added(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        uint64_t state = (uint64_t)kind, top = kind & 2 ? 20000 : 0;
        struct stream_of s = make_stream(&state, 20000, 12000, 4, false);
        int64_t sum = 0;
        for (size_t i = 0; i < s.n; i++) sum += s.counts[i];
        lego_sketch *a = make_within(models[kind & 1], kind & 1 ? 300000 : 60000, top), *b, *loaded;
        assert_facts(a, 0);
        add_stream(a, &s, 1);
        assert_facts(a, sum);
        assert_int_equal(add_u64s(a, s.items, s.counts, s.n), LEGO_OK);
        assert_facts(a, 2 * sum);
        assert_int_equal(add_u64s(a, s.items, NULL, s.n), LEGO_OK);
        assert_facts(a, 2 * sum + (int64_t)s.n);
        assert_int_equal(lego_add(a, "pear", 4, 10), LEGO_OK);
        assert_int_equal(lego_add(a, "pear", 4, -4), LEGO_OK);
        add_stream(a, &s, -1);
        int64_t total = sum + (int64_t)s.n + 6;
        assert_facts(a, total);
        assert_int_equal(lego_copy(a, &b), LEGO_OK);
        assert_facts(b, total);
        assert_int_equal(lego_merge(b, a), LEGO_OK);
        assert_facts(b, 2 * total);
        assert_int_equal(lego_merge(b, b), LEGO_OK);
        assert_facts(b, 4 * total);
        assert_int_equal(lego_subtract(b, a), top ? LEGO_ERR_TOP : LEGO_OK);
        assert_facts(b, top ? 4 * total : 3 * total);
        assert_int_equal(lego_fold(b, 1), LEGO_OK);
        assert_facts(b, top ? 4 * total : 3 * total);
        struct bytes bytes = sketch_to_bytes(a);
        assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &loaded), LEGO_OK);
        assert_facts(loaded, total);
        assert_int_equal(info_of(loaded).top_total, info_of(a).top_total);
        lego_clear(a);
        assert_facts(a, 0);
        free(bytes.p);
        lego_destroy(a);
        lego_destroy(b);
        lego_destroy(loaded);
        free_stream(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_blocks_have_eight_bits),
        cmocka_unit_test(the_least_budget_makes_the_same_shape),
        cmocka_unit_test(bytes_stay_under_the_budget),
        cmocka_unit_test(the_paper_fills_its_budget),
        cmocka_unit_test(impossible_options_are_refused),
        cmocka_unit_test(budgets_that_are_twice_each_other_merge),
        cmocka_unit_test(numbers_that_do_not_nest_are_refused),
        cmocka_unit_test(fold_takes_divisors),
        cmocka_unit_test(fold_within_takes_the_most_that_fit),
        cmocka_unit_test(fold_within_keeps_the_budget_of_many_bricks),
        cmocka_unit_test(describe_agrees_with_what_was_added),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
