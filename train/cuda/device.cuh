/* device: what the paper's networks have on the GPU. */
#pragma once

#include "session.cuh"

extern "C" {
#include "loss.h"
#include "model/model.h"
}

namespace
{

constexpr int ROWS = TRAIN_ROWS, COLUMNS = TRAIN_COLUMNS, TABLE = TRAIN_TABLE, TASKS = TRAIN_BATCH,
              LOSSES = TRAIN_LOSSES;
constexpr int ITEMS = 128, CELLS = COLUMNS / 10, QUARTERS = CELLS / ITEMS;

#define LAYER_IN(layer, name, in, out) in,
#define LAYER_OUT(layer, name, in, out) out,
constexpr int IN[LAYERS] = {MODEL_LAYERS(LAYER_IN)}, OUT[LAYERS] = {MODEL_LAYERS(LAYER_OUT)};

constexpr int layer_at(int layer)
{
    int at = TABLE;
    for (int i = 0; i < layer; i++) at += (IN[i] + 1) * OUT[i];
    return at;
}
constexpr int SCAN_AT = layer_at(SCAN_CELL_0), DEC_AT = layer_at(DEC_PAIR_0), LOSS_AT = layer_at(LAYERS);
constexpr int SCAN_SIZE = DEC_AT - SCAN_AT, DEC_SIZE = LOSS_AT - DEC_AT, PARAMETERS = TRAIN_PARAMETERS;
static_assert(LOSS_AT + LOSSES == PARAMETERS, "paper.h knows how many parameters there are");

struct drawn : task {
    uint32_t tiles, first_tile; /* tiles of 128 items, numbered through all tasks */
};

struct scanned { /* one row of a brick */
    float mean[32], implicit[4], skew, distinct;
};

struct device : learnt {
    drawn *tasks;
    unsigned long long *bricks; /* [task][row][column], fixed point */
    unsigned long long *mass;   /* [task], N in fixed point */
    scanned *scans;             /* [task][row] */
    double *tile_sums;          /* [tile][6]: of tiles that are queried, as the next */
    float *tile_implicit;       /* [tile][4] */
    float *worth;               /* [task][3]: dL / dE / n; of a scout nothing */
    double *doff;               /* [task][2]: dL / ds(alpha), dL / ds(n) */
    double *table_scale;        /* of the fixed point that gradients of V are summed in */
    float *partial_dec;         /* [block][DEC_SIZE] */
    long long *partial_table;   /* [block][TABLE], fixed point */
    float *partial_scan;        /* [task * ROWS * QUARTERS][SCAN_SIZE] */
    int blocks;                 /* of the query kernel */
};

} // namespace
