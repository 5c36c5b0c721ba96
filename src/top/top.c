/* top: finding and adding, and who has to leave; see top.h. */
#include "top/top.h"

#include <string.h>

#include "top/bucket.h"

/* ---- residents --------------------------------------------------------------------------------------------------- */

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

bool top_next(const struct top_bucket *bucket, struct top_place *next, struct resident *found)
{
    if (next->number == top_residents(bucket)) return false;
    if (next->at == 0) next->at = data_of(bucket, 0);
    *found = resident_at(bucket, next->number, next->at);
    next->at += label_data(label_of(bucket, next->number++));
    return true;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

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

void top_init(struct top *top, uint32_t buckets, uint32_t most, void *bytes)
{
    unsigned char *at = bytes;
    at += (TOP_LINE - (uintptr_t)at % TOP_LINE) % TOP_LINE;
    *top = (struct top){.bucket = (struct top_bucket *)(void *)at, .buckets = divisor_of(buckets), .most = most};
    top_clear(top);
}

void top_clear(struct top *top)
{
    memset(top->bucket, 0, (size_t)top->buckets.d * TOP_BUCKET);
    top->votes = 0;
}

bool top_is_full(const struct top *top)
{
    uint32_t leaky = 0;
    for (uint32_t b = 0; b < top->buckets.d; b++) leaky += is_leaky(&top->bucket[b]);
    return leaky > top->buckets.d / 4 * 3;
}

void top_leak(struct top *top)
{
    for (uint32_t b = 0; b < top->buckets.d; b++) set_leaky(&top->bucket[b]);
}

void top_mix(struct top *top)
{
    top_leak(top);
    for (uint32_t b = 0; b < top->buckets.d; b++)
        for (unsigned i = 0; i < top_residents(&top->bucket[b]); i++)
            top->bucket[b].byte[TOP_HEAD + LABEL * i + 1] |= 1 << (FLAG_SHIFT - 8);
}
