/* query: estimates from blocks (dense.h), one or many at once, and the scan that they share.
 *
 * Items are looked up and decoded DECODE_MOST at a time (kernels_decode.h). An answer depends on the content of the
 * sketch alone: not on what is asked together, nor on what was asked before. */
#ifndef LEGO_SRC_QUERY_H
#define LEGO_SRC_QUERY_H

#include "sketch/sketch.h"

/* What a sketch is asked with while it does not change. */
struct query {
    const lego_sketch *sketch;
    struct decode_stream stream;
    float bias[DECODE_HIDDEN_ROOM]; /* if the sketch has none that is ready */
    double slack[BLOCK_STEPS][BLOCK_STEPS]; /* by the steps of an item's blocks; below 0: not known yet */
};

void query_start(struct query *query, const lego_sketch *sketch);

/* Where the reads of item i are; has them fetched, for query_answer() soon after. */
static inline void query_place(const struct query *query, struct hash hash, struct decode_places *place, size_t i)
{
    const struct dense *dense = &query->sketch->dense;
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(dense, hash, which);
        if (!is_flat(query->sketch)) __builtin_prefetch(&dense->block[half.block]);
        place->block[which][i] = half.block;
        place->column[which][0][i] = half.column[0];
        place->column[which][1][i] = half.column[1];
    }
    if (is_flat(query->sketch)) flat_prefetch(&query->sketch->flat, hash);
}

/* Has the reads of n items fetched, for query_answer() soon after. */
static inline void query_fetch(const lego_sketch *sketch, const struct decode_places *place, unsigned n)
{
    for (unsigned which = 0; which < 2; which++)
        for (unsigned i = 0; i < n; i++) {
            const struct half half = {place->block[which][i], {place->column[which][0][i], place->column[which][1][i]}};
            if (is_flat(sketch)) flat_prefetch_half(&sketch->flat, &half, which);
            else __builtin_prefetch(&sketch->dense.block[half.block]);
        }
}

/* Estimates of n items, at most DECODE_MOST. */
void query_answer(struct query *query, const struct decode_places *place, unsigned n, lego_estimate estimates[]);

/* One item. */
lego_estimate query_one(const lego_sketch *sketch, struct hash hash);

/* Parts of an answer, for who makes it elsewhere. The sums that a scan makes of what was counted; from these and the
 * mass that was counted, the bias of the decoder's first layer; and how far the least read may be above the true count,
 * by the widths of an item's rows as in struct decode_items. */
void query_sums(const lego_model *model, const struct compact_counts *counts, double sums[COMPACT_OUT_FACTS]);
void query_bias(const lego_model *model, const struct compact_counts *counts, const double sums[COMPACT_OUT_FACTS],
                float bias[DECODE_HIDDEN_ROOM]);
double query_slack(const struct dense *dense, uint32_t widths);

/* Adds half an item to one of the first COMPACT_SCANNED blocks; the scan's counts follow. */
void query_add_half(lego_sketch *sketch, const struct half *half, unsigned which, int64_t count);

#endif
