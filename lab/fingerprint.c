/* A table of fingerprints with counters, in the manner of counting cuckoo filters (Fan, Andersen, Kaminsky and
 * Mitzenmacher, CoNEXT 2014) but without moving anyone: every item has two buckets of 4 slots of 6 bytes, 16 bits of
 * fingerprint and 32 of count, and takes the first slot of the emptier one. What it knows is exact, except for items of
 * the same fingerprint and bucket, which count as one.
 *
 * When both buckets of a newcomer are full it is turned away, for good, and so are its later occurrences: first come,
 * first served. An item that is not in the table is answered with 1 once any was turned away, else with 0.
 *
 * SPDX-License-Identifier: MIT */
#include "counters.h"

enum { SLOTS = 4, CHOICES = 2 };

typedef struct bucket {
    uint16_t counts[SLOTS][2]; /* low half, high half: 4-byte members would be padded; both 0: the slot is empty */
    uint16_t prints[SLOTS];
} bucket;

typedef struct prints {
    estimator_table of;   /* its units are buckets */
    uint64_t turned_away; /* occurrences without room */
    bucket buckets[];
} prints;

static uint32_t count_at(const bucket *in, unsigned slot)
{
    return in->counts[slot][0] | (uint32_t)in->counts[slot][1] << 16;
}

/* Where the item is, or else the first empty slot of the emptier bucket, or NULL and both are full. */
static bucket *find(const prints *table, XXH128_hash_t hash, unsigned *slot)
{
    uint16_t print = (uint16_t)hash.low64;
    bucket *emptiest = NULL;
    *slot = SLOTS;
    for (unsigned choice = 0; choice < CHOICES; choice++) {
        const bucket *in = &table->buckets[pick(hash_row(hash, choice + 1), table->of.units)];
        unsigned i = 0;
        for (; i < SLOTS && count_at(in, i) > 0; i++) {
            if (in->prints[i] == print) {
                *slot = i;
                return (bucket *)in;
            }
        }
        if (i < *slot) {
            *slot = i;
            emptiest = (bucket *)in;
        }
    }
    return emptiest;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    prints *table = self;
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    XXH128_hash_t hash = hash_item(item, size, table->of.seed);
    unsigned slot;
    bucket *in = find(table, hash, &slot);
    if (in == NULL) {
        table->turned_away = add_within(table->turned_away, count, UINT64_MAX);
        return LEGO_OK;
    }
    uint32_t sum = add_u32(count_at(in, slot), count);
    in->prints[slot] = (uint16_t)hash.low64;
    in->counts[slot][0] = (uint16_t)sum;
    in->counts[slot][1] = (uint16_t)(sum >> 16);
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const prints *table = self;
    unsigned slot;
    const bucket *in = find(table, hash_item(item, size, table->of.seed), &slot);
    uint32_t count = in != NULL ? count_at(in, slot) : 0;
    *value = count > 0 ? count : table->turned_away > 0 ? 1 : 0;
    return LEGO_OK;
}

const estimator_kind estimator_fingerprint = {.name = "fingerprint",
                                              .header = sizeof(prints),
                                              .unit = sizeof(bucket),
                                              .in_order = true,
                                              .insert_only = true,
                                              .add = add,
                                              .estimate = estimate};
