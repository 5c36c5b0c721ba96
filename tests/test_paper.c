/* The paper's bricks: exact sums in rows that widen in place, shapes that fill a budget, merges and files. */
#include "paper/embed.h"
#include "support_bricks.h"

static size_t saved_size(const struct bricks *bricks)
{
    return (size_t)bricks_saved_size(bricks->model, bricks->bricks.d, bricks->columns.d);
}

static void assert_equal_bricks(const struct bricks *a, const struct bricks *b)
{
    assert_int_equal(saved_size(a), saved_size(b));
    assert_memory_equal(a->cells, b->cells, saved_size(a));
    assert_int_equal(a->total, b->total);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void cells_pair_at_the_last_moment(void **unused)
{
    (void)unused;
    static const int64_t edges[] = {INT32_MAX, INT32_MIN};
    for (int e = 0; e < 2; e++) {
        unsigned char bytes[16 * 4] = {0};
        struct cells cells = {bytes, 16, false};
        int64_t one = edges[e] > 0 ? 1 : -1;
        row_add(&cells, 3, edges[e]);
        row_add(&cells, 2, 7);
        row_add(&cells, 15, 5);
        assert_false(cells.wide);
        assert_int_equal(row_get(&cells, 3), edges[e]);
        row_add(&cells, 3, one);
        assert_true(cells.wide);
        assert_int_equal(cells.n, 14);
        for (uint32_t i = 0; i < 14; i++) {
            assert_int_equal(row_is_pair(&cells, i), i / 2 == 1);
            assert_int_equal(row_get(&cells, i), i / 2 == 1 ? edges[e] + one + 7 : i == 1 ? 5 : 0);
        }
        row_add(&cells, 2, INT64_MAX / 2 * one);
        row_add(&cells, 15, -1); /* column 15 is in cell 1 */
        assert_int_equal(row_get(&cells, 3), edges[e] + one + 7 + INT64_MAX / 2 * one);
        assert_int_equal(row_get(&cells, 1), 4);
    }
}

/* What cell i of a wide row holds, from the sums of the C columns. */
static int64_t sum_of_cell(const struct cells *cells, const int64_t sum[], uint32_t columns, uint32_t i)
{
    uint32_t from = row_is_pair(cells, i) ? i & ~1u : i, to = row_is_pair(cells, i) ? i | 1u : i;
    int64_t all = 0;
    for (uint32_t c = from; c <= to; c++) all += sum[c] + (cells->n + c < columns ? sum[cells->n + c] : 0);
    return all;
}

static void the_widest_row_widens_in_place(void **unused)
{
    (void)unused;
    static unsigned char bytes[4 * ROW_COLUMNS_MAX + 8];
    static int64_t sum[ROW_COLUMNS_MAX];
    struct cells cells = {bytes, ROW_COLUMNS_MAX, false};
    unsigned pairs = 0;
    memset(bytes + 4 * ROW_COLUMNS_MAX, 0x5a, 8);
    for (uint32_t c = 0; c < ROW_COLUMNS_MAX; c++) row_add(&cells, c, sum[c] = INT32_MAX - (int64_t)c * 131071);
    assert_false(cells.wide);
    row_widen(&cells);
    for (uint32_t i = 0; i < cells.n; i++) {
        assert_int_equal(row_get(&cells, i), sum_of_cell(&cells, sum, ROW_COLUMNS_MAX, i));
        pairs += row_is_pair(&cells, i);
    }
    assert_in_range(pairs, 100, 200); /* where the first and the last columns together leave 32 bits */
    for (uint32_t i = 0; i < cells.n; i += 2) row_pair(&cells, i);
    for (uint32_t i = 0; i < cells.n; i++)
        assert_int_equal(row_get(&cells, i), sum_of_cell(&cells, sum, ROW_COLUMNS_MAX, i));
    for (int i = 0; i < 8; i++) assert_int_equal(bytes[4 * ROW_COLUMNS_MAX + i], 0x5a);
}

/* ---- bricks against plain sums ----------------------------------------------------------------------------------- */

enum { BRICKS = 3, COLUMNS = 64, ROWS = 5 };
struct truth {
    int64_t cells[BRICKS][ROWS][COLUMNS], totals[BRICKS];
    bool left[BRICKS][ROWS]; /* whether a sum has left 32 bits at some time, with columns as they are then */
};

static void truth_add(struct truth *truth, const lego_model *model, uint64_t item, int64_t count)
{
    struct place place;
    uint32_t weight[ROWS_MAX];
    hash_place(hash_u64(item, seed_of(0)), model->rows, model->table_size, &place);
    embed_weights(model, place.index, weight);
    uint32_t b = place.brick % BRICKS;
    truth->totals[b] += count;
    for (uint32_t k = 0; k < ROWS; k++) {
        int64_t *cell = &truth->cells[b][k][place.column[k] % COLUMNS];
        *cell += count * (int64_t)weight[k];
        if (*cell != (int32_t)*cell) truth->left[b][k] = true;
    }
}

static void assert_exact(const struct bricks *bricks, const struct truth *truth)
{
    for (uint32_t b = 0; b < BRICKS; b++) {
        assert_int_equal(row_get64(bricks->totals + 8 * b), truth->totals[b]);
        for (uint32_t k = 0; k < ROWS; k++) {
            const int64_t *sum = truth->cells[b][k];
            struct cells cells = cells_of(bricks, b, k);
            assert_int_equal(cells.wide, truth->left[b][k]);
            for (uint32_t c = 0; c < cells.n; c++)
                assert_int_equal(row_get(&cells, c), cells.wide ? sum_of_cell(&cells, sum, COLUMNS, c) : sum[c]);
        }
    }
}

static void sums_are_exact(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    struct bricks bricks = make_bricks(model, BRICKS, COLUMNS);
    unsigned narrow = 0, mixed = 0, wide = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(200); seed++) {
        uint64_t state = seed;
        struct drawn drawn = draw_items(&state, 1 + draw_below(&state, 400), 300, (unsigned)(seed / 2 % 14));
        struct truth truth = {0};
        bricks_clear(&bricks);
        for (size_t i = 0; i < drawn.n; i++) {
            if (seed % 2 && draw_below(&state, 3) == 0) drawn.counts[i] = -drawn.counts[i];
            truth_add(&truth, model, drawn.items[i], drawn.counts[i]);
        }
        add_drawn(&bricks, &drawn);
        assert_exact(&bricks, &truth);
        unsigned rows = wide_rows(&bricks);
        if (rows == 0) narrow++;
        else if (rows < BRICKS * ROWS) mixed++;
        else wide++;
        free_drawn(&drawn);
    }
    assert_true(narrow > 0 && mixed > 0 && wide > 0);
    free_bricks(&bricks);
}

