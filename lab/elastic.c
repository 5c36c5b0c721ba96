/* The Elastic sketch (Yang, Jiang, Liu, Huang, Gong, Zhou, Miao, Li and Uhlig, SIGCOMM 2018), software version: a heavy
 * part of buckets that hold keys with votes for them, and a light part, one row of 8-bit counters, for the rest.
 *
 *     bucket  [ 8 x key of 4 bytes | 8 x vote+ of 4 bytes | vote- of 4 bytes | 8 x flag of 1 byte ]     76 bytes
 *
 * A resident's occurrence votes for it; a newcomer takes an empty slot; else it votes against all. When vote- exceeds
 * LAMBDA times the least vote+, that resident moves to the light part and the newcomer takes its slot with a flag: some
 * of it may be in the light part. An unflagged resident has all its occurrences in its votes, so the light counter need
 * only reach them; a flagged one's add up. A quarter of the budget is heavy, as in the authors' evaluation (150 of 600
 * KB). Keys are 32-bit fingerprints, whatever the items are; the authors keep the key itself, of 4 bytes too. Light
 * counters stop at 255, which is where estimates can fall below the truth.
 *
 * On seven real streams the authors' other layout, 7 slots in 64 bytes with the flag in a bit of vote+, has 0.99 of the
 * errors of this one; 8 slots so packed, in 68 bytes, 0.96. */
#include "counters.h"

#include <assert.h>

enum { SLOTS = 8, LAMBDA = 8, HEAVY_SHARE = 4 };

typedef struct bucket {
    uint32_t keys[SLOTS];
    uint32_t votes[SLOTS]; /* 0: the slot is empty */
    uint32_t against;
    bool flags[SLOTS]; /* some of the item is in the light part */
} bucket;

static_assert(sizeof(bucket) == 76, "8 x (4 + 4 + 1) + 4");

typedef struct elastic {
    estimator_table of; /* its units are bytes of both parts */
    bucket buckets[];   /* and behind them the light counters */
} elastic;

static uint64_t bucket_count(const elastic *sketch)
{
    uint64_t count = sketch->of.units / HEAVY_SHARE / sizeof(bucket);
    return count > 0 ? count : 1;
}

/* The places of an item follow from its key, not from the item, so that an evicted resident's counter can be found. */
static uint32_t key_of(const elastic *sketch, const void *item, size_t size)
{
    return (uint32_t)hash_item(item, size, sketch->of.seed).low64;
}

static bucket *bucket_of(const elastic *sketch, uint32_t key)
{
    return (bucket *)&sketch->buckets[pick(hash_row((XXH128_hash_t){key, 0}, 0), bucket_count(sketch))];
}

static unsigned char *light_of(const elastic *sketch, uint32_t key)
{
    uint64_t buckets = bucket_count(sketch), lights = sketch->of.units - buckets * sizeof(bucket);
    uint64_t hash = hash_row((XXH128_hash_t){key, UINT64_C(0x9e3779b97f4a7c15)}, 1);
    return (unsigned char *)&sketch->buckets[buckets] + pick(hash, lights);
}

/* What a resident had goes to the light part. */
static void evict(elastic *sketch, const bucket *from, unsigned slot)
{
    uint32_t votes = from->votes[slot];
    unsigned char *counter = light_of(sketch, from->keys[slot]);
    if (from->flags[slot]) *counter = (unsigned char)add_within(*counter, votes, UINT8_MAX);
    else if (*counter < votes) *counter = (unsigned char)(votes < UINT8_MAX ? votes : UINT8_MAX);
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    elastic *sketch = self;
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    uint32_t key = key_of(sketch, item, size);
    bucket *home = bucket_of(sketch, key);
    unsigned least = 0;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (home->votes[slot] == 0 || home->keys[slot] == key) { /* slots fill from the left: none is empty before it */
            home->keys[slot] = key;
            home->votes[slot] = add_u32(home->votes[slot], count);
            return LEGO_OK;
        }
        if (home->votes[slot] < home->votes[least]) least = slot;
    }
    home->against = add_u32(home->against, count);
    if (home->against <= (uint64_t)LAMBDA * home->votes[least]) {
        unsigned char *counter = light_of(sketch, key);
        *counter = (unsigned char)add_within(*counter, count, UINT8_MAX);
        return LEGO_OK;
    }
    evict(sketch, home, least);
    home->keys[least] = key;
    home->votes[least] = add_u32(0, count);
    home->flags[least] = true;
    home->against = 0;
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const elastic *sketch = self;
    uint32_t key = key_of(sketch, item, size);
    const bucket *home = bucket_of(sketch, key);
    for (unsigned slot = 0; slot < SLOTS && home->votes[slot] != 0; slot++) {
        if (home->keys[slot] == key) {
            *value = (double)home->votes[slot] + (home->flags[slot] ? *light_of(sketch, key) : 0);
            return LEGO_OK;
        }
    }
    *value = *light_of(sketch, key);
    return LEGO_OK;
}

const estimator_kind estimator_elastic = {"elastic",           ESTIMATOR_TABLE(elastic, 1), .least = sizeof(bucket) + 1,
                                          .in_order = true,    .insert_only = true,         .add = add,
                                          .estimate = estimate};
