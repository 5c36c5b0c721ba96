/* The tables that are fitted to a stream in hindsight, `cqf` and `fingerprint`: their answers and bytes against what
 * follows from the fingerprints, computed here one pair of items at a time, and the code of the filter's counts. */
#define XXH_INLINE_ALL
#include "support.h"

#include "cqf.h"
#include "estimator.h"
#include "fingerprint.h"

#include <math.h>
#include <xxhash.h>

__extension__ typedef unsigned __int128 wide;

enum { ITEMS = 2000, ABSENT = 500 };

/* ---- the code of counts ------------------------------------------------------------------------------------------ */

/* Writes a count as the paper has it: x, x x, and then x digits x, where digits are neither x nor 0 and begin below x,
 * with a 0 before those that do not; for x = 0 it is 0 0 0, and then 0 digits 0 0. */
static unsigned encode(uint64_t x, uint64_t count, unsigned width, uint64_t *slots)
{
    uint64_t symbols[80], used = 0, digits[80], n = 0;
    for (uint64_t s = 1; s < UINT64_C(1) << width; s++)
        if (s != x) symbols[used++] = s;
    unsigned length = 0;
    slots[length++] = x;
    if (count > 3 || (count == 3 && x == 0)) {
        uint64_t rest = count == 3 ? 0 : count - (x == 0 ? 4 : 3);
        for (; count > 3 && (n == 0 || rest > 0); rest /= used) digits[n++] = symbols[rest % used];
        if (x > 0 && digits[n - 1] > x) slots[length++] = 0;
        while (n > 0) slots[length++] = digits[--n];
        if (x == 0) slots[length++] = 0;
    } else if (count == 3) {
        slots[length++] = 0;
    }
    if (count > 1) slots[length++] = x;
    return length;
}

/* Reads the first count of a run of n slots back, knowing only that remainders rise; returns its slots. */
static unsigned decode(const uint64_t *slots, unsigned n, unsigned width, uint64_t *count)
{
    uint64_t x = slots[0], base = (UINT64_C(1) << width) - (x == 0 ? 1 : 2), value = 0;
    bool more = n > 1 && slots[1] < x, zeros = x == 0 && n > 2 && slots[1] == 0 && slots[2] == 0;
    *count = zeros ? 3 : n > 1 && slots[1] == x ? 2 : 1;
    if (x == 0 && *count == 1) { /* digits, if two zeros end them before the run does */
        for (unsigned i = 1; i + 1 < n && !more; i++) more = slots[i] == 0 && slots[i + 1] == 0;
    }
    if (!more) return (unsigned)*count;
    unsigned at = 1;
    for (; slots[at] != x; at++)
        if (slots[at] > 0) value = value * base + slots[at] - 1 - (x > 0 && slots[at] > x ? 1 : 0);
    *count = x > 0 && at == 2 && slots[1] == 0 ? 3 : value + (x == 0 ? 4 : 3);
    return at + (x == 0 ? 2 : 1);
}

static void counts_are_coded_as_published(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t x, count;
        unsigned width, length;
    } known[] = {
        {7, 1, 8, 1},     {7, 2, 8, 2},   {7, 3, 8, 3},   {0, 1, 8, 1}, {0, 2, 8, 2}, {0, 3, 8, 3},
        {0, 4, 8, 4},     {0, 258, 8, 4}, {0, 259, 8, 5}, {5, 6, 8, 3}, {5, 7, 8, 4}, {255, 256, 8, 3},
        {255, 257, 8, 4}, {1, 4, 8, 4},   {1, 256, 8, 4}, {3, 4, 2, 3}, {3, 5, 2, 4}, {3, 1000000, 2, 22},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(cqf_length(known[i].x, known[i].count, known[i].width), known[i].length);
}

/* What runs hold can be read back, and takes the slots that it is said to take. */
static void runs_can_be_read(void **unused)
{
    (void)unused;
    uint64_t state = 3, slots[1 << 6 << 2], counts[1 << 6];
    for (int round = 0; round < ROUNDS(20000); round++) {
        unsigned width = 2 + (unsigned)draw_below(&state, 5), n = 0, at = 0;
        for (uint64_t x = 0; x < UINT64_C(1) << width && n < 150; x++) {
            counts[x] = draw_below(&state, 2) == 0 ? 0 : 1 + draw_below(&state, UINT64_C(1) << draw_below(&state, 20));
            if (counts[x] == 0) continue;
            unsigned length = encode(x, counts[x], width, slots + n);
            assert_int_equal(length, cqf_length(x, counts[x], width));
            n += length;
        }
        while (at < n) {
            uint64_t x = slots[at], count;
            at += decode(slots + at, n - at, width, &count);
            assert_int_equal(count, counts[x]);
        }
        assert_int_equal(at, n);
    }
}

