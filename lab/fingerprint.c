/* A table of fingerprints with counters, in the manner of counting cuckoo filters (Fan, Andersen, Kaminsky and
 * Mitzenmacher, CoNEXT 2014) but without moving anyone: every item has two buckets of 4 slots of 6 bytes, 16 bits of
 * fingerprint and 32 of count, and takes the first slot of the emptier one. What it knows is exact, except for items of
 * the same fingerprint and bucket, which count as one.
 *
 * When both buckets of a newcomer are full it is turned away, for good, and so are its later occurrences: first come,
 * first served. An item that is not in the table is answered with 1 once any was turned away, else with 0. */
#include "counters.h"

#include <assert.h>

enum { SLOTS = 4, CHOICES = 2 };

typedef struct __attribute__((packed)) slot {
    uint16_t print;
    uint32_t count; /* 0: empty */
} slot;

typedef struct bucket {
    slot slots[SLOTS];
} bucket;

static_assert(sizeof(bucket) == 4 * 6, "nothing between slots");

typedef struct prints {
    estimator_table of;   /* its units are buckets */
    uint64_t turned_away; /* occurrences without room */
    bucket buckets[];
} prints;

/* Where the item is, or else the first empty slot of the emptier bucket, or NULL if both are full. */
static slot *find(const prints *table, XXH128_hash_t hash)
{
    const slot *emptiest = NULL;
    unsigned least = SLOTS; /* slots taken there */
    for (unsigned choice = 0; choice < CHOICES; choice++) {
        const slot *slots = table->buckets[pick(hash_row(hash, choice + 1), table->of.units)].slots;
        unsigned i = 0;
        for (; i < SLOTS && slots[i].count > 0; i++)
            if (slots[i].print == (uint16_t)hash.low64) return (slot *)&slots[i];
        if (i < least) emptiest = &slots[i];
        least = i < least ? i : least;
    }
    return (slot *)emptiest;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    prints *table = self;
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    XXH128_hash_t hash = hash_item(item, size, table->of.seed);
    slot *found = find(table, hash);
    if (found != NULL) *found = (slot){(uint16_t)hash.low64, add_u32(found->count, count)};
    else table->turned_away = add_within(table->turned_away, count, UINT64_MAX);
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const prints *table = self;
    const slot *found = find(table, hash_item(item, size, table->of.seed));
    uint32_t count = found != NULL ? found->count : 0;
    *value = count > 0 ? count : table->turned_away > 0 ? 1 : 0;
    return LEGO_OK;
}

const estimator_kind estimator_fingerprint = {"fingerprint",    ESTIMATOR_TABLE(prints, sizeof(bucket)),
                                              .in_order = true, .insert_only = true,
                                              .add = add,       .estimate = estimate};
