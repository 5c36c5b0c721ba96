/* The decoder of blocks: vector bodies against the scalar code, batches against single questions. */
#include <math.h>

#include "support.h"

static const float *weights_of_model(void)
{
    return lego_model_builtin("compact")->weights;
}

static void built_in_weights_are_packed(void **unused)
{
    (void)unused;
    static struct decode_weights packed;
    compact_pack(weights_of_model(), &packed);
    assert_memory_equal(&packed, lego_model_builtin("compact")->decoder, sizeof packed);
}

/* A value of any size up to that of `most` bits. */
static int64_t draw_value(uint64_t *state, unsigned most)
{
    unsigned bits = (unsigned)draw_below(state, most + 1);
    return (int64_t)(bits ? draw_below(state, UINT64_C(1) << bits) : 0) + (draw_below(state, 8) == 0);
}

/* What is asked of an item, for the kernels and for the scalar code. */
struct asked {
    unsigned rows, step[2];
    int64_t value[BLOCK_ROWS];
    uint32_t columns[BLOCK_ROWS];
};

static struct asked draw_asked(uint64_t *state, unsigned bits)
{
    struct asked a = {.step = {(unsigned)draw_below(state, BLOCK_STEPS), (unsigned)draw_below(state, BLOCK_STEPS)}};
    for (unsigned which = 0; which < 2; which++)
        for (unsigned row = which; row < BLOCK_ROWS; row += 2) {
            if (block_columns[a.step[which]][row] == 0) continue;
            bool is_equal = a.rows > 0 && draw_below(state, 4) == 0;
            a.value[a.rows] = is_equal ? a.value[0] : draw_value(state, bits);
            if (draw_below(state, 50) == 0) a.value[a.rows] = -a.value[a.rows];
            a.columns[a.rows++] = block_columns[a.step[which]][row];
        }
    return a;
}

static void put_asked(const struct asked *a, struct decode_items *items, unsigned c)
{
    items->widths[c] = 0;
    for (unsigned k = 0; k < BLOCK_ROWS; k++) {
        items->key[k][c] = k < a->rows ? (int64_t)((uint64_t)a->value[k] << 2 | k) : INT64_MAX;
        if (k < a->rows) items->widths[c] |= (uint32_t)__builtin_ctz(a->columns[k]) << 4 * k;
    }
}

/* The shape of a random stream of `blocks` blocks, and of it as the kernels have it. */
static void draw_stream(uint64_t *state, const float *weights, struct dense *dense, double stream[COMPACT_STREAM],
                        float bias[DECODE_HIDDEN_ROOM], struct decode_stream *seen)
{
    struct compact_view view = {.facts = {(float)draw_below(state, 3000) / 1000, 0.5F}};
    double sum = 0;
    for (int i = 0; i < COMPACT_HISTOGRAM; i++) sum += (double)(view.cells[i] = (float)draw_below(state, 1000) / 1000);
    for (int i = 0; i < COMPACT_HISTOGRAM; i++) view.cells[i] = (float)(4 * sqrt((double)view.cells[i] / sum));
    compact_scan(weights, &view, stream);
    compact_bias(weights, stream, bias);
    compact_scale(dense, seen);
    seen->bias = bias;
}

