/* content: what a block holds, unpacked: its entries, in the order of their keys.
 *
 * A block is opened into a content (kernels.h), which can be added to, brought to a later step, joined with another's,
 * and closed into a block again. Up to step 5 what comes of that follows from what was added alone, and is here; what
 * becomes of a block that keeps is keep.h's. */
#pragma once

#include "block/block.h"

enum {
    CONTENT_BEHIND = 8,                                   /* places behind the last entry */
    CONTENT_MOST = 2 * BLOCK_ENTRIES + 2 + CONTENT_BEHIND /* those of two blocks */
};

/* What a block that keeps remembers of those that it let go; all 0 while it does not keep. */
struct loss {
    uint64_t plus, minus;         /* the sums of what was lost above 0, and below, without its sign */
    uint64_t press, nursed, left; /* keep.c */
    uint8_t wide;                 /* these three have so many times 4 bits, and some */
    uint8_t hand;
};

struct content {
    unsigned step, n;
    unsigned g, signs, bits; /* of a block that keeps: how its counts are coded, and what they and longer prints take */
    bool looked;             /* and whether the following is known of it: */
    uint64_t listed;         /* the sum of all |counts| */
    uint64_t smallest;       /* the smallest |count| outside the sample, */
    unsigned smallests;      /* and how many have it */
    unsigned entered;        /* newcomers that came into the sample since it was opened */
    struct loss loss;
    uint64_t key[CONTENT_MOST];
    int64_t value[CONTENT_MOST]; /* none is 0, but in the sample of a block that keeps */
    uint8_t known[CONTENT_MOST]; /* bits of the key, if it keeps; the others are 0 */
};

/* An empty one. */
void content_start(struct content *content, unsigned step);

/* The first entry whose key is not below. */
unsigned content_find(const struct content *content, uint64_t key);

/* Brings it to a later step, at most the last before it keeps. */
void content_lower(struct content *content, unsigned step, unsigned whole);

/* Adds one item, if the content does not keep. There must be room for one entry more. */
void content_add(struct content *content, unsigned whole, uint64_t key, int64_t count);

/* Adds entries that are cut for this step and in the order of their keys, times sign (1 or -1). Both are at the same
 * step, do not keep, and have at most BLOCK_ENTRIES entries. */
void content_join(struct content *into, const struct content *from, int sign);
