/* ms_blocks: what a task of the meta-sketch has in memory, and products over the items of a block. Included by
 * ms_net.h, which says how items lie. */
#pragma once

#include "layers.h"
#include "ms_train.h"

/* Items of a block: 15 vectors of 64 bytes, an odd number of cache lines, so that columns of a product's 256 rows do
 * not all fall into the same sets of the cache. */
#ifndef MS_BLOCK
#define MS_BLOCK 240
#endif
enum { BLOCK = MS_BLOCK, PAIRS = MS_DEPTH * MS_EMBED };
_Static_assert(BLOCK % LANES == 0, "blocks are whole vectors");

static const real norm_epsilon = (real)1e-5, least_z = (real)1e-4, least_gap = (real)1e-4;

/* Sums over a block: of u and u^2 forward, of dy and dy x backward; and of the errors. */
struct sums {
    double one[MS_NORMED], two[MS_NORMED], mse, are, aae;
};

/* Rows of numbers are aligned to vectors. */
struct items {
    _Alignas(64) real f[1][BLOCK];
    uint32_t count; /* items that are there; the others are padding */
    const uint64_t *bits;
    struct sums sums;
    _Alignas(64) real u0[64][BLOCK], u1[43][BLOCK], v0[32][BLOCK], v1[18][BLOCK]; /* what batch norm gets */
    real du0[64][BLOCK], du1[43][BLOCK], dv0[32][BLOCK], dv1[18][BLOCK];          /* of what it gives, then of that */
    real z[MS_EMBED][BLOCK], q[MS_REFINED][BLOCK], a[MS_DEPTH][MS_SLOTS][BLOCK];
    real dz[MS_EMBED][BLOCK], da[MS_DEPTH][MS_SLOTS][BLOCK];
};

struct scratch {
    _Alignas(64) real x[MS_BITS][BLOCK], h0[64][BLOCK], h1[43][BLOCK], r0[32][BLOCK], r1[18][BLOCK];
    real fz[MS_EMBED][BLOCK], part[MS_SLOTS][BLOCK], dq[MS_REFINED][BLOCK];
    real in[MS_IN][BLOCK], e[MS_HIDDEN][BLOCK], g[MS_IN][BLOCK], k[MS_HALF][BLOCK], answer[1][BLOCK];
    real din[MS_IN][BLOCK], de[MS_HIDDEN][BLOCK], dg[MS_IN][BLOCK], dk[MS_HALF][BLOCK], danswer[1][BLOCK];
    real read[PAIRS][BLOCK], scale[MS_DEPTH][BLOCK], dread[MS_EMBED][BLOCK];
};

struct slots {
    real m[MS_DEPTH][MS_SLOTS * MS_EMBED];
};

struct workspace {
    struct scratch scratch; /* of the block at work */
    const real *w;
    uint32_t n, blocks;
    double total;                            /* N */
    double mean[MS_NORMED], rest[MS_NORMED]; /* of batch norm: mean, 1 / sqrt(variance + epsilon) */
    double sum_dy[MS_NORMED], sum_dyx[MS_NORMED];
    real gradient[MS_PARAMETERS];
    struct slots memory, dmemory;
    struct items *block;
};

#define FORWARD(layer, slope, x, y)                                                                                    \
    dense_forward(MS_IN_##layer, MS_OUT_##layer, slope, s->w + MS_AT_##layer, &(x)[0][0], &(y)[0][0], BLOCK)
#define BACKWARD_INPUT(layer, below, x, dy, dx)                                                                        \
    dense_backward(MS_IN_##layer, MS_OUT_##layer, 0, MS_IN_##layer, below, s->w + MS_AT_##layer, &(x)[0][0],           \
                   &(dy)[0][0], &(dx)[0][0], BLOCK)
/* The gradients of W and of the input; with those of the bias where batch norm does not follow. */
#define BACKWARD_BARE(layer, below, x, dy, dx)                                                                         \
    matrix_backward(MS_IN_##layer, MS_OUT_##layer, &(x)[0][0], &(dy)[0][0], s->gradient + MS_AT_##layer);              \
    BACKWARD_INPUT(layer, below, x, dy, dx)
#define BACKWARD(layer, below, x, dy, dx)                                                                              \
    bias_backward(MS_OUT_##layer, &(dy)[0][0], s->gradient + MS_BIAS_##layer);                                         \
    BACKWARD_BARE(layer, below, x, dy, dx)

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* dw [out][in] += dy x^T */
INLINE void matrix_backward(const int in, const int out, const real *x, const real *dy, real *dw)
{
    outer(in, out, x, dy, (struct outer){.flat = dw}, BLOCK);
}

INLINE void bias_backward(const int out, const real *dy, real *db)
{
    for (int o = 0; o < out; o++) {
        vec sum = {0};
        for (int at = 0; at < BLOCK; at += LANES) sum += vec_load(dy + o * BLOCK + at);
        db[o] += lanes_sum(sum);
    }
}

/* Sums of x and of x y over the first `count` items, in doubles. */
static void add_products(const real *restrict x, const real *restrict y, uint32_t count, double *one, double *two)
{
    double a[8] = {0}, b[8] = {0};
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (uint32_t l = 0; l < 8; l++) a[l] += (double)x[i + l], b[l] += (double)x[i + l] * (double)y[i + l];
    for (; i < count; i++) a[0] += (double)x[i], b[0] += (double)x[i] * (double)y[i];
    for (int l = 1; l < 8; l++) a[0] += a[l], b[0] += b[l];
    *one = a[0];
    *two = b[0];
}
