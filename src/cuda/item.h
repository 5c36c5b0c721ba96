/* item: what a GPU does for one item: key -> hash -> cells, and reads -> estimate. Plain C as well, so that a test
 * without a GPU can hold it against the library (tests/test_cuda_item.c).
 *
 * It repeats what hash.c, dense.h, kernels_decode.h and query.c do, operation by operation, since their answers have to
 * be met to the bit: no sum may be taken in another order, and nothing fused that is not fused there (nvcc
 * -fmad=false). Numbers that can come from there do: struct places and struct decoder are filled on the CPU. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "legosketch.h"

#ifdef __CUDACC__
#define ITEM_FUNCTION static __host__ __device__ __forceinline__
#define ITEM_UNROLL _Pragma("unroll")
#else
#define ITEM_FUNCTION static inline
#define ITEM_UNROLL
#endif
#define ITEM_ALIGNED __attribute__((aligned(16))) /* so that four weights are one load */

__extension__ typedef unsigned __int128 item_u128;

enum {
    ITEM_ROWS = 4,
    ITEM_STEPS = 17,
    ITEM_CELLS = 320, /* of block.h */
    ITEM_READS = 14,
    ITEM_HIDDEN = 40,
    ITEM_MIXED = 24,  /* of compact.h */
    ITEM_TOGETHER = 2 /* items that a thread decodes together: a weight is loaded once for both */
};

/* ---- where ------------------------------------------------------------------------------------------------------- */

/* Where items are in so many blocks. */
struct places {
    uint64_t flip; /* of the hash: its seed */
    uint64_t row[ITEM_ROWS + 2], magic;
    uint32_t odd, mask; /* as in struct dense */
    uint8_t columns[ITEM_STEPS][ITEM_ROWS];
};

/* Where half an item is: half 0 has rows 0 and 2, half 1 rows 1 and 3. */
struct item_half {
    uint32_t block, column[2];
};

/* XXH3 with 128 bits of 8 bytes. */
ITEM_FUNCTION void item_hash(uint64_t key, uint64_t flip, uint64_t *lo, uint64_t *hi)
{
    item_u128 product = (item_u128)(key ^ flip) * (UINT64_C(0x9e3779b185ebca87) + (8 << 2));
    uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64) + (low << 1);
    low ^= high >> 3;
    low = (low ^ low >> 35) * UINT64_C(0x9fb21c651e98df25);
    high = (high ^ high >> 37) * UINT64_C(0x165667919e3779f9);
    *lo = low ^ low >> 28;
    *hi = high ^ high >> 32;
}

ITEM_FUNCTION struct item_half item_half_of(const struct places *p, uint64_t lo, uint64_t hi, unsigned which)
{
    struct item_half half;
    uint64_t at = p->row[ITEM_ROWS + which] * (lo + (ITEM_ROWS + which) * hi);
    uint32_t r = (uint32_t)((item_u128)(p->magic * (uint32_t)(at >> 32)) * p->odd >> 64);
    half.block = r + p->odd * ((uint32_t)at & p->mask);
    half.column[0] = (uint32_t)(p->row[which] * (lo + which * hi) >> 32);
    half.column[1] = (uint32_t)(p->row[which + 2] * (lo + (which + 2) * hi) >> 32);
    return half;
}

