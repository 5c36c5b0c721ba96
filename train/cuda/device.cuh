/* device: what a training session has on the GPU. */
#ifndef LEGO_CUDA_DEVICE_CUH
#define LEGO_CUDA_DEVICE_CUH

#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "backend.h"
#include "model.h"
}

namespace {

constexpr int ROWS = TRAIN_ROWS, COLUMNS = TRAIN_COLUMNS, TABLE = TRAIN_TABLE, TASKS = TRAIN_BATCH, LOSSES = TRAIN_LOSSES;
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
static_assert(LOSS_AT + LOSSES == PARAMETERS, "train.h knows how many parameters there are");

struct drawn {
    uint64_t key;
    uint32_t n, tiles, first_tile; /* tiles of 128 items, numbered through all tasks */
    float alpha, scale;
};

struct scanned { /* one row of a brick */
    float mean[32], implicit[4], skew, distinct;
};

struct device {
    struct recipe recipe;
    uint64_t steps;
    double average_rate;
    uint64_t *step;                   /* the next to do */
    int *broken;                      /* set by a step whose loss or gradient is not finite: no update after it */
    float *parameters, *first, *second, *average, *gradient; /* first, second: Adam's moments */
    drawn *tasks;
    unsigned long long *bricks;       /* [task][row][column], fixed point */
    unsigned long long *mass;         /* [task], N in fixed point */
    scanned *scans;                   /* [task][row] */
    double *tile_sums;                /* [tile][6]: of tiles that are queried, as the next */
    float *tile_implicit;             /* [tile][4] */
    float *worth;                     /* [task][3]: dL / dE / n; of a scout nothing */
    double *table_scale;              /* of the fixed point that gradients of V are summed in */
    float *partial_dec;               /* [block][DEC_SIZE] */
    long long *partial_table;         /* [block][TABLE], fixed point */
    float *partial_scan;              /* [task * ROWS * QUARTERS][SCAN_SIZE] */
    struct losses *losses;            /* of this step */
    struct losses *history;           /* [HISTORY], by step modulo its size */
    int blocks;                       /* of the query kernel */
};
constexpr int HISTORY = 4096;

} // namespace

#endif