/* Every kernel against the scalar truth, and bit for bit against the others, together and one by one. */
static void kernels_decode_as_the_scalar_code(void **unused)
{
    (void)unused;
    static const float *weights;
    static struct asked asked[DECODE_MOST];
    const struct decode_weights *packed = lego_model_builtin("compact")->decoder;
    double worst = 0;
    weights = weights_of_model();
    for (uint64_t seed = 1; seed <= 600; seed++) {
        uint64_t state = seed;
        struct decode_stream seen;
        struct decode_items items, same;
        double stream[COMPACT_STREAM];
        unsigned bits = (unsigned)(seed % 62), n = 1 + (unsigned)draw_below(&state, DECODE_MOST);
        struct dense dense = {.blocks = 1 + (uint32_t)draw_below(&state, seed % 2 ? 70 : 100000)};
        dense.total = draw_value(&state, (unsigned)draw_below(&state, 63));
        if (seed % 50 == 0) dense.total = seed % 100 ? INT64_C(1) << 62 : -1;
        float bias[DECODE_HIDDEN_ROOM];
        draw_stream(&state, weights, &dense, stream, bias, &seen);
        for (unsigned c = 0; c < n; c++) asked[c] = draw_asked(&state, bits < 61 ? bits : 60);
        float h[DECODE_MOST], first[DECODE_MOST], one[DECODE_MOST];
        bool is_first = true;
        for (const struct decode_kernels *const *k = decode_kernels_all; *k; k++) {
            if (!(*k)->supported()) continue;
            for (unsigned c = 0; c < n; c++) put_asked(&asked[c], &items, c);
            same = items;
            (*k)->decode(packed, &seen, &items, n, h);
            for (unsigned c = 0; c < n; c++) {
                put_asked(&asked[c], &same, 0);
                (*k)->decode(packed, &seen, &same, 1, one);
                assert_memory_equal(&h[c], &one[0], sizeof *h);
                assert_int_equal(items.key[0][c], same.key[0][0]);
            }
            if (is_first) memcpy(first, h, n * sizeof *h);
            is_first = false;
            assert_memory_equal(h, first, n * sizeof *h);
        }
        for (unsigned c = 0; c < n; c++) {
            float reads[COMPACT_READS];
            compact_reads(&dense, asked[c].rows, asked[c].value, asked[c].columns, reads);
            double truth = compact_decode(weights, stream, reads), error = fabs((double)h[c] - truth);
            worst = fmax(worst, error / fmax(fabs(truth), 0.01));
            if (!(error <= 1e-4 * fmax(fabs(truth), 0.01)))
                fail_msg("seed %d, item %u: %.9g, not %.9g", (int)seed, c, (double)h[c], truth);
        }
    }
    print_message("[          ] worst relative error %.2g\n", worst);
}

/* Blocks of all steps, of which every kernel reads the same. */
static void kernels_read_as_the_scalar_code(void **unused)
{
    (void)unused;
    enum { BLOCKS = 40 };
    static struct block block[BLOCKS];
    uint64_t steps = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t state = seed;
        unsigned adds = 1 + (unsigned)draw_below(&state, 400), most = (unsigned)draw_below(&state, seed % 3 ? 5 : 50);
        memset(block, 0, sizeof block);
        for (unsigned i = 0; i < BLOCKS; i++) /* of equal counts, so that levels get as long as they can */
            for (unsigned j = 0, n = (unsigned)draw_below(&state, adds + 1); j < n; j++) {
                const unsigned row[2] = {j % 2, j % 2 + 2};
                const uint32_t hash[2] = {(uint32_t)draw(&state), (uint32_t)draw(&state)};
                int64_t count = seed % 4 == 1 ? 1 + (int64_t)(seed % 9) : draw_value(&state, most);
                block_kernels_best()->add(&block[i], row, hash, seed % 10 == 0 && j % 9 == 0 ? -count : count);
            }
        for (unsigned i = 0; i < BLOCKS; i++) steps |= UINT64_C(1) << block_step(&block[i]);
        struct decode_places place;
        unsigned n = 1 + (unsigned)draw_below(&state, DECODE_MOST);
        for (unsigned c = 0; c < n; c++)
            for (unsigned which = 0; which < 2; which++) {
                place.block[which][c] = (uint32_t)draw_below(&state, BLOCKS);
                for (unsigned j = 0; j < 2; j++) place.column[which][j][c] = (uint32_t)draw(&state);
            }
        for (const struct block_kernels *const *k = block_kernels_all; *k; k++) {
            if (!(*k)->supported()) continue;
            struct decode_items items;
            (*k)->read_items(block, &place, n, &items);
            for (unsigned c = 0; c < n; c++) {
                struct asked a = {0};
                struct decode_items same;
                for (unsigned which = 0; which < 2; which++) {
                    const struct block *b = &block[place.block[which][c]];
                    assert_int_equal(items.step[which][c], block_step(b));
                    for (unsigned j = 0; j < 2; j++) {
                        int cell = block_cell(block_step(b), which + 2 * j, place.column[which][j][c]);
                        if (cell < 0) continue;
                        a.value[a.rows] = block_kernels_best()->get(b, (unsigned)cell);
                        a.columns[a.rows++] = block_columns[block_step(b)][which + 2 * j];
                    }
                }
                put_asked(&a, &same, c);
                for (unsigned i = 0; i < BLOCK_ROWS; i++) assert_int_equal(items.key[i][c], same.key[i][c]);
                assert_int_equal(items.widths[c], same.widths[c]);

                struct decode_places alone; /* one item goes another way */
                for (unsigned which = 0; which < 2; which++) {
                    alone.block[which][0] = place.block[which][c];
                    for (unsigned j = 0; j < 2; j++) alone.column[which][j][0] = place.column[which][j][c];
                }
                (*k)->read_items(block, &alone, 1, &same);
                for (unsigned i = 0; i < BLOCK_ROWS; i++) assert_int_equal(items.key[i][c], same.key[i][0]);
                for (unsigned i = 0; i < 2; i++) assert_int_equal(items.step[i][c], same.step[i][0]);
                assert_int_equal(items.widths[c], same.widths[0]);
            }
        }
    }
    assert_true((steps & 0x3fff) == 0x3fff);
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static lego_sketch *sketch_of(uint32_t blocks)
{
    return make(blocks, 0, NULL);
}

