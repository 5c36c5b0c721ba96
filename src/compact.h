/* compact: scanning and decoding for blocks. The stream's shape from a sample of the blocks, and an estimate from an
 * item's reads and that shape.
 *
 * Scan. All blocks are alike, since a hash spreads the items; so the first 64 stand for all. Their cells of rows 0 and 1
 * are counted by how many cells the row has (2 to 128, seven widths) and by size (48 buckets: 0 to 8, then two an octave).
 * An item's neighbours in a cell are as the cells are: this histogram *is* the distribution of the noise. It goes, as the
 * roots of its shares, through
 *
 *     336 -> 24, joined with ln(mean mass of a block), mean log2(width) -> 26 -> 24 -> 16 (LeakyReLU between)
 *
 * Decode. An item's reads, least first (2 to 4 of them), are seen by size, by size against the mean noise of such a cell,
 * and by the width of their row: 14 numbers. With the 16 of the scan:
 *
 *     30 -> 40 -> 24 -> 1 (LeakyReLU between) = h, kept within 0 and 1;     the answer is h times the least read,
 *                                                                                  but at least 1
 *
 * so it never exceeds the bound, and h = 1 is the rule. 2,184 multiply-adds an item. Where blocks hold more than 2^16 on
 * average, all values enter divided by a power of two: so far up only ratios matter. */
#ifndef LEGO_SRC_COMPACT_H
#define LEGO_SRC_COMPACT_H

#include "dense.h"
#include "model.h"

enum { COMPACT_SCANNED = 64, COMPACT_WIDTHS = 7, COMPACT_BUCKETS = 48, COMPACT_READS = 14, COMPACT_STREAM = 16,
       COMPACT_HISTOGRAM = COMPACT_WIDTHS * COMPACT_BUCKETS, COMPACT_FACTS = 2 };

/* The layers in file order: name here, name in words, inputs, outputs. Matrix [out][in], then bias [out]. */
#define COMPACT_LAYERS(X)                                      \
    X(CELLS, "scan.cells", COMPACT_HISTOGRAM, 24)              \
    X(FACTS, "scan.facts", 24 + COMPACT_FACTS, 24)             \
    X(STREAM, "scan.stream", 24, COMPACT_STREAM)               \
    X(READS, "dec.reads", COMPACT_READS + COMPACT_STREAM, 40)  \
    X(MIX, "dec.mix", 40, 24)                                  \
    X(ANSWER, "dec.answer", 24, 1)

#define COMPACT_SHAPE(layer, name, in, out) COMPACT_IN_##layer = (in), COMPACT_OUT_##layer = (out),
enum { COMPACT_LAYERS(COMPACT_SHAPE) COMPACT_SHAPES_END };
#define COMPACT_PLACE(layer, name, in, out) COMPACT_AT_##layer, COMPACT_END_##layer = COMPACT_AT_##layer + ((in) + 1) * (out) - 1,
enum { COMPACT_LAYERS(COMPACT_PLACE) COMPACT_WEIGHTS };

/* What the networks see of a sketch, and of an item. */
struct compact_view {
    float cells[COMPACT_HISTOGRAM], facts[COMPACT_FACTS];
};

void compact_look(const struct dense *dense, struct compact_view *view);
void compact_reads(const struct dense *dense, unsigned rows, const int64_t value[], const uint32_t columns[],
                   float reads[COMPACT_READS]);

/* The shape of the stream, and h of an item. */
void compact_scan(const float *weights, const struct compact_view *view, double stream[COMPACT_STREAM]);
double compact_decode(const float *weights, const double stream[COMPACT_STREAM], const float reads[COMPACT_READS]);

#endif
