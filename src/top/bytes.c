/* bytes: whether bytes from outside are a bucket. */
#include "top/bucket.h"

static bool is_zero(const unsigned char *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p[i]) return false;
    return true;
}

/* Whether labels and data fill just the bytes in use. */
static bool sizes_valid(const struct top_bucket *bucket)
{
    unsigned n = top_residents(bucket), used = used_bytes(bucket);
    if (used > TOP_ROOM || LABEL * n > used) return false;
    for (unsigned i = 0; i < n; i++) {
        unsigned code = label_of(bucket, i) & 255;
        if (code > TOP_KEY_MAX && code < INTEGER_CODE) return false;
    }
    return data_of(bucket, n) == TOP_HEAD + used && is_zero(&bucket->byte[TOP_HEAD + used], TOP_ROOM - used);
}

static bool resident_valid(const struct resident *one, unsigned width, uint32_t index, struct divisor buckets,
                           struct seed seed)
{
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(&one->key, integer, &size);
    struct hash hash = hash_bytes(item, size, seed);
    struct top_key key = key_of(item, size, hash);
    return one->votes >= 1 && votes_width(one->votes) == width && key.code == one->key.code &&
           key.tag == one->key.tag && top_index(buckets, hash) == index;
}

bool top_bucket_valid(const struct top_bucket *bucket, uint32_t index, struct divisor buckets, struct seed seed,
                      uint64_t *votes)
{
    if (!sizes_valid(bucket) || (negative_of(bucket) > 0 && !is_leaky(bucket))) return false;
    struct resident before = {0}, one = {0};
    for (struct top_place next = {0, 0}; top_next(bucket, &next, &one); before = one) {
        if (!resident_valid(&one, label_votes(label_of(bucket, next.number - 1)), index, buckets, seed)) return false;
        if (next.number > 1 && top_compare(&before.key, &one.key) >= 0) return false;
        if ((one.flagged && !is_leaky(bucket)) || one.votes > (uint64_t)INT64_MAX - *votes) return false;
        *votes += one.votes;
    }
    return true;
}
