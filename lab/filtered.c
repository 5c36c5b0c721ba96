/* The elastic filter in front of a sketch: the heavy part of the Elastic sketch (Yang and others, SIGCOMM 2018; basic
 * version, one resident a bucket) keeps heavy items exactly, a light part gets the rest. With Count-Min as that it is
 * what the Lego paper calls D-CMS (`d-cms`), with the paper's own sketch its D-Lego (`d-lego-paper`).
 *
 * A resident's occurrence votes for it; a newcomer takes an empty bucket; else it votes against and goes to the light
 * part, until the votes against are THRESHOLD times those for: then the resident's votes go to the light part, and the
 * newcomer takes the bucket with a flag, some of it being in the light part, and with one vote against it.
 *
 * The light part gets the largest multiple of 100 KB within 4/5 of the budget, as in the published code, which has
 * bricks of 100 KB; below 125 KB, where that is none, it gets 4/5. The filter has the rest. The paper's text gives the
 * filter a quarter instead, which `d-cms-quarter` and `d-lego-quarter` have, to see which of the two was published.
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
#include <stddef.h>

enum { THRESHOLD = 10, BRICK = 100 * 1024, FIELD = (1 << 28) - 1, AGAINST_MOST = (1 << 15) - 1 };

typedef struct __attribute__((packed)) bucket {
    uint32_t key : 28, votes : 28; /* no votes: empty */
    uint32_t against : 15, flag : 1;
} bucket;

static_assert(sizeof(bucket) == 9, "as published");

typedef enum light_part { LIGHT_CMS, LIGHT_LEGO } light_part;

static const estimator_kind *const light_kinds[] = {&estimator_cms, &estimator_lego_paper};

typedef struct filtered {
    estimator_table of; /* its units are buckets */
    void *light;
    uint8_t part; /* a light_part: what light is */
    bucket buckets[];
} filtered;

/* Buckets begin right behind the one byte of the part, so that it takes no more. */
static const estimator_kind heavy_part = {.header = offsetof(filtered, buckets), .unit = sizeof(bucket)};

static_assert(offsetof(filtered, buckets) + sizeof(bucket) >= sizeof(filtered), "one bucket, and all of it is there");

static const estimator_kind *light_kind(const filtered *sketch)
{
    return light_kinds[sketch->part];
}

static lego_status create(const lego_options *wanted, light_part part, uint64_t heavy, void **self)
{
    if (wanted->budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET; /* before a part of it fits */
    void *made;
    lego_status status = estimator_create_table(&heavy_part, heavy, wanted->seed, &made);
    if (status != LEGO_OK) return status;
    filtered *sketch = made;
    sketch->part = (uint8_t)part;
    lego_options light = *wanted;
    light.budget = wanted->budget - heavy;
    status = estimator_create(light_kind(sketch), &light, &sketch->light);
    if (status == LEGO_OK) *self = made;
    else free(made);
    return status;
}

/* The filter's share in the published code. */
static uint64_t fifth(uint64_t budget)
{
    uint64_t least = budget / 5 + (budget % 5 != 0), light = budget - least;
    return light < BRICK ? least : budget - light / BRICK * BRICK;
}

/* And in the paper's text. */
static uint64_t quarter(uint64_t budget)
{
    return budget / 4;
}

static lego_status create_cms(const lego_options *wanted, void **self)
{
    return create(wanted, LIGHT_CMS, fifth(wanted->budget), self);
}

static lego_status create_cms_quarter(const lego_options *wanted, void **self)
{
    return create(wanted, LIGHT_CMS, quarter(wanted->budget), self);
}

static lego_status create_lego(const lego_options *wanted, void **self)
{
    return create(wanted, LIGHT_LEGO, fifth(wanted->budget), self);
}

static lego_status create_lego_quarter(const lego_options *wanted, void **self)
{
    return create(wanted, LIGHT_LEGO, quarter(wanted->budget), self);
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

static lego_status add_light(filtered *sketch, place of, int64_t count)
{
    unsigned char item[8];
    light_item(of, item);
    return light_kind(sketch)->add(sketch->light, item, sizeof item, count);
}

/* For the resident of the item's bucket, or the first that comes there. */
static lego_status vote_for(filtered *sketch, place here, int64_t count)
{
    bucket *held = &sketch->buckets[here.at];
    int64_t room = FIELD - (int64_t)held->votes, taken = count < room ? count : room;
    lego_status status = taken < count ? add_light(sketch, here, count - taken) : LEGO_OK;
    if (status != LEGO_OK) return status;
    held->key = here.key & FIELD;
    held->votes = (held->votes + (uint32_t)taken) & FIELD;
    held->flag = held->flag || taken < count;
    return LEGO_OK;
}

static lego_status vote_against(filtered *sketch, place here, int64_t count)
{
    bucket *held = &sketch->buckets[here.at];
    uint32_t against = add_within(held->against, count, AGAINST_MOST) & AGAINST_MOST;
    bool evicts = against >= THRESHOLD * (uint64_t)held->votes && count <= FIELD;
    lego_status status =
        evicts ? add_light(sketch, (place){here.at, held->key}, held->votes) : add_light(sketch, here, count);
    if (status != LEGO_OK) return status; /* a sum that left 63 bits; nothing has changed */
    if (evicts) *held = (bucket){here.key & FIELD, (uint32_t)count & FIELD, 1, 1};
    else held->against = against & AGAINST_MOST;
    return LEGO_OK;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    filtered *sketch = self;
    if (count < 0) return LEGO_ERR_ARGUMENT;
    if (count == 0) return LEGO_OK;
    place here = locate(sketch, item, size);
    const bucket *held = &sketch->buckets[here.at];
    return held->votes == 0 || held->key == here.key ? vote_for(sketch, here, count)
                                                     : vote_against(sketch, here, count);
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const filtered *sketch = self;
    place here = locate(sketch, item, size);
    const bucket *held = &sketch->buckets[here.at];
    uint32_t votes = held->key == here.key ? held->votes : 0;
    unsigned char key[8];
    light_item(here, key);
    lego_status status = LEGO_OK;
    *value = 0;
    if (votes == 0 || held->flag) status = light_kind(sketch)->estimate(sketch->light, key, sizeof key, value);
    *value += votes;
    return status;
}

static uint64_t bytes(const void *self)
{
    const filtered *sketch = self;
    return heavy_part.header + sketch->of.units * sizeof(bucket) + estimator_bytes(light_kind(sketch), sketch->light);
}

static void destroy(void *self)
{
    filtered *sketch = self;
    estimator_destroy(light_kind(sketch), sketch->light);
    free(sketch);
}

#define FILTERED                                                                                                       \
    .in_order = true, .insert_only = true, .bytes = bytes, .destroy = destroy, .add = add, .estimate = estimate
#define FILTERED_LEGO FILTERED, .model = "paper", .uses_model = true

const estimator_kind estimator_d_cms = {"d-cms", FILTERED, .create = create_cms};
const estimator_kind estimator_d_lego_paper = {"d-lego-paper", FILTERED_LEGO, .create = create_lego};
const estimator_kind estimator_d_cms_quarter = {"d-cms-quarter", FILTERED, .by_name_only = true,
                                                .create = create_cms_quarter};
const estimator_kind estimator_d_lego_quarter = {"d-lego-quarter", FILTERED_LEGO, .by_name_only = true,
                                                 .create = create_lego_quarter};
