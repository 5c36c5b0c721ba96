/* The Stream-Summary of Space-Saving (Metwally, Agrawal and El Abbadi, ICDT 2005): keys by their counts, where any
 * count grows by one, and the least is found, in constant time. HeavyKeeper keeps its top in one too.
 *
 *     item     key, inherited, its bucket, the next and the one before it there, the next of its hash     24 bytes
 *     bucket   count, first item, the buckets of the next count above and below                           16 bytes
 *     index    the first item of a hash                                                                    4 bytes
 *
 * There is a bucket an item, since all counts may differ. What it has at one index of all three stands in one cell;
 * cell 0 is none of them, and closes the ring of buckets. Keys are hashes of 32 bits, whatever the items are. */
#pragma once

#include <stdint.h>

typedef struct summary_cell {
    uint32_t key, inherited, bucket, next, previous, chain;
    uint32_t count, first, above, below;
    uint32_t head;
} summary_cell;

/* Its cells follow it; it starts as zeros but for their number, which is at least 2. */
typedef struct summary {
    uint32_t size, items, buckets, spare; /* spare: the first bucket that was given back */
} summary;

/* The count of a key, or 0. */
uint32_t summary_count(const summary *of, uint32_t key);

/* What its count was when it took another's place, or 0. */
uint32_t summary_inherited(const summary *of, uint32_t key);

/* The least count, or 0 while there is room. */
uint32_t summary_least(const summary *of);

/* Gives a key a count, which is not below the one it has. Where there is no room it takes the place of a key of the
 * least count: of these, of the one that got it last. */
void summary_raise(summary *of, uint32_t key, uint32_t count);
