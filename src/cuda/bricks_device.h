/* bricks_device: what kernels get of the bricks on a GPU, and how they are started. */
#pragma once

#include <cuda_runtime_api.h>

#include "core/hash.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BIASES_OF_MIX = 32, BIASES = BIASES_OF_MIX + 8 };

/* What the scan finds out for questions to a brick. The first layers of the decoder that see the brick's stream have
 * the same of it for all items: their biases here contain it, summed up in double, which leaves float the small
 * differences between items. */
struct brick_view {
    float bias[BIASES]; /* of DEC_MIX_0, then of DEC_OUT_0 */
    double noise[2];    /* N * mean weight / n of a narrow row, of a wide one */
    uint32_t wide;      /* a bit a row */
    uint32_t decodes;   /* whether the networks do, or the rule alone */
} __attribute__((aligned(16)));

/* The decoder's weights, in the order in which they are multiplied: of two layers, a unit of the first goes to all of
 * the second at once, so that the first layer's output is never kept. */
struct decoder {
    float pair0[8][4];                                                 /* m, v (in our scale), bias, 0 */
    float pair1[16][8], pair2[16][16], pair1_bias[16], pair2_bias[16]; /* pair2[from][to] */
    float mix0[32][16], mix0_rule[32];                                 /* of sums over the rows, not means */
    float mix1[32][16], mix1_bias[16];                                 /* mix1[from][to] */
    float out0[8][16], out0_rule[8], out1[8][4], out1_bias[4];         /* out1[from][to] */
    float out2[4], out2_bias, unused[3];
    uint32_t table16[TABLE_MAX];
} __attribute__((aligned(16)));

/* The memory on the device. content: cells to marks, which a host copy has in the same layout. */
struct bricks_content {
    int64_t *cells;  /* [bricks][rows][columns] */
    int64_t *totals; /* [bricks] */
    uint32_t *pairs; /* [bricks][rows][words]: bit j of a wide row is set if its cells 2j and 2j + 1 are one */
    uint8_t *wide;   /* [bricks]: bit k is set if row k is wide */
};

struct device_bricks {
    struct divisor bricks, columns;
    uint32_t rows, quantum, table_size, tail, words; /* tail: row_tail(columns); words of a row's pairs */
    double mean_weight;
    float distinct_min, skew_max;
    struct bricks_content content;
    struct brick_view *views;
    const struct decoder *decoder;
    const float *weights; /* [MODEL_WEIGHTS] */
};

/* Each starts a kernel for all bricks, or n > 0 keys, in the stream. */
cudaError_t device_add(const struct device_bricks *bricks, struct hash_way way, const uint64_t *keys,
                       const int64_t *counts, size_t n, cudaStream_t stream);
cudaError_t device_scan(const struct device_bricks *bricks, cudaStream_t stream);
cudaError_t device_query(const struct device_bricks *bricks, struct hash_way way, const uint64_t *keys, size_t n,
                         lego_estimate *estimates, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
