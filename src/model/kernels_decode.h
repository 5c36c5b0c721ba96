/* The decoder of compact.h for many items at once, in single precision: [feature][item], so that a vector register
 * holds one number of LANES items. Included by one file for each kind of CPU, which says:
 *
 *     DECODER, DECODER_NAME    what the table of functions is called, for the linker and for people
 *     SUPPORTED                whether this CPU can run them
 *     LANES                    floats in a vector register
 *     FUSED(a, b, c)           a * b + c of vectors, rounded once
 *     LOOK_UP(table, index)    table[index], lane by lane; index is below 8
 *     TILE_READS, TILE_MIX     outputs of these layers that are summed in registers at once ...
 *     TILE_VECTORS             ... for so many vectors of items
 *
 * Every number is computed by the same operations in the same order, whatever the width of a vector and the number of
 * items: a sum starts with the bias and takes the inputs one by one. So one item alone, whose vectors go along the
 * outputs, gets the bits that it gets in a batch, and it gets them on every machine. */
#pragma once

#include "block/kernels.h"

#include <string.h>

#ifndef DECODER /* alone, to see that it compiles; kernels_decode_plain.c has a FUSED that rounds once */
#define DECODER decode_kernels_plain
#define DECODER_NAME "plain"
#define SUPPORTED true
#define LANES 4
#define FUSED(a, b, c) ((a) * (b) + (c))
#define LOOK_UP(table, index)                                                                                          \
    ((vec){(table)[(index)[0]], (table)[(index)[1]], (table)[(index)[2]], (table)[(index)[3]]})
#define TILE_READS 4
#define TILE_MIX 4
#define TILE_VECTORS 2
#endif

#define INLINE static inline __attribute__((always_inline))

/* Before a loop whose bounds are constants: without it sums would stay arrays in memory. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef int32_t ints __attribute__((vector_size(LANES * 4)));
typedef uint32_t words __attribute__((vector_size(LANES * 4)));
typedef vec vec_in_memory __attribute__((may_alias, aligned(4))); /* weights may start anywhere */
typedef ints ints_in_memory __attribute__((may_alias, aligned(4)));

enum {
    MANY = DECODE_MOST,
    HIDDEN = DECODE_HIDDEN,
    MIXED = DECODE_MIXED,
    ALONE = 8, /* up to so many are faster one by one */
    TABLE = LANES > 8 ? LANES : 8
};

INLINE vec load(const float *p)
{
    return *(const vec_in_memory *)p;
}

INLINE void store(float *p, vec x)
{
    *(vec_in_memory *)p = x;
}

INLINE vec splat(float x)
{
    return x - (vec){0}; /* 0 + x would turn -0 into 0, so the compiler could not drop it */
}

/* x or 0. */
INLINE vec where(ints mask, vec x)
{
    return (vec)((ints)x & mask);
}

/* The LeakyReLU. */
INLINE vec bend(vec x)
{
    ints low = x < (vec){0};
    return (vec)(((ints)(0.01F * x) & low) | ((ints)x & ~low));
}

/* ln x for 2^-126 <= x < infinity, to about 1e-7 of 1 + |ln x|: x is 2^e times something between the roots of 1/2 and
 * 2, where a polynomial is near enough (its coefficients are those of Cephes). */
INLINE vec log_of(vec x)
{
    const uint32_t root_of_half = 0x3f3504f3;
    ints e = (ints)((words)x - root_of_half) >> 23;
    vec f = (vec)((words)x - ((words)e << 23)) - 1.0F, z = f * f, n = __builtin_convertvector(e, vec);
    vec p = splat(7.0376836292e-2F);
    p = FUSED(p, f, splat(-1.1514610310e-1F));
    p = FUSED(p, f, splat(1.1676998740e-1F));
    p = FUSED(p, f, splat(-1.2420140846e-1F));
    p = FUSED(p, f, splat(1.4249322787e-1F));
    p = FUSED(p, f, splat(-1.6668057665e-1F));
    p = FUSED(p, f, splat(2.0000714765e-1F));
    p = FUSED(p, f, splat(-2.4999993993e-1F));
    p = FUSED(p, f, splat(3.3333331174e-1F));
    p = FUSED(n, splat(-2.12194440e-4F), p * f * z); /* ln 2 = 0.693359375 - 0.000212194440 */
    p = FUSED(z, splat(-0.5F), p);
    return FUSED(n, splat(0.693359375F), f + p);
}

