/* Exactness, cell by cell: the memory against plain sums in 128 bits; the spill against a table; the byte ceiling. */
#include "support.h"

/* ---- the spill --------------------------------------------------------------------------------------------------- */

static int64_t draw_high(uint64_t *state)
{
    int64_t value = (int64_t)(draw(state) >> (8 + draw_below(state, 56))); /* up to 56 bits, as a spilled part has */
    return draw_below(state, 2) ? value : -value;
}

static void spill_is_a_map(void **unused)
{
    (void)unused;
    enum { KEYS = 200 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t state = seed, slots = draw_below(&state, 120), refused = 0;
        int64_t truth[KEYS] = {0};
        struct spill spill;
        spill_init(&spill, slots, KEYS);
        spill.slots = calloc(spill.size, 8);
        for (int step = 0; step < 3000; step++) {
            uint64_t key = draw_below(&state, KEYS), used = 0;
            int64_t delta = draw_below(&state, 3) ? draw_high(&state) : -truth[key];
            for (int i = 0; i < KEYS; i++) used += spill_cost(truth[i]);
            assert_int_equal(spill.used, used);
            bool fits = used - spill_cost(truth[key]) + spill_cost(truth[key] + delta) <= slots * 7 / 8;
            assert_int_equal(spill_add(&spill, key, delta), fits);
            if (fits) truth[key] += delta;
            else refused++;
            if (step % 7 == 0) {
                assert_int_equal(spill_take(&spill, key), truth[key]);
                truth[key] = 0;
            }
            key = draw_below(&state, KEYS);
            assert_int_equal(spill_get(&spill, key), truth[key]);
        }
        for (uint64_t i = 0; i < KEYS; i++) assert_int_equal(spill_take(&spill, i), truth[i]);
        for (uint64_t i = 0; i < spill.size; i++) assert_int_equal(spill.slots[i], 0);
        assert_true(slots > 100 || refused > 0);
        free(spill.slots);
    }
}

static void spill_costs(void **unused)
{
    (void)unused;
    assert_int_equal(spill_cost(0), 0);
    assert_int_equal(spill_cost(1), 1);
    assert_int_equal(spill_cost(-1), 1);
    assert_int_equal(spill_cost((1 << 20) - 1), 1);
    assert_int_equal(spill_cost(-(1 << 20)), 1);
    assert_int_equal(spill_cost(1 << 20), 2);
    assert_int_equal(spill_cost(-(1 << 20) - 1), 2);
    assert_int_equal(spill_cost((INT64_C(1) << 41) - 1), 2);
    assert_int_equal(spill_cost(INT64_C(1) << 41), 3);
    assert_int_equal(spill_cost(INT64_MAX >> 8), 3);
    assert_int_equal(spill_cost(INT64_MIN >> 8), 3);
}

/* ---- the memory against sums ------------------------------------------------------------------------------------- */

__extension__ typedef __int128 wide;

struct truth { /* cells of the shape as made, before any fold */
    uint32_t bricks, rows, columns;
    wide *cells;
    wide *totals;
};

static struct truth make_truth(uint32_t bricks, uint32_t rows, uint32_t columns)
{
    return (struct truth){bricks, rows, columns, calloc((size_t)bricks * rows * columns, sizeof(wide)),
                          calloc(bricks, sizeof(wide))};
}

static void truth_add(struct truth *t, const lego_model *model, uint64_t item, int64_t count)
{
    struct place place;
    uint32_t weight[LEGO_ROWS_MAX];
    hash_place(hash_u64(item, 0), model->rows, model->table_size, &place);
    embed_weights(model, place.index, weight);
    uint32_t b = place.brick % t->bricks;
    t->totals[b] += count;
    for (uint32_t k = 0; k < t->rows; k++)
        t->cells[((size_t)b * t->rows + k) * t->columns + place.column[k] % t->columns] += (wide)count * weight[k];
}

static void assert_exact(const lego_sketch *sketch, const struct truth *t)
{
    const struct memory *memory = &sketch->memory;
    uint64_t overflowing = 0;
    for (uint32_t i = 0; i < brick_count(memory); i++) {
        struct brick brick = brick_at(memory, i);
        wide total = 0;
        for (uint32_t b = brick.number; b < t->bricks; b += brick.level->bricks.d) total += t->totals[b];
        assert_true(total == memory->totals[brick.number]);
        for (uint32_t k = 0; k < t->rows; k++) {
            struct row row = brick_row(memory, &brick, k);
            for (uint32_t c = 0; c < brick.level->columns.d; c++) {
                wide sum = 0;
                for (uint32_t b = brick.number; b < t->bricks; b += brick.level->bricks.d)
                    for (uint32_t d = c; d < t->columns; d += brick.level->columns.d)
                        sum += t->cells[((size_t)b * t->rows + k) * t->columns + d];
                assert_true(sum == cells_value(&row, &memory->spill, c));
                if (row.bits < 64) overflowing += spill_cost(((int64_t)sum + (row.bits > 8 ? INT64_C(1) << (row.bits - 1) : 0)) >> row.bits);
            }
        }
    }
    assert_int_equal(overflowing, memory->spill.used);
}