/* ---- streams ---------------------------------------------------------------------------------------------------- */

static uint64_t count_of(uint64_t item)
{
    return 3000 / (item % 1000 + 1) + 1;
}

static XXH128_hash_t hash_of(uint64_t item, uint64_t seed)
{
    return XXH3_128bits_withSeed(&item, sizeof item, seed);
}

static uint64_t scaled(uint64_t hash, uint64_t n)
{
    return (uint64_t)((wide)hash * n >> 64);
}

static void *filled(const estimator_kind *kind, uint64_t budget, uint64_t seed)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = budget;
    options.seed = seed;
    void *self;
    assert_int_equal(estimator_create(kind, &options, &self), LEGO_OK);
    for (uint64_t i = 0; i < ITEMS; i++) assert_int_equal(kind->add(self, &i, sizeof i, (int64_t)count_of(i)), LEGO_OK);
    return self;
}

static double ask(const estimator_kind *kind, const void *self, uint64_t item)
{
    double value = -1;
    assert_int_equal(kind->estimate(self, &item, sizeof item, &value), LEGO_OK);
    return value;
}

/* ---- cqf -------------------------------------------------------------------------------------------------------- */

static uint64_t prints[ITEMS + ABSENT];

/* The slots that a filter takes: those of every fingerprint once, with the sum of its items. */
static uint64_t slots_taken(uint64_t seed, cqf_shape shape)
{
    uint64_t taken = 0;
    for (uint64_t i = 0; i < ITEMS + ABSENT; i++)
        prints[i] = scaled(hash_of(i, seed).low64, shape.slots << shape.width);
    for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t sum = 0, first = ITEMS;
        for (uint64_t j = ITEMS; j-- > 0;) {
            if (prints[i] != prints[j]) continue;
            sum += count_of(j);
            first = j;
        }
        if (first == i) taken += cqf_length(prints[i] & ((UINT64_C(1) << shape.width) - 1), sum, shape.width);
    }
    return taken;
}

static cqf_shape shape_of(uint64_t budget, unsigned width)
{
    return (cqf_shape){(uint64_t)floor((double)(budget - 24) * 8 / (width + 2.125)), width};
}

static void cqf_answers_sums_of_equal_fingerprints(void **unused)
{
    (void)unused;
    bool shared = false;
    for (uint64_t seed = 0; seed < 2; seed++) {
        for (uint64_t budget = 5500; budget < 20000; budget += 2900) {
            void *self = filled(&estimator_cqf, budget, seed);
            assert_int_equal(estimator_settle(&estimator_cqf, self), LEGO_OK);
            cqf_shape shape = cqf_describe(self);
            assert_int_equal(shape.slots, shape_of(budget, shape.width).slots);
            assert_true(estimator_bytes(&estimator_cqf, self) <= budget);
            assert_true((double)slots_taken(seed, shape) <= 0.95 * (double)shape.slots);
            for (uint64_t i = 0; i < ITEMS + ABSENT; i++) {
                uint64_t sum = 0;
                for (uint64_t j = 0; j < ITEMS; j++) sum += prints[i] == prints[j] ? count_of(j) : 0;
                assert_true(ask(&estimator_cqf, self, i) == (double)sum);
                shared = shared || (i < ITEMS && sum > count_of(i));
            }
            for (unsigned width = shape.width + 1; width <= 28; width++) { /* no wider one has room */
                cqf_shape wider = shape_of(budget, width);
                assert_true((double)slots_taken(seed, wider) > 0.95 * (double)wider.slots);
            }
            estimator_destroy(&estimator_cqf, self);
        }
    }
    assert_true(shared);
}

static void cqf_says_what_does_not_fit(void **unused)
{
    (void)unused;
    for (uint64_t budget = 40; budget < 1500; budget += 90) {
        void *self = filled(&estimator_cqf, budget, 1);
        assert_int_equal(estimator_settle(&estimator_cqf, self), LEGO_ERR_BUDGET);
        for (unsigned width = 2; width <= 28; width++) {
            cqf_shape shape = shape_of(budget, width);
            assert_true((double)slots_taken(1, shape) > 0.95 * (double)shape.slots);
        }
        estimator_destroy(&estimator_cqf, self);
    }
}

