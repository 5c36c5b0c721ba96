/* model: what kind of sketch it is, and for bricks what is learnt: the table V of embedding weights and the networks
 * that scan a brick and decode an item. Blocks need none of it.
 *
 * The room model holds the weights (model, network), and what cells alone say of a count (bounds). It may include core
 * and block. */
#pragma once

#include <stdbool.h>

#include "legosketch.h"
#include "core/sizes.h"

enum model_kind {
    MODEL_PAPER = 1,   /* bricks (paper/bricks.h) and the paper's networks */
    MODEL_COMPACT = 2, /* blocks that list and share (block/blocks.h), all weights 1 */
    MODEL_PLAIN = 3,   /* as paper, but embeddings are not normalised: one of the paper's ablations */
};

enum { LAYER_WIDTH_MAX = 32, SCAN_IMPLICIT = 4 };

/* The layers of a paper model, in file order: name here, name in words, inputs, outputs. The one table of them: the
 * enumeration, model_layers and the arena of the trainer are made from it. */
#define MODEL_LAYERS(X)                                                                                                \
    X(SCAN_CELL_0, "scan.cell.0", 1, 8)                                                                                \
    X(SCAN_CELL_1, "scan.cell.1", 8, 16)                                                                               \
    X(SCAN_CELL_2, "scan.cell.2", 16, 32)                                                                              \
    X(SCAN_IMPLICIT_0, "scan.implicit.0", 32, 16)                                                                      \
    X(SCAN_IMPLICIT_1, "scan.implicit.1", 16, 8)                                                                       \
    X(SCAN_IMPLICIT_2, "scan.implicit.2", 8, SCAN_IMPLICIT)                                                            \
    X(SCAN_SKEW_0, "scan.skew.0", 32, 16)                                                                              \
    X(SCAN_SKEW_1, "scan.skew.1", 16, 16)                                                                              \
    X(SCAN_SKEW_2, "scan.skew.2", 16, 8)                                                                               \
    X(SCAN_SKEW_3, "scan.skew.3", 8, 1)                                                                                \
    X(SCAN_DISTINCT_0, "scan.distinct.0", 32, 16)                                                                      \
    X(SCAN_DISTINCT_1, "scan.distinct.1", 16, 16)                                                                      \
    X(SCAN_DISTINCT_2, "scan.distinct.2", 16, 8)                                                                       \
    X(SCAN_DISTINCT_3, "scan.distinct.3", 8, 1)                                                                        \
    X(DEC_PAIR_0, "dec.pair.0", 2, 8)                                                                                  \
    X(DEC_PAIR_1, "dec.pair.1", 8, 16)                                                                                 \
    X(DEC_PAIR_2, "dec.pair.2", 16, 16)                                                                                \
    X(DEC_MIX_0, "dec.mix.0", 24, 32)                                                                                  \
    X(DEC_MIX_1, "dec.mix.1", 32, 16)                                                                                  \
    X(DEC_OUT_0, "dec.out.0", 20, 8)                                                                                   \
    X(DEC_OUT_1, "dec.out.1", 8, 4)                                                                                    \
    X(DEC_OUT_2, "dec.out.2", 4, 1)

#define MODEL_LAYER_NAME(layer, name, in, out) layer,
enum layer { MODEL_LAYERS(MODEL_LAYER_NAME) LAYERS };

/* Where a layer's matrix [out][in] starts in the weights; its bias follows. After the last: how many weights there
 * are. */
#define MODEL_LAYER_PLACE(layer, name, in, out) layer##_AT, layer##_END = layer##_AT + ((in) + 1) * (out)-1,
enum { MODEL_LAYERS(MODEL_LAYER_PLACE) MODEL_WEIGHTS };

struct layer_shape {
    const char *name;
    uint32_t in, out, at;
};

extern const struct layer_shape model_layers[LAYERS];

struct lego_model {
    char name[NAME_SIZE];
    uint32_t kind, rows, columns, quantum, table_size;
    float distinct_min; /* the networks decode where s(n) is above this ... */
    float skew_max;     /* ... and s(alpha) below this */
    uint64_t fingerprint;
    double mean_weight;          /* of a row, over all items; derived from table and quantum */
    float table[TABLE_MAX];      /* V */
    uint32_t table16[TABLE_MAX]; /* round(65536 V): the weights are computed from integers, alike on every CPU */
    const float *weights;        /* [MODEL_WEIGHTS] of a paper model; NULL for compact, which has none, and no table */
    lego_allocator allocator;
    size_t allocated;
};

/* Inside the library: trained as the paper says. The build makes it from models/ (cmake/embed.c). */
extern const lego_model model_paper;

/* Fills in what follows from the fields of a file: table16, mean_weight (paper/embed.c). */
void model_derive(struct lego_model *model);

/* Whether sketches of both have cells of one meaning. A fingerprint alone could be made to agree. */
static inline bool model_same(const struct lego_model *a, const struct lego_model *b)
{
    return a->fingerprint == b->fingerprint && a->kind == b->kind && a->rows == b->rows && a->quantum == b->quantum;
}
