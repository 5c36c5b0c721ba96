/* bucket: how a bucket packs its residents, as top.h lays it out, and what moves them in and out. What is here is for
 * the files of this room, and inlined: most additions are a find() and little else. */
#pragma once

#include <string.h>

#include "top/top.h"

enum { INTEGER_CODE = 248, NEGATIVE_BITS = 47, LABEL = 2 };
enum { FLAG_SHIFT = 8, WIDTH_SHIFT = 9, TAG_SHIFT = 12, LABEL_KEY = 0xf0ff }; /* bits of a label; code and tag */

_Static_assert((int)TOP_KEY_MAX == (int)LEGO_TOP_ITEM_MAX, "the public header has the number");
_Static_assert((int)TOP_KEY_MAX < (int)INTEGER_CODE && TOP_ROOM < 256, "sizes fit a byte");
_Static_assert((TOP_HEAD + (LABEL * TOP_RESIDENTS + 7) / 8 * 8) <= TOP_BUCKET, "labels can be read four at a time");

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static inline uint64_t get(const unsigned char *p, unsigned bytes)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < bytes; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static inline void put(unsigned char *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> (8 * i));
}

static inline uint64_t negative_of(const struct top_bucket *bucket)
{
    return get(bucket->byte, 6) & ((UINT64_C(1) << NEGATIVE_BITS) - 1);
}

static inline bool is_leaky(const struct top_bucket *bucket)
{
    return bucket->byte[5] >> 7;
}

static inline void set_leaky(struct top_bucket *bucket)
{
    bucket->byte[5] |= 0x80;
}

static inline void set_negative(struct top_bucket *bucket, uint64_t negative)
{
    uint64_t most = (UINT64_C(1) << NEGATIVE_BITS) - 1;
    if (negative > most) negative = most;
    put(bucket->byte, negative | (uint64_t)is_leaky(bucket) << NEGATIVE_BITS, 6);
}

static inline unsigned used_bytes(const struct top_bucket *bucket)
{
    return bucket->byte[7];
}

static inline unsigned label_of(const struct top_bucket *bucket, unsigned i)
{
    const unsigned char *p = &bucket->byte[TOP_HEAD + LABEL * i];
    return p[0] | (unsigned)p[1] << 8;
}

static inline unsigned code_length(unsigned code)
{
    return code < INTEGER_CODE ? code : code - INTEGER_CODE;
}

static inline unsigned label_votes(unsigned label)
{
    return (label >> WIDTH_SHIFT & 7) + 1;
}

/* Bytes of data. */
static inline unsigned label_data(unsigned label)
{
    return label_votes(label) + code_length(label & 255);
}

static inline unsigned votes_width(uint64_t votes)
{
    unsigned width = 1;
    while (width < 8 && votes >> (8 * width)) width++;
    return width;
}

/* What a resident takes. */
static inline unsigned cost(const struct top_key *key, uint64_t votes)
{
    return LABEL + votes_width(votes) + key->length;
}

/* Four labels, each in 16 bits; whatever follows the last is in there too. */
static inline uint64_t four_labels(const struct top_bucket *bucket, unsigned i)
{
    return get(&bucket->byte[TOP_HEAD + LABEL * i], 8);
}

static const uint64_t lanes = UINT64_C(0x0001000100010001); /* 1 for each of four */

/* Bytes of data of residents i to end - 1, four at a time: codes and widths, less 248 where a code says so. */
static inline unsigned data_between(const struct top_bucket *bucket, unsigned i, unsigned end)
{
    uint64_t sum = 0;
    for (; i < end; i += 4) {
        uint64_t four = four_labels(bucket, i);
        if (end - i < 4) four &= (UINT64_C(1) << 16 * (end - i)) - 1;
        uint64_t codes = four & 0xff * lanes, is_integer = (codes + 8 * lanes) >> 8 & lanes;
        sum += codes - INTEGER_CODE * is_integer + (four >> WIDTH_SHIFT & 7 * lanes);
        sum += end - i < 4 ? end - i : 4;
    }
    return (unsigned)(sum * lanes >> 48);
}

/* Where the data of resident i begins. */
static inline unsigned data_of(const struct top_bucket *bucket, unsigned i)
{
    return TOP_HEAD + LABEL * top_residents(bucket) + data_between(bucket, 0, i);
}

