/* top: exact counts, with their keys, for the items of a stream that come most often. This part stands in front of the
 * light part, which is the sketch's blocks or bricks, and keeps what is frequent out of it (the elastic sketch: Yang et
 * al., SIGCOMM 2018; D-Lego in the paper).
 *
 * The room top is this alone: finding and adding (top.c), more and fewer buckets (grow.c), merging (merge.c), bytes
 * from outside (bytes.c), all of them on how one bucket is packed (bucket.h). It may include core. What it needs of the
 * light part it is handed (struct top_light).
 *
 * A bucket is 256 bytes, four cache lines; an item's hash names its only bucket. Its residents are packed:
 *
 *     bucket   | votes against 47 bits, leaky 1 | residents 8 | bytes in use 8 | labels | data, in their order | 0 |
 *     label    | code 8: of the key's size | flag 1 | bytes of votes, less 1: 3 | tag 4: of the key's hash |
 *     data     | votes, 1 to 8 bytes | key |
 *
 * Numbers are little-endian, so a bucket has the same bytes in every memory, and in a file. The code is the size of the
 * key, up to 238; or of a key of 8 bytes that ends in zeros, as integers do, 248 and how many bytes are before these,
 * and then only those are stored. So a resident takes 3 bytes and its key, a small integer with a small count 4 to 6,
 * and keys of all kinds share the same bytes. Residents stand in the order of code and key: a content has one form.
 *
 * An item that comes: resident, its votes rise; room, it moves in; else it is a vote against the bucket and goes on to
 * the light part. The one that brings every TOP_THRESHOLD-th vote against is more than that: a challenger. If it has
 * come more often, as far as the light part can tell, than the resident that has come least, that one leaves for the
 * light part with its votes, and the challenger has its place. How often a resident has come is its votes, and if it is
 * flagged also what the light part has of it; asked are the four of least votes. (Where it takes several to make room,
 * their sum counts. Votes that need one more byte, and find none, get it in the same way, without a challenge.)
 *
 * The paper's rule looks at votes only: the least resident leaves once there are ten times its votes against. Then who
 * comes is mostly nobody, and an item that becomes frequent late, when it does get in, has one vote and is out again.
 * Of the 100 most frequent items of seven real streams that (with eight times) found 72 on average with 20 KB, and this
 * 92; with 100 KB, 99.1 and 99.7.
 *
 * A top begins with one bucket and gets more when it needs them, up to the most, those of its budget: m 2^e with m from
 * 8 to 15 (or fewer than 8). After the one come m, 2 m, 4 m, ..., each a multiple of the one before, so that whoever
 * shares a bucket of the many shared one of the few. While there are fewer than the most nobody is sent away and no
 * bucket is leaky: what has no room, or would leave the light part with less than nothing, has the number grow first.
 * So a top that grew has the residents, votes and flags of one that had the most from the start; what follows is the
 * same as well; and as long as no bucket is leaky the number of buckets is no part of the content. A file has the least
 * that will do.
 *
 * A resident is flagged if some of its count may be in the light part: if, when it came, its bucket was leaky, which
 * says that an item of this bucket that could be a resident has been sent there. Unflagged, its votes are its exact
 * count.
 *
 * Deletions: a resident's votes fall; what they cannot pay, and what is not resident, goes to the light part. A
 * resident without votes leaves. So votes are always 1 or more, and both parts together have the exact content. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/hash.h"

enum {
    TOP_BUCKET = 256,
    TOP_HEAD = 8,                     /* of a bucket */
    TOP_ROOM = TOP_BUCKET - TOP_HEAD, /* for residents */
    TOP_KEY_MAX = TOP_ROOM - 2 - 8,   /* so that one alone always fits, whatever its votes */
    TOP_RESIDENTS = TOP_ROOM / 3,     /* more are not possible */
    TOP_THRESHOLD = 8,                /* votes against a bucket from one challenge to the next */
    TOP_LINE = 64,                    /* buckets begin with a cache line */
};

struct top_bucket {
    unsigned char byte[TOP_BUCKET];
};

struct top {
    struct top_bucket *bucket;
    struct divisor buckets;
    uint32_t most;  /* buckets that there can be */
    uint64_t votes; /* the sum over all residents */
};

/* A key as it is stored, which for integers is without the zeros at the end. */
struct top_key {
    const unsigned char *bytes;
    unsigned length; /* of the bytes */
    unsigned code, tag;
};

struct resident {
    struct top_key key; /* its bytes lie in the bucket */
    uint64_t votes;
    bool flagged;
};

/* What this part needs of the light one: to take an item that leaves, and to tell how much of one it may have. */
struct top_light {
    void (*take)(void *sketch, const void *item, size_t size, int64_t count);
    int64_t (*upper)(const void *sketch, const void *item, size_t size);
    void *sketch;
};

static inline unsigned top_residents(const struct top_bucket *bucket)
{
    return bucket->byte[6];
}

static inline uint64_t top_bytes(uint32_t buckets)
{
    return buckets ? TOP_LINE + (uint64_t)buckets * TOP_BUCKET : 0;
}

