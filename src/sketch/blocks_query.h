/* blocks_query: estimates from blocks (block/dense.h), one or many at once, and the scan that they share.
 *
 * Items are looked up and decoded DECODE_MOST at a time (model/kernels_decode.h). An answer depends on the content of
 * the sketch alone: not on what is asked together, nor on what was asked before. */
#pragma once

#include "sketch/sketch.h"

lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash);

/* Items first .. end - 1, whose estimates go to their places. */
void blocks_query_items(const lego_sketch *sketch, const lego_items *items, size_t first, size_t end,
                        lego_estimate *estimates);

/* Adds half an item to one of the first COMPACT_SCANNED blocks; the scan's counts follow. */
void blocks_add_scanned(lego_sketch *sketch, const struct half *half, unsigned which, int64_t count);

/* Adds many items to blocks (batch.c). */
void batch_add(lego_sketch *sketch, const lego_items *items);

/* Where n items are from `first` on, at most DECODE_MOST. */
void items_place(const lego_items *items, size_t first, unsigned n, const lego_sketch *sketch,
                 struct decode_places *places);

/* Parts of an answer, for a GPU: the bias of the decoder's first layer, from what a scan has counted; and how far the
 * least read may be above the true count, by the widths of an item's rows as in struct decode_items. */
void query_bias(const lego_model *model, const struct compact_counts *counts, float bias[DECODE_HIDDEN_ROOM]);
double query_slack(const struct dense *dense, uint32_t widths);
