/* model: what is learnt. The table V of embedding weights and the networks that scan a brick and decode an item. */
#ifndef LEGO_SRC_MODEL_H
#define LEGO_SRC_MODEL_H

#include "legosketch.h"
#include "sizes.h"

enum model_kind { MODEL_RULE = 0, MODEL_PAPER = 1 };

/* The layers of a paper model, in file order; one table of names and shapes, model_layers. */
enum layer {
    SCAN_CELL_0, SCAN_CELL_1, SCAN_CELL_2,
    SCAN_IMPLICIT_0, SCAN_IMPLICIT_1, SCAN_IMPLICIT_2,
    SCAN_SKEW_0, SCAN_SKEW_1, SCAN_SKEW_2, SCAN_SKEW_3,
    SCAN_DISTINCT_0, SCAN_DISTINCT_1, SCAN_DISTINCT_2, SCAN_DISTINCT_3,
    DEC_PAIR_0, DEC_PAIR_1, DEC_PAIR_2,
    DEC_MIX_0, DEC_MIX_1,
    DEC_OUT_0, DEC_OUT_1, DEC_OUT_2,
    LAYERS
};

struct layer_shape {
    const char *name;
    uint32_t in, out;
};

extern const struct layer_shape model_layers[LAYERS];

enum { LAYER_WIDTH_MAX = 32, SCAN_IMPLICIT = 4 };

struct lego_model {
    char name[NAME_SIZE];
    uint32_t kind, rows, columns, quantum, table_size;
    float distinct_min; /* the networks decode where s(n) is above this ... */
    float skew_max;     /* ... and s(alpha) below this */
    uint64_t fingerprint;
    double mean_weight; /* of a row, over all items; derived from table and quantum */
    float table[TABLE_MAX];      /* V */
    uint32_t table16[TABLE_MAX]; /* round(65536 V): the weights are computed from integers, alike on every CPU */
    uint32_t layer_at[LAYERS];   /* where a layer's matrix starts in weights; its bias follows */
    const float *weights;        /* NULL for a rule model */
    uint64_t weights_size;       /* in floats */
    lego_allocator allocator;
    size_t allocated;
};

/* Fills in what follows from the fields of a file: table16, mean_weight, layer_at. */
void model_derive(struct lego_model *model);

/* Floats that the networks of a kind have. */
uint64_t model_weights(uint32_t kind);

#endif
