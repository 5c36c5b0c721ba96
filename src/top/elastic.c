/* elastic: the public functions of heavy and light part together; see elastic.h. Bytes: elastic_format.c. */
#include "top/elastic.h"

#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------- */

lego_status elastic_make(lego_sketch *light, uint32_t buckets, lego_elastic **elastic)
{
    const lego_allocator *a = &light->allocator;
    uint64_t size = heavy_bytes(buckets);
    lego_elastic *made = a->alloc(a->context, sizeof *made);
    if (!made) return LEGO_ERR_MEMORY;
    made->light = light;
    made->bytes = size > SIZE_MAX ? NULL : a->alloc(a->context, (size_t)size);
    if (!made->bytes) {
        a->free(a->context, made, sizeof *made);
        return LEGO_ERR_MEMORY;
    }
    heavy_init(&made->heavy, buckets, made->bytes);
    *elastic = made;
    return LEGO_OK;
}

lego_status lego_elastic_create(const lego_elastic_options *options, lego_elastic **elastic)
{
    lego_options light = options->light;
    uint64_t heavy = options->heavy ? options->heavy : light.budget / ELASTIC_SHARE,
             fixed = sizeof(struct lego_elastic);
    if (heavy > LEGO_BUDGET_MAX || light.budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    if (heavy < fixed + heavy_bytes(1)) return LEGO_ERR_BUDGET;
    uint32_t buckets = (uint32_t)((heavy - fixed - HEAVY_LINE) / HEAVY_BUCKET);
    if (light.budget) { /* else just what the bricks need, and the heavy part */
        if (light.budget < heavy + LEGO_BUDGET_MIN) return LEGO_ERR_BUDGET;
        light.budget -= heavy;
    }
    lego_sketch *sketch;
    lego_status status = lego_sketch_create(&light, &sketch);
    if (status != LEGO_OK) return status;
    status = elastic_make(sketch, buckets, elastic);
    if (status != LEGO_OK) lego_sketch_destroy(sketch);
    return status;
}

void lego_elastic_destroy(lego_elastic *elastic)
{
    if (!elastic) return;
    lego_allocator a = elastic->light->allocator;
    lego_sketch_destroy(elastic->light);
    a.free(a.context, elastic->bytes, (size_t)heavy_bytes(elastic->heavy.buckets.d));
    a.free(a.context, elastic, sizeof *elastic);
}

lego_status lego_elastic_copy(const lego_elastic *elastic, lego_elastic **copy)
{
    lego_sketch *light;
    lego_elastic *made;
    lego_status status = lego_sketch_copy(elastic->light, &light);
    if (status != LEGO_OK) return status;
    status = elastic_make(light, elastic->heavy.buckets.d, &made);
    if (status != LEGO_OK) {
        lego_sketch_destroy(light);
        return status;
    }
    memcpy(made->heavy.bucket, elastic->heavy.bucket, (size_t)elastic->heavy.buckets.d * HEAVY_BUCKET);
    made->heavy.votes = elastic->heavy.votes;
    *copy = made;
    return LEGO_OK;
}

void lego_elastic_clear(lego_elastic *elastic)
{
    lego_sketch_clear(elastic->light);
    heavy_clear(&elastic->heavy);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

static void to_light(void *context, const void *key, size_t size, int64_t count)
{
    lego_sketch *light = context;
    sketch_add(light, hash_bytes(key, size, light->seed), count);
}

/* The rule's estimate alone, which needs no network: integers, the same on every machine. */
static int64_t light_upper(const void *context, const void *item, size_t size)
{
    const lego_sketch *light = context;
    struct hash hash = hash_bytes(item, size, light->seed);
    int64_t value[LEGO_ROWS_MAX], upper = INT64_MAX;
    uint32_t columns[BLOCK_ROWS], weight[LEGO_ROWS_MAX] = {1, 1, 1, 1}, rows = light->model->rows;
    if (is_flat(light)) {
        rows = flat_read(&light->flat, hash, value);
    } else if (has_blocks(light->model)) {
        rows = dense_read(&light->dense, hash, value, columns);
    } else {
        struct place place;
        hash_place(hash, rows, light->model->table_size, &place);
        embed_weights(light->model, place.index, weight);
        struct brick brick = brick_of(&light->memory, place.brick);
        brick_read(&light->memory, &brick, &place, value);
    }
    for (uint32_t k = 0; k < rows; k++)
        if (value[k] / weight[k] < upper) upper = value[k] / weight[k];
    return upper;
}

static struct heavy_light light_of(const lego_elastic *elastic)
{
    return (struct heavy_light){to_light, light_upper, elastic->light};
}

static void add(lego_elastic *elastic, struct hash hash, const void *item, size_t size, int64_t count)
{
    struct heavy_light light = light_of(elastic);
    int64_t rest = heavy_add(&elastic->heavy, hash, item, size, count, &light);
    if (rest != 0) sketch_add(elastic->light, hash, rest);
}

lego_status lego_elastic_add(lego_elastic *elastic, const void *item, size_t size, int64_t count)
{
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    lego_status status = sketch_take_counts(elastic->light, &count, 1);
    if (status != LEGO_OK) return status;
    add(elastic, hash_bytes(item, size, elastic->light->seed), item, size, count);
    return LEGO_OK;
}

/* A 64-bit integer is the item of these bytes. */
static void put_u64(unsigned char bytes[8], uint64_t item)
{
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(item >> (8 * i));
}

lego_status lego_elastic_add_u64(lego_elastic *elastic, uint64_t item, int64_t count)
{
    unsigned char bytes[8];
    put_u64(bytes, item);
    return lego_elastic_add(elastic, bytes, sizeof bytes, count);
}

enum { AHEAD = 16 }; /* items whose buckets are on their way while others are counted */

lego_status lego_elastic_add_u64s(lego_elastic *elastic, const uint64_t *items, const int64_t *counts, size_t n)
{
    lego_status status = sketch_take_counts(elastic->light, counts, n);
    if (status != LEGO_OK) return status;
    struct hash hash[AHEAD];
    for (size_t start = 0; start < n; start += AHEAD) {
        size_t size = n - start < AHEAD ? n - start : AHEAD;
        for (size_t i = 0; i < size; i++) {
            hash[i] = hash_u64(items[start + i], elastic->light->seed);
            heavy_prefetch(&elastic->heavy, hash[i]);
            sketch_prefetch(elastic->light, hash[i]);
        }
        for (size_t i = 0; i < size; i++) {
            unsigned char bytes[8];
            put_u64(bytes, items[start + i]);
            add(elastic, hash[i], bytes, sizeof bytes, counts ? counts[start + i] : 1);
        }
    }
    return LEGO_OK;
}

static bool offsets_rise(const uint64_t *offsets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (offsets[i] > offsets[i + 1]) return false;
    return true;
}

lego_status lego_elastic_add_batch(lego_elastic *elastic, const void *bytes, const uint64_t *offsets,
                                   const int64_t *counts, size_t n)
{
    if (!offsets_rise(offsets, n)) return LEGO_ERR_ARGUMENT;
    lego_status status = sketch_take_counts(elastic->light, counts, n);
    if (status != LEGO_OK) return status;
    const unsigned char *p = bytes;
    struct hash hash[AHEAD];
    for (size_t start = 0; start < n; start += AHEAD) {
        size_t size = n - start < AHEAD ? n - start : AHEAD;
        for (size_t i = 0; i < size; i++) {
            const uint64_t *at = offsets + start + i;
            hash[i] = hash_bytes(p + at[0], (size_t)(at[1] - at[0]), elastic->light->seed);
            heavy_prefetch(&elastic->heavy, hash[i]);
            sketch_prefetch(elastic->light, hash[i]);
        }
        for (size_t i = 0; i < size; i++) {
            const uint64_t *at = offsets + start + i;
            add(elastic, hash[i], p + at[0], (size_t)(at[1] - at[0]), counts ? counts[start + i] : 1);
        }
    }
    return LEGO_OK;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* What a resident's votes and, if it is flagged, the light part say together. */
static lego_estimate estimate_resident(const lego_elastic *elastic, const struct resident *one)
{
    int64_t votes = (int64_t)one->votes;
    lego_estimate estimate = {(double)votes, votes, votes};
    if (!one->flagged) return estimate;
    unsigned char integer[8];
    size_t size;
    const void *item = heavy_item(&one->key, integer, &size);
    lego_estimate light = sketch_estimate(elastic->light, hash_bytes(item, size, elastic->light->seed));
    estimate.value += light.value;
    estimate.lower += light.lower;
    estimate.upper += light.upper;
    if (estimate.value > (double)estimate.upper) estimate.value = (double)estimate.upper; /* beyond 2^53 they round */
    return estimate;
}

static lego_estimate estimate_item(const lego_elastic *elastic, struct hash hash, const void *item, size_t size)
{
    struct resident one;
    if (heavy_find(&elastic->heavy, hash, item, size, &one)) return estimate_resident(elastic, &one);
    return sketch_estimate(elastic->light, hash);
}

lego_status lego_elastic_estimate(const lego_elastic *elastic, const void *item, size_t size, lego_estimate *estimate)
{
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    *estimate = estimate_item(elastic, hash_bytes(item, size, elastic->light->seed), item, size);
    return LEGO_OK;
}

lego_status lego_elastic_estimate_u64(const lego_elastic *elastic, uint64_t item, lego_estimate *estimate)
{
    unsigned char bytes[8];
    put_u64(bytes, item);
    return lego_elastic_estimate(elastic, bytes, sizeof bytes, estimate);
}

lego_status lego_elastic_estimate_u64s(const lego_elastic *elastic, const uint64_t *items, size_t n,
                                       lego_estimate *estimates)
{
    for (size_t i = 0; i < n; i++) lego_elastic_estimate_u64(elastic, items[i], &estimates[i]);
    return LEGO_OK;
}

lego_status lego_elastic_estimate_batch(const lego_elastic *elastic, const void *bytes, const uint64_t *offsets,
                                        size_t n, lego_estimate *estimates)
{
    if (!offsets_rise(offsets, n)) return LEGO_ERR_ARGUMENT;
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) {
        size_t size = (size_t)(offsets[i + 1] - offsets[i]);
        struct hash hash = hash_bytes(p + offsets[i], size, elastic->light->seed);
        estimates[i] = estimate_item(elastic, hash, p + offsets[i], size);
    }
    return LEGO_OK;
}

/* ---- the most frequent ------------------------------------------------------------------------------------------- */

/* One of a list, while it is being made. */
struct entry {
    lego_estimate estimate;
    const struct heavy_bucket *bucket;
    struct heavy_place place; /* in the bucket; what heavy_next() takes */
};

static struct resident resident_of(const struct entry *entry)
{
    struct resident one = {0};
    struct heavy_place place = entry->place;
    heavy_next(entry->bucket, &place, &one);
    return one;
}

/* The order of a list: falling estimates; where they are equal, by key, so that there is one order. */
static bool is_ahead(const struct entry *a, const struct entry *b)
{
    if (a->estimate.value != b->estimate.value) return a->estimate.value > b->estimate.value;
    struct resident x = resident_of(a), y = resident_of(b);
    return heavy_compare(&x.key, &y.key) < 0;
}

/* A heap with the last of the list on top: moves the one at `at` down to where it belongs. */
static void sift(struct entry *heap, size_t n, size_t at)
{
    struct entry one = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_ahead(&heap[child], &heap[child + 1])) child++;
        if (is_ahead(&heap[child], &one)) break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

/* One more for a heap that holds at most `most`. */
static void offer(struct entry *heap, size_t most, size_t *n, const struct entry *one)
{
    if (*n < most) {
        heap[(*n)++] = *one;
        if (*n == most)
            for (size_t i = most / 2; i > 0; i--) sift(heap, most, i - 1);
    } else if (is_ahead(one, &heap[0])) {
        heap[0] = *one;
        sift(heap, most, 0);
    }
}

static size_t count_residents(const struct heavy *heavy, uint64_t *exact)
{
    size_t n = 0;
    struct resident one;
    for (uint32_t b = 0; b < heavy->buckets.d; b++)
        for (struct heavy_place next = {0, 0}; heavy_next(&heavy->bucket[b], &next, &one); n++) *exact += !one.flagged;
    return n;
}

/* The first `most` of the list, which has so many, in its order. */
static void make_list(const lego_elastic *elastic, struct entry *list, size_t most)
{
    size_t n = 0;
    for (uint32_t b = 0; b < elastic->heavy.buckets.d; b++) {
        struct entry entry = {.bucket = &elastic->heavy.bucket[b]};
        struct resident one;
        for (struct heavy_place next = {0, 0}; entry.place = next, heavy_next(entry.bucket, &next, &one);) {
            entry.estimate = estimate_resident(elastic, &one);
            offer(list, most, &n, &entry);
        }
    }
    for (size_t left = n; left > 1; left--) { /* the last of those left goes to the end */
        struct entry last = list[0];
        list[0] = list[left - 1];
        list[left - 1] = last;
        sift(list, left - 1, 0);
    }
}

lego_status lego_elastic_top(const lego_elastic *elastic, size_t most, lego_visit visit, void *context)
{
    const lego_allocator *a = &elastic->light->allocator;
    uint64_t exact = 0;
    size_t n = count_residents(&elastic->heavy, &exact);
    if (n > most) n = most;
    if (n == 0) return LEGO_OK;
    struct entry *list = n > SIZE_MAX / sizeof *list ? NULL : a->alloc(a->context, n * sizeof *list);
    if (!list) return LEGO_ERR_MEMORY;
    make_list(elastic, list, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char integer[8];
        struct resident one = resident_of(&list[i]);
        lego_top top = {.estimate = list[i].estimate, .exact = !one.flagged};
        top.item = heavy_item(&one.key, integer, &top.size);
        if (visit(context, &top) != 0) break;
    }
    a->free(a->context, list, n * sizeof *list);
    return LEGO_OK;
}

/* ---- merging, facts ---------------------------------------------------------------------------------------------- */

lego_status lego_elastic_merge(lego_elastic *into, const lego_elastic *from)
{
    const lego_sketch *a = into->light, *b = from->light;
    if (a->model->fingerprint != b->model->fingerprint) return LEGO_ERR_MODEL;
    if (a->seed != b->seed) return LEGO_ERR_SEED;
    if (into->heavy.buckets.d != from->heavy.buckets.d) return LEGO_ERR_SHAPE;
    lego_status status = lego_sketch_merge(into->light, from->light);
    if (status != LEGO_OK) return status;
    struct heavy_light light = light_of(into);
    heavy_add_all(&into->heavy, &from->heavy, &light);
    return LEGO_OK;
}

const lego_sketch *lego_elastic_light(const lego_elastic *elastic)
{
    return elastic->light;
}

uint64_t lego_elastic_bytes(const lego_elastic *elastic)
{
    return sizeof *elastic + heavy_bytes(elastic->heavy.buckets.d) + lego_sketch_bytes(elastic->light);
}

void lego_elastic_describe(const lego_elastic *elastic, lego_elastic_info *info)
{
    const struct heavy *heavy = &elastic->heavy;
    lego_sketch_info light;
    lego_sketch_describe(elastic->light, &light);
    *info = (lego_elastic_info){.bytes = lego_elastic_bytes(elastic),
                                .heavy_bytes = sizeof *elastic + heavy_bytes(heavy->buckets.d),
                                .total = light.total + (int64_t)heavy->votes,
                                .heavy_total = (int64_t)heavy->votes,
                                .room = (uint64_t)heavy->buckets.d * HEAVY_ROOM};
    info->residents = count_residents(heavy, &info->exact);
    for (uint32_t b = 0; b < heavy->buckets.d; b++) info->room_used += heavy->bucket[b].byte[7];
}