static void cells_are_exact(void **unused)
{
    (void)unused;
    uint32_t at_level[4] = {0};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t state = seed * 977;
        uint32_t bricks = 1 + (uint32_t)draw_below(&state, 12), rows = 1 + (uint32_t)draw_below(&state, 8);
        struct lego_model model;
        model_of(&model, rows, 128, 8);
        lego_sketch *sketch = make(bricks, 128, 8, &model);
        struct truth truth = make_truth(bricks, rows, 128);
        struct stream_of s = make_stream(&state, draw_below(&state, 600), 1000, (unsigned)draw_below(&state, 13), seed % 2);
        for (size_t i = 0; i < s.n; i++) truth_add(&truth, &model, s.items[i], s.counts[i]);
        add_stream(sketch, &s, 1);
        assert_exact(sketch, &truth);
        at_level[sketch->memory.level]++;
        free_stream(&s);
        free(truth.cells);
        free(truth.totals);
        lego_sketch_destroy(sketch);
    }
    for (int l = 0; l < 4; l++) assert_true(at_level[l] > 10);
}

static void huge_counts_are_exact(void **unused)
{
    (void)unused;
    lego_sketch *sketch = make(4, 5120, 8, NULL);
    struct truth truth = make_truth(4, 4, 5120);
    const int64_t million_million = INT64_C(1000000000000);
    for (uint64_t i = 0; i < 1000; i++) { /* 10^15 in all, with sums that are negative on the way */
        int64_t count = i % 3 == 0 ? -5 * million_million : i % 3 == 1 ? 6 * million_million : 2 * million_million;
        assert_int_equal(lego_sketch_add_u64(sketch, i / 3 % 50, count), LEGO_OK);
        truth_add(&truth, sketch->model, i / 3 % 50, count);
    }
    assert_exact(sketch, &truth);
    lego_sketch_info info;
    lego_sketch_describe(sketch, &info);
    assert_int_equal(info.total, 994 * million_million);
    lego_estimate e;
    lego_sketch_estimate_u64(sketch, 7, &e); /* 50 items in 81,920 cells: alone in at least one */
    assert_int_equal(e.upper, 21 * million_million);
    lego_sketch_destroy(sketch);
    free(truth.cells);
    free(truth.totals);
}

static void sums_never_wrap(void **unused)
{
    (void)unused;
    lego_sketch *a = make(2, 64, 8, NULL), *b = make(2, 64, 8, NULL), *before;
    assert_int_equal(lego_sketch_add_u64(a, 1, INT64_MAX / 8), LEGO_OK);
    assert_int_equal(lego_sketch_copy(a, &before), LEGO_OK);
    assert_int_equal(lego_sketch_add_u64(a, 1, 1), LEGO_ERR_RANGE);
    assert_int_equal(lego_sketch_add_u64(a, 1, INT64_MIN), LEGO_ERR_RANGE);
    assert_int_equal(lego_sketch_add(a, "x", 1, -INT64_MAX), LEGO_ERR_RANGE);
    uint64_t keys[3] = {1, 2, 3};
    int64_t counts[3] = {0, INT64_MIN, INT64_MIN}; /* their sum as unsigned numbers is 0 */
    assert_int_equal(lego_sketch_add_u64s(a, keys, counts, 3), LEGO_ERR_RANGE);
    assert_int_equal(lego_sketch_add_u64s(b, keys, counts, 3), LEGO_ERR_RANGE);
    assert_int_equal(lego_sketch_add_u64(b, 2, 1), LEGO_OK);
    assert_int_equal(lego_sketch_merge(a, b), LEGO_ERR_RANGE);
    assert_int_equal(lego_sketch_subtract(a, b), LEGO_ERR_RANGE);
    assert_same(a, before);
    lego_sketch_clear(a);
    assert_int_equal(lego_sketch_add_u64(a, 1, -(INT64_MAX / 8)), LEGO_OK);
    lego_estimate e;
    lego_sketch_estimate_u64(a, 1, &e);
    assert_int_equal(e.upper, -(INT64_MAX / 8));
    lego_sketch_destroy(a);
    lego_sketch_destroy(b);
    lego_sketch_destroy(before);
}

/* ---- the ceiling ------------------------------------------------------------------------------------------------- */

