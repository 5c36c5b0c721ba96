/* A table of fingerprints with counters, a counting cuckoo filter (Fan, Andersen, Kaminsky and Mitzenmacher, "Cuckoo
 * filter: practically better than Bloom", CoNEXT 2014), of the best widths for the stream and the budget in hindsight.
 *
 *     bucket   4 slots of f + c bits: a fingerprint and a counter, which is 0 in an empty slot and stops at its end
 *     item     its fingerprint, in its bucket i or in the other one, hash(fingerprint) - i; so what a slot holds can
 *              be moved without the item. Items of the same fingerprint and buckets count as one.
 *
 * A newcomer takes a slot of the emptier bucket; if both are full, others move to make room. When 500 moves do not find
 * any, the one then without a slot is turned away and nobody moves any more: newcomers whose buckets are full are
 * turned away for good, first come, first served. An item that is not in the table is answered with 1 once any was
 * turned away, else with 0.
 *
 * All that depends on the order of the stream is thus who came first. So the table is filled with the distinct items in
 * that order, each with its whole count, at every pair of widths that may be best, and those are kept whose AAE times
 * ARE is least. */
#include "fingerprint.h"

#include "counters.h"
#include "exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4, MOVES = 500, PRINT_MOST = 32, COUNT_MOST = 32, PRINT_ENOUGH = 16 };

typedef struct slot {
    uint32_t print, count; /* count 0: empty */
} slot;

/* What the real table would keep beside its slots; it counts as bytes used. */
typedef struct head {
    uint64_t seed, buckets;
    uint8_t print_bits, count_bits, full, turned_away;
} head;

typedef struct table {
    head of;
    uint64_t budget;
    slot *slots;
    exact_table *seen; /* the stream, in order of first appearance */
} table;

typedef struct place {
    uint32_t print;
    uint64_t bucket;
} place;

/* The distinct items of the stream, for one fill after another. */
typedef struct known {
    XXH128_hash_t hash;
    uint32_t count;
} known;

/* ---- the table --------------------------------------------------------------------------------------------------- */

static place place_of(const head *of, XXH128_hash_t hash)
{
    uint32_t print = (uint32_t)(hash.low64 & ((UINT64_C(1) << of->print_bits) - 1));
    return (place){print, pick(hash_row(hash, 1), of->buckets)};
}

/* Of i it gives j, and of j it gives i. */
static uint64_t other_bucket(const head *of, uint32_t print, uint64_t bucket)
{
    uint64_t sum = pick(hash_row((XXH128_hash_t){print, of->seed}, 1), of->buckets);
    return sum >= bucket ? sum - bucket : sum + of->buckets - bucket;
}

/* The slot of the fingerprint in a bucket, or the first empty one, or NULL. */
static slot *find_in(const table *self, uint32_t print, uint64_t bucket, unsigned *taken)
{
    slot *slots = &self->slots[bucket * SLOTS];
    for (*taken = 0; *taken < SLOTS; ++*taken)
        if (slots[*taken].count == 0 || slots[*taken].print == print) return &slots[*taken];
    return NULL;
}

/* The slot of the fingerprint, or an empty one of the emptier of its buckets, or NULL. */
static slot *find(const table *self, place at)
{
    unsigned taken, taken_there;
    slot *here = find_in(self, at.print, at.bucket, &taken);
    if (here != NULL && here->count > 0) return here;
    slot *there = find_in(self, at.print, other_bucket(&self->of, at.print, at.bucket), &taken_there);
    if (there != NULL && (there->count > 0 || taken_there < taken)) return there;
    return here;
}

/* Puts a slot's content into a full bucket: what was there moves to its other bucket, and so on. */
static bool push(table *self, slot content, uint64_t bucket)
{
    for (unsigned move = 0; move < MOVES; move++) {
        slot *victim = &self->slots[bucket * SLOTS + pick(hash_row((XXH128_hash_t){move, bucket}, 1), SLOTS)];
        slot out = *victim;
        unsigned taken;
        *victim = content;
        bucket = other_bucket(&self->of, out.print, bucket);
        slot *free_one = find_in(self, out.print, bucket, &taken); /* no fingerprint is in both of its buckets */
        if (free_one != NULL) {
            *free_one = out;
            return true;
        }
        content = out;
    }
    return false;
}

static void insert(table *self, const known *one)
{
    uint32_t most = (uint32_t)((UINT64_C(1) << self->of.count_bits) - 1);
    place at = place_of(&self->of, one->hash);
    slot *found = find(self, at);
    if (found != NULL) *found = (slot){at.print, (uint32_t)add_within(found->count, one->count, most)};
    else if (self->of.full) self->of.turned_away = true;
    else if (!push(self, (slot){at.print, one->count < most ? one->count : most}, at.bucket))
        self->of.full = self->of.turned_away = true;
}

static double answer(const table *self, XXH128_hash_t hash)
{
    const slot *found = find(self, place_of(&self->of, hash));
    uint32_t count = found != NULL ? found->count : 0;
    return count > 0 ? count : self->of.turned_away ? 1 : 0;
}

/* ---- the widths -------------------------------------------------------------------------------------------------- */

static uint64_t buckets_within(uint64_t budget, unsigned width)
{
    return (budget - sizeof(head)) * 8 / (SLOTS * width);
}

static void fill(table *self, unsigned print_bits, unsigned count_bits, const known *items, size_t n)
{
    self->of = (head){self->of.seed,
                      buckets_within(self->budget, print_bits + count_bits),
                      (uint8_t)print_bits,
                      (uint8_t)count_bits,
                      false,
                      false};
    memset(self->slots, 0, self->of.buckets * SLOTS * sizeof *self->slots);
    for (size_t i = 0; i < n; i++) insert(self, &items[i]);
}

