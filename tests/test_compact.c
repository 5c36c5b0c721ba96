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

/* An item of a block that shares: two rows of some step, and a cap. */
static struct reading draw_reading(uint64_t *state, unsigned bits)
{
    uint64_t key = draw(state);
    unsigned step = STEP_SHARE + (unsigned)draw_below(state, STEP_LAST - STEP_SHARE + 1);
    unsigned cap = STEP_CAP + (unsigned)draw_below(state, STEP_CAP_LAST - STEP_CAP + 1);
    struct reading r = {.step = step,
                        .values = 3,
                        .width = {step_width(step, 0, key), step_width(step, 1, key), step_width(cap, 0, key)}};
    for (unsigned k = 0; k < 3; k++) {
        r.value[k] = k > 0 && draw_below(state, 4) == 0 ? r.value[0] : draw_value(state, bits);
        if (draw_below(state, 50) == 0) r.value[k] = -r.value[k];
    }
    return r;
}

/* The shape of a random stream, and of it as the kernels have it. */
static void draw_stream(uint64_t *state, const float *weights, const struct blocks *blocks,
                        double stream[COMPACT_STREAM], float bias[DECODE_HIDDEN_ROOM], struct decode_stream *seen)
{
    struct compact_view view = {.facts = {(float)draw_below(state, 3000) / 1000, 0.5F}};
    double sum = 0;
    for (int i = 0; i < COMPACT_HISTOGRAM; i++) sum += (double)(view.cells[i] = (float)draw_below(state, 1000) / 1000);
    for (int i = 0; i < COMPACT_HISTOGRAM; i++) view.cells[i] = (float)(4 * sqrt((double)view.cells[i] / sum));
    compact_scan(weights, &view, stream);
    compact_bias(weights, stream, bias);
    compact_scale(blocks, seen);
    seen->bias = bias;
}

static struct blocks draw_blocks(uint64_t *state, uint64_t seed)
{
    struct blocks blocks = {.blocks = 1 + (uint32_t)draw_below(state, seed % 2 ? 70 : 100000)};
    blocks.most = blocks.blocks;
    blocks.total = draw_value(state, (unsigned)draw_below(state, 63));
    if (seed % 50 == 0) blocks.total = seed % 100 ? INT64_C(1) << 62 : -1;
    return blocks;
}

/* h of n items by one kernel, together; one by one it must be the same. */
static void decode_with(const struct decode_kernels *kernels, const struct decode_stream *seen,
                        const struct reading reading[], unsigned n, float h[DECODE_MOST])
{
    const struct decode_weights *packed = lego_model_builtin("compact")->decoder;
    struct decode_items items;
    for (unsigned c = 0; c < n; c++) compact_put(&reading[c], &items, c);
    kernels->decode(packed, seen, &items, n, h);
    for (unsigned c = 0; c < n; c++) {
        float one[DECODE_MOST];
        compact_put(&reading[c], &items, 0);
        kernels->decode(packed, seen, &items, 1, one);
        assert_memory_equal(&h[c], &one[0], sizeof *h);
    }
}

/* Every kernel against the scalar truth, and bit for bit against the others. */
static void kernels_decode_as_the_scalar_code(void **unused)
{
    (void)unused;
    const float *weights = weights_of_model();
    double worst = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        uint64_t state = seed;
        struct reading reading[DECODE_MOST];
        struct decode_stream seen;
        double stream[COMPACT_STREAM];
        unsigned n = 1 + (unsigned)draw_below(&state, DECODE_MOST);
        struct blocks blocks = draw_blocks(&state, seed);
        float bias[DECODE_HIDDEN_ROOM], h[DECODE_MOST], first[DECODE_MOST];
        draw_stream(&state, weights, &blocks, stream, bias, &seen);
        for (unsigned c = 0; c < n; c++) reading[c] = draw_reading(&state, (unsigned)(seed % 63));
        decode_with(decode_kernels_best(), &seen, reading, n, first);
        for (const struct decode_kernels *const *k = decode_kernels_all; *k; k++) {
            if (!(*k)->supported()) continue;
            decode_with(*k, &seen, reading, n, h);
            assert_memory_equal(h, first, n * sizeof *h);
        }
        for (unsigned c = 0; c < n; c++) {
            float reads[COMPACT_READS];
            compact_reads(&blocks, &reading[c], reads);
            double truth = compact_decode(weights, stream, reads), error = fabs((double)h[c] - truth);
            double size = fmax(fabs(truth), 0.1); /* it is a sum of floats about 1, however small itself */
            worst = fmax(worst, error / size);
            if (!(error <= 1e-4 * size))
                fail_msg("seed %d, item %u: %.9g, not %.9g", (int)seed, c, (double)h[c], truth);
        }
    }
    print_message("[          ] worst relative error %.2g\n", worst);
}

