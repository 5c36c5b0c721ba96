/* mass: how large the sums of a sketch can be, so that none leaves 64 bits.
 *
 * sketch->mass is at least the sum of |value| over each row of bricks, or over what blocks list and have lost.
 * Additions raise it, deletions too. So where it refuses a
 * count, it is taken anew from the content: what is refused follows from that, not from how it came about. */
#pragma once

#include "block/content.h"
#include "sketch/sketch.h"

/* What the integers of blocks come to, listed and lost. */
struct block_sums {
    lego_u128 magnitude;
    __extension__ __int128 sum;
};

void sums_add(struct block_sums *sums, const struct content *content);

/* The mass of blocks with these sums, as additions would have counted it; false if it does not fit. */
bool sums_mass(const struct block_sums *sums, int64_t total, uint64_t quantum, uint64_t *mass);

/* Room for counts more whose sizes come to this, or LEGO_ERR_RANGE. */
lego_status mass_take(lego_sketch *sketch, uint64_t sizes);

/* What the mass is after a sketch got n others, each so many times (NULL: once), or LEGO_ERR_RANGE. */
lego_status mass_join(const lego_sketch *into, const lego_sketch *const from[], const int64_t weights[], size_t n,
                      uint64_t *mass);
