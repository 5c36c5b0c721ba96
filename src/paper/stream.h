/* stream: memory scanning (paper, section 3.1). A brick's cells -> the shape of the stream in it.
 *
 * g_scan is a set network over the first tenth of the columns of each row, enough to see the distribution of values:
 *
 *     cell -> 8 -> 16 -> 32 (ReLU) -> mean over the row -> three heads -> mean over the rows
 *                                                          implicit 16 -> 8 -> 4   (LeakyReLU, also last)
 *                                                          skew     16 -> 16 -> 8 -> 1
 *                                                          distinct 16 -> 16 -> 8 -> 1
 *
 * Cells enter in the paper's scale, where the weights of an item sum to R: value * R / Q. */
#pragma once

#include <stdatomic.h>

#include "core/hash.h"
#include "model/model.h"
#include "paper/row.h"

/* What a scan finds in a brick: s(n), s(alpha), and what only the decoder understands. */
struct stream {
    double distinct, skew, implicit[SCAN_IMPLICIT];
};

enum { SCAN_SET = 32 }; /* numbers that g_scan makes of a cell */

/* Sums are of integers, so that they are the same however a brick came to its content. */
__extension__ typedef __int128 scan_sum __attribute__((aligned(8)));

/* What was scanned of a brick. The sums follow single stores; then the rows in which a sum has changed are behind: what
 * is seen in them is out of date. The state is SCAN_NONE, SCAN_BUSY while one of many readers writes, or SCAN_SUMS and,
 * from SCAN_BEHIND on, a bit for each row that is behind. So a reader who has seen a state knows what no other reader
 * writes: the sums, and what is seen in the rows that are not behind. */
enum { SCAN_NONE = 0, SCAN_BUSY = 1, SCAN_SUMS = 2, SCAN_BEHIND = 8 };
struct scan {
    _Atomic uint32_t state;
    uint32_t lag; /* stores that were followed since the last question */
    struct scan_row {
        struct stream seen;
        scan_sum sum[SCAN_SET]; /* over the cells that are looked at */
    } row[];
};

static inline uint64_t scan_bytes(uint32_t rows)
{
    return sizeof(struct scan) + rows * sizeof(struct scan_row);
}

static inline void scan_forget(struct scan *scan)
{
    atomic_store_explicit(&scan->state, SCAN_NONE, memory_order_relaxed);
}

/* How many cells of a row of so many are looked at. */
static inline uint32_t scan_cells(uint32_t n)
{
    return n < 10 ? 1 : n / 10;
}

/* What g_scan says of a brick of these rows: made from `scan` as far as that goes, which is brought up to date. */
struct stream scan_stream(const struct lego_model *model, const struct cells rows[], struct scan *scan);

/* Before a store: whether the sums follow it, by a call of scan_follow() for each cell that is looked at. */
bool scan_follows(struct scan *scan);
void scan_follow(const struct lego_model *model, struct scan *scan, uint32_t row, int64_t before, int64_t after);
