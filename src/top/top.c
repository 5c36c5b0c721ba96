/* top: the buckets of the most frequent items; see top.h. */
#include "top/top.h"

#include <string.h>

enum { INTEGER_CODE = 248, NEGATIVE_BITS = 47, LABEL = 2 };
enum { FLAG_SHIFT = 8, WIDTH_SHIFT = 9, TAG_SHIFT = 12, LABEL_KEY = 0xf0ff }; /* bits of a label; code and tag */

_Static_assert((int)TOP_KEY_MAX < (int)INTEGER_CODE && TOP_ROOM < 256, "sizes fit a byte");
_Static_assert((TOP_HEAD + (LABEL * TOP_RESIDENTS + 7) / 8 * 8) <= TOP_BUCKET, "labels can be read four at a time");

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static uint64_t get(const unsigned char *p, unsigned bytes)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < bytes; i++) x |= (uint64_t)p[i] << (8 * i);
    return x;
}

static void put(unsigned char *p, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(x >> (8 * i));
}

static uint64_t negative_of(const struct top_bucket *bucket)
{
    return get(bucket->byte, 6) & ((UINT64_C(1) << NEGATIVE_BITS) - 1);
}

static bool is_leaky(const struct top_bucket *bucket)
{
    return bucket->byte[5] >> 7;
}

static void set_leaky(struct top_bucket *bucket)
{
    bucket->byte[5] |= 0x80;
}

static void set_negative(struct top_bucket *bucket, uint64_t negative)
{
    uint64_t most = (UINT64_C(1) << NEGATIVE_BITS) - 1;
    if (negative > most) negative = most;
    put(bucket->byte, negative | (uint64_t)is_leaky(bucket) << NEGATIVE_BITS, 6);
}

static unsigned used_bytes(const struct top_bucket *bucket)
{
    return bucket->byte[7];
}

static unsigned label_of(const struct top_bucket *bucket, unsigned i)
{
    const unsigned char *p = &bucket->byte[TOP_HEAD + LABEL * i];
    return p[0] | (unsigned)p[1] << 8;
}

static unsigned code_length(unsigned code)
{
    return code < INTEGER_CODE ? code : code - INTEGER_CODE;
}

static unsigned label_votes(unsigned label)
{
    return (label >> WIDTH_SHIFT & 7) + 1;
}

/* Bytes of data. */
static unsigned label_data(unsigned label)
{
    return label_votes(label) + code_length(label & 255);
}

static unsigned votes_width(uint64_t votes)
{
    unsigned width = 1;
    while (width < 8 && votes >> (8 * width)) width++;
    return width;
}

/* What a resident takes. */
static unsigned cost(const struct top_key *key, uint64_t votes)
{
    return LABEL + votes_width(votes) + key->length;
}

/* Four labels, each in 16 bits; whatever follows the last is in there too. */
static uint64_t four_labels(const struct top_bucket *bucket, unsigned i)
{
    return get(&bucket->byte[TOP_HEAD + LABEL * i], 8);
}

static const uint64_t lanes = UINT64_C(0x0001000100010001); /* 1 for each of four */

/* Bytes of data of residents i to end - 1, four at a time: codes and widths, less 248 where a code says so. */
static unsigned data_between(const struct top_bucket *bucket, unsigned i, unsigned end)
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
static unsigned data_of(const struct top_bucket *bucket, unsigned i)
{
    return TOP_HEAD + LABEL * top_residents(bucket) + data_between(bucket, 0, i);
}

