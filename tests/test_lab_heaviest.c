/* The peers that keep the heaviest items: Space-Saving and Misra-Gries against slow mirrors and their bounds,
 * HeavyKeeper against its laws, and the ideal table against the number of tables that there are. */
#define XXH_INLINE_ALL
#include "support.h"

#include "estimator.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

enum { ITEMS = 3000, LENGTH = 30000 };

static uint64_t truth[ITEMS], total;

static void *emptied(const estimator_kind *kind, uint64_t budget, uint64_t seed)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = budget;
    options.seed = seed;
    void *self;
    assert_int_equal(estimator_create(kind, &options, &self), LEGO_OK);
    assert_true(estimator_bytes(kind, self) <= budget);
    memset(truth, 0, sizeof truth);
    total = 0;
    return self;
}

static void put(const estimator_kind *kind, void *self, uint64_t item, uint64_t count)
{
    truth[item] += count;
    total += count;
    assert_int_equal(kind->add(self, &item, sizeof item, (int64_t)count), LEGO_OK);
}

static uint64_t ask(const estimator_kind *kind, const void *self, uint64_t item)
{
    double value = -1;
    assert_int_equal(kind->estimate(self, &item, sizeof item, &value), LEGO_OK);
    assert_true(value >= 0 && value == floor(value));
    return (uint64_t)value;
}

/* Few items often, many rarely, mixed. */
static uint64_t draw_item(uint64_t *state)
{
    return draw_below(state, 1 + draw_below(state, 1 + draw_below(state, ITEMS)));
}

/* ---- mirrors ----------------------------------------------------------------------------------------------------- */

typedef struct mirrored {
    uint64_t item, count, inherited, when;
} mirrored;

typedef struct mirror {
    mirrored all[ITEMS];
    size_t n, room;
    uint64_t now, offset;
} mirror;

static mirror twin;

static mirrored *find(uint64_t item)
{
    for (size_t i = 0; i < twin.n; i++)
        if (twin.all[i].item == item) return &twin.all[i];
    return NULL;
}

/* Of those of the least count, the one that got it last makes room. */
static void mirror_space_saving(uint64_t item, uint64_t count)
{
    mirrored *found = find(item);
    if (found == NULL && twin.n < twin.room) {
        found = &twin.all[twin.n++];
        *found = (mirrored){.item = item};
    } else if (found == NULL) {
        found = twin.all;
        for (mirrored *one = twin.all; one < twin.all + twin.n; one++)
            if (one->count < found->count || (one->count == found->count && one->when > found->when)) found = one;
        *found = (mirrored){item, found->count, found->count, 0};
    }
    found->count += count;
    found->when = ++twin.now;
}

