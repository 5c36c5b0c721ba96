/* g_scan and g_dec against the golden vectors of an independent double-precision program (tests/reference). */
#include <math.h>
#include <stdio.h>

#include "decode.h"
#include "support.h"

static lego_model *load_random(void)
{
    struct bytes file = read_file("tests/golden/random.lego");
    lego_model *model;
    assert_int_equal(lego_model_load(file.p, file.size, NULL, &model), LEGO_OK);
    free(file.p);
    return model;
}

static void assert_close(double ours, double theirs)
{
    if (!(fabs(ours - theirs) <= 1e-5 * fmax(1e-3, fabs(theirs)))) fail_msg("%.17g, expected %.17g", ours, theirs);
}

static void read_numbers(FILE *f, double numbers[], int n)
{
    for (int i = 0; i < n; i++) assert_int_equal(fscanf(f, "%lf", &numbers[i]), 1);
}

static void check_scan(const lego_model *model, FILE *f)
{
    uint64_t state, modulus;
    double expected[6];
    assert_int_equal(fscanf(f, "%lu %lu", &state, &modulus), 2);
    read_numbers(f, expected, 6);
    lego_sketch *sketch = make(1, 5120, 32, model);
    for (uint32_t k = 0; k < 5; k++)
        for (uint32_t c = 0; c < 512; c++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            memory_add_value(&sketch->memory, k, 0, c, (int64_t)((state >> 33) % modulus));
        }
    struct brick brick = brick_at(&sketch->memory, 0);
    struct stream stream = scan_brick(model, &sketch->memory, &brick);
    for (int i = 0; i < SCAN_IMPLICIT; i++) assert_close(stream.implicit[i], expected[i]);
    assert_close(stream.skew, expected[4]);
    assert_close(stream.distinct, expected[5]);
    lego_sketch_destroy(sketch);
}

static void check_decode(const lego_model *model, FILE *f)
{
    struct reads reads = {.rows = 5};
    double m[5], w[5], rest[9];
    read_numbers(f, m, 5);
    read_numbers(f, w, 5);
    read_numbers(f, rest, 9); /* implicit[4] N alpha n f2 f1 */
    for (int k = 0; k < 5; k++) {
        reads.value[k] = (int64_t)m[k];
        reads.weight[k] = (uint32_t)w[k];
    }
    reads.total = (int64_t)rest[4];
    struct stream stream = {rest[6], rest[5], {rest[0], rest[1], rest[2], rest[3]}};
    assert_close(decode_network(model, &reads, &stream), rest[8]);

    lego_estimate e = decode(model, &reads, &stream); /* random.lego always chooses the network */
    assert_int_equal(e.upper, (int64_t)floor(rest[7]));
    double most = (double)e.upper;
    assert_true((double)e.lower <= e.value);
    assert_close(e.value, rest[8] > most ? most : rest[8] < 0 && most > 0 ? 0 : rest[8]);
}

static void golden_vectors(void **unused)
{
    (void)unused;
    lego_model *model = load_random();
    FILE *f = fopen("tests/golden/networks.txt", "r");
    assert_non_null(f);
    char word[256];
    int scans = 0, decodes = 0;
    while (fscanf(f, "%255s", word) == 1) {
        if (word[0] == '#') {
            assert_non_null(fgets(word, sizeof word, f));
        } else if (strcmp(word, "scan") == 0) {
            check_scan(model, f);
            scans++;
        } else {
            assert_string_equal(word, "dec");
            check_decode(model, f);
            decodes++;
        }
    }
    fclose(f);
    assert_true(scans >= 5 && decodes >= 30);
    lego_model_destroy(model);
}