static void the_upper_bound_holds_in_wide_rows(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    struct bricks bricks = make_bricks(model, 2, 512);
    int64_t truth[1000] = {0};
    uint64_t state = 5, below = 0;
    for (int i = 0; i < 5000; i++) {
        uint64_t item = draw_below(&state, 1000);
        int64_t count = draw_count(&state, 7);
        truth[item] += count;
        bricks_add(&bricks, hash_u64(item, seed_of(0)), count);
    }
    assert_int_equal(wide_rows(&bricks), 10);
    for (uint64_t item = 0; item < 1000; item++) {
        lego_estimate e = bricks_query(&bricks, hash_u64(item, seed_of(0)));
        assert_true(e.upper >= truth[item] && e.value <= (double)e.upper && (double)e.lower <= e.value);
        below += e.lower <= truth[item];
    }
    assert_true(below >= 950);
    free_bricks(&bricks);
}

static void order_and_threads_do_not_matter(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    for (unsigned digits = 1; digits <= 12; digits++) {
        uint64_t state = digits, offsets[2001];
        unsigned char text[8 * 2000];
        struct drawn drawn = draw_items(&state, 2000, 500, digits);
        struct bricks forth = make_bricks(model, 7, 128), other = make_bricks(model, 7, 128);
        keys_as_bytes(drawn.items, drawn.n, text, offsets);
        lego_items integers = {.n = drawn.n, .integers = drawn.items, .counts = drawn.counts};
        lego_items bytes = {.n = drawn.n, .bytes = text, .offsets = offsets, .counts = drawn.counts};
        add_drawn(&forth, &drawn);
        for (size_t i = drawn.n; i-- > 0;) bricks_add(&other, hash_u64(drawn.items[i], seed_of(0)), drawn.counts[i]);
        assert_equal_bricks(&forth, &other);
        for (unsigned threads = 1; threads <= 9; threads += 4) {
            bricks_clear(&other);
            bricks_add_items(&other, threads == 5 ? &bytes : &integers, seed_of(0), threads);
            assert_equal_bricks(&forth, &other);
        }
        if (digits == 1) assert_int_equal(wide_rows(&forth), 0);
        if (digits == 12) assert_int_equal(wide_rows(&forth), 35);
        free_bricks(&forth);
        free_bricks(&other);
        free_drawn(&drawn);
    }
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

enum { HANDLE = 300 }; /* what a sketch takes besides */

static void assert_fills(const lego_model *model, uint64_t budget)
{
    uint32_t bricks, columns;
    assert_true(bricks_fit(model, budget - HANDLE, &bricks, &columns));
    assert_true(bricks_valid_shape(model, bricks, columns));
    uint64_t used = HANDLE + bricks_bytes(model, bricks, columns);
    if (used > budget || used < budget / 50 * 49) fail_msg("%lu bytes of %lu", (long)used, (long)budget);
    if (budget < 100 * 1024) assert_int_equal(bricks, 1);
    else
        assert_true(columns >= model->columns / 1.45 &&
                    columns <= model->columns * 1.45); /* at most the root of 2 off */
    if (bricks >= 16) assert_true(columns >= model->columns / 1.08 && columns <= model->columns * 1.08);
}

static void any_budget_is_filled(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    for (uint64_t budget = 16384; budget <= LEGO_BUDGET_MAX; budget += 1 + budget / 997) assert_fills(model, budget);
    assert_fills(model, LEGO_BUDGET_MAX);
    uint32_t bricks, columns;
    assert_true(bricks_fit(model, 16 * 5 * 4 + 16, &bricks, &columns));
    assert_int_equal(columns, 16);
    assert_false(bricks_fit(model, 16 * 5 * 4, &bricks, &columns)); /* and its total */
    assert_false(bricks_fit(model, 0, &bricks, &columns));
}

static void budgets_that_double_nest(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    static const uint64_t kilobytes[][2] = {{300, 600}, {300, 1200}, {600, 1200}, {100, 1000}, {500, 5000}};
    for (int i = 0; i < 5; i++) {
        uint32_t bricks[2], columns[2];
        for (int j = 0; j < 2; j++) bricks_fit(model, kilobytes[i][j] * 1024 - HANDLE, &bricks[j], &columns[j]);
        assert_int_equal(columns[0], columns[1]);
        assert_int_equal(bricks[1], bricks[0] * (kilobytes[i][1] / kilobytes[i][0]));
    }
}

static void impossible_shapes_are_refused(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    assert_true(bricks_valid_shape(model, 1, 16));
    assert_true(bricks_valid_shape(model, 1, ROW_COLUMNS_MAX));
    assert_false(bricks_valid_shape(model, 0, 64));
    assert_false(bricks_valid_shape(model, 1, 0));
    assert_false(bricks_valid_shape(model, 1, 14));
    assert_false(bricks_valid_shape(model, 1, 65));
    assert_false(bricks_valid_shape(model, 1, ROW_COLUMNS_MAX + 2));
    assert_false(bricks_valid_shape(model, BRICKS_MAX, 5120));
    assert_false(bricks_valid_shape(model, UINT32_MAX, 16));
}

/* ---- merges ------------------------------------------------------------------------------------------------------ */

static void a_merge_is_the_sum(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    for (uint64_t seed = 1; seed <= ROUNDS(60); seed++) {
        uint64_t state = seed;
        unsigned digits = (unsigned)(seed % 11), others = seed % 2 ? digits : (unsigned)draw_below(&state, 11);
        struct drawn one = draw_items(&state, 300, 200, digits), two = draw_items(&state, 300, 200, others);
        struct bricks into = make_bricks(model, 2, 128), from = make_bricks(model, seed % 3 ? 6 : 2, 128);
        struct bricks both = make_bricks(model, 2, 128), before = make_bricks(model, 2, 128);
        add_drawn(&into, &one);
        add_drawn(&before, &one);
        add_drawn(&from, &two);
        add_drawn(&both, &one);
        add_drawn(&both, &two);
        bricks_merge(&into, &from, 1);
        assert_equal_bricks(&into, &both);
        for (uint64_t i = 0; i < 20; i++) {
            lego_estimate a = bricks_query(&into, hash_u64(i, seed_of(0))),
                          b = bricks_query(&both, hash_u64(i, seed_of(0)));
            assert_memory_equal(&a, &b, sizeof a);
        }
        bricks_merge(&into, &from, -1); /* back to the sums before, in pairs that stay */
        for (uint32_t b = 0; b < 2; b++)
            for (uint32_t k = 0; k < ROWS; k++) {
                struct cells is = cells_of(&into, b, k), was = cells_of(&before, b, k);
                if (is.wide && !was.wide) row_widen(&was);
                for (uint32_t i = 0; i < is.n; i++) {
                    if (row_is_pair(&is, i)) row_pair(&was, i);
                    assert_int_equal(row_get(&is, i), row_get(&was, i));
                }
            }
        struct bricks *all[] = {&into, &from, &both, &before};
        for (int i = 0; i < 4; i++) free_bricks(all[i]);
        free_drawn(&one);
        free_drawn(&two);
    }
}

/* Narrow rows whose sum is not, and a wide row into a narrow one and the other way round. */
static void merges_widen_rows(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    struct bricks half = make_bricks(model, 1, 64), into = make_bricks(model, 1, 64), both = make_bricks(model, 1, 64);
    const int64_t count = INT32_MAX / (int64_t)model->quantum; /* item 3 has weights from 177 to 238 of 1024 */
    static const int64_t parts[][2] = {{3, 3}, {1, 5}, {5, 1}};
    for (int i = 0; i < 3; i++) {
        bricks_clear(&half);
        bricks_clear(&into);
        bricks_clear(&both);
        bricks_add(&into, hash_u64(3, seed_of(0)), parts[i][0] * count);
        bricks_add(&half, hash_u64(3, seed_of(0)), parts[i][1] * count);
        bricks_add(&both, hash_u64(3, seed_of(0)), (parts[i][0] + parts[i][1]) * count);
        unsigned before = (unsigned)__builtin_popcount(into.marks[0] | half.marks[0]);
        assert_true(wide_rows(&into) < ROWS && wide_rows(&half) < ROWS);
        bricks_merge(&into, &half, 1);
        assert_equal_bricks(&into, &both);
        assert_true(i == 0 ? wide_rows(&both) > before : before > 0);
    }
    free_bricks(&half);
    free_bricks(&into);
    free_bricks(&both);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void files_are_read_as_written(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    for (unsigned digits = 3; digits <= 11; digits += 2) { /* all rows narrow at first, all wide in the end */
        uint64_t state = digits, mass = 0;
        int64_t sum = 0;
        struct bricks bricks = make_bricks(model, 3, 64), loaded = make_bricks(model, 3, 64);
        struct drawn drawn = draw_items(&state, 500, 300, digits);
        add_drawn(&bricks, &drawn);
        add_drawn(&loaded, &drawn); /* to be overwritten */
        (void)bricks_query(&loaded, hash_u64(0, seed_of(0)));
        drawn.counts[0] = -1000 * drawn.counts[0];
        bricks_add(&bricks, hash_u64(drawn.items[0], seed_of(0)), drawn.counts[0]);
        assert_ptr_equal(bricks_load(&loaded, bricks.cells, bricks.total), bricks.cells + saved_size(&bricks));
        assert_true(bricks_check(&loaded, &mass));
        for (uint32_t b = 0; b < 3; b++) sum += row_get64(bricks.totals + 8 * b);
        assert_int_equal(bricks.total, sum);
        for (uint32_t k = 0; k < ROWS; k++) {
            uint64_t values = 0;
            for (uint32_t b = 0; b < 3; b++) {
                struct cells cells = cells_of(&bricks, b, k);
                for (uint32_t i = 0; i < cells.n; i += 1 + row_is_pair(&cells, i))
                    values += (uint64_t)llabs(row_get(&cells, i));
            }
            assert_true(mass >= values);
        }
        assert_equal_bricks(&bricks, &loaded);
        for (uint64_t i = 0; i < 30; i++) {
            lego_estimate a = bricks_query(&bricks, hash_u64(i, seed_of(0))),
                          b = bricks_query(&loaded, hash_u64(i, seed_of(0)));
            assert_memory_equal(&a, &b, sizeof a);
        }
        assert_int_equal(digits == 3 ? wide_rows(&loaded) : digits == 11 ? 15 - wide_rows(&loaded) : 0, 0);
        free_bricks(&bricks);
        free_bricks(&loaded);
        free_drawn(&drawn);
    }
}

/* With the total that the bricks add up to, so that it is the rest that is looked at. */
static bool check(struct bricks *bricks)
{
    uint64_t mass, total = 0;
    for (uint32_t b = 0; b < bricks->bricks.d; b++) total += (uint64_t)row_get64(bricks->totals + 8 * (size_t)b);
    bricks->total = (int64_t)total;
    return bricks_check(bricks, &mass);
}

static void hostile_bytes_are_refused(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    struct bricks bricks = make_bricks(model, 2, 64);
    uint64_t mass;
    assert_true(check(&bricks));
    bricks.total = 1;
    assert_false(bricks_check(&bricks, &mass));

    bricks.marks[1] = 1u << 5; /* a sixth row */
    assert_false(check(&bricks));
    bricks.marks[1] = 1u << 4;
    assert_true(check(&bricks));
    struct cells cells = cells_of(&bricks, 1, 4);
    cells.bytes[4 * cells.n + 3] = 0x80; /* a bit behind those of 62 cells */
    assert_false(check(&bricks));
    cells.bytes[4 * cells.n + 3] = 0x40;
    assert_true(check(&bricks));
    row_pair(&cells, 0);
    row_pair(&cells, 2);
    row_set64(cells.bytes, INT64_MAX);
    assert_true(check(&bricks));
    row_set64(cells.bytes + 8, -1);
    assert_false(check(&bricks)); /* the row's mass leaves 63 bits */
    row_set64(cells.bytes + 8, 0);
    row_set64(cells.bytes, INT64_MIN);
    assert_false(check(&bricks));
    row_set64(cells.bytes, 0);
    row_set64(bricks.totals, INT64_MAX / model->quantum); /* as much as can be counted */
    assert_true(check(&bricks));
    row_set64(bricks.totals + 8, 1);
    assert_false(check(&bricks));
    row_set64(bricks.totals + 8, INT64_MIN);
    assert_false(check(&bricks));
    free_bricks(&bricks);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_pair_at_the_last_moment),
        cmocka_unit_test(the_widest_row_widens_in_place),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(the_upper_bound_holds_in_wide_rows),
        cmocka_unit_test(order_and_threads_do_not_matter),
        cmocka_unit_test(any_budget_is_filled),
        cmocka_unit_test(budgets_that_double_nest),
        cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(a_merge_is_the_sum),
        cmocka_unit_test(merges_widen_rows),
        cmocka_unit_test(files_are_read_as_written),
        cmocka_unit_test(hostile_bytes_are_refused),
    };
    return cmocka_run_group_tests_name("paper", tests, NULL, NULL);
}
