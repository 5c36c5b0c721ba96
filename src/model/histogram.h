/* histogram: how many cells there are of each sum, in blocks that share.
 *
 * It looks at the first LEARN_BLOCKS blocks that share, of the first LEARN_AMONG, and at the caps of these. All that it
 * keeps are sums of integers over the blocks: what one of them was can be taken away and what it has become be added,
 * and it is as if all had been looked at again.
 *
 * A sum is known by its *bin*: 0 to 7 as they are, then four an octave. Sums below 0 count by their size. */
#pragma once

#include "block/blocks.h"

enum {
    LEARN_BLOCKS = 128,  /* blocks that share, ... */
    LEARN_AMONG = 512,   /* ... of the first so many, are looked at */
    LEARN_BINS = 252,    /* up to 2^63 */
    LEARN_NARROWEST = 3, /* log2 of the width of a cell */
    LEARN_WIDTHS = 7,
    BIN_PARTS_LOG = 6 /* of a bin: it is known in which of 64 parts a sum is */
};

/* The bin of a sum from 0 to 2^63. */
static inline unsigned bin_of(float sum)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &sum, sizeof bits);
    return sum < 4 ? (unsigned)(int)sum : (bits >> 21) - 512;
}

/* In which of its 64 parts, from bin 8 on. */
static inline unsigned bin_part(float sum)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &sum, sizeof bits);
    return bits >> (21 - BIN_PARTS_LOG) & ((1 << BIN_PARTS_LOG) - 1);
}

/* The least integer in a bin, and how many it has. */
static inline float bin_first(unsigned bin)
{
    return bin < 8 ? (float)bin : (float)((uint64_t)(4 + bin % 4) << (bin / 4 - 1));
}

static inline float bin_length(unsigned bin)
{
    return bin < 8 ? 1 : (float)(UINT64_C(1) << (bin / 4 - 1));
}

struct histogram {
    int64_t unit;                                /* all cells are multiples of it, and are counted in it */
    uint32_t end;                                /* no block from here on is looked at, ... */
    uint32_t caps;                               /* ... and of the caps those whose bit is 1 */
    uint32_t negative;                           /* cells below 0 */
    uint32_t steps[STEP_CAP_LAST + 1];           /* blocks, and caps, of each step */
    uint16_t cells[2][LEARN_WIDTHS][LEARN_BINS]; /* of rows and caps, by width and bin; there are 65,536 at most, and if
                                                    all are in one bin, they tell as little as none */
    uint32_t parts[LEARN_BINS];                  /* the sum of the parts of its bin that cells are in */
};

void histogram_scan(const struct blocks *blocks, struct histogram *histogram);

/* Blocks and caps as they were when they were looked at, if something was added to them since. */
enum { TOUCHED_MOST = 16 };
struct touched {
    unsigned n;
    uint32_t index[TOUCHED_MOST]; /* in blocks->block */
    struct block was[TOUCHED_MOST];
};

/* Something is about to be added to a block. False if there is no room to keep what it was. */
bool histogram_touch(const struct histogram *histogram, const struct blocks *blocks, uint32_t block,
                     struct touched *touched);

/* Looks at them again. False, and the scan has to be made anew, if that is not enough. */
bool histogram_again(const struct blocks *blocks, const struct touched *touched, struct histogram *histogram);

/* A scan, rounded by about as much as chance moves it: numbers of cells by half of their square root. */
struct seen {
    int64_t unit;
    uint32_t blocks, caps;
    uint8_t step[LEARN_BLOCKS], cap_step[LEARN_AMONG / BLOCKS_A_CAP]; /* of these */
    uint32_t positive, negative;                                      /* how many cells are, of all */
    uint32_t cells[2][LEARN_WIDTHS][LEARN_BINS];
    uint32_t number[LEARN_BINS]; /* of cells in a bin */
    float middle[LEARN_BINS];    /* their mean; of a bin without any, its own */
};

void histogram_round(const struct histogram *histogram, struct seen *seen);
