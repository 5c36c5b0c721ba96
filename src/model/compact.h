/* compact: scanning and decoding for blocks. The stream's shape from a sample of the blocks, and an estimate from an
 * item's reads and that shape.
 *
 * Scan. All blocks are alike, since a hash spreads the items; so the first 64 stand for all. Their cells of rows 0 and
 * 1 are counted by how many cells the row has (2 to 128, seven widths) and by size (48 buckets: 0 to 8, then two an
 * octave). An item's neighbours in a cell are as the cells are: this histogram *is* the distribution of the noise. It
 * goes, as the roots of its shares, through
 *
 *     336 -> 24, joined with ln(mean mass of a block), mean log2(width) -> 26 -> 24 -> 16 (LeakyReLU between)
 *
 * Decode. An item's reads, least first (2 to 4 of them), are seen by size, by size against the mean noise of such a
 * cell, and by the width of their row: 14 numbers. With the 16 of the scan:
 *
 *     30 -> 40 -> 24 -> 1 (LeakyReLU between) = h, kept within 0 and 1;     the answer is h times the least read,
 *                                                                                  but at least 1
 *
 * so it never exceeds the bound, and h = 1 is the rule (an h of 0.99 counts as 1: sketch/blocks_query.c). 2,184
 * multiply-adds an item, of which 640 are those of the scan's numbers: they are the same for all items of a sketch, and
 * made part of the bias. Where blocks hold 2^17 or more on average, all values enter divided by a power of two: so far
 * up only ratios matter. */
#pragma once

#include "block/dense.h"
#include "model/model.h"

enum {
    COMPACT_SCANNED = 64,
    COMPACT_WIDTHS = 7,
    COMPACT_BUCKETS = 48,
    COMPACT_READS = 14,
    COMPACT_STREAM = 16,
    COMPACT_HISTOGRAM = COMPACT_WIDTHS * COMPACT_BUCKETS,
    COMPACT_FACTS = 2
};

/* The layers in file order: name here, name in words, inputs, outputs. Matrix [out][in], then bias [out]. */
#define COMPACT_LAYERS(X)                                                                                              \
    X(CELLS, "scan.cells", COMPACT_HISTOGRAM, 24)                                                                      \
    X(FACTS, "scan.facts", 24 + COMPACT_FACTS, 24)                                                                     \
    X(STREAM, "scan.stream", 24, COMPACT_STREAM)                                                                       \
    X(READS, "dec.reads", COMPACT_READS + COMPACT_STREAM, 40)                                                          \
    X(MIX, "dec.mix", 40, 24)                                                                                          \
    X(ANSWER, "dec.answer", 24, 1)

#define COMPACT_SHAPE(layer, name, in, out) COMPACT_IN_##layer = (in), COMPACT_OUT_##layer = (out),
enum { COMPACT_LAYERS(COMPACT_SHAPE) COMPACT_SHAPES_END };
#define COMPACT_PLACE(layer, name, in, out)                                                                            \
    COMPACT_AT_##layer, COMPACT_END_##layer = COMPACT_AT_##layer + ((in) + 1) * (out)-1,
enum { COMPACT_LAYERS(COMPACT_PLACE) COMPACT_WEIGHTS };

/* What the networks see of a sketch, and of an item. */
struct compact_view {
    float cells[COMPACT_HISTOGRAM], facts[COMPACT_FACTS];
};

/* What is counted of the scanned blocks: integers, so that they can follow a change of a cell, and it does not matter
 * how they came to be what they are. */
struct compact_counts {
    int64_t mass; /* of row 0 */
    uint32_t blocks, cells, widths;
    int shift;
    uint16_t count[COMPACT_HISTOGRAM]; /* at most 64 * 128 */
};

void compact_count(const struct dense *dense, struct compact_counts *counts);

/* A cell of row 0 or 1 of a scanned block has changed, and the block's step has not. False if all has to be counted
 * again: values are now divided by another power of two. */
bool compact_recount(struct compact_counts *counts, unsigned row, uint32_t columns, int64_t before, int64_t after);

/* What the networks see of the counts. */
void compact_look(const struct compact_counts *counts, struct compact_view *view);

void compact_reads(const struct dense *dense, unsigned rows, const int64_t value[], const uint32_t columns[],
                   float reads[COMPACT_READS]);

/* The shape of the stream, and h of an item: the scalar truth, in doubles. */
void compact_scan(const float *weights, const struct compact_view *view, double stream[COMPACT_STREAM]);
double compact_decode(const float *weights, const double stream[COMPACT_STREAM], const float reads[COMPACT_READS]);

/* The same for the kernels: the decoder's weights, those of a sketch's items, and what depends on N. */
void compact_pack(const float *weights, struct decode_weights *packed);
void compact_bias(const float *weights, const double stream[COMPACT_STREAM], float bias[DECODE_HIDDEN_ROOM]);
void compact_scale(const struct dense *dense, struct decode_stream *stream);
