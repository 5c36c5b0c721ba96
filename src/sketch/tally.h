/* tally: items of a part of a batch are added up, and each block gets the sums of its own at once.
 *
 * Of an item it keeps the *rank*, its block's number above its whole key: blocks and keys are in the order of ranks. It
 * is a hash table whose slots are in that order too: what comes out is all but sorted. When it is full, or the part
 * ends, its sums go to the blocks (tally_flush), and it is empty again. */
#pragma once

#include "sketch/batch.h"
#include "sketch/partition.h"

enum {
    TALLY_SLOTS = 1 << 14, /* at most */
    TALLY_LEAST = 1 << 8,
    TALLY_BEYOND = 64 /* slots behind the last, and how far from its place a sum is at most */
};

struct sum {
    uint64_t rank; /* with its highest bit set, which no rank has; 0 if there is none */
    int64_t count;
};

/* What ranks depend on: the number of blocks, and bits of a whole key. */
struct ranks {
    uint32_t blocks;
    unsigned bits;
};

struct tally {
    struct blocks *blocks;
    const struct batch_growth *growth;
    uint32_t first, end;           /* the range of blocks whose items come, of as many as at most */
    struct ranks ranks;            /* of as many blocks as there are now */
    uint64_t least, scale;         /* the first rank of the range; slots a rank, by 2^64 */
    unsigned room, slots, n, done; /* slots at most, and now; sums; and those of them that the blocks have */
    uint64_t items, added; /* of the range: how many came, and how many of these were in sums that the blocks have */
    struct sum slot[TALLY_SLOTS + TALLY_BEYOND]; /* while sums go to the blocks: sorted */
};

/* For ranges of at most so many items. */
void tally_start(struct tally *tally, struct blocks *blocks, const struct batch_growth *growth, uint64_t items);

/* The items that follow, about so many, are of blocks first .. end - 1 of as many as at most. */
void tally_range(struct tally *tally, uint32_t first, uint32_t end, uint64_t items);

/* Takes words, with counts between them if they are counted. False if the blocks could not grow, or one of them would
 * come to keep: then order matters. */
bool tally_take(struct tally *tally, const uint64_t *word, unsigned words, bool counted);

/* Adds what there is to the blocks, or returns false likewise. */
bool tally_flush(struct tally *tally);

/* Takes back what a flush that failed has added, and is empty. */
void tally_take_back(struct tally *tally);
