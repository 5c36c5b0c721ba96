/* grow: how many buckets a top has, and how it gets more. */
#include "top/bucket.h"

/* How many bits of a number are below its four highest. */
static unsigned low_bits(uint64_t number)
{
    unsigned bits = 0;
    while (number >> bits >= 16) bits++;
    return bits;
}

uint32_t top_most(uint64_t bytes)
{
    uint64_t buckets = bytes < TOP_LINE ? 0 : (bytes - TOP_LINE) / TOP_BUCKET;
    unsigned low = low_bits(buckets);
    return (uint32_t)(buckets >> low << low);
}

static uint32_t larger(uint32_t buckets, uint32_t most)
{
    return buckets == 1 ? most >> low_bits(most) : 2 * buckets;
}

uint32_t top_larger(const struct top *top)
{
    return larger(top->buckets.d, top->most);
}

bool top_possible(uint32_t buckets, uint32_t most)
{
    unsigned low = low_bits(most);
    if (buckets == 0 || buckets > most || most >> low << low != most) return false;
    uint32_t number = 1;
    while (number < buckets) number = larger(number, most);
    return number == buckets;
}

bool top_lacks_room(const struct top *top, struct hash hash, const void *item, size_t size, int64_t count)
{
    if (size > TOP_KEY_MAX || count == 0) return false;
    const struct top_bucket *bucket = &top->bucket[top_index(top->buckets, hash)];
    struct top_key key = key_of(item, size, hash);
    unsigned at, i = find(bucket, &key, &at);
    if (i == top_residents(bucket)) return count < 0 || room_in(bucket) < cost(&key, (uint64_t)count);
    uint64_t votes = resident_at(bucket, i, at).votes;
    int64_t now = (int64_t)votes + count;
    if (now <= 0) return now < 0;
    return room_in(bucket) + votes_width(votes) < votes_width((uint64_t)now);
}

void top_grow(struct top *into, const struct top *from, struct seed seed)
{
    struct resident one;
    for (uint32_t b = 0; b < from->buckets.d; b++)
        for (struct top_place next = {0, 0}; top_next(&from->bucket[b], &next, &one);)
            append(&into->bucket[top_index(into->buckets, hash_of(&one.key, seed))], &one);
    into->votes = from->votes;
}

/* ---- fewer, for a file ------------------------------------------------------------------------------------------- */

bool top_leaks(const struct top *top)
{
    for (uint32_t b = 0; b < top->buckets.d; b++)
        if (is_leaky(&top->bucket[b])) return true;
    return false;
}

/* Whether as few buckets, which divide those that there are, have room for all residents. */
static bool fits(const struct top *top, uint32_t buckets)
{
    for (uint32_t i = 0; i < buckets; i++) {
        unsigned used = 0;
        for (uint32_t b = i; b < top->buckets.d && used <= TOP_ROOM; b += buckets) used += used_bytes(&top->bucket[b]);
        if (used > TOP_ROOM) return false;
    }
    return true;
}

uint32_t top_least(const struct top *top)
{
    if (top_leaks(top)) return top->most;
    uint32_t least = 1;
    while (least < top->buckets.d && !fits(top, least)) least = larger(least, top->most);
    return least;
}

void top_gather(const struct top *top, uint32_t buckets, uint32_t index, struct top_bucket *gathered)
{
    struct resident one;
    *gathered = top->bucket[index];
    for (uint32_t b = index + buckets; b < top->buckets.d; b += buckets)
        for (struct top_place next = {0, 0}; top_next(&top->bucket[b], &next, &one);)
            insert(gathered, &one.key, one.votes, one.flagged);
}