static void space_saving_is_its_mirror(void **unused)
{
    (void)unused;
    const estimator_kind *kind = &estimator_space_saving;
    uint64_t state = 1;
    for (size_t room = 1; room < 2 * ITEMS; room = room * 3 + 1) {
        void *self = emptied(kind, 32 + 44 * (room + 1) + draw_below(&state, 44), room);
        twin = (mirror){.room = room};
        for (int i = 0; i < ROUNDS(LENGTH); i++) {
            uint64_t item = draw_item(&state), count = room % 2 ? 1 : 1 + draw_below(&state, 9) * draw_below(&state, 9);
            put(kind, self, item, count);
            mirror_space_saving(item, count);
        }
        uint64_t sum = 0;
        for (uint64_t item = 0; item < ITEMS; item++) {
            const mirrored *one = find(item);
            uint64_t value = ask(kind, self, item);
            assert_int_equal(value, one != NULL ? one->count - one->inherited : twin.n == twin.room ? 1 : 0);
            if (one == NULL) continue;
            sum += value + one->inherited;
            assert_true(value <= truth[item] && truth[item] <= value + one->inherited);
        }
        assert_int_equal(sum, total);
        estimator_destroy(kind, self);
    }
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void mirror_misra_gries(uint64_t item, uint64_t count)
{
    static uint64_t counts[ITEMS];
    mirrored *found = find(item);
    if (found == NULL) {
        found = &twin.all[twin.n++];
        *found = (mirrored){.item = item};
    }
    found->count += count;
    if (twin.n <= twin.room) return;
    for (size_t i = 0; i < twin.n; i++) counts[i] = twin.all[i].count;
    qsort(counts, twin.n, sizeof *counts, by_size);
    uint64_t less = counts[twin.n / 2];
    size_t left = 0;
    for (size_t i = 0; i < twin.n; i++) {
        mirrored one = twin.all[i];
        one.count -= one.count < less ? one.count : less;
        if (one.count > 0) twin.all[left++] = one;
    }
    twin.n = left;
    twin.offset += less;
}

/* While the sample of a purge is the whole table. */
static void misra_gries_is_its_mirror(void **unused)
{
    (void)unused;
    const estimator_kind *kind = &estimator_misra_gries;
    uint64_t state = 2;
    for (size_t slots = 5; slots <= 1364; slots = slots < 1000 ? slots * 2 + 3 : slots + 173) {
        void *self = emptied(kind, 32 + 8 * slots + draw_below(&state, 8), slots);
        twin = (mirror){.room = slots * 3 / 4};
        for (int i = 0; i < ROUNDS(LENGTH); i++) {
            uint64_t item = draw_item(&state),
                     count = slots % 2 ? 1 : 1 + draw_below(&state, 9) * draw_below(&state, 9);
            put(kind, self, item, count);
            mirror_misra_gries(item, count);
        }
        for (uint64_t item = 0; item < ITEMS; item++) {
            const mirrored *one = find(item);
            uint64_t count = one != NULL ? one->count : 0;
            assert_int_equal(ask(kind, self, item), count > 0 ? count : twin.offset > 0);
            assert_true(count <= truth[item] && truth[item] <= count + twin.offset);
        }
        estimator_destroy(kind, self);
    }
}

/* Where it is a sample: no answer is too large, and none misses more than DataSketches says, 3.5 / slots of all. */
static void misra_gries_keeps_its_bound(void **unused)
{
    (void)unused;
    const estimator_kind *kind = &estimator_misra_gries;
    uint64_t state = 3, slots = 2000, most = 0;
    void *self = emptied(kind, 32 + 8 * slots, 1);
    for (int i = 0; i < 10 * LENGTH; i++) put(kind, self, draw_below(&state, ITEMS) * draw_below(&state, 2), 1);
    for (uint64_t item = 0; item < ITEMS; item++) {
        uint64_t value = ask(kind, self, item);
        assert_true(value <= truth[item] || value == 1);
        most = truth[item] - value + 1 > most && truth[item] > value ? truth[item] - value : most;
    }
    assert_true(most > 0 && (double)most < 3.5 / (double)slots * (double)total);
    assert_true(ask(kind, self, 0) > 10 * LENGTH / 2 - 1000);
    estimator_destroy(kind, self);
}

/* ---- heavy-keeper ------------------------------------------------------------------------------------------------ */

static uint64_t print_of(uint64_t item, uint64_t seed)
{
    return XXH3_128bits_withSeed(&item, sizeof item, seed).low64 >> 32 & 0xffff;
}

/* No answer is above the counts of all items of its fingerprint, and the heaviest are hardly below the truth. */
static void heavy_keeper_is_hardly_ever_above(void **unused)
{
    (void)unused;
    const estimator_kind *kind = &estimator_heavy_keeper;
    static uint64_t sums[1 << 16];
    uint64_t state = 4, listed = 0, near = 0;
    for (uint64_t budget = 1000; budget < 20000; budget *= 4) {
        void *self = emptied(kind, budget, budget);
        memset(sums, 0, sizeof sums);
        for (int i = 0; i < 5 * LENGTH; i++) {
            uint64_t item = draw_item(&state), count = i % 2 ? 1 : 1 + draw_below(&state, 9);
            put(kind, self, item, count);
            sums[print_of(item, budget)] += count;
        }
        for (uint64_t item = 0; item < ITEMS; item++) {
            uint64_t value = ask(kind, self, item);
            uint64_t sum = sums[print_of(item, budget)];
            assert_true(value <= (sum > 0 ? sum : 1) && (value > 0 || truth[item] == 0));
            near += item < 10 && (double)value > 0.9 * (double)truth[item];
            listed += value > 1;
        }
        estimator_destroy(kind, self);
    }
    assert_true(listed > 1000 && near >= 28); /* two heavy items may meet in both rows */
}

/* Where it is in a table of `columns`, in the first row: its fingerprint and its cell, hashed as in lab/counters.h. */
static uint64_t first_place(uint64_t item, uint64_t columns)
{
    uint64_t z = XXH3_128bits_withSeed(&item, sizeof item, 0).low64;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    __extension__ typedef unsigned __int128 wide;
    return print_of(item, 0) << 16 | (uint64_t)((wide)(z ^ z >> 31) * columns >> 64);
}

/* Of two items with one place in the first row, the later one is not counted there while there is room in the top,
 * where it would be if the count were its own. So it raises nobody's answer. */
static void twins_are_not_counted(void **unused)
{
    (void)unused;
    const estimator_kind *kind = &estimator_heavy_keeper;
    enum { MANY = 30000, BUDGET = 40 + 64 * 3 * 44, COLUMNS = (64 * 3 * 44 - 3 * 44) / 8, SHIFT = 24 };
    static uint64_t places[MANY], pairs = 0;
    for (uint64_t i = 0; i < MANY; i++) places[i] = first_place(i, COLUMNS) << SHIFT | i;
    qsort(places, MANY, sizeof *places, by_size);
    for (size_t i = 1; i < MANY; i++) {
        if (places[i] >> SHIFT != places[i - 1] >> SHIFT) continue;
        uint64_t first = places[i - 1] % (1 << SHIFT), later = places[i] % (1 << SHIFT);
        void *self = emptied(kind, BUDGET, 0);
        assert_int_equal(kind->add(self, &first, sizeof first, 8), LEGO_OK);
        for (int t = 0; t < 5; t++) assert_int_equal(kind->add(self, &later, sizeof later, 1), LEGO_OK);
        assert_int_equal(ask(kind, self, first), 8);
        assert_int_equal(ask(kind, self, later), 8);
        assert_int_equal(kind->add(self, &first, sizeof first, 1), LEGO_OK); /* the first one is, being in the top */
        assert_int_equal(ask(kind, self, first), 9);
        pairs++;
        estimator_destroy(kind, self);
    }
    assert_true(pairs > 0);
}

/* In rows of one cell, where a first item came 8 times, `times` of another: each row's cell is the second's from
 * when it has been worn off 8 times, which takes 1.08^C occurrences in the mean where it stands at C. */
enum { FIRST = 8, MOST = 40 };

static double answer_expected(unsigned times)
{
    double odds[FIRST + 1] = {[FIRST] = 1}, sum = 0; /* that a cell stands at i; at 0 it is the second's */
    for (unsigned t = 0; t < times; t++) {
        for (unsigned i = 1; i <= FIRST; i++) {
            double worn = odds[i] * pow(1.08, -(double)i);
            odds[i - 1] += worn; /* not worn again in this step, for that was i - 1's turn */
            odds[i] -= worn;
        }
        sum += 1 - (1 - odds[0]) * (1 - odds[0]);
    }
    return sum + (1 - odds[0]) * (1 - odds[0]); /* 1 where it has no cell */
}

static void cells_wear_off_as_published(void **unused)
{
    (void)unused;
    const estimator_kind *kind = &estimator_heavy_keeper;
    enum { SEEDS = 5000 };
    for (unsigned times = 1; times <= MOST; times += 13) {
        for (unsigned at_once = 0; at_once < 2; at_once++) {
            double sum = 0, squares = 0;
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                void *self = emptied(kind, 40 + 2 * 44 + 2 * 4, seed);
                put(kind, self, 1, FIRST);
                for (unsigned i = 0; i < (at_once ? 1 : times); i++) put(kind, self, 2, at_once ? times : 1);
                double value = (double)ask(kind, self, 2);
                sum += value;
                squares += value * value;
                estimator_destroy(kind, self);
            }
            double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / SEEDS);
            if (fabs(mean - answer_expected(times)) > 4.5 * error + 1e-3)
                fail_msg("%u times: %g instead of %g", times, mean, answer_expected(times));
        }
    }
}