/* The choice of Algorithm 2: the rule unless s(n) > beta and s(alpha) < limit. */
static void the_rule_decodes_outside_the_range(void **unused)
{
    (void)unused;
    lego_model *model = load_random();
    struct reads reads = {5, {4096, 8192, 2048, 9000, 5000}, {205, 205, 204, 205, 205}, {20, 20, 20, 20, 20}, 100000};
    struct stream stream = {20000, 0.5, {1, 1, 1, 1}};
    double network = decode_network(model, &reads, &stream);
    model->distinct_min = 10000;
    model->skew_max = 1;
    double inside = decode(model, &reads, &stream).value;
    assert_true(inside == (network > 10 ? 10 : network < 0 ? 0 : network));
    struct stream few = stream, skewed = stream, edge = stream;
    few.distinct = 9999;
    skewed.skew = 1.01;
    edge.distinct = 10000;
    assert_true(decode(model, &reads, &few).value == 10);
    assert_true(decode(model, &reads, &skewed).value == 10);
    assert_true(decode(model, &reads, &edge).value == 10);
    assert_true(decode(model, &reads, NULL).value == 10);
    struct stream broken = stream;
    broken.implicit[0] = NAN; /* must not reach the caller */
    assert_true(decode(model, &reads, &broken).value == 10);
    lego_model_destroy(model);
}

/* An estimate depends on the content only, never on what was asked before. */
static void queries_leave_no_trace(void **unused)
{
    (void)unused;
    lego_model *model = load_random();
    lego_sketch *asked = make(2, 640, 8, model), *silent = make(2, 640, 8, model);
    lego_estimate a, b;
    for (uint64_t i = 0; i < 400; i++) {
        lego_sketch_add_u64(asked, i % 97, 1 + (int64_t)(i * i));
        lego_sketch_add_u64(silent, i % 97, 1 + (int64_t)(i * i));
        lego_sketch_estimate_u64(asked, i, &a);
    }
    for (uint64_t i = 0; i < 400; i++) {
        lego_sketch_estimate_u64(asked, i, &a);
        lego_sketch_estimate_u64(silent, i, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
    lego_scan scan, other;
    assert_int_equal(lego_sketch_scan(asked, 0, &scan), LEGO_OK);
    assert_int_equal(lego_sketch_scan(silent, 0, &other), LEGO_OK);
    assert_memory_equal(&scan, &other, sizeof scan);
    assert_int_equal(lego_sketch_scan(asked, 2, &scan), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_sketch_cache_bytes(asked), memory_summary_bytes(&asked->memory.shape));
    lego_sketch *rule = make(1, 64, 8, NULL);
    assert_int_equal(lego_sketch_scan(rule, 0, &scan), LEGO_ERR_UNTRAINED);
    assert_int_equal(lego_sketch_cache_bytes(rule), 0);
    lego_sketch_destroy(rule);
    lego_sketch_destroy(asked);
    lego_sketch_destroy(silent);
    lego_model_destroy(model);
}

/* The sums that a scan is made of follow single stores: after any of them, through deletions, folds and long pauses, a
 * brick is seen as one that is scanned afresh. */
static void scans_follow_stores(void **unused)
{
    (void)unused;
    lego_model *model = load_random();
    for (uint64_t seed = 1; seed <= ROUNDS(12); seed++) {
        uint64_t state = seed;
        lego_sketch *sketch = make(2, 640, 8, model);
        for (int i = 0; i < 400; i++) {
            int stores = draw_below(&state, 40) ? 1 + (int)draw_below(&state, 4) : 100; /* more than are followed */
            for (int j = 0; j < stores; j++) {
                int64_t count = draw_count(&state, (unsigned)(seed % 7));
                lego_sketch_add_u64(sketch, draw_below(&state, 300), seed % 3 || j % 2 ? count : -count);
            }
            lego_sketch *fresh;
            assert_int_equal(lego_sketch_copy(sketch, &fresh), LEGO_OK);
            for (uint32_t b = 0; b < brick_count(&sketch->memory); b++) {
                lego_scan one, other;
                assert_int_equal(lego_sketch_scan(sketch, b, &one), LEGO_OK);
                assert_int_equal(lego_sketch_scan(fresh, b, &other), LEGO_OK);
                assert_memory_equal(&one, &other, sizeof one);
            }
            lego_sketch_destroy(fresh);
        }
        lego_sketch_destroy(sketch);
    }
    lego_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_vectors),
        cmocka_unit_test(the_rule_decodes_outside_the_range),
        cmocka_unit_test(queries_leave_no_trace),
        cmocka_unit_test(scans_follow_stores),
    };
    return cmocka_run_group_tests_name("networks", tests, NULL, NULL);
}