/* AAE times ARE, but for a constant. */
static double badness(const table *self, const known *items, size_t n)
{
    double absolute = 0, relative = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs(answer(self, items[i].hash) - items[i].count);
        absolute += error;
        relative += error / items[i].count;
    }
    return absolute * relative;
}

/* Widths of a slot that may be best. With narrower ones there are more than 3 slots for 2 items, whose bits would be
 * better used in fingerprints. With wider ones items are turned away for fingerprints of more than 16 bits, of which
 * hardly two are alike in two buckets. */
typedef struct range {
    unsigned from, to, count_bits; /* the most that a count needs */
} range;

static range widths(const table *self, const known *items, size_t n)
{
    uint32_t most = 1;
    for (size_t i = 0; i < n; i++) most = items[i].count > most ? items[i].count : most;
    range found = {.count_bits = 1};
    while (found.count_bits < COUNT_MOST && most >> found.count_bits > 0) found.count_bits++;
    uint64_t bits = (self->budget - sizeof(head)) * 8, widest = found.count_bits + PRINT_MOST;
    uint64_t from = bits / (n + n / 2 + 1), to = bits / (n + 1) + 1;
    if (to < found.count_bits + PRINT_ENOUGH) to = found.count_bits + PRINT_ENOUGH;
    while (widest > 2 && buckets_within(self->budget, (unsigned)widest) == 0) widest--;
    found.from = (unsigned)(from < 2 ? 2 : from > widest ? widest : from);
    found.to = (unsigned)(to > widest ? widest : to);
    return found;
}

static void fill_best(table *self, range of, const known *items, size_t n)
{
    double least = INFINITY;
    unsigned best_print = 1, best_count = 1;
    for (unsigned width = of.from; width <= of.to && least > 0; width++) {
        for (unsigned count_bits = of.count_bits; count_bits > 0 && least > 0; count_bits--) {
            if (count_bits >= width || width - count_bits > PRINT_MOST) continue;
            fill(self, width - count_bits, count_bits, items, n);
            double bad = badness(self, items, n);
            if (bad >= least) continue;
            least = bad;
            best_print = width - count_bits;
            best_count = count_bits;
        }
    }
    fill(self, best_print, best_count, items, n);
}

static void fill_one(table *self, range of, const known *items, size_t n)
{
    fill(self, of.from - of.count_bits, of.count_bits, items, n);
}

/* Settles with the widths of `only`, or else with the best. */
static lego_status settle_within(table *self, const range *only)
{
    size_t n = exact_size(self->seen);
    known *items = calloc(n + 1, sizeof *items);
    if (items == NULL) return LEGO_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        exact_item one = exact_at(self->seen, i);
        items[i] = (known){hash_item(one.bytes, one.size, self->of.seed),
                           one.count < UINT32_MAX ? (uint32_t)one.count : UINT32_MAX};
    }
    range of = only != NULL ? *only : widths(self, items, n);
    free(self->slots);
    self->slots = calloc(buckets_within(self->budget, of.from) * SLOTS, sizeof *self->slots);
    if (self->slots != NULL) (only != NULL ? fill_one : fill_best)(self, of, items, n);
    free(items);
    return self->slots != NULL ? LEGO_OK : LEGO_ERR_MEMORY;
}

static lego_status settle(void *self)
{
    return settle_within(self, NULL);
}

lego_status fingerprint_settle_at(void *self, unsigned print_bits, unsigned count_bits)
{
    const range only = {print_bits + count_bits, print_bits + count_bits, count_bits};
    if (buckets_within(((const table *)self)->budget, only.from) == 0) return LEGO_ERR_BUDGET;
    return settle_within(self, &only);
}

fingerprint_shape fingerprint_describe(const void *self)
{
    const head *of = &((const table *)self)->of;
    return (fingerprint_shape){of->buckets, of->print_bits, of->count_bits, of->turned_away};
}

/* ---- as one of the estimators ------------------------------------------------------------------------------------ */

static lego_status create(const lego_options *wanted, void **self)
{
    if (wanted->budget < sizeof(head) || wanted->budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    if (buckets_within(wanted->budget, 2) == 0) return LEGO_ERR_BUDGET;
    table *made = calloc(1, sizeof *made);
    if (made == NULL) return LEGO_ERR_MEMORY;
    made->of.seed = wanted->seed;
    made->budget = wanted->budget;
    lego_status status = exact_create(&made->seen);
    if (status == LEGO_OK) *self = made;
    else free(made);
    return status;
}

/* Counters end at 32 bits, so no more than that is noted of one addition. */
static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    return exact_add(((table *)self)->seen, item, size, count < UINT32_MAX ? count : UINT32_MAX);
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const table *made = self;
    *value = answer(made, hash_item(item, size, made->of.seed));
    return LEGO_OK;
}

static uint64_t bytes(const void *self)
{
    const head *of = &((const table *)self)->of;
    return sizeof *of + (of->buckets * SLOTS * (of->print_bits + of->count_bits) + 7) / 8;
}

static void destroy(void *self)
{
    exact_destroy(((table *)self)->seen);
    free(((table *)self)->slots);
    free(self);
}

const estimator_kind estimator_fingerprint = {"fingerprint",    .in_order = true, .insert_only = true,
                                              .create = create, .bytes = bytes,   .destroy = destroy,
                                              .add = add,       .settle = settle, .estimate = estimate};
