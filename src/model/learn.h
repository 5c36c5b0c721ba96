/* learn: what the cells of blocks that share tell of the stream. This is the paper's memory scan without its
 * assumption: it does not fit the skewness of a Zipf law, it finds the distribution of the counts itself.
 *
 * **Noise.** What others add to an item's cell is distributed as the cells are: who is in a cell does not depend on who
 * else is. So the histogram of the cells of a width is the distribution of the noise in such a cell.
 *
 * **Counts.** If a block has g(v) items of count v, a cell of width w has g(v) / w of them on average. Of all that is
 * counted in cells of sum y, each count has its part:
 *
 *     y h(y) = sum over v of v g(v) / w h(y - v)          with h, the histogram of such cells
 *
 * (Panjer 1981, read backwards). h is known, and g >= 0 is found by expectation maximisation, over the cells of all
 * widths together, and so that there are as many items as empty cells tell. It begins with g(v) ~ 1 / v^2, which is
 * what remains of it where cells are too crowded to tell more.
 *
 * **Unit.** Where all cells are multiples of 1000, so are all counts; then sums are counted in thousands.
 *
 * Sums are known by bins (histogram.h). Both distributions have a tail that falls as
 * 1 / v^2, for what was in no cell that was looked at.
 *
 * No function of libm is called but square roots: answers are the same on every machine. */
#pragma once

#include "model/histogram.h"

enum {
    LEARN_ROUNDS = 30, /* of expectation maximisation */
    LEARN_ROOM = 256   /* bins in whole vectors; the rest is 0 */
};

/* What is missing to a bound is known by *steps*: bins up to 15, then two bins each. */
static inline unsigned step_of_bin(unsigned bin)
{
    return bin < 12 ? bin : 12 + (bin - 12) / 2;
}

/* What is known of a stream. */
struct learnt {
    struct hash of; /* what it follows from, as histogram_round() has it; 0 if there is nothing */
    int64_t unit;   /* all cells that were seen are multiples of it; all else is in this unit */
    bool any;       /* whether a block was seen that shares; if not, nothing else is set */
    int sign;       /* 1 or -1: all counts have it. 0: some are below 0, some above */
    float negative; /* the share of the sums that are below 0 */
    float twin;     /* how likely another item is to have all the cells that an item has */
    float items;    /* of a block that shares, on average */
    float worth;    /* kappa of posterior.h, at which both errors count alike */
    bool crowded;   /* hardly a cell is empty, so nothing tells how many items there are */
    float aae, are; /* to be expected of items of such blocks, unless it is crowded */
    float first[LEARN_ROOM], length[LEARN_ROOM]; /* bin_first() and bin_length() */
    float step_first[LEARN_ROOM];                /* of a step, the least, ... */
    float step_length[LEARN_ROOM];               /* ... and how many */
    float middle[LEARN_ROOM];                    /* of a bin: the mean of what was seen in it */
    float count[LEARN_ROOM];                     /* the probability that an item's count is in this bin, ... */
    float density[LEARN_ROOM];                   /* ... that it is one integer of it */
    float below[LEARN_ROOM];                     /* of count: the sum of the bins before */
    float below_inverse[LEARN_ROOM];             /* ... of count / middle */
    float below_mean[LEARN_ROOM];                /* the harmonic mean of the counts in the bins before */
    float noise[2][LEARN_WIDTHS][LEARN_ROOM];    /* of rows and caps, by width: that of one integer of the bin */
};

/* What a scan tells, unless it is what it was learnt from. All of it follows from the scan as it is rounded, so that
 * most additions change nothing. The room is only used while it runs. */
void learn_from(const struct histogram *histogram, struct learnt *learnt, void *room);

/* The same after a scan of all blocks. */
void learn(const struct blocks *blocks, struct learnt *learnt, void *room);

/* The bytes of room, aligned for any type: too many for the stacks of some threads. */
enum { LEARN_BYTES = 96 << 10 };

/* ---- inside ------------------------------------------------------------------------------------------------------ */

/* worth, aae and are, by a trial (trial.c). */
void learn_worth(const struct seen *seen, struct learnt *learnt);
