/* tally: items of a part of a batch are added up, and each block gets the sums of its own at once.
 *
 * It is a hash table whose slots are in the order of blocks, and of prints within a block: what comes out is all but
 * sorted. When it is full, or the part ends, its sums go to the blocks (tally_flush), and it is empty again. */
#pragma once

#include "sketch/batch.h"
#include "sketch/partition.h"

enum {
    TALLY_SLOTS = 1 << 13, /* at most */
    TALLY_LEAST = 1 << 7,
    TALLY_BEYOND = 64, /* slots behind the last, since the search of a place does not go round */
    TALLY_MOST = TALLY_SLOTS / 8 * 5
};

struct sum {
    uint64_t word; /* with its highest bit set; 0 if there is none */
    int64_t count;
};

struct addition {
    struct spot spot;
    int64_t count;
};

struct tally {
    struct blocks *blocks;
    const struct batch_growth *growth;
    uint32_t number;       /* of blocks: that of `blocks` */
    uint32_t first, end;   /* the range of blocks whose items come */
    uint64_t scale;        /* slots a block, by 2^40 */
    unsigned slots, n;     /* of them in use; sums */
    uint64_t items, added; /* of the range: how many came, and how many of these the blocks have already */
    struct sum slot[TALLY_SLOTS + TALLY_BEYOND];
    struct addition addition[TALLY_MOST + 1];
};

/* With slots for parts of about so many items. */
void tally_start(struct tally *tally, struct blocks *blocks, const struct batch_growth *growth, uint64_t items);

/* The items that follow are of blocks first .. end - 1 of so many. */
void tally_range(struct tally *tally, uint32_t number, uint32_t first, uint32_t end);

/* Takes words, with counts between them if they are counted. False if the blocks could not grow. */
bool tally_take(struct tally *tally, const uint64_t *word, unsigned words, bool counted);

/* Adds what there is to the blocks. False if they could not grow: then this has added nothing. */
bool tally_flush(struct tally *tally);