/* ---- ideal-top --------------------------------------------------------------------------------------------------- */

static double log2_choices(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2);
}

/* The tables with the k highest of falling counts in any places, over those of them that would do: where not all items
 * of the last count are listed, any of them. */
static double bits_of(const uint64_t *falling, size_t n, size_t k)
{
    double bits = 0;
    for (size_t i = 0, end; i < k; i = end) {
        for (end = i; end < n && falling[end] == falling[i];) end++;
        size_t here = end < k ? end - i : k - i;
        bits += log2_choices((double)(n - i), (double)here) - log2_choices((double)(end - i), (double)here);
    }
    return bits;
}

static void ideal_top_lists_what_fits(void **unused)
{
    (void)unused;
    const estimator_kind *kind = &estimator_ideal_top;
    uint64_t state = 5;
    size_t partly = 0, all = 0;
    for (uint64_t budget = 16; budget < 4000; budget += 83) {
        static uint64_t falling[ITEMS];
        void *self = emptied(kind, budget, 0);
        for (int i = 0; i < LENGTH; i++) put(kind, self, draw_item(&state), 1);
        for (uint64_t item = 0; item < ITEMS; item++)
            if (truth[item] == 0) put(kind, self, item, 1);
        assert_int_equal(estimator_settle(kind, self), LEGO_OK);
        memcpy(falling, truth, sizeof falling);
        qsort(falling, ITEMS, sizeof *falling, by_size);
        for (size_t i = 0; i < ITEMS / 2; i++) {
            uint64_t low = falling[i];
            falling[i] = falling[ITEMS - 1 - i];
            falling[ITEMS - 1 - i] = low;
        }
        size_t listed = 0, worth = 0;
        uint64_t least = UINT64_MAX, rest = 1;
        for (uint64_t item = 0; item < ITEMS; item++) {
            uint64_t value = ask(kind, self, item);
            assert_true(value == truth[item] || value == 1);
            listed += value > 1;
            worth += truth[item] > 1;
            if (value > 1) least = value < least ? value : least;
            else rest = truth[item] > rest ? truth[item] : rest;
        }
        assert_true(least >= rest);
        double bits = bits_of(falling, ITEMS, listed);
        assert_true(fabs((double)estimator_bytes(kind, self) - 16 - bits / 8) < 1.2);
        assert_true(estimator_bytes(kind, self) <= budget);
        if (listed < worth) assert_true(bits_of(falling, ITEMS, listed + 1) > 8 * (double)(budget - 16) - 1);
        partly += least == rest;
        all += listed == worth;
        estimator_destroy(kind, self);
    }
    assert_true(partly > 0 && all > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(space_saving_is_its_mirror),  cmocka_unit_test(misra_gries_is_its_mirror),
        cmocka_unit_test(misra_gries_keeps_its_bound), cmocka_unit_test(heavy_keeper_is_hardly_ever_above),
        cmocka_unit_test(twins_are_not_counted),       cmocka_unit_test(cells_wear_off_as_published),
        cmocka_unit_test(ideal_top_lists_what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
