/* The posterior, with what was learnt of real sketches: against the formula of model/posterior.h over every integer,
 * and what can be said of any answer. */
#include <math.h>
#include <stddef.h>

#include "support.h"

static _Alignas(max_align_t) unsigned char room[LEARN_BYTES];

enum { ITEMS = 20000, MOST = 2000 };

static int64_t zipf(uint64_t i)
{
    return 1 + ITEMS / (int64_t)(i + 1);
}

static int64_t two_heaps(uint64_t i)
{
    return i % 10 < 7 ? 1 + (int64_t)(i % 10) : 150 + (int64_t)(i % 100);
}

static int64_t equal(uint64_t i)
{
    (void)i;
    return 37;
}

static int64_t spread(uint64_t i)
{
    return 1 + (int64_t)(i * i % 997);
}

typedef int64_t (*counts)(uint64_t);
static const counts streams[] = {zipf, two_heaps, equal, spread};
static const double bytes_a_key[] = {0.1, 0.3, 0.6, 1};

static lego_sketch *sketch_of(counts count, double bytes)
{
    uint64_t budget = (uint64_t)(ITEMS * bytes);
    lego_sketch *sketch = make_within("compact", budget < 4096 ? 4096 : budget, 0);
    for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(lego_add_u64(sketch, i, count(i)), LEGO_OK);
    return sketch;
}

static void read_item(const lego_sketch *sketch, uint64_t item, struct reading *reading)
{
    blocks_read(&sketch->blocks, spot_of(sketch->blocks.blocks, hash_u64(item, sketch->seed)), reading);
}

/* An item's reads or, once in three times, reads that were drawn; false if they are of a list, or of an absent item. */
static bool draw_reading(const lego_sketch *sketch, uint64_t *state, struct reading *reading)
{
    read_item(sketch, draw_below(state, 2 * ITEMS), reading);
    if (step_lists(reading->step)) return false;
    if (draw_below(state, 3) == 0)
        for (unsigned k = 0; k < 3; k++) reading->value[k] = draw_count(state, 4);
    return reading_upper(reading) > 0;
}

static struct weighing draw_weighing(const struct learnt *learnt, uint64_t *state)
{
    static const float relative[] = {0, 0.2f, 0.5f, 0.9f, 1}, share[] = {0.5f, 0.5f, 0.025f, 0.2f, 0.975f};
    float r = relative[draw_below(state, 5)];
    return (struct weighing){1 - r, r * learnt->worth, share[draw_below(state, 5)]};
}

/* Runs `check` on readings of every stream at every budget. */
typedef void (*checker)(const struct learnt *learnt, const struct reading *reading, uint64_t *state);

static void for_readings(unsigned number, checker check)
{
    static struct learnt learnt;
    for (unsigned s = 0; s < 4; s++)
        for (unsigned b = 0; b < 4; b++) {
            uint64_t state = 100 * s + b;
            struct reading reading;
            lego_sketch *sketch = sketch_of(streams[s], bytes_a_key[b]);
            learn(&sketch->blocks, &learnt, room);
            assert_true(learnt.any && learnt.sign == 1);
            for (unsigned i = 0; i < number; i++)
                if (draw_reading(sketch, &state, &reading)) check(&learnt, &reading, &state);
            lego_destroy(sketch);
        }
}

static double answer_of(const struct learnt *learnt, const struct reading *reading, float absent, struct weighing w)
{
    double answer;
    posterior_alike(learnt, reading, absent, &w, 1, &answer);
    return answer;
}

/* ---- every integer ----------------------------------------------------------------------------------------------- */

struct slow {
    unsigned bound;
    double weight[MOST + 1];
};

static double noise(const struct learnt *learnt, const struct reading *reading, unsigned k, int64_t count)
{
    const float *table = learnt->noise[k == 2][__builtin_ctz(reading->width[k]) - LEARN_NARROWEST];
    return (double)table[bin_of((float)(reading->value[k] - count))];
}

/* As posterior.h has it. Count 0 has the odds `absent`, and an error there weighs as one at 1. */
static void slow_start(const struct learnt *learnt, const struct reading *reading, double absent, struct slow *slow)
{
    double prior[MOST + 1], rows[MOST + 1], z = 0;
    slow->bound = (unsigned)reading_upper(reading);
    for (unsigned v = 0; v <= slow->bound; v++) {
        unsigned bin = bin_of((float)v);
        prior[v] = v == 0 ? absent : (double)learnt->count[bin] / (double)bin_length(bin);
        rows[v] = noise(learnt, reading, 0, v) * noise(learnt, reading, 1, v);
        if (v > 0) z += prior[v] * rows[v];
    }
    for (unsigned v = 0; v <= slow->bound; v++)
        slow->weight[v] = prior[v] * (rows[v] + (double)learnt->twin * z) * noise(learnt, reading, 2, v);
}

