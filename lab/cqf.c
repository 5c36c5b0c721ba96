/* A counting quotient filter (Pandey, Bender, Johnson and Patro, "A general-purpose counting filter: making every bit
 * count", SIGMOD 2017), of the best remainder for the stream and the budget in hindsight.
 *
 *     hash -> fingerprint, below slots * 2^r = quotient (which slot) and remainder x (r bits, in a slot)
 *     slot     r bits, and 2.125 of metadata: occupieds, runends, an 8-bit offset for 64 slots
 *     counts   1: x    2: x x    more: x, digits, x    as cqf_length() has it
 *
 * Items of one fingerprint count as one; all other counts are exact. What is here is not the filter but what it would
 * hold: items sorted by hash are sorted by fingerprint, whatever r is, so one pass tells how many slots a width takes,
 * and a search in them answers what the filter would.
 *
 * Where there is a choice, it is the kindest to the filter. The widest remainder that fits has the fewest equal
 * fingerprints, and is found by trying all. There may be any number of slots, not only powers of two, which leave up to
 * half of the budget unused. 95 % of them may be taken, and runs wrap around, so that no spare slots are needed behind
 * the end. A stream for which no width has room does not fit. */
#include "cqf.h"

#include "counters.h"

#include <stdlib.h>

enum { NARROWEST = 2, WIDEST = 28, LOAD = 95 }; /* a remainder of 1 bit leaves no digits; LOAD is in percent */

__extension__ typedef __int128 lab_i128;

typedef struct pair {
    uint64_t hash;
    int64_t count;
} pair;

/* What the filter would keep beside its slots; it counts as bytes used. */
typedef struct head {
    uint64_t seed, slots, width;
} head;

typedef struct filter {
    head of;
    uint64_t budget;
    pair *pairs; /* sorted by settle() */
    size_t size, capacity;
} filter;

/* ---- the code of counts ------------------------------------------------------------------------------------------ */

unsigned cqf_length(uint64_t remainder, uint64_t count, unsigned width)
{
    if (count <= 3) return (unsigned)count; /* 3 is x 0 x */
    bool zero = remainder == 0;             /* it ends with two zeros, for its digits cannot be below it */
    uint64_t base = (UINT64_C(1) << width) - (zero ? 1 : 2), rest = count - (zero ? 4 : 3), first;
    unsigned digits = 0;
    do {
        first = rest % base;
        rest /= base;
        digits++;
    } while (rest > 0);
    /* Digits are the symbols from 1 on but x. The first has to be below x, or else a 0 goes before it. */
    bool escape = !zero && first + 1 >= remainder;
    return (zero ? 3 : 2) + digits + (escape ? 1 : 0);
}

/* ---- the filter -------------------------------------------------------------------------------------------------- */

static uint64_t slots_within(uint64_t budget, unsigned width)
{
    return (budget - sizeof(head)) * 64 / (8 * width + 17); /* 2.125 bits are 17 eighths */
}

static uint64_t print_of(const head *of, uint64_t hash)
{
    return pick(hash, of->slots << of->width);
}

/* The count of the fingerprint that pair i begins with; `next` becomes the first pair behind it. */
static uint64_t count_at(const filter *self, const head *of, size_t i, size_t *next)
{
    uint64_t print = print_of(of, self->pairs[i].hash);
    lab_i128 sum = 0;
    for (; i < self->size && print_of(of, self->pairs[i].hash) == print; i++) sum += self->pairs[i].count;
    *next = i;
    return sum < 0 ? 0 : sum > INT64_MAX ? INT64_MAX : (uint64_t)sum;
}

static bool fits(const filter *self, const head *of)
{
    uint64_t used = 0, most = of->slots / 100 * LOAD + of->slots % 100 * LOAD / 100;
    for (size_t i = 0, next; i < self->size && used <= most; i = next) {
        uint64_t remainder = print_of(of, self->pairs[i].hash) & ((UINT64_C(1) << of->width) - 1);
        used += cqf_length(remainder, count_at(self, of, i, &next), (unsigned)of->width);
    }
    return used <= most;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = ((const pair *)a)->hash, y = ((const pair *)b)->hash;
    return x < y ? -1 : x > y;
}

static lego_status settle(void *self)
{
    filter *made = self;
    if (made->size > 0) qsort(made->pairs, made->size, sizeof *made->pairs, by_hash);
    for (unsigned width = WIDEST; width >= NARROWEST; width--) {
        made->of = (head){made->of.seed, slots_within(made->budget, width), width};
        if (made->of.slots > 0 && fits(made, &made->of)) return LEGO_OK;
    }
    return LEGO_ERR_BUDGET;
}

cqf_shape cqf_describe(const void *self)
{
    const head *of = &((const filter *)self)->of;
    return (cqf_shape){of->slots, (unsigned)of->width};
}

/* ---- as one of the estimators ------------------------------------------------------------------------------------ */

static lego_status create(const lego_options *wanted, void **self)
{
    if (wanted->budget < sizeof(head) || wanted->budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    if (slots_within(wanted->budget, NARROWEST) == 0) return LEGO_ERR_BUDGET;
    filter *made = calloc(1, sizeof *made);
    if (made == NULL) return LEGO_ERR_MEMORY;
    made->of.seed = wanted->seed;
    made->budget = wanted->budget;
    *self = made;
    return LEGO_OK;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    filter *made = self;
    if (made->size == made->capacity) {
        size_t capacity = made->capacity + made->capacity / 2 + 64;
        pair *pairs = realloc(made->pairs, capacity * sizeof *pairs);
        if (pairs == NULL) return LEGO_ERR_MEMORY;
        made->pairs = pairs;
        made->capacity = capacity;
    }
    made->pairs[made->size++] = (pair){hash_item(item, size, made->of.seed).low64, count};
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const filter *made = self;
    uint64_t print = print_of(&made->of, hash_item(item, size, made->of.seed).low64);
    size_t low = 0, high = made->size; /* the first pair whose fingerprint is not below this one is from low to high */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (print_of(&made->of, made->pairs[middle].hash) < print) low = middle + 1;
        else high = middle;
    }
    bool found = low < made->size && print_of(&made->of, made->pairs[low].hash) == print;
    *value = found ? (double)count_at(made, &made->of, low, &high) : 0;
    return LEGO_OK;
}

static uint64_t bytes(const void *self)
{
    const head *of = &((const filter *)self)->of;
    return sizeof *of + (of->slots * (8 * of->width + 17) + 63) / 64;
}

static void destroy(void *self)
{
    free(((filter *)self)->pairs);
    free(self);
}

const estimator_kind estimator_cqf = {"cqf",      .create = create, .bytes = bytes,      .destroy = destroy,
                                      .add = add, .settle = settle, .estimate = estimate};