/* How many cells a block has at a step before this row; before row 4: in all. */
ITEM_FUNCTION unsigned item_first(const uint8_t columns[ITEM_ROWS], unsigned row)
{
    unsigned first = 0;
    for (unsigned k = 0; k < row; k++) first += columns[k];
    return first;
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

enum { ITEM_BITS = 501, ITEM_ORDERS = 32 }; /* of a dense block, and how many values g has (block.h) */

ITEM_FUNCTION uint64_t item_code(int64_t value, bool is_signed)
{
    return is_signed ? (uint64_t)value << 1 ^ (uint64_t)(value >> 63) : (uint64_t)value;
}

/* As block_digit_bits() of block/block.h. */
ITEM_FUNCTION unsigned item_digit_bits(uint64_t t)
{
    uint32_t u = t < 131631 ? (uint32_t)t : 131631;
    return (unsigned)(2 * (u >= 1) + 2 * (u >= 3) + 2 * (u >= 7) + 3 * (u >= 15) + 5 * (u >= 47) + 9 * (u >= 559) +
                      17 * (u >= 131631) + 32 * (t >= UINT64_C(8590066223)));
}

/* ---- estimates --------------------------------------------------------------------------------------------------- */

/* What is asked with, the same for all items of a sketch while it does not change. */
struct decoder {
    float reads[ITEM_READS][ITEM_HIDDEN] ITEM_ALIGNED; /* as in struct decode_weights and decode_stream */
    float bias[ITEM_HIDDEN] ITEM_ALIGNED;
    float mix[ITEM_HIDDEN][ITEM_MIXED] ITEM_ALIGNED, mix_bias[ITEM_MIXED] ITEM_ALIGNED;
    float answer[ITEM_MIXED] ITEM_ALIGNED, answer_bias, scale;
    float noise[8];                       /* 1 / (that of a row + 0.5), by log2 of its cells */
    double slack[ITEM_STEPS][ITEM_STEPS]; /* by the steps of an item's blocks */
    uint16_t first[ITEM_STEPS][ITEM_ROWS], mask[ITEM_STEPS][ITEM_ROWS]; /* of block_place() */
    uint8_t width[ITEM_STEPS][ITEM_ROWS];                               /* log2 of the cells of a row, or 0 */
};

/* Reads of an item, not sorted yet, as struct decode_items has them. */
struct item_reads {
    int64_t key[ITEM_ROWS];
    uint32_t widths;
};

/* From the cells of rows 0 to 3 at steps s and t. A row that is not there, 2 or 3, has any value. */
ITEM_FUNCTION struct item_reads item_reads_of(const struct decoder *d, unsigned s, unsigned t,
                                              const int64_t value[ITEM_ROWS])
{
    struct item_reads reads;
    unsigned w2 = d->width[s][2], w3 = d->width[t][3], w0 = d->width[s][0], w1 = d->width[t][1];
    int64_t k0 = value[0] * 4, k1 = value[1] * 4, k2 = value[2] * 4, k3 = value[3] * 4;
    reads.key[0] = k0;
    reads.key[1] = w2 ? k2 + 1 : k1 + 1;
    reads.key[2] = w2 ? k1 + 2 : w3 ? k3 + 2 : INT64_MAX;
    reads.key[3] = w2 && w3 ? k3 + 3 : INT64_MAX;
    reads.widths = w2 ? w0 | w2 << 4 | w1 << 8 | w3 << 12 : w0 | w1 << 4 | w3 << 8;
    return reads;
}

ITEM_FUNCTION void item_order(int64_t *a, int64_t *b)
{
    int64_t x = *a, y = *b;
    *a = x < y ? x : y;
    *b = x < y ? y : x;
}

/* As log_of() of kernels_decode.h. */
ITEM_FUNCTION float item_log(float x)
{
    uint32_t bits;
    float f, z, p;
    memcpy(&bits, &x, sizeof bits);
    int32_t e = (int32_t)(bits - 0x3f3504f3) >> 23;
    bits -= (uint32_t)e << 23;
    memcpy(&f, &bits, sizeof f);
    f -= 1.0F;
    z = f * f;
    p = 7.0376836292e-2F;
    p = fmaf(p, f, -1.1514610310e-1F);
    p = fmaf(p, f, 1.1676998740e-1F);
    p = fmaf(p, f, -1.2420140846e-1F);
    p = fmaf(p, f, 1.4249322787e-1F);
    p = fmaf(p, f, -1.6668057665e-1F);
    p = fmaf(p, f, 2.0000714765e-1F);
    p = fmaf(p, f, -2.4999993993e-1F);
    p = fmaf(p, f, 3.3333331174e-1F);
    p = fmaf((float)e, -2.12194440e-4F, p * f * z);
    p = fmaf(z, -0.5F, p);
    return fmaf((float)e, 0.693359375F, f + p);
}

/* What the network sees; sorts the reads. */
ITEM_FUNCTION void item_see(const struct decoder *d, struct item_reads *reads, float x[ITEM_READS])
{
    item_order(&reads->key[0], &reads->key[1]);
    item_order(&reads->key[2], &reads->key[3]);
    item_order(&reads->key[0], &reads->key[2]);
    item_order(&reads->key[1], &reads->key[3]);
    item_order(&reads->key[1], &reads->key[2]);
    ITEM_UNROLL for (int i = 0; i < ITEM_ROWS; i++)
    {
        int64_t key = reads->key[i];
        unsigned width = reads->widths >> (4 * ((uint32_t)key & 3)) & 15;
        bool there = i < 2 || width > 0;
        float m = (float)(key > 0 ? key >> 2 : 0) * d->scale;
        float size = item_log(m + 1.0F) * 0.2F, over = item_log((m + 0.5F) * d->noise[width & 7]) * (1 / 3.0F);
        x[i] = !there ? 0 : i > 0 ? size - x[0] : size;
        x[4 + i] = (float)width * 0.125F;
        x[8 + i] = there ? over : 0;
        if (i >= 2) x[10 + i] = there ? 1 : 0;
    }
}

ITEM_FUNCTION float item_bend(float x)
{
    return x < 0 ? 0.01F * x : x;
}

/* h of the items. A hidden number goes into all sums as soon as it is known; the second layer sums its halves apart. */
ITEM_FUNCTION void item_decode(const struct decoder *d, float x[ITEM_TOGETHER][ITEM_READS], float h[ITEM_TOGETHER])
{
    float low[ITEM_TOGETHER][ITEM_MIXED], sum[ITEM_TOGETHER][ITEM_MIXED];
    ITEM_UNROLL for (int half = 0; half < 2; half++)
    {
        ITEM_UNROLL for (int t = 0; t < ITEM_TOGETHER; t++) ITEM_UNROLL for (int o = 0; o < ITEM_MIXED; o++)
        {
            low[t][o] = half == 0 ? 0 : sum[t][o];
            sum[t][o] = half == 0 ? d->mix_bias[o] : 0;
        }
        for (int i = half * ITEM_HIDDEN / 2; i < (half + 1) * ITEM_HIDDEN / 2; i += 4) {
            float a[ITEM_TOGETHER][4];
            ITEM_UNROLL for (int t = 0; t < ITEM_TOGETHER; t++) ITEM_UNROLL for (int j = 0; j < 4; j++) a[t][j] =
                d->bias[i + j];
            ITEM_UNROLL for (int r = 0; r < ITEM_READS; r++) ITEM_UNROLL for (int j = 0; j < 4; j++)
            {
                float w = d->reads[r][i + j];
                ITEM_UNROLL for (int t = 0; t < ITEM_TOGETHER; t++) a[t][j] = fmaf(w, x[t][r], a[t][j]);
            }
            ITEM_UNROLL for (int j = 0; j < 4; j++)
            {
                ITEM_UNROLL for (int t = 0; t < ITEM_TOGETHER; t++) a[t][j] = item_bend(a[t][j]);
                ITEM_UNROLL for (int o = 0; o < ITEM_MIXED; o++)
                {
                    float w = d->mix[i + j][o];
                    ITEM_UNROLL for (int t = 0; t < ITEM_TOGETHER; t++) sum[t][o] = fmaf(w, a[t][j], sum[t][o]);
                }
            }
        }
    }
    ITEM_UNROLL for (int t = 0; t < ITEM_TOGETHER; t++)
    {
        float part[8];
        ITEM_UNROLL for (int i = 0; i < ITEM_MIXED; i++)
        {
            float b = item_bend(sum[t][i] + low[t][i]);
            part[i % 8] = i < 8 ? d->answer[i] * b : fmaf(d->answer[i], b, part[i % 8]);
        }
        ITEM_UNROLL for (int i = 0; i < 4; i++) part[i] += part[i + 4];
        h[t] = ((part[0] + part[2]) + (part[1] + part[3])) + d->answer_bias;
    }
}

/* As answer() of query.c. */
ITEM_FUNCTION lego_estimate item_answer(int64_t upper, double slack, float h)
{
    lego_estimate estimate;
    double bound = (double)upper, near = (double)h < 0.98 ? (double)h : 2 * (double)h - 0.98, value = near * bound;
    int64_t lower = slack < bound ? upper - (int64_t)slack : 0;
    value = value > 1 ? value : 1;
    value = value < bound ? value : bound;
    if (value < (double)lower) lower = (int64_t)value;
    estimate.value = upper > 0 ? value : bound;
    estimate.lower = upper > 0 ? lower : upper;
    estimate.upper = upper;
    return estimate;
}