/* The share of the weight that is below v. */
static double slow_below(const struct slow *slow, const struct weighing *w, double v)
{
    double all = 0, below = 0;
    for (unsigned i = 0; i <= slow->bound; i++) {
        double weight = slow->weight[i] * ((double)w->absolute + (double)w->relative / (i ? i : 1));
        all += weight;
        if (i < v) below += weight;
    }
    return below / all;
}

/* Which integers an answer stands for: those of its bin of counts or, near the bound, of what is missing to it. */
static void stands_for(const struct slow *slow, double answer, double *first, double *end)
{
    bool lower = answer <= slow->bound / 2; /* NOLINT: whole numbers, as in posterior.c */
    unsigned bin = bin_of((float)(lower ? answer : slow->bound - answer));
    *first = (double)bin_first(bin);
    *end = *first + (double)bin_length(bin);
    if (lower) return;
    double most = *first;
    *first = slow->bound + 1 - *end;
    *end = slow->bound + 1 - most;
}

static struct {
    unsigned asked, far, farther;
} found;

/* The share that is asked for is reached inside the bin of the answer. Bins are coarse, and each is weighed at its
 * middle, which for equal counts is where they all are, while the formula here spreads them over the bin; so a few
 * answers are elsewhere. */
static void check_formula(const struct learnt *learnt, const struct reading *reading, uint64_t *state)
{
    static struct slow slow;
    static const float odds[] = {0, 0, 0.3f, 2};
    if (reading_upper(reading) > MOST) return;
    float absent = odds[draw_below(state, 4)];
    struct weighing w = draw_weighing(learnt, state);
    double answer = answer_of(learnt, reading, absent, w), first, end;
    slow_start(learnt, reading, (double)absent, &slow);
    stands_for(&slow, answer, &first, &end);
    double low = slow_below(&slow, &w, first), high = slow_below(&slow, &w, end);
    double far = fmax(fmax(low - (double)w.share, (double)w.share - high), 0);
    found.asked++;
    found.far += far > 0.01;
    found.farther += far > 0.1;
}

static void it_is_what_the_formula_says(void **unused)
{
    (void)unused;
    for_readings(ROUNDS(1000), check_formula);
    print_message("%u answers; %u are off by more than 0.01 of the weight, %u by more than 0.1\n", found.asked,
                  found.far, found.farther);
    assert_true(found.asked > ROUNDS(1000) * 5);
    assert_true(found.far <= 0.02 * found.asked && found.farther <= 0.005 * found.asked);
}

/* ---- any answer -------------------------------------------------------------------------------------------------- */

static void check_bounds(const struct learnt *learnt, const struct reading *reading, uint64_t *state)
{
    struct weighing w = draw_weighing(learnt, state);
    double bound = (double)reading_upper(reading), present = answer_of(learnt, reading, 0, w);
    double doubted = answer_of(learnt, reading, 1000, w);
    assert_true(present >= 1 && present <= bound);
    assert_true(doubted >= 0 && doubted <= present);
}

static void answers_are_within_their_bounds(void **unused)
{
    (void)unused;
    for_readings(ROUNDS(1000), check_bounds);
}

static void check_doubt(const struct learnt *learnt, const struct reading *reading, uint64_t *state)
{
    struct weighing w = draw_weighing(learnt, state);
    double before = INFINITY;
    for (float absent = 0; absent < 1e9f; absent = absent * 3 + 0.001f) {
        double answer = answer_of(learnt, reading, absent, w);
        assert_true(answer <= before);
        before = answer;
    }
}

static void more_doubt_means_less(void **unused)
{
    (void)unused;
    for_readings(ROUNDS(200), check_doubt);
}

static void check_relative(const struct learnt *learnt, const struct reading *reading, uint64_t *state)
{
    float absent = draw_below(state, 2) ? 0.5f : 0;
    double before = INFINITY;
    for (unsigned i = 0; i <= 20; i++) {
        float relative = (float)i / 20;
        struct weighing w = {1 - relative, relative * learnt->worth, 0.5f};
        double answer = answer_of(learnt, reading, absent, w);
        assert_true(answer <= before);
        before = answer;
    }
}

static void more_weight_on_relative_errors_means_less(void **unused)
{
    (void)unused;
    for_readings(ROUNDS(200), check_relative);
}