/* ---- what the network sees --------------------------------------------------------------------------------------- */

/* The reads of items, least first. */
struct sorted {
    float value[4][MANY];   /* not below 0 */
    int32_t width[4][MANY]; /* log2 of the row's columns, 0 for a row that is not there */
};

/* Written so that it is compiled to vectors: all items go the same way through a network of five comparisons. */
INLINE void sort_reads(struct decode_items *items, struct sorted *sorted)
{
    int64_t(*key)[MANY] = items->key;
#define ORDER(a, b)                                                                                                    \
    for (int c = 0; c < MANY; c++) {                                                                                   \
        int64_t x = key[a][c], y = key[b][c];                                                                          \
        key[a][c] = x < y ? x : y;                                                                                     \
        key[b][c] = x < y ? y : x;                                                                                     \
    }
    ORDER(0, 1)
    ORDER(2, 3)
    ORDER(0, 2)
    ORDER(1, 3)
    ORDER(1, 2)
#undef ORDER
    for (int i = 0; i < 4; i++) {
        for (int c = 0; c < MANY; c++) {
            int64_t value = key[i][c] >> 2;
            sorted->value[i][c] = (float)(value > 0 ? value : 0);
        }
        for (int c = 0; c < MANY; c++)
            sorted->width[i][c] = (int32_t)(items->widths[c] >> (4 * ((uint32_t)key[i][c] & 3)) & 15);
    }
}

/* As compact_reads(). */
INLINE void see_reads(const struct decode_stream *stream, const struct sorted *sorted, float x[DECODE_READS][MANY])
{
    float noise[TABLE]; /* by width */
    for (int i = 0; i < TABLE; i++) noise[i] = 1 / (stream->mean / (float)(1 << (i & 7)) + 0.5F);
    for (int at = 0; at < MANY; at += LANES) {
        vec least = {0};
        UNROLL for (int i = 0; i < 4; i++)
        {
            vec m = load(&sorted->value[i][at]) * stream->scale;
            ints width = *(const ints_in_memory *)&sorted->width[i][at], there = width > (ints){0};
            vec size = log_of(m + 1.0F) * 0.2F - least, over = log_of((m + 0.5F) * LOOK_UP(noise, width)) * (1 / 3.0F);
            if (i == 0) least = size;
            store(&x[i][at], i < 2 ? size : where(there, size));
            store(&x[4 + i][at], __builtin_convertvector(width, vec) * 0.125F);
            store(&x[8 + i][at], i < 2 ? over : where(there, over));
            if (i >= 2) store(&x[10 + i][at], where(there, splat(1)));
        }
    }
}

/* The same for one item, whose logarithms are in the lanes of a vector. Its numbers become vectors without a way
 * through memory: a load of several stores waits until these are done, and so for all the work on the item before. */
typedef float four_floats __attribute__((vector_size(16)));
typedef int32_t four_ints __attribute__((vector_size(16)));
typedef int64_t four_keys __attribute__((vector_size(32)));

