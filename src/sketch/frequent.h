/* frequent: in most streams a few items make up half of it. Those of a batch are found in a sample, and counted
 * aside, so that the sketch sees each of them once. To tell whether an item is one takes a look into a table that
 * fits the cache next to a core; nothing is ever moved in it, and no branch depends on what is found. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FREQUENT_BITS = 11, FREQUENT_SLOTS = 1 << FREQUENT_BITS }; /* 24 KB with their counts */

struct frequent {
    uint64_t key[FREQUENT_SLOTS]; /* 0 where there is none: it is as good as any other */
};

static inline unsigned frequent_slot(uint64_t key)
{
    return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FREQUENT_BITS)); /* 2^64 over the golden ratio */
}

static inline bool frequent_has(const struct frequent *frequent, uint64_t key)
{
    return frequent->key[frequent_slot(key)] == key;
}

/* Finds them; false if there are too few to be worth it. */
bool frequent_find(struct frequent *frequent, const uint64_t keys[], size_t n);

/* Counts those of n keys that are frequent; returns how many are not, which `rest` gets, and has room for all. */
static inline unsigned frequent_pass(const struct frequent *frequent, const uint64_t keys[], size_t n,
                                     uint32_t times[FREQUENT_SLOTS], uint64_t rest[])
{
    unsigned left = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned slot = frequent_slot(keys[i]);
        bool is_one = frequent->key[slot] == keys[i];
        times[slot] += is_one;
        rest[left] = keys[i];
        left += !is_one;
    }
    return left;
}