/* Several shares in one call are in order, and what each is alone. */
static void check_shares(const struct learnt *learnt, const struct reading *reading, uint64_t *state)
{
    enum { SHARES = 21 };
    struct weighing w[SHARES], one = draw_weighing(learnt, state);
    double answer[SHARES];
    for (unsigned i = 0; i < SHARES; i++) w[i] = one, w[i].share = (float)i / (SHARES - 1);
    posterior_alike(learnt, reading, 0.2f, w, SHARES, answer);
    for (unsigned i = 0; i < SHARES; i++) {
        assert_true(answer[i] >= 0 && answer[i] <= (double)reading_upper(reading));
        assert_true(i == 0 || answer[i] >= answer[i - 1]);
        assert_true(answer[i] == answer_of(learnt, reading, 0.2f, w[i]));
    }
}

static void shares_are_in_order(void **unused)
{
    (void)unused;
    for_readings(ROUNDS(200), check_shares);
}

/* Sums as large as sums can be, in one read or in all three. */
static void check_huge(const struct learnt *learnt, const struct reading *reading, uint64_t *state)
{
    struct reading huge = *reading;
    for (unsigned k = 0; k < 3; k++)
        if (draw_below(state, 2)) huge.value[k] = (INT64_C(1) << (20 + draw_below(state, 43))) - draw_count(state, 3);
    for (unsigned i = 0; i < 3; i++) {
        double answer = answer_of(learnt, &huge, i == 2 ? 0.5f : 0, draw_weighing(learnt, state)), three[3];
        struct weighing w[3] = {{1, 0, 0.025f}, draw_weighing(learnt, state), {1, 0, 0.975f}};
        assert_true(isfinite(answer) && answer >= (i < 2) && answer <= (double)reading_upper(&huge));
        for (unsigned k = 0; k < 3; k++)
            if (draw_below(state, 2)) huge.value[k] = -huge.value[k];
        posterior_signed(learnt, &huge, 0.1f, w, 3, three);
        for (unsigned k = 0; k < 3; k++) assert_true(fabs(three[k]) <= 0x1p63);
        assert_true(three[0] <= three[2]);
        for (unsigned k = 0; k < 3; k++) huge.value[k] = llabs(huge.value[k]);
    }
}

static void huge_sums_stay_finite(void **unused)
{
    (void)unused;
    for_readings(ROUNDS(200), check_huge);
}

/* Where all counts that were seen are above 0 and all reads too, either way of looking finds nearly the same. */
static unsigned compared, unlike;

static void check_signed(const struct learnt *learnt, const struct reading *reading, uint64_t *state)
{
    struct weighing w = draw_weighing(learnt, state);
    w.share = 0.5f;
    double alike, either;
    posterior_alike(learnt, reading, 0, &w, 1, &alike);
    posterior_signed(learnt, reading, 0, &w, 1, &either);
    compared++;
    unlike += fabs(alike - either) > 2 + 0.2 * fmax(alike, either);
}

static void both_posteriors_agree_on_counts_above_0(void **unused)
{
    (void)unused;
    for_readings(ROUNDS(100), check_signed);
    print_message("%u of %u differ\n", unlike, compared);
    assert_true(compared > ROUNDS(100) * 10 && unlike < 0.1 * compared);
}

/* ---- kinds of CPUs ----------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* The body for vectors of 8 gives the bits of the plain one, of reads of any size, too. */
static void check_same_bits(const struct learnt *learnt, const struct reading *given, uint64_t *state)
{
    static const float absent[] = {0, 0.01f, 0.5f, 9};
    struct reading reading = *given;
    struct weighing weighing[3];
    double plain[3], v3[3];
    if (draw_below(state, 2))
        for (unsigned k = 0; k < 3; k++) reading.value[k] = draw_count(state, 18);
    for (unsigned i = 0; i < 3; i++) weighing[i] = draw_weighing(learnt, state);
    const float odds = absent[draw_below(state, 4)];
    posterior_plain(learnt, &reading, odds, weighing, 3, plain);
    posterior_v3(learnt, &reading, odds, weighing, 3, v3);
    assert_memory_equal(plain, v3, sizeof plain);
}

static void all_kinds_of_cpus_agree(void **unused)
{
    (void)unused;
    bool there = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (!there) skip();
    for_readings(ROUNDS(20000), check_same_bits);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
        cmocka_unit_test(all_kinds_of_cpus_agree),
#endif
        cmocka_unit_test(it_is_what_the_formula_says),
        cmocka_unit_test(answers_are_within_their_bounds),
        cmocka_unit_test(more_doubt_means_less),
        cmocka_unit_test(more_weight_on_relative_errors_means_less),
        cmocka_unit_test(shares_are_in_order),
        cmocka_unit_test(huge_sums_stay_finite),
        cmocka_unit_test(both_posteriors_agree_on_counts_above_0),
    };
    return cmocka_run_group_tests_name("posterior", tests, NULL, NULL);
}