/* ---- fingerprint ------------------------------------------------------------------------------------------------ */

/* As the lab mixes hashes (counters.h). */
static uint64_t mixed(uint64_t low, uint64_t high)
{
    uint64_t z = low + high;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The fingerprint of an item and its two buckets, the lower one first. */
typedef struct identity {
    uint64_t print, low, high;
} identity;

static identity identity_of(uint64_t item, uint64_t seed, fingerprint_shape shape)
{
    XXH128_hash_t hash = hash_of(item, seed);
    uint64_t print = hash.low64 & ((UINT64_C(1) << shape.print_bits) - 1);
    uint64_t one = scaled(mixed(hash.low64, hash.high64), shape.buckets);
    uint64_t other = (scaled(mixed(print, seed), shape.buckets) + shape.buckets - one) % shape.buckets;
    return one < other ? (identity){print, one, other} : (identity){print, other, one};
}

/* The items that count as the item does, as far as the counter goes. */
static double expected(uint64_t item, uint64_t seed, fingerprint_shape shape)
{
    identity mine = identity_of(item, seed, shape);
    uint64_t sum = 0, most = (UINT64_C(1) << shape.count_bits) - 1;
    for (uint64_t j = 0; j < ITEMS; j++) {
        identity theirs = identity_of(j, seed, shape);
        if (memcmp(&mine, &theirs, sizeof mine) == 0) sum += count_of(j);
    }
    return (double)(sum < most ? sum : most);
}

/* With room for all it is exactly that; without, an item has that or was turned away, and as many are in the table as
 * it has slots, nearly. */
static void fingerprints_answer_sums_of_equals(void **unused)
{
    (void)unused;
    static const unsigned settings[][3] = {/* bytes, bits */ {6000, 4, 9}, {6000, 14, 14}, {6000, 6, 14}, {2000, 5, 8}};
    for (size_t s = 0; s < 4; s++) {
        void *self = filled(&estimator_fingerprint, settings[s][0], s);
        assert_int_equal(fingerprint_settle_at(self, settings[s][1], settings[s][2]), LEGO_OK);
        fingerprint_shape shape = fingerprint_describe(self);
        assert_true(shape.buckets * 4 * (settings[s][1] + settings[s][2]) <= (settings[s][0] - 24) * 8);
        assert_int_equal(shape.turned_away, s != 0 && s != 2);
        uint64_t there = 0;
        for (uint64_t i = 0; i < ITEMS + ABSENT; i++) {
            double value = ask(&estimator_fingerprint, self, i), wanted = expected(i, s, shape);
            assert_true(value == wanted || (shape.turned_away && value == 1));
            there += i < ITEMS && value == wanted && wanted > 1;
        }
        if (shape.turned_away) assert_true(there > 0.9 * 4 * (double)shape.buckets);
        estimator_destroy(&estimator_fingerprint, self);
    }
}

/* AAE times ARE, but for a constant. */
static double badness(const void *self)
{
    double absolute = 0, relative = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        double error = fabs(ask(&estimator_fingerprint, self, i) - (double)count_of(i));
        absolute += error;
        relative += error / (double)count_of(i);
    }
    return absolute * relative;
}

static void no_widths_are_better(void **unused)
{
    (void)unused;
    for (uint64_t budget = 1000; budget < 11000; budget += 1500) {
        void *self = filled(&estimator_fingerprint, budget, 2);
        assert_int_equal(estimator_settle(&estimator_fingerprint, self), LEGO_OK);
        assert_true(estimator_bytes(&estimator_fingerprint, self) <= budget);
        double best = badness(self);
        for (unsigned print_bits = 1; print_bits <= 32; print_bits++) {
            for (unsigned count_bits = 1; count_bits <= 16; count_bits++) {
                assert_int_equal(fingerprint_settle_at(self, print_bits, count_bits), LEGO_OK);
                if (badness(self) < best * (1 - 1e-9))
                    fail_msg("%d bytes: %u and %u bits are better", (int)budget, print_bits, count_bits);
            }
        }
        estimator_destroy(&estimator_fingerprint, self);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_coded_as_published),          cmocka_unit_test(runs_can_be_read),
        cmocka_unit_test(cqf_answers_sums_of_equal_fingerprints), cmocka_unit_test(cqf_says_what_does_not_fit),
        cmocka_unit_test(fingerprints_answer_sums_of_equals),     cmocka_unit_test(no_widths_are_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