static inline unsigned room_in(const struct top_bucket *bucket)
{
    return TOP_ROOM - used_bytes(bucket);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static inline struct top_key key_of(const void *item, size_t size, struct hash hash)
{
    struct top_key key = {item, (unsigned)size, (unsigned)size, (unsigned)(hash.lo & 15)};
    if (size != 8) return key;
    while (key.length > 0 && key.bytes[key.length - 1] == 0) key.length--;
    if (key.length < 8) key.code = INTEGER_CODE + key.length;
    return key;
}

static inline struct hash hash_of(const struct top_key *key, struct seed seed)
{
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(key, integer, &size);
    return hash_bytes(item, size, seed);
}

/* The number of a resident, or how many there are. Sets where its data begins. */
static inline unsigned find(const struct top_bucket *bucket, const struct top_key *key, unsigned *at)
{
    unsigned n = top_residents(bucket), seen = 0;
    uint64_t wanted = (key->code | key->tag << TAG_SHIFT) * lanes;
    *at = TOP_HEAD + LABEL * n;
    for (unsigned i = 0; i < n; i += 4) {
        uint64_t other = (four_labels(bucket, i) & LABEL_KEY * lanes) ^ wanted;
        uint64_t equal = (other - lanes) & ~other & 0x8000 * lanes; /* 0 if none of the four is it */
        for (unsigned j = i; equal && j < i + 4 && j < n; j++) {
            unsigned label = label_of(bucket, j);
            if ((label & LABEL_KEY) != (wanted & 0xffff)) continue;
            *at += data_between(bucket, seen, j);
            seen = j;
            if (key->length == 0 || memcmp(&bucket->byte[*at + label_votes(label)], key->bytes, key->length) == 0)
                return j;
        }
    }
    return n;
}

static inline struct resident resident_at(const struct top_bucket *bucket, unsigned i, unsigned at)
{
    unsigned label = label_of(bucket, i), width = label_votes(label);
    struct top_key key = {&bucket->byte[at + width], code_length(label & 255), label & 255, label >> TAG_SHIFT};
    return (struct resident){key, get(&bucket->byte[at], width), label >> FLAG_SHIFT & 1};
}

/* ---- moving in and out ------------------------------------------------------------------------------------------- */

/* Moves in as number i, where data begin at `at`; there must be room, and the key may not lie in the bucket. */
static inline void insert_at(struct top_bucket *bucket, unsigned i, unsigned at, const struct top_key *key,
                             uint64_t votes, bool flagged)
{
    unsigned n = top_residents(bucket), used = used_bytes(bucket), width = votes_width(votes);
    unsigned char *label = &bucket->byte[TOP_HEAD + LABEL * i], *data = &bucket->byte[at];
    memmove(data + LABEL + width + key->length, data, TOP_HEAD + used - at);
    memmove(label + LABEL, label, (size_t)(data - label));
    put(label, key->code | (unsigned)flagged << FLAG_SHIFT | (width - 1) << WIDTH_SHIFT | key->tag << TAG_SHIFT, LABEL);
    put(data + LABEL, votes, width);
    if (key->length) memcpy(data + LABEL + width, key->bytes, key->length);
    bucket->byte[6] = (unsigned char)(n + 1);
    bucket->byte[7] = (unsigned char)(used + LABEL + width + key->length);
}

/* Moves in where the order of keys says. */
static inline void insert(struct top_bucket *bucket, const struct top_key *key, uint64_t votes, bool flagged)
{
    unsigned n = top_residents(bucket), i = 0, at = data_of(bucket, 0);
    for (struct top_place next = {0, 0}; i < n; i++, at = next.at) {
        struct resident other;
        top_next(bucket, &next, &other);
        if (top_compare(key, &other.key) < 0) break;
    }
    insert_at(bucket, i, at, key, votes, flagged);
}

/* Moves in behind all others, whose keys are before its own. */
static inline void append(struct top_bucket *bucket, const struct resident *one)
{
    insert_at(bucket, top_residents(bucket), TOP_HEAD + used_bytes(bucket), &one->key, one->votes, one->flagged);
}

static inline void erase(struct top_bucket *bucket, unsigned i)
{
    unsigned used = used_bytes(bucket), at = data_of(bucket, i), size = label_data(label_of(bucket, i));
    unsigned char *label = &bucket->byte[TOP_HEAD + LABEL * i], *data = &bucket->byte[at];
    memmove(label, label + LABEL, (size_t)(data - label) - LABEL);
    memmove(data - LABEL, data + size, TOP_HEAD + used - at - size);
    memset(&bucket->byte[TOP_HEAD + used - LABEL - size], 0, LABEL + size);
    bucket->byte[6]--;
    bucket->byte[7] = (unsigned char)(used - LABEL - size);
}

/* ---- the light part ---------------------------------------------------------------------------------------------- */

static inline void pass_on(const struct top_key *key, uint64_t votes, const struct top_light *light)
{
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(key, integer, &size);
    light->take(light->sketch, item, size, (int64_t)votes);
}

/* How often a resident came at most: what its place is worth. Never negative, and no two sums of it overflow. */
static inline uint64_t worth(const struct resident *one, const struct top_light *light)
{
    if (!one->flagged) return one->votes;
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(&one->key, integer, &size);
    int64_t upper = light->upper(light->sketch, item, size);
    return one->votes + (upper > 0 ? (uint64_t)upper : 0);
}
