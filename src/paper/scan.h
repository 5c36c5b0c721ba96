/* scan: memory scanning (paper, section 3.1). A brick's cells -> the shape of the stream in it.
 *
 * g_scan is a set network over the first tenth of the columns of each row, enough to see the distribution of values:
 *
 *     cell -> 8 -> 16 -> 32 (ReLU) -> mean over the row -> three heads -> mean over the rows
 *                                                          implicit 16 -> 8 -> 4   (LeakyReLU, also last)
 *                                                          skew     16 -> 16 -> 8 -> 1
 *                                                          distinct 16 -> 16 -> 8 -> 1
 *
 * Cells enter in the paper's scale, where the weights of an item sum to R: value * R / Q. */
#ifndef LEGO_SRC_SCAN_H
#define LEGO_SRC_SCAN_H

#include "paper/brick.h"

/* What g_scan says of a brick, from the cache if it is there. */
struct stream scan_brick(const struct lego_model *model, const struct memory *memory, const struct brick *brick);

/* Around a store, after which the brick would have to be scanned again: the sums of what is cached of it follow. The
 * second is called if there is something, the state not being SUMMARY_EMPTY. */
struct scan_follow {
    struct brick brick;
    uint32_t state; /* of its summary */
    int64_t value[LEGO_ROWS_MAX];
};
struct scan_follow scan_before(const struct memory *memory, const struct place *place);
void scan_after(const struct lego_model *model, struct memory *memory, const struct place *place,
                const struct scan_follow *follow);

#endif