/* Streams that overflow cells as fast as they can: every update a new item that fills all its cells. */
static void bytes_stay_under_the_budget(void **unused)
{
    (void)unused;
    static const uint64_t budgets[] = {4096, 5000, 9999, 20480, 65536, 300 * 1024};
    static const int64_t sizes[] = {1, 255, 256, -1, INT64_C(1) << 33, INT64_C(1) << 44};
    for (int b = 0; b < 6; b++) {
        for (int c = 0; c < 6; c++) {
            struct books books;
            lego_allocator allocator = books_allocator(&books);
            lego_options options = LEGO_OPTIONS_INIT;
            options.model = lego_model_builtin("rule");
            options.budget = budgets[b];
            options.allocator = &allocator;
            lego_sketch *sketch;
            assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
            long calls = books.calls;
            for (uint64_t i = 0; i < 6000; i++) {
                assert_int_equal(lego_sketch_add_u64(sketch, i, sizes[c]), LEGO_OK);
                assert_true(books.most <= budgets[b]);
                assert_true(lego_sketch_bytes(sketch) == books.now);
                assert_true(sketch->memory.spill.used <= sketch->memory.spill.limit);
            }
            assert_int_equal(books.calls, calls); /* nothing was allocated after create */
            lego_sketch_destroy(sketch);
            assert_int_equal(books.now, 0);
        }
    }
}

static void any_budget_is_used_well(void **unused)
{
    (void)unused;
    for (uint64_t budget = LEGO_BUDGET_MIN; budget < 3 << 20; budget += 1 + budget / 97) {
        lego_options options = LEGO_OPTIONS_INIT;
        options.model = lego_model_builtin("rule");
        options.budget = budget;
        lego_sketch *sketch;
        assert_int_equal(lego_sketch_create(&options, &sketch), LEGO_OK);
        uint64_t bytes = lego_sketch_bytes(sketch);
        assert_true(bytes <= budget);
        assert_true(bytes >= budget - 100 - budget / 64); /* a step of 16 columns is 72 bytes, or 2/3 % of a brick */
        lego_sketch_destroy(sketch);

        if (budget < 128 * 1024) continue; /* twice the budget, twice the bricks: such sketches merge */
        struct lego_sketch *one, *two;
        lego_sketch_create(&options, &one);
        options.budget *= 2;
        lego_sketch_create(&options, &two);
        assert_int_equal(two->memory.shape.columns, one->memory.shape.columns);
        assert_int_equal(two->memory.shape.bricks, 2 * one->memory.shape.bricks);
        lego_sketch_destroy(one);
        lego_sketch_destroy(two);
    }
}

static lego_status try(uint64_t budget, uint32_t bricks, uint32_t columns, uint32_t bits)
{
    lego_options options = {budget, lego_model_builtin("rule"), 0, NULL, bricks, columns, bits, LEGO_DENSE};
    lego_sketch *sketch = NULL;
    lego_status status = lego_sketch_create(&options, &sketch);
    assert_true((status == LEGO_OK) == (sketch != NULL));
    lego_sketch_destroy(sketch);
    return status;
}

static void impossible_options_are_refused(void **unused)
{
    (void)unused;
    assert_int_equal(try(LEGO_BUDGET_MIN - 1, 0, 0, 0), LEGO_ERR_BUDGET);
    assert_int_equal(try(LEGO_BUDGET_MAX + 1, 0, 0, 0), LEGO_ERR_BUDGET);
    assert_int_equal(try(UINT64_MAX, 0, 0, 0), LEGO_ERR_BUDGET);
    assert_int_equal(try(0, 0, 0, 0), LEGO_ERR_ARGUMENT); /* nothing says how large */
    assert_int_equal(try(0, 1, 65, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try(0, 1, 5120 + 64, 0), LEGO_ERR_ARGUMENT);
    assert_int_equal(try(0, UINT32_MAX, 64, 8), LEGO_ERR_ARGUMENT);
    assert_int_equal(try(0, 1, 64, 7), LEGO_ERR_ARGUMENT);
    assert_int_equal(try(4096, 0, 0, 128), LEGO_ERR_ARGUMENT);
    assert_int_equal(try(4096, 100, 64, 8), LEGO_ERR_BUDGET);
    assert_int_equal(try(4096, 100, 0, 8), LEGO_ERR_BUDGET);
    assert_int_equal(try(4096, 0, 5120, 8), LEGO_ERR_BUDGET);
    assert_int_equal(try(4096, 3, 64, 8), LEGO_OK);
    assert_int_equal(try(0, 3, 0, 32), LEGO_OK);
    assert_int_equal(try(300 * 1024, 0, 1024, 32), LEGO_OK);
    assert_int_equal(try(300 * 1024, 5, 0, 0), LEGO_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spill_is_a_map),
        cmocka_unit_test(spill_costs),
        cmocka_unit_test(cells_are_exact),
        cmocka_unit_test(huge_counts_are_exact),
        cmocka_unit_test(sums_never_wrap),
        cmocka_unit_test(bytes_stay_under_the_budget),
        cmocka_unit_test(any_budget_is_used_well),
        cmocka_unit_test(impossible_options_are_refused),
    };
    return cmocka_run_group_tests_name("cells", tests, NULL, NULL);
}