INLINE void see_one(const struct decode_stream *stream, struct decode_items *items, unsigned c, float x[DECODE_READS])
{
    int64_t key[4];
    for (int i = 0; i < 4; i++) key[i] = items->key[i][c];
#define ORDER(a, b)                                                                                                    \
    {                                                                                                                  \
        int64_t p = key[a], q = key[b];                                                                                \
        key[a] = p < q ? p : q;                                                                                        \
        key[b] = p < q ? q : p;                                                                                        \
    }
    ORDER(0, 1)
    ORDER(2, 3)
    ORDER(0, 2)
    ORDER(1, 3)
    ORDER(1, 2)
#undef ORDER
    items->key[0][c] = key[0];
    four_keys sorted = {key[0], key[1], key[2], key[3]};
    four_floats m = __builtin_convertvector((sorted >> 2) & (sorted > 0), four_floats) * stream->scale;
    four_ints w = (int32_t)items->widths[c] >> (4 * (__builtin_convertvector(sorted, four_ints) & 3)) & 15;
    four_floats width = __builtin_convertvector(w, four_floats), size = m + 1.0F;
    four_floats over = (m + 0.5F) * (1 / (stream->mean / __builtin_convertvector(1 << w, four_floats) + 0.5F));
#if LANES == 4
    size = log_of(size), over = log_of(over);
#else
    vec log = log_of((vec){size[0], size[1], size[2], size[3], over[0], over[1], over[2], over[3]});
    size = (four_floats){log[0], log[1], log[2], log[3]}, over = (four_floats){log[4], log[5], log[6], log[7]};
#endif
    for (int i = 0; i < 4; i++) {
        float there = i < 2 || width[i] > 0 ? 1 : 0;
        x[i] = there > 0 ? size[i] * 0.2F - (i > 0 ? x[0] : 0) : 0;
        x[4 + i] = width[i] * 0.125F;
        x[8 + i] = there > 0 ? over[i] * (1 / 3.0F) : 0;
        if (i >= 2) x[10 + i] = there;
    }
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Outputs o to o + R - 1 for C vectors of items. w is [in][stride]. Without a bias the sums are added to what is there;
 * the last are bent. */
INLINE void layer_tile(const int in, const int stride, const int R, const int C, const float *bias, const bool last,
                       const float *w, const float *x, float *y)
{
    vec sum[8][4];
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++) sum[r][c] = bias ? splat(bias[r]) : (vec){0};
    for (int i = 0; i < in; i++) {
        vec at[4];
        UNROLL for (int c = 0; c < C; c++) at[c] = load(x + i * MANY + c * LANES);
        UNROLL for (int r = 0; r < R; r++)
        {
            vec weight = splat(w[i * stride + r]);
            UNROLL for (int c = 0; c < C; c++) sum[r][c] = FUSED(weight, at[c], sum[r][c]);
        }
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++)
    {
        float *to = y + r * MANY + c * LANES;
        if (!bias) sum[r][c] += load(to);
        store(to, last ? bend(sum[r][c]) : sum[r][c]);
    }
}

/* parts: 1, or 2 sums each of half the inputs, which one item alone has at the same time. */
INLINE void layer_many(const int in, const int out, const int stride, const int R, const int parts, const float *bias,
                       const float *w, const float *x, float *y)
{
    for (int o = 0; o < out; o += R)
        for (int c = 0; c < MANY; c += TILE_VECTORS * LANES) {
            float *to = y + o * MANY + c;
            layer_tile(in / parts, stride, R, TILE_VECTORS, bias + o, parts == 1, w + o, x + c, to);
            if (parts == 2)
                layer_tile(in / 2, stride, R, TILE_VECTORS, NULL, true, w + in / 2 * stride + o, x + in / 2 * MANY + c,
                           to);
        }
}

/* The same for one item, a vector along the outputs. */
INLINE void layer_one(const int in, const int out, const int stride, const int parts, const float *bias, const float *w,
                      const float *x, float *y)
{
    enum { MOST = (HIDDEN + LANES - 1) / LANES };
    const int vectors = (out + LANES - 1) / LANES;
    vec sum[2][MOST];
    UNROLL for (int v = 0; v < vectors; v++) sum[0][v] = load(bias + v * LANES), sum[1][v] = (vec){0};
    for (int i = 0; i < in / parts; i++)
        UNROLL for (int part = 0; part < parts; part++) UNROLL for (int v = 0; v < vectors; v++)
        {
            int at = i + part * in / 2;
            sum[part][v] = FUSED(load(w + at * stride + v * LANES), splat(x[at]), sum[part][v]);
        }
    UNROLL for (int v = 0; v < vectors; v++) store(y + v * LANES, bend(parts == 2 ? sum[1][v] + sum[0][v] : sum[0][v]));
}

