/* merge: two tops become one. */
#include <string.h>

#include "top/bucket.h"

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