static void assert_same_estimates(const lego_estimate *a, const lego_estimate *b, size_t n)
{
    assert_memory_equal(a, b, n * sizeof *a);
}

static void batches_answer_as_single_queries(void **unused)
{
    (void)unused;
    enum { MOST = 300 };
    static const uint32_t blocks[] = {1, 7, 64, 3000};
    static lego_estimate one[MOST], many[MOST + 1];
    for (uint64_t trial = 0; trial < 8; trial++) {
        uint64_t state = trial + 1, keys[MOST];
        lego_sketch *sketch = sketch_of(blocks[trial % 4]);
        unsigned digits = trial < 4 ? 2 : 14; /* up to 10^14 each: far beyond 2^53 in all */
        for (int i = 0; i < 3000; i++) lego_add_u64(sketch, draw_below(&state, 1000), draw_count(&state, digits));
        for (int i = 0; i < MOST; i++) {
            keys[i] = draw_below(&state, 1500);
            lego_query_u64(sketch, keys[i], &one[i]);
        }
        for (size_t n = 1; n <= MOST; n++) {
            memset(many, 0xee, sizeof many);
            query_u64s(sketch, keys + MOST - n, n, many);
            assert_same_estimates(many, one + MOST - n, n);
            unsigned char after[sizeof *many];
            memset(after, 0xee, sizeof after);
            assert_memory_equal(&many[n], after, sizeof after);
        }
        lego_destroy(sketch);
    }
}

/* One sketch is asked after every store, another never was: they answer the same. */
static void questions_leave_no_trace(void **unused)
{
    (void)unused;
    static const uint32_t blocks[] = {1, 5, 64, 65, 900};
    for (uint64_t trial = 0; trial < 20; trial++) {
        uint64_t state = trial + 1;
        lego_sketch *asked = sketch_of(blocks[trial % 5]);
        unsigned digits = (unsigned)(trial % 4) * 4;
        for (int i = 0; i < 3000; i++) {
            uint64_t item = draw_below(&state, 2000);
            int64_t count = draw_count(&state, digits);
            lego_estimate a, b;
            if (trial % 3 == 2 && i % 5 == 0) count = -count;
            assert_int_equal(lego_add_u64(asked, item, count), LEGO_OK);
            if (i % 1000 >= 700) continue; /* a while without questions */
            lego_query_u64(asked, item + 1, &a);
            if (i % 40 != 0) continue;
            lego_sketch *fresh;
            assert_int_equal(lego_copy(asked, &fresh), LEGO_OK);
            lego_query_u64(fresh, item + 1, &b);
            assert_same_estimates(&a, &b, 1);
            lego_destroy(fresh);
        }
        lego_destroy(asked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_weights_are_packed),     cmocka_unit_test(kernels_decode_as_the_scalar_code),
        cmocka_unit_test(kernels_read_as_the_scalar_code), cmocka_unit_test(batches_answer_as_single_queries),
        cmocka_unit_test(questions_leave_no_trace),
    };
    return cmocka_run_group_tests_name("compact", tests, NULL, NULL);
}