/* ---- the scan ---------------------------------------------------------------------------------------------------- */

static struct hash hash_of(uint64_t item)
{
    uint64_t state = item;
    uint64_t lo = draw(&state);
    return (struct hash){lo, draw(&state)};
}

/* Items of this many kinds into blocks, in one order or in the other. */
static void fill(struct blocks *blocks, uint64_t items, bool backwards)
{
    for (uint64_t i = 0; i < items; i++) {
        uint64_t item = backwards ? items - 1 - i : i;
        int64_t count = 1 + (int64_t)(item % 7 * (item % 50 == 0 ? 1000 : 1));
        assert_true(blocks_add(blocks, hash_of(item), count));
        blocks->total += count;
    }
}

static struct blocks make_blocks(uint32_t number)
{
    struct blocks blocks;
    void *bytes = aligned_alloc(BLOCKS_LINE, (size_t)blocks_bytes(number, number)); /* so that the blocks begin there */
    assert_non_null(bytes);
    blocks_init(&blocks, number, number, bytes);
    return blocks;
}

/* The content counts, not how it came to be. */
static void scans_follow_the_content(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("compact");
    for (uint64_t items = 1000; items <= 100000; items *= 10) {
        struct blocks a = make_blocks(20), b = make_blocks(20);
        float one[DECODE_HIDDEN_ROOM] = {0}, other[DECODE_HIDDEN_ROOM] = {0};
        bool any_one, any_other;
        fill(&a, items, false);
        fill(&b, items, true);
        compact_bias_of(model, &a, one, &any_one);
        compact_bias_of(model, &b, other, &any_other);
        assert_true(any_one == (items > 1000) && any_other == any_one); /* with five bytes each all are listed */
        assert_memory_equal(one, other, sizeof one);
        free(a.block);
        free(b.block);
    }
}

/* A change of a block that is not scanned changes nothing. */
static void only_scanned_blocks_count(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("compact");
    struct blocks blocks = make_blocks(300);
    float before[DECODE_HIDDEN_ROOM], after[DECODE_HIDDEN_ROOM];
    bool any;
    fill(&blocks, 300000, false);
    compact_bias_of(model, &blocks, before, &any);
    assert_true(any);
    for (uint64_t item = 0; item < 1000; item++)
        if (!compact_scans(&blocks, spot_of(blocks.blocks, hash_of(item)).block))
            assert_true(blocks_add(&blocks, hash_of(item), 1000));
    compact_bias_of(model, &blocks, after, &any);
    assert_memory_equal(before, after, sizeof before);
    for (uint64_t item = 0; item < 1000; item++) assert_true(blocks_add(&blocks, hash_of(item), 1000));
    compact_bias_of(model, &blocks, after, &any);
    assert_memory_not_equal(before, after, sizeof before);
    free(blocks.block);
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
        cmocka_unit_test(built_in_weights_are_packed),      cmocka_unit_test(kernels_decode_as_the_scalar_code),
        cmocka_unit_test(scans_follow_the_content),         cmocka_unit_test(only_scanned_blocks_count),
        cmocka_unit_test(batches_answer_as_single_queries), cmocka_unit_test(questions_leave_no_trace),
    };
    return cmocka_run_group_tests_name("compact", tests, NULL, NULL);
}
