/* compact: scanning and decoding for blocks that share (block/block.h). The stream's shape from a sample of the blocks,
 * and an estimate from an item's reads and that shape.
 *
 * Scan. All blocks are alike, since a hash spreads the items; so the first 32 that share, of the first 128, stand for
 * all that do. Their cells are counted by width (8 to 512, seven of them) and by size (48 buckets: 0 to 8, then two
 * an octave). An item's neighbours in a cell are as the cells are: this histogram *is* the distribution of the
 * noise. It goes, as the roots of its shares, through
 *
 *     336 -> 24, joined with ln(mean mass of a block), mean log2(width) -> 26 -> 24 -> 16 (LeakyReLU between)
 *
 * Decode. An item's reads, of two rows and of the cap, least first, are seen by size, by the width of their cell, and
 * by size against the mean noise of such a cell; with the step of the block, 10 numbers. With the 16 of the scan:
 *
 *     26 -> 40 -> 24 -> 1 (LeakyReLU between) = h, kept within 0 and 1;     the answer is h times the least read,
 *                                                                                  but at least 1
 *
 * so it never exceeds the bound, and h = 1 is the rule (an h of 0.99 counts as 1: sketch/blocks_query.c). 2,024
 * multiply-adds an item, of which 640 are those of the scan's numbers: they are the same for all items of a sketch, and
 * made part of the bias. Where blocks hold 2^17 or more on average, all values enter divided by a power of two: so far
 * up only ratios matter. */
#pragma once

#include "block/blocks.h"
#include "model/kernels.h"
#include "model/model.h"

/* What a model file says of the blocks that it is for. */
enum { COMPACT_ROWS = 3, COMPACT_COLUMNS = 512, COMPACT_QUANTUM = 4 };

enum {
    COMPACT_SCANNED = 32, /* blocks that share, ... */
    COMPACT_AMONG = 128,  /* ... of the first so many */
    COMPACT_LEAST = 3,    /* log2 of the least width */
    COMPACT_WIDTHS = 7,
    COMPACT_BUCKETS = 48,
    COMPACT_READS = DECODE_READS,
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

/* ---- what queries need ------------------------------------------------------------------------------------------- */

/* The first layer's bias for all items of these blocks. *any false, and no bias: no scanned block shares, and answers
 * are the rule's. It follows from the scanned blocks' content alone. */
void compact_bias_of(const lego_model *model, const struct blocks *blocks, float bias[DECODE_HIDDEN_ROOM], bool *any);

/* Whether a change of this block can change that. */
static inline bool compact_scans(const struct blocks *blocks, uint32_t block)
{
    (void)blocks;
    return block < COMPACT_AMONG;
}

/* What the kernels need of N and the number of blocks. */
void compact_scale(const struct blocks *blocks, struct decode_stream *stream);

/* An item's reading, of a block that shares, among items. */
static inline void compact_put(const struct reading *reading, struct decode_items *items, unsigned i)
{
    for (unsigned k = 0; k < DECODE_VALUES; k++) {
        items->value[k][i] = reading->value[k];
        items->width[k][i] = (uint8_t)__builtin_ctz(reading->width[k]);
    }
    items->step[i] = (uint8_t)reading->step;
}

/* The decoder's weights as the kernels want them. */
void compact_pack(const float *weights, struct decode_weights *packed);

/* ---- the parts of it, for training and tests --------------------------------------------------------------------- */

/* What the networks see of a sketch. */
struct compact_view {
    float cells[COMPACT_HISTOGRAM], facts[COMPACT_FACTS];
};

/* Scans; false if no scanned block shares. */
bool compact_look(const struct blocks *blocks, struct compact_view *view);

/* What the networks see of an item. */
void compact_reads(const struct blocks *blocks, const struct reading *reading, float reads[COMPACT_READS]);

/* The shape of the stream, and h of an item: the scalar truth, in doubles. */
void compact_scan(const float *weights, const struct compact_view *view, double stream[COMPACT_STREAM]);
double compact_decode(const float *weights, const double stream[COMPACT_STREAM], const float reads[COMPACT_READS]);

/* The first layer's bias for items of this stream. */
void compact_bias(const float *weights, const double stream[COMPACT_STREAM], float bias[DECODE_HIDDEN_ROOM]);
