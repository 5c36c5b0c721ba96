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

#include "brick.h"

/* What g_scan says of a brick, from the cache if it is there. */
struct stream scan_brick(const struct lego_model *model, const struct memory *memory, const struct brick *brick);

#endif
