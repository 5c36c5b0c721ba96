/* hot: in most streams a few items make up half of it. Those of a batch are found in a sample, and counted aside, so
 * that the sketch sees each of them once. To tell whether an item is one takes a look into a table that fits the cache
 * next to a core; nothing is ever moved in it, and no branch depends on what is found. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOT_BITS = 11, HOT_SLOTS = 1 << HOT_BITS }; /* 24 KB with their counts */

struct hot {
    uint64_t key[HOT_SLOTS]; /* 0 where there is none: it is as good as any other */
};

static inline unsigned hot_slot(uint64_t key)
{
    return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HOT_BITS)); /* 2^64 over the golden ratio */
}

/* Finds them; false if there are too few to be worth it. */
bool hot_find(struct hot *hot, const uint64_t keys[], size_t n);

/* Counts those of n keys that are hot; returns how many are not, which `rest` gets, and has room for all. */
static inline unsigned hot_pass(const struct hot *hot, const uint64_t keys[], size_t n, uint32_t times[HOT_SLOTS],
                                uint64_t rest[])
{
    unsigned left = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned slot = hot_slot(keys[i]);
        bool is_hot = hot->key[slot] == keys[i];
        times[slot] += is_hot;
        rest[left] = keys[i];
        left += !is_hot;
    }
    return left;
}