static unsigned room_in(const struct top_bucket *bucket)
{
    return TOP_ROOM - used_bytes(bucket);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static struct top_key key_of(const void *item, size_t size, struct hash hash)
{
    struct top_key key = {item, (unsigned)size, (unsigned)size, (unsigned)(hash.lo & 15)};
    if (size != 8) return key;
    while (key.length > 0 && key.bytes[key.length - 1] == 0) key.length--;
    if (key.length < 8) key.code = INTEGER_CODE + key.length;
    return key;
}

const void *top_item(const struct top_key *key, unsigned char integer[8], size_t *size)
{
    *size = key->code < INTEGER_CODE ? key->length : 8;
    if (key->code < INTEGER_CODE) return key->bytes;
    memset(integer, 0, 8);
    memcpy(integer, key->bytes, key->length);
    return integer;
}

int top_compare(const struct top_key *a, const struct top_key *b)
{
    if (a->code != b->code) return a->code < b->code ? -1 : 1;
    return a->length ? memcmp(a->bytes, b->bytes, a->length) : 0;
}

/* The number of a resident, or how many there are. Sets where its data begins. */
static unsigned find(const struct top_bucket *bucket, const struct top_key *key, unsigned *at)
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

static struct resident resident_at(const struct top_bucket *bucket, unsigned i, unsigned at)
{
    unsigned label = label_of(bucket, i), width = label_votes(label);
    struct top_key key = {&bucket->byte[at + width], code_length(label & 255), label & 255, label >> TAG_SHIFT};
    return (struct resident){key, get(&bucket->byte[at], width), label >> FLAG_SHIFT & 1};
}

bool top_next(const struct top_bucket *bucket, struct top_place *next, struct resident *found)
{
    if (next->number == top_residents(bucket)) return false;
    if (next->at == 0) next->at = data_of(bucket, 0);
    *found = resident_at(bucket, next->number, next->at);
    next->at += label_data(label_of(bucket, next->number++));
    return true;
}

/* ---- moving in and out ------------------------------------------------------------------------------------------- */

/* Moves in where the order of keys says; there must be room, and the key may not lie in the bucket. */
static void insert(struct top_bucket *bucket, const struct top_key *key, uint64_t votes, bool flagged)
{
    unsigned n = top_residents(bucket), used = used_bytes(bucket), i = 0, at = data_of(bucket, 0),
             width = votes_width(votes);
    for (struct top_place next = {0, 0}; i < n; i++, at = next.at) {
        struct resident other;
        top_next(bucket, &next, &other);
        if (top_compare(key, &other.key) < 0) break;
    }
    unsigned char *label = &bucket->byte[TOP_HEAD + LABEL * i], *data = &bucket->byte[at];
    memmove(data + LABEL + width + key->length, data, TOP_HEAD + used - at);
    memmove(label + LABEL, label, (size_t)(data - label));
    put(label, key->code | (unsigned)flagged << FLAG_SHIFT | (width - 1) << WIDTH_SHIFT | key->tag << TAG_SHIFT, LABEL);
    put(data + LABEL, votes, width);
    if (key->length) memcpy(data + LABEL + width, key->bytes, key->length);
    bucket->byte[6] = (unsigned char)(n + 1);
    bucket->byte[7] = (unsigned char)(used + LABEL + width + key->length);
}

static void erase(struct top_bucket *bucket, unsigned i)
{
    unsigned used = used_bytes(bucket), at = data_of(bucket, i), size = label_data(label_of(bucket, i));
    unsigned char *label = &bucket->byte[TOP_HEAD + LABEL * i], *data = &bucket->byte[at];
    memmove(label, label + LABEL, (size_t)(data - label) - LABEL);
    memmove(data - LABEL, data + size, TOP_HEAD + used - at - size);
    memset(&bucket->byte[TOP_HEAD + used - LABEL - size], 0, LABEL + size);
    bucket->byte[6]--;
    bucket->byte[7] = (unsigned char)(used - LABEL - size);
}

static void pass_on(const struct top_key *key, uint64_t votes, const struct top_light *light)
{
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(key, integer, &size);
    light->take(light->sketch, item, size, (int64_t)votes);
}

/* How often a resident came at most: what its place is worth. Never negative, and no two sums of it overflow. */
static uint64_t worth(const struct resident *one, const struct top_light *light)
{
    if (!one->flagged) return one->votes;
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(&one->key, integer, &size);
    int64_t upper = light->upper(light->sketch, item, size);
    return one->votes + (upper > 0 ? (uint64_t)upper : 0);
}

/* Candidates to leave: the residents of least votes, of equal ones the last, least first. There is at least one. */
enum { CANDIDATES = 4 };
static unsigned candidates(const struct top_bucket *bucket, struct top_place found[CANDIDATES])
{
    uint64_t votes[CANDIDATES];
    unsigned n = 0, residents_now = top_residents(bucket), at = data_of(bucket, 0);
    for (unsigned i = 0; i < residents_now; i++) {
        unsigned label = label_of(bucket, i), width = label_votes(label), place = n;
        uint64_t own = width == 1 ? bucket->byte[at] : get(&bucket->byte[at], width);
        while (place > 0 && own <= votes[place - 1]) place--;
        if (place < CANDIDATES) {
            if (n < CANDIDATES) n++;
            for (unsigned j = n - 1; j > place; j--) {
                votes[j] = votes[j - 1];
                found[j] = found[j - 1];
            }
            votes[place] = own;
            found[place] = (struct top_place){i, at};
        }
        at += label_data(label);
    }
    return n;
}

/* Takes residents out of a bucket until there is room, each the one of least worth among the candidates; returns what
 * they were worth. They are passed on and their votes added up if asked. */
static uint64_t make_room(struct top_bucket *bucket, unsigned bytes, const struct top_light *light, uint64_t *votes)
{
    uint64_t sum = 0;
    while (room_in(bucket) < bytes) {
        struct top_place candidate[CANDIDATES];
        struct resident least = {0};
        uint64_t least_worth = UINT64_MAX;
        unsigned number = 0;
        for (unsigned i = 0, n = candidates(bucket, candidate); i < n; i++) {
            struct resident one = resident_at(bucket, candidate[i].number, candidate[i].at);
            uint64_t own = worth(&one, light);
            if (own >= least_worth) continue;
            least = one;
            least_worth = own;
            number = candidate[i].number;
        }
        if (__builtin_add_overflow(sum, least_worth, &sum)) sum = UINT64_MAX;
        if (votes) {
            *votes += least.votes;
            pass_on(&least.key, least.votes, light);
        }
        erase(bucket, number);
        set_leaky(bucket);
    }
    return sum;
}

/* Gives a resident other votes, not 0. If they take more bytes than there are, others leave. */
static void set_votes(struct top *top, struct top_bucket *bucket, unsigned i, unsigned at, uint64_t votes,
                      const struct top_light *light)
{
    struct resident one = resident_at(bucket, i, at);
    top->votes += votes - one.votes;
    if (votes_width(votes) == votes_width(one.votes)) {
        put(&bucket->byte[at], votes, votes_width(votes));
        return;
    }
    unsigned char copy[TOP_KEY_MAX];
    uint64_t left = 0;
    memcpy(copy, one.key.bytes, one.key.length);
    one.key.bytes = copy;
    erase(bucket, i);
    make_room(bucket, cost(&one.key, votes), light, &left);
    top->votes -= left;
    insert(bucket, &one.key, votes, one.flagged);
}

/* A newcomer that finds no room is a vote against the bucket; with every TOP_THRESHOLD of them it may take the place
 * of residents that are worth less than it is. Whether it may; then they have left. */
static bool challenge(struct top *top, struct top_bucket *bucket, const void *item, size_t size, uint64_t count,
                      unsigned bytes, const struct top_light *light)
{
    uint64_t negative = negative_of(bucket), now = negative + count;
    set_negative(bucket, now);
    if (now / TOP_THRESHOLD == negative / TOP_THRESHOLD) return false;
    int64_t upper = light->upper(light->sketch, item, size);
    struct top_bucket trial = *bucket;
    if (make_room(&trial, bytes, light, NULL) >= count + (upper > 0 ? (uint64_t)upper : 0)) return false;
    uint64_t left = 0;
    make_room(bucket, bytes, light, &left);
    top->votes -= left;
    set_negative(bucket, 1);
    return true;
}

int64_t top_add(struct top *top, struct hash hash, const void *item, size_t size, int64_t count,
                const struct top_light *light)
{
    if (size > TOP_KEY_MAX || count == 0) return count;
    struct top_bucket *bucket = &top->bucket[top_index(top->buckets, hash)];
    struct top_key key = key_of(item, size, hash);
    unsigned at, i = find(bucket, &key, &at);
    if (i < top_residents(bucket)) {
        int64_t votes = (int64_t)resident_at(bucket, i, at).votes, now = votes + count;
        if (now > 0) {
            set_votes(top, bucket, i, at, (uint64_t)now, light);
            return 0;
        }
        erase(bucket, i);
        top->votes -= (uint64_t)votes;
        if (now < 0) set_leaky(bucket);
        return now;
    }
    unsigned bytes = cost(&key, (uint64_t)count);
    if (count < 0 || room_in(bucket) < bytes) {
        set_leaky(bucket);
        if (count < 0 || !challenge(top, bucket, item, size, (uint64_t)count, bytes, light)) return count;
    }
    insert(bucket, &key, (uint64_t)count, is_leaky(bucket));
    top->votes += (uint64_t)count;
    return 0;
}

bool top_find(const struct top *top, struct hash hash, const void *item, size_t size, struct resident *found)
{
    if (size > TOP_KEY_MAX) return false;
    const struct top_bucket *bucket = &top->bucket[top_index(top->buckets, hash)];
    struct top_key key = key_of(item, size, hash);
    unsigned at, i = find(bucket, &key, &at);
    if (i == top_residents(bucket)) return false;
    *found = resident_at(bucket, i, at);
    return true;
}

void top_init(struct top *top, uint32_t buckets, void *bytes)
{
    unsigned char *at = bytes;
    at += (TOP_LINE - (uintptr_t)at % TOP_LINE) % TOP_LINE;
    *top = (struct top){.bucket = (struct top_bucket *)(void *)at, .buckets = divisor_of(buckets)};
    top_clear(top);
}

void top_clear(struct top *top)
{
    memset(top->bucket, 0, (size_t)top->buckets.d * TOP_BUCKET);
    top->votes = 0;
}

/* ---- merging ----------------------------------------------------------------------------------------------------- */

/* The residents of two buckets, each once. One that only one of them has is flagged if the other is leaky: then some of
 * its count may be in that one's light part. */
static unsigned unite(const struct top_bucket *a, const struct top_bucket *b, struct resident all[])
{
    unsigned n = 0;
    struct resident one;
    for (struct top_place next = {0, 0}; top_next(a, &next, &one);) {
        unsigned at, i = find(b, &one.key, &at);
        if (i < top_residents(b)) {
            struct resident other = resident_at(b, i, at);
            one.votes += other.votes;
            one.flagged |= other.flagged;
        } else {
            one.flagged |= is_leaky(b);
        }
        all[n++] = one;
    }
    for (struct top_place next = {0, 0}; top_next(b, &next, &one);) {
        unsigned at;
        if (find(a, &one.key, &at) < top_residents(a)) continue;
        one.flagged |= is_leaky(a);
        all[n++] = one;
    }
    return n;
}

/* A resident of two buckets, and what its place is worth. */
struct applicant {
    struct resident resident;
    uint64_t worth;
};

static bool goes_before(const struct applicant *a, const struct applicant *b)
{
    return a->worth != b->worth ? a->worth > b->worth : top_compare(&a->resident.key, &b->resident.key) < 0;
}

static void merge_buckets(struct top_bucket *into, const struct top_bucket *from, const struct top_light *light)
{
    struct top_bucket a = *into, b = *from;
    struct resident all[2 * TOP_RESIDENTS];
    struct applicant sorted[2 * TOP_RESIDENTS];
    unsigned n = unite(&a, &b, all);
    for (unsigned i = 0; i < n; i++) { /* insertion sort, most worth first */
        struct applicant one = {all[i], worth(&all[i], light)};
        unsigned at = i;
        for (; at > 0 && goes_before(&one, &sorted[at - 1]); at--) sorted[at] = sorted[at - 1];
        sorted[at] = one;
    }
    memset(into, 0, sizeof *into);
    set_negative(into, negative_of(&a) + negative_of(&b));
    if (is_leaky(&a) || is_leaky(&b)) set_leaky(into);
    for (unsigned i = 0; i < n; i++) {
        const struct resident *one = &sorted[i].resident;
        if (room_in(into) >= cost(&one->key, one->votes)) {
            insert(into, &one->key, one->votes, one->flagged);
        } else {
            set_leaky(into);
            pass_on(&one->key, one->votes, light);
        }
    }
}

void top_add_all(struct top *into, const struct top *from, const struct top_light *light)
{
    into->votes = 0;
    for (uint32_t b = 0; b < from->buckets.d; b++)
        merge_buckets(&into->bucket[divisor_mod(into->buckets, b)], &from->bucket[b], light);
    struct resident one;
    for (uint32_t b = 0; b < into->buckets.d; b++)
        for (struct top_place next = {0, 0}; top_next(&into->bucket[b], &next, &one);) into->votes += one.votes;
}

void top_mix(struct top *top)
{
    for (uint32_t b = 0; b < top->buckets.d; b++) {
        struct top_bucket *bucket = &top->bucket[b];
        set_leaky(bucket);
        for (unsigned i = 0; i < top_residents(bucket); i++)
            bucket->byte[TOP_HEAD + LABEL * i + 1] |= 1 << (FLAG_SHIFT - 8);
    }
}

/* ---- bytes from outside ------------------------------------------------------------------------------------------ */

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
                           uint64_t seed)
{
    unsigned char integer[8];
    size_t size;
    const void *item = top_item(&one->key, integer, &size);
    struct hash hash = hash_bytes(item, size, seed);
    struct top_key key = key_of(item, size, hash);
    return one->votes >= 1 && votes_width(one->votes) == width && key.code == one->key.code &&
           key.tag == one->key.tag && top_index(buckets, hash) == index;
}

bool top_bucket_valid(const struct top_bucket *bucket, uint32_t index, struct divisor buckets, uint64_t seed,
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
