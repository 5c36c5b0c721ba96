/* SALSA, self-adjusting lean streaming analytics (Ben Basat, Einziger, Mitzenmacher and Vargaftik, ICDE 2021), with
 * conservative update: rows of 8-bit counters. One that would overflow merges with its neighbour into one of 16 bits,
 * then 32, then 64, aligned, which takes the larger of the values; a bit a counter says what is merged, and its bytes
 * count.
 *
 *     group  [ counter 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | merges ]      9 bytes
 *     merges  bits 0, 2, 4, 6: the pair from that counter on; bits 1, 5: the four from 0 or 4 on; bit 3: all eight
 *
 * That is the paper's simple encoding: the bit at the last counter of the left half of what is merged. */
#include "counters.h"

enum { GROUP = 8, GROUP_BYTES = 9, SLICE = ROWS * GROUP_BYTES, WIDEST = 3 }; /* SLICE: a group of each row */

typedef struct salsa {
    estimator_table of; /* its units are groups, one of each row */
    unsigned char rows[];
} salsa;

/* An item's counter of a row is counter at[row] % GROUP of the group that begins at byte start[row]. */
typedef struct place {
    uint64_t start;
    unsigned at;
} place;

static void locate(const salsa *sketch, const void *item, size_t size, place places[ROWS])
{
    XXH128_hash_t hash = hash_item(item, size, sketch->of.seed);
    for (unsigned row = 0; row < ROWS; row++) {
        uint64_t counter = pick(hash_row(hash, row), sketch->of.units * GROUP);
        places[row] = (place){(row * sketch->of.units + counter / GROUP) * GROUP_BYTES, (unsigned)(counter % GROUP)};
    }
}

/* The counter at that place has 8 << level bits. */
static unsigned level_of(const unsigned char *group, unsigned at)
{
    unsigned merges = group[GROUP];
    if (merges == 0) return 0;
    return merges >> 3 & 1 ? 3 : merges >> ((at & 4) + 1) & 1 ? 2 : merges >> (at & 6) & 1;
}

static unsigned first_of(unsigned at, unsigned level)
{
    return at & ~((1u << level) - 1);
}

static uint64_t most(unsigned level)
{
    return UINT64_MAX >> (64 - (8u << level));
}

static uint64_t get(const unsigned char *group, unsigned at)
{
    unsigned level = level_of(group, at);
    const unsigned char *counter = group + first_of(at, level);
    uint64_t value = 0;
    for (unsigned i = 0; i < 1u << level; i++) value |= (uint64_t)counter[i] << 8 * i;
    return value;
}

/* Makes a counter at least `value`, as wide as that needs. */
static void raise(unsigned char *group, unsigned at, uint64_t value)
{
    unsigned level = level_of(group, at);
    while (value > most(level)) {
        level++;
        unsigned first = first_of(at, level), size = 1u << level;
        for (unsigned i = 0; i < size; i++) { /* reads a wide one more than once, which does no harm to a maximum */
            uint64_t other = get(group, first + i);
            value = other > value ? other : value;
        }
        group[GROUP] = (unsigned char)(group[GROUP] | 1u << (first + size / 2 - 1));
    }
    for (unsigned i = 0; i < 1u << level; i++) group[first_of(at, level) + i] = (unsigned char)(value >> 8 * i);
}

static uint64_t least_of(const salsa *sketch, const place places[ROWS])
{
    uint64_t least = UINT64_MAX;
    for (unsigned row = 0; row < ROWS; row++) {
        uint64_t value = get(sketch->rows + places[row].start, places[row].at);
        least = value < least ? value : least;
    }
    return least;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    salsa *sketch = self;
    place places[ROWS];
    if (count < 0) return LEGO_ERR_ARGUMENT;
    locate(sketch, item, size, places);
    uint64_t raised = add_within(least_of(sketch, places), count, most(WIDEST));
    for (unsigned row = 0; row < ROWS; row++) {
        unsigned char *group = sketch->rows + places[row].start;
        if (get(group, places[row].at) < raised) raise(group, places[row].at, raised);
    }
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    place places[ROWS];
    locate(self, item, size, places);
    *value = (double)least_of(self, places);
    return LEGO_OK;
}

const estimator_kind estimator_salsa_cu = {
    "salsa-cu", ESTIMATOR_TABLE(salsa, SLICE), .in_order = true, .insert_only = true, .add = add, .estimate = estimate};