/* The last layer sums eight parts side by side: alone, an item would wait for one product after the other. */
INLINE void answer_many(const struct decode_weights *w, const float b[MIXED][MANY], float h[MANY])
{
    for (int c = 0; c < MANY; c += LANES) {
        vec part[8];
        UNROLL for (int i = 0; i < 8; i++)
        {
            part[i] = w->answer[i] * load(&b[i][c]);
            part[i] = FUSED(splat(w->answer[i + 8]), load(&b[i + 8][c]), part[i]);
            part[i] = FUSED(splat(w->answer[i + 16]), load(&b[i + 16][c]), part[i]);
        }
        UNROLL for (int i = 0; i < 4; i++) part[i] += part[i + 4];
        store(h + c, ((part[0] + part[2]) + (part[1] + part[3])) + w->answer_bias);
    }
}

INLINE float answer_one(const struct decode_weights *w, const float b[DECODE_MIXED_ROOM])
{
    float part[TABLE];
    UNROLL for (int i = 0; i < 8; i += LANES)
    {
        vec sum = load(w->answer + i) * load(b + i);
        sum = FUSED(load(w->answer + i + 8), load(b + i + 8), sum);
        store(part + i, FUSED(load(w->answer + i + 16), load(b + i + 16), sum));
    }
    UNROLL for (int i = 0; i < 4; i++) part[i] += part[i + 4];
    return ((part[0] + part[2]) + (part[1] + part[3])) + w->answer_bias;
}

static void decode_many(const struct decode_weights *w, const struct decode_stream *stream, struct decode_items *items,
                        float h[MANY])
{
    struct sorted sorted;
    float x[DECODE_READS][MANY], a[HIDDEN][MANY], b[MIXED][MANY];
    sort_reads(items, &sorted);
    see_reads(stream, &sorted, x);
    layer_many(DECODE_READS, HIDDEN, DECODE_HIDDEN_ROOM, TILE_READS, 1, stream->bias, w->reads[0], x[0], a[0]);
    layer_many(HIDDEN, MIXED, DECODE_MIXED_ROOM, TILE_MIX, 2, w->mix_bias, w->mix[0], a[0], b[0]);
    answer_many(w, (const float(*)[MANY])b, h);
}

static void decode_one(const struct decode_weights *w, const struct decode_stream *stream, struct decode_items *items,
                       unsigned c, float *h)
{
    float x[DECODE_READS], a[DECODE_HIDDEN_ROOM], b[DECODE_MIXED_ROOM];
    see_one(stream, items, c, x);
    layer_one(DECODE_READS, HIDDEN, DECODE_HIDDEN_ROOM, 1, stream->bias, w->reads[0], x, a);
    layer_one(HIDDEN, MIXED, DECODE_MIXED_ROOM, 2, w->mix_bias, w->mix[0], a, b);
    *h = answer_one(w, b);
}

static void decode_items(const struct decode_weights *w, const struct decode_stream *stream, struct decode_items *items,
                         unsigned n, float h[MANY])
{
    if (n <= ALONE) {
        for (unsigned c = 0; c < n; c++) decode_one(w, stream, items, c, &h[c]);
        return;
    }
    for (unsigned c = n; c < MANY; c++) { /* those that are not asked for are empty */
        for (int i = 0; i < 4; i++) items->key[i][c] = 0;
        items->widths[c] = 0;
    }
    decode_many(w, stream, items, h);
}

static bool supported(void)
{
    return SUPPORTED;
}

const struct decode_kernels DECODER = {.name = DECODER_NAME, .supported = supported, .decode = decode_items};