/* The most buckets that a budget of bytes, at most LEGO_BUDGET_MAX, gives: four bits of their number are kept. 0 if
 * there is not room for one. */
uint32_t top_most(uint64_t bytes);

/* Whether a top can have so many buckets, and so many at most. */
bool top_possible(uint32_t buckets, uint32_t most);

/* Over top_bytes() bytes, empty. */
void top_init(struct top *top, uint32_t buckets, uint32_t most, void *bytes);
void top_clear(struct top *top); /* which leaves it as many buckets */

static inline bool top_grows(const struct top *top)
{
    return top->buckets.d < top->most;
}

/* How many buckets come next, while it grows. */
uint32_t top_larger(const struct top *top);

/* Moves everything into an empty top of more buckets, the next or a later number. There always is room: a bucket's
 * residents go to several, and none gets any from another. */
void top_grow(struct top *into, const struct top *from, struct seed seed);

static inline uint32_t top_index(struct divisor buckets, struct hash hash)
{
    return divisor_mod(buckets, (uint32_t)hash.hi); /* bits from which alone no sketch takes a place */
}

static inline void top_prefetch(const struct top *top, struct hash hash)
{
    const struct top_bucket *bucket = &top->bucket[top_index(top->buckets, hash)];
    for (unsigned at = 0; at < TOP_BUCKET; at += TOP_LINE) __builtin_prefetch(&bucket->byte[at]);
}

/* Whether there must be more buckets before this can be added: ask, and grow, until it is false. Nothing changes. */
bool top_lacks_room(const struct top *top, struct hash hash, const void *item, size_t size, int64_t count);
static inline bool top_wants_more(const struct top *top, struct hash hash, const void *item, size_t size, int64_t count)
{
    return top_grows(top) && top_lacks_room(top, hash, item, size, count);
}

/* Counts an item; returns how much of it is for the light part: nothing while the top grows, unless the key is too
 * long. No sum of |count| passes 2^63 - 1. */
int64_t top_add(struct top *top, struct hash hash, const void *item, size_t size, int64_t count,
                const struct top_light *light);

/* False if it is not resident. */
bool top_find(const struct top *top, struct hash hash, const void *item, size_t size, struct resident *found);

/* The residents of a bucket, one after another: *next is {0, 0} at first. False after the last. */
struct top_place {
    unsigned number; /* of a resident */
    unsigned at;     /* where its data begins; 0 of the first */
};
bool top_next(const struct top_bucket *bucket, struct top_place *next, struct resident *found);

/* The item that a key was made from: its bytes, or `integer`, filled with them. */
const void *top_item(const struct top_key *key, unsigned char integer[8], size_t *size);

/* Whether any bucket is leaky. Then the top has all its buckets. */
bool top_leaks(const struct top *top);

/* Whether most buckets are leaky: then the others have little room left. */
bool top_is_full(const struct top *top);

/* Items that could be residents of any bucket may have been sent away. The top must have all its buckets. */
void top_leak(struct top *top);

/* Adds all of `from`; *progress is {0} at first. Of the residents of both, those that are worth most stay. False if
 * there must be more buckets of `into` first: let it grow, and go on with the same *progress. What was added until then
 * stays added, so a caller that may get no memory works on a copy of `into`, which is small while it grows.
 *
 * If `from` does not leak it may have any number of buckets, and so may `into`. If it leaks, what it has sent away is
 * not known, and every bucket of it has to be within one of `into`. So the caller sees to it that `into` has all its
 * buckets, and that their number divides that of `from`, by adding it to an empty top of such a number first. One that
 * does not leak can have any; two that leak meet at the lesser of theirs, if it divides the other, or else not at all:
 * LEGO_ERR_SHAPE. */
struct top_progress {
    uint32_t bucket;        /* of `from` */
    struct top_place place; /* of the next resident to be added */
};
bool top_add_all(struct top *into, const struct top *from, struct top_progress *progress, struct seed seed,
                 const struct top_light *light);

/* Anything may have been added to the light part: from now on no count is exact that was begun before. The top must
 * have all its buckets. */
void top_mix(struct top *top);

/* The least number of buckets that has room for all residents; all of them if any bucket is leaky. A file has so many,
 * and one that has more is not valid: what a top counted has one form, in whatever order it came. */
uint32_t top_least(const struct top *top);

/* A bucket of a top as if it had fewer, at least top_least(), of the numbers that it can have. */
void top_gather(const struct top *top, uint32_t buckets, uint32_t index, struct top_bucket *gathered);

/* Whether bytes from outside are possible as bucket number `index` of so many; adds its votes, as long as they fit 63
 * bits. That a top of fewer buckets than its most does not leak, and one that does not leak has no more than it needs,
 * is for top_least() to say. */
bool top_bucket_valid(const struct top_bucket *bucket, uint32_t index, struct divisor buckets, struct seed seed,
                      uint64_t *votes);

/* By code, then by bytes: below, at or above 0. */
int top_compare(const struct top_key *a, const struct top_key *b);
