/* frequent: in most streams a few items make up half of it. Those of a batch are found in a sample, and counted
 * aside, so that the sketch sees each of them once. To tell whether an item is one takes a look into a table that
 * fits a cache next to a core; nothing is ever moved in it, and no branch depends on what is found. Its slots are in
 * the order of words: those of some blocks are next to each other. */
#pragma once

#include "sketch/words.h"

enum { FREQUENT_BITS = 14, FREQUENT_SLOTS = 1 << FREQUENT_BITS };

struct frequent {
    struct {
        uint64_t word; /* UINT64_MAX where there is none: no word is */
        int64_t count;
    } slot[FREQUENT_SLOTS];
};

static inline unsigned frequent_slot(uint64_t word)
{
    return (unsigned)(word >> (HASH_PLACE + PRINT_MOST - FREQUENT_BITS));
}

/* Finds them; false if there are too few to be worth it. Counts are not set. */
bool frequent_find(struct frequent *frequent, const lego_items *items, struct seed seed,
                   const struct block_kernels *kernels);

/* The number of an item each, in the sample, of those found of which there were two or more; returns how many these
 * are. Only right after frequent_find(). */
size_t frequent_list(struct frequent *frequent, const lego_items *items, struct seed seed,
                     const struct block_kernels *kernels, size_t item[FREQUENT_SLOTS]);

/* Sets all counts to 0; and the items to those of another table, whose counts may be set meanwhile. */
void frequent_clear(struct frequent *frequent);
void frequent_copy(struct frequent *frequent, const struct frequent *from);

/* Counts those of n words that are frequent, and moves the others, with their counts, if there are any (else `count`
 * is NULL), to the front; returns how many these are. */
unsigned frequent_pass(struct frequent *frequent, uint64_t word[], int64_t *count, unsigned n);
