/* merge: two tops become one. */
#include <string.h>

#include "top/bucket.h"

/* ---- buckets ----------------------------------------------------------------------------------------------------- */

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

static uint64_t votes_of(const struct top_bucket *bucket)
{
    uint64_t votes = 0;
    struct resident one;
    for (struct top_place next = {0, 0}; top_next(bucket, &next, &one);) votes += one.votes;
    return votes;
}

/* Adds a bucket to that of the same items. Of the residents of both, those that are worth most stay. */
static void merge_buckets(struct top *top, uint32_t index, const struct top_bucket *from, const struct top_light *light)
{
    struct top_bucket *into = &top->bucket[index], a = *into;
    struct resident all[2 * TOP_RESIDENTS];
    struct applicant sorted[2 * TOP_RESIDENTS];
    unsigned n = unite(&a, from, all);
    for (unsigned i = 0; i < n; i++) { /* insertion sort, most worth first */
        struct applicant one = {all[i], worth(&all[i], light)};
        unsigned at = i;
        for (; at > 0 && goes_before(&one, &sorted[at - 1]); at--) sorted[at] = sorted[at - 1];
        sorted[at] = one;
    }
    memset(into, 0, sizeof *into);
    if (is_leaky(&a) || is_leaky(from)) set_leaky(into);
    set_negative(into, negative_of(&a) + negative_of(from));
    top->votes += votes_of(from);
    for (unsigned i = 0; i < n; i++) {
        const struct resident *one = &sorted[i].resident;
        if (room_in(into) >= cost(&one->key, one->votes)) {
            insert(into, &one->key, one->votes, one->flagged);
        } else {
            set_leaky(into);
            top->votes -= one->votes;
            pass_on(&one->key, one->votes, light);
        }
    }
}

/* ---- tops -------------------------------------------------------------------------------------------------------- */

/* Adds the residents of a bucket, from a place on, to a top that may still grow: one by one, for as long as everything
 * has room. False if there must be more buckets first; then *place is at the one that has none. */
static bool add_each(struct top *into, const struct top_bucket *bucket, struct top_place *place, struct seed seed,
                     const struct top_light *light)
{
    struct resident one;
    for (struct top_place next = *place; top_next(bucket, &next, &one); *place = next) {
        unsigned char integer[8];
        size_t size;
        const void *item = top_item(&one.key, integer, &size);
        struct hash hash = hash_bytes(item, size, seed);
        if (top_wants_more(into, hash, item, size, (int64_t)one.votes)) return false;
        top_add(into, hash, item, size, (int64_t)one.votes, light);
    }
    return true;
}

/* Adds the residents of a bucket that is not leaky, from a place on, to a top that has all its buckets. Those of one of
 * these come as a bucket: were they added one by one, the second could not be exact where the first found no room. */
static void merge_spread(struct top *into, const struct top_bucket *bucket, struct top_place place, struct seed seed,
                         const struct top_light *light)
{
    struct resident all[TOP_RESIDENTS];
    uint32_t index[TOP_RESIDENTS];
    bool moved[TOP_RESIDENTS] = {false};
    unsigned n = 0;
    for (; top_next(bucket, &place, &all[n]); n++) index[n] = top_index(into->buckets, hash_of(&all[n].key, seed));
    for (unsigned i = 0; i < n; i++) {
        if (moved[i]) continue;
        struct top_bucket part = {{0}};
        for (unsigned j = i; j < n; j++) {
            if (index[j] != index[i]) continue;
            append(&part, &all[j]);
            moved[j] = true;
        }
        merge_buckets(into, index[i], &part, light);
    }
}

bool top_add_all(struct top *into, const struct top *from, struct top_progress *progress, struct seed seed,
                 const struct top_light *light)
{
    for (; progress->bucket < from->buckets.d; *progress = (struct top_progress){progress->bucket + 1, {0, 0}}) {
        const struct top_bucket *bucket = &from->bucket[progress->bucket];
        if (top_grows(into)) {
            if (!add_each(into, bucket, &progress->place, seed, light)) return false;
        } else if (is_leaky(bucket)) {
            merge_buckets(into, divisor_mod(into->buckets, progress->bucket), bucket, light);
        } else {
            merge_spread(into, bucket, progress->place, seed, light);
        }
    }
    return true;
}
