/* An elastic filter in front of Count-Min, which the Lego paper calls D-CMS: the heavy part of the Elastic sketch (Yang
 * and others, SIGCOMM 2018; basic version, one resident a bucket) keeps heavy items exactly, the light part, Count-Min,
 * gets the rest.
 *
 * A resident's occurrence votes for it; a newcomer takes an empty bucket; else it votes against and goes to the light
 * part, until the votes against are THRESHOLD times those for: then the resident's votes go to the light part, and the
 * newcomer takes the bucket with a flag, some of it being in the light part, and with one vote against it.
 *
 * The light part gets the largest multiple of 100 KB within 4/5 of the budget, as in the published code, which has
 * bricks of 100 KB; below 125 KB, where that is none, it gets 4/5. The filter has the rest.
 *
 *     bucket  [ key 28 bits | votes 28 bits | against 15 bits | flag 1 bit ]      9 bytes, as published
 *
 * Keys are fingerprints: 10^5 items in as many buckets have two alike, 10^10 / 2 / 10^5 / 2^28, in one stream of 5000.
 * If votes are full, further occurrences go to the light part and the flag is set, so nothing is lost. Votes against
 * stop at 2^15 - 1: whoever has more than 3276 votes stays.
 *
 * An evicted resident is only a key, so the light part is given keys with their bucket, not items. */
#include "counters.h"

#include <assert.h>

enum { THRESHOLD = 10, BRICK = 100 * 1024, FIELD = (1 << 28) - 1, AGAINST_MOST = (1 << 15) - 1 };

typedef struct __attribute__((packed)) bucket {
    uint32_t key : 28, votes : 28; /* no votes: empty */
    uint32_t against : 15, flag : 1;
} bucket;

static_assert(sizeof(bucket) == 9, "as published");

typedef struct filtered {
    estimator_table of; /* its units are buckets */
    void *light;        /* an estimator_cms */
    bucket buckets[];
} filtered;

static lego_status create(const lego_options *wanted, void **self)
{
    if (wanted->budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;                    /* before a part of it fits */
    uint64_t most = wanted->budget - wanted->budget / 5 - (wanted->budget % 5 != 0); /* 4/5, rounded down */
    uint64_t light = most < BRICK ? most : most / BRICK * BRICK;
    void *made;
    lego_status status = estimator_create_table(&estimator_d_cms, wanted->budget - light, wanted->seed, &made);
    if (status != LEGO_OK) return status;
    status = estimator_create_table(&estimator_cms, light, wanted->seed, &((filtered *)made)->light);
    if (status == LEGO_OK) *self = made;
    else free(made);
    return status;
}

/* What the filter knows an item by. */
typedef struct place {
    uint64_t at;
    uint32_t key;
} place;

static place locate(const filtered *sketch, const void *item, size_t size)
{
    XXH128_hash_t hash = hash_item(item, size, sketch->of.seed);
    return (place){pick(hash.high64, sketch->of.units), (uint32_t)hash.low64 & FIELD};
}

/* The item that the light part counts: bucket and key as one integer, in little-endian bytes as everywhere. */
static void light_item(place of, unsigned char item[8])
{
    uint64_t number = of.at << 28 ^ of.key;
    for (unsigned i = 0; i < 8; i++) item[i] = (unsigned char)(number >> 8 * i);
}

static void add_light(filtered *sketch, place of, int64_t count)
{
    unsigned char item[8];
    light_item(of, item);
    estimator_cms.add(sketch->light, item, sizeof item, count); /* which refuses nothing */
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    filtered *sketch = self;
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    place here = locate(sketch, item, size);
    bucket *held = &sketch->buckets[here.at];
    if (held->votes == 0 || held->key == here.key) {
        int64_t room = FIELD - (int64_t)held->votes, taken = count < room ? count : room;
        if (taken < count) add_light(sketch, here, count - taken);
        held->key = here.key & FIELD;
        held->votes = (held->votes + (uint32_t)taken) & FIELD;
        held->flag = held->flag || taken < count;
        return LEGO_OK;
    }
    held->against = add_within(held->against, count, AGAINST_MOST) & AGAINST_MOST;
    if (held->against < THRESHOLD * (uint64_t)held->votes || count > FIELD) {
        add_light(sketch, here, count);
        return LEGO_OK;
    }
    add_light(sketch, (place){here.at, held->key}, held->votes);
    *held = (bucket){here.key & FIELD, (uint32_t)count & FIELD, 1, 1};
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const filtered *sketch = self;
    place here = locate(sketch, item, size);
    const bucket *held = &sketch->buckets[here.at];
    uint32_t votes = held->key == here.key ? held->votes : 0;
    unsigned char key[8];
    light_item(here, key);
    *value = 0;
    if (votes == 0 || held->flag) estimator_cms.estimate(sketch->light, key, sizeof key, value);
    *value += votes;
    return LEGO_OK;
}

static uint64_t bytes(const void *self)
{
    const filtered *sketch = self;
    return sizeof(filtered) + sketch->of.units * sizeof(bucket) + estimator_bytes(&estimator_cms, sketch->light);
}

static void destroy(void *self)
{
    estimator_destroy(&estimator_cms, ((filtered *)self)->light);
    free(self);
}

const estimator_kind estimator_d_cms = {"d-cms",
                                        .in_order = true,
                                        .insert_only = true,
                                        ESTIMATOR_TABLE(filtered, sizeof(bucket)),
                                        .create = create,
                                        .bytes = bytes,
                                        .destroy = destroy,
                                        .add = add,
                                        .estimate = estimate};
