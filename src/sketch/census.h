/* census: what the lists of some blocks, and the samples in those that keep, tell of the items of a stream.
 *
 * The first four entries of a block that keeps are never let go (keep.h): of its distinct items they are those with the
 * smallest prints, whatever their counts are. Where the fourth of them is tells how many items there are (Bar-Yossef et
 * al. 2002; Beyer et al. 2007). Which items have been let go, the lightest, and how many: what was lost is what they
 * count together. */
#pragma once

#include "block/blocks.h"

/* Counts by their size. Part 0 of class k begins above 2^(k - 1), and the last ends with 2^k. */
enum { CENSUS_CLASSES = 64, CENSUS_PARTS = 8, CENSUS_BUCKETS = CENSUS_CLASSES * CENSUS_PARTS };

/* Items whose counts are of about one size. */
struct bucket {
    double n, sum, inverse; /* how many, their counts, and 1 / count */
    double alike;           /* how likely another item of the block has the print of one of them, for all of them */
};

struct census {
    uint64_t losing; /* blocks that have let somebody go */
    bool below;      /* they have lost something below 0 */
    double slots;    /* of these: where the fourth smallest of their prints are, in 2^20 */
    double sampled;  /* entries of their samples, deleted ones included */
    double lost;     /* by them, on both sides */
    double twins;    /* pairs of items that share an entry, as far as can be expected; of all blocks */
    struct bucket others[CENSUS_BUCKETS], listed[CENSUS_BUCKETS], sample[CENSUS_BUCKETS]; /* of losing blocks: the last
                                                                                             two */
};

struct findings {
    double distinct, distinct_error;
    double losing;                                /* of the distinct items: those of losing blocks */
    double middle;                                /* half of the items of such a count are not listed */
    struct bucket gone[CENSUS_BUCKETS], all_gone; /* of these: who is not listed */
    double doubt[CENSUS_BUCKETS];                 /* the squares of the standard errors of how many these are */
};

/* Adds what a block holds. */
void census_add(struct census *census, const struct block *block, unsigned whole, const struct content *content);

void census_find(const struct census *census, struct findings *findings);

/* All of them together. */
struct bucket census_sum(const struct bucket buckets[CENSUS_BUCKETS]);

static inline unsigned census_bucket(uint64_t count)
{
    const uint64_t x = count - 1;
    if (count < 2) return 0;
    const unsigned top = 63 - (unsigned)__builtin_clzll(x);
    return (top + 1) * CENSUS_PARTS + (unsigned)((top < 3 ? x << (3 - top) : x >> (top - 3)) & 7);
}

/* The largest count of a bucket that has any. */
static inline uint64_t bucket_most(unsigned bucket)
{
    const unsigned class = bucket / CENSUS_PARTS, part = bucket % CENSUS_PARTS;
    if (class == 0) return 1;
    if (class <= 3) return (UINT64_C(1) << (class - 1)) + (part >> (4 - class)) + 1;
    return (UINT64_C(1) << (class - 1)) + ((uint64_t)(part + 1) << (class - 4));
}
