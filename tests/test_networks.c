/* The paper's networks against the golden vectors of an independent double-precision program (tests/reference), the
 * choice between them and the rule, and scans that follow stores and have many readers. */
#include <math.h>
#include <pthread.h>

#include "paper/decode.h"
#include "support_bricks.h"

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
    struct stream stream;
    assert_int_equal(fscanf(f, "%lu %lu", &state, &modulus), 2);
    read_numbers(f, expected, 6);
    struct bricks bricks = make_bricks(model, 1, 5120);
    for (uint32_t k = 0; k < 5; k++) {
        struct cells cells = cells_of(&bricks, 0, k);
        for (uint32_t c = 0; c < 512; c++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            row_add(&cells, c, (int64_t)((state >> 33) % modulus));
        }
        assert_false(cells.wide);
    }
    bricks_scan(&bricks, 0, &stream);
    for (int i = 0; i < SCAN_IMPLICIT; i++) assert_close(stream.implicit[i], expected[i]);
    assert_close(stream.skew, expected[4]);
    assert_close(stream.distinct, expected[5]);
    free_bricks(&bricks);
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

    lego_estimate e = decode_item(model, &reads, &stream); /* random.lego always chooses the network */
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
    double inside = decode_item(model, &reads, &stream).value;
    assert_true(inside == (network > 10 ? 10 : network < 0 ? 0 : network));
    struct stream few = stream, skewed = stream, edge = stream;
    few.distinct = 9999;
    skewed.skew = 1.01;
    edge.distinct = 10000;
    assert_true(decode_item(model, &reads, &few).value == 10);
    assert_true(decode_item(model, &reads, &skewed).value == 10);
    assert_true(decode_item(model, &reads, &edge).value == 10);
    struct stream broken = stream;
    broken.implicit[0] = NAN; /* must not reach the caller */
    assert_true(decode_item(model, &reads, &broken).value == 10);
    lego_model_destroy(model);
}

/* The sums that a scan is made of follow single stores: after any of them, through deletions, rows that widen and long
 * pauses, a brick is seen as one that is scanned afresh. */
static void scans_follow_stores(void **unused)
{
    (void)unused;
    lego_model *model = load_random();
    unsigned widened = 0;
    for (uint64_t seed = 1; seed <= ROUNDS(12); seed++) {
        uint64_t state = seed;
        struct bricks bricks = make_bricks(model, 2, 640), fresh = make_bricks(model, 2, 640);
        for (int i = 0; i < 400; i++) {
            int stores = draw_below(&state, 40) ? 1 + (int)draw_below(&state, 4) : 100; /* more than are followed */
            for (int j = 0; j < stores; j++) {
                int64_t count = draw_count(&state, (unsigned)(4 * seed % 9));
                bricks_add(&bricks, hash_u64(draw_below(&state, 300), seed_of(0)), seed % 3 || j % 2 ? count : -count);
            }
            bricks_copy(&fresh, &bricks);
            for (uint32_t b = 0; b < 2; b++) {
                struct stream one, other;
                assert_int_equal(bricks_scan(&bricks, b, &one), bricks_scan(&fresh, b, &other));
                assert_memory_equal(&one, &other, sizeof one);
            }
        }
        widened += wide_rows(&bricks) > 0;
        free_bricks(&bricks);
        free_bricks(&fresh);
    }
    assert_true(widened > 0);
    lego_model_destroy(model);
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

struct reader {
    const struct bricks *bricks;
    lego_estimate answers[50];
};

static void *ask(void *context)
{
    struct reader *reader = context;
    for (uint64_t i = 0; i < 50; i++) reader->answers[i] = bricks_query(reader->bricks, hash_u64(i, seed_of(0)));
    return NULL;
}

/* Readers at the same time find nothing scanned, or sums that are ahead of what was seen; all answer as one alone. */
static void readers_agree(void **unused)
{
    (void)unused;
    const lego_model *model = lego_model_builtin("paper");
    struct bricks bricks = make_bricks(model, 2, 1280), quiet = make_bricks(model, 2, 1280);
    uint64_t state = 11;
    struct drawn drawn = draw_items(&state, 20000, 6000, 2);
    add_drawn(&bricks, &drawn);
    for (int round = 0; round < 5; round++) {
        struct reader readers[4];
        pthread_t threads[4];
        bricks_add(&bricks, hash_u64((uint64_t)round, seed_of(0)), 7); /* the first round scans, the others follow */
        for (int i = 0; i < 4; i++) {
            readers[i].bricks = &bricks;
            assert_int_equal(pthread_create(&threads[i], NULL, ask, &readers[i]), 0);
        }
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        bricks_copy(&quiet, &bricks);
        struct reader alone = {.bricks = &quiet};
        ask(&alone);
        for (int i = 0; i < 4; i++) assert_memory_equal(readers[i].answers, alone.answers, sizeof alone.answers);
    }
    free_bricks(&bricks);
    free_bricks(&quiet);
    free_drawn(&drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_vectors),
        cmocka_unit_test(the_rule_decodes_outside_the_range),
        cmocka_unit_test(scans_follow_stores),
        cmocka_unit_test(readers_agree),
    };
    return cmocka_run_group_tests_name("networks", tests, NULL, NULL);
}
