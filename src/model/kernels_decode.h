/* The decoder of compact.h for many items at once, in single precision: [feature][item], so that a vector register
 * holds one number of LANES items. Included by one file for each kind of CPU, which says:
 *
 *     DECODER, DECODER_NAME    what the table of functions is called, for the linker and for people
 *     SUPPORTED                whether this CPU can run them
 *     LANES                    floats in a vector register
 *     FUSED(a, b, c)           a * b + c of vectors, rounded once
 *     TILE_READS, TILE_MIX     outputs of these layers that are summed in registers at once ...
 *     TILE_VECTORS             ... for so many vectors of items
 *
 * Every number is computed by the same operations in the same order, whatever the width of a vector and the number of
 * items: a sum starts with the bias and takes the inputs one by one. So one item alone, whose vectors go along the
 * outputs, gets the bits that it gets in a batch, and it gets them on every machine. */
#pragma once

#include "block/block.h"
#include "model/kernels.h"

#include <string.h>

#ifndef DECODER /* alone, to see that it compiles; kernels_decode_plain.c has a FUSED that rounds once */
#define DECODER decode_kernels_plain
#define DECODER_NAME "plain"
#define SUPPORTED true
#define LANES 4
#define FUSED(a, b, c) ((a) * (b) + (c))
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
    PARTS = LANES > 8 ? LANES : 8
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
    float value[DECODE_VALUES][MANY];   /* not below 0 */
    int32_t width[DECODE_VALUES][MANY]; /* log2 of the width of its cell */
    float mass[DECODE_VALUES][MANY];    /* what is spread over such cells */
};

/* A key sorts by value, and tells which of the item's values it is. */
INLINE int64_t key_of(int64_t value, int which)
{
    return decode_seen(value) << 2 | which;
}

#define ORDER(p, q)                                                                                                    \
    {                                                                                                                  \
        int64_t one = p, other = q;                                                                                    \
        p = one < other ? one : other;                                                                                 \
        q = one < other ? other : one;                                                                                 \
    }

/* Written so that it is compiled to vectors: all items go the same way through three comparisons. */
INLINE void sort_reads(const struct decode_stream *stream, const struct decode_items *items, struct sorted *sorted)
{
    int64_t key[DECODE_VALUES][MANY];
    for (int i = 0; i < DECODE_VALUES; i++)
        for (int c = 0; c < MANY; c++) key[i][c] = key_of(items->value[i][c], i);
    for (int c = 0; c < MANY; c++) ORDER(key[0][c], key[1][c])
    for (int c = 0; c < MANY; c++) ORDER(key[1][c], key[2][c])
    for (int c = 0; c < MANY; c++) ORDER(key[0][c], key[1][c])
    for (int i = 0; i < DECODE_VALUES; i++) {
        for (int c = 0; c < MANY; c++) sorted->value[i][c] = (float)(key[i][c] >> 2);
        for (int c = 0; c < MANY; c++) {
            int32_t which = (int32_t)key[i][c] & 3, w0 = items->width[0][c], w1 = items->width[1][c];
            int32_t w2 = items->width[2][c];
            sorted->width[i][c] = which == 0 ? w0 : which == 1 ? w1 : w2;
            sorted->mass[i][c] = which == 2 ? stream->cap_mean : stream->mean;
        }
    }
}

/* As compact_reads(). */
INLINE void see_reads(const struct decode_stream *stream, const struct decode_items *items, const struct sorted *sorted,
                      float x[DECODE_READS][MANY])
{
    for (int at = 0; at < MANY; at += LANES) {
        vec least = {0};
        UNROLL for (int i = 0; i < DECODE_VALUES; i++)
        {
            vec m = load(&sorted->value[i][at]) * stream->scale;
            ints width = *(const ints_in_memory *)&sorted->width[i][at];
            vec noise = load(&sorted->mass[i][at]) * (vec)((127 - width) << 23); /* the mass times 2^-width */
            vec size = log_of(m + 1.0F) * 0.2F - least;
            if (i == 0) least = size;
            store(&x[i][at], size);
            store(&x[3 + i][at], __builtin_convertvector(width, vec) * 0.125F);
            store(&x[6 + i][at], log_of((m + 0.5F) / (noise + 0.5F)) * (1 / 3.0F));
        }
    }
    for (int c = 0; c < MANY; c++) x[9][c] = (float)(items->step[c] - STEP_SHARE) * 0.03125F;
}

/* The same for one item, whose logarithms are in the lanes of a vector. Its numbers become vectors without a way
 * through memory: a load of several stores waits until these are done, and so for all the work on the item before. */
typedef float four_floats __attribute__((vector_size(16)));
typedef int32_t four_ints __attribute__((vector_size(16)));
typedef int64_t four_keys __attribute__((vector_size(32)));

INLINE void see_one(const struct decode_stream *stream, const struct decode_items *items, unsigned c,
                    float x[DECODE_READS])
{
    int64_t key[DECODE_VALUES];
    for (int i = 0; i < DECODE_VALUES; i++) key[i] = key_of(items->value[i][c], i);
    ORDER(key[0], key[1])
    ORDER(key[1], key[2])
    ORDER(key[0], key[1])
    four_keys sorted = {key[0], key[1], key[2], 0};
    uint32_t widths =
        (uint32_t)items->width[0][c] | (uint32_t)items->width[1][c] << 8 | (uint32_t)items->width[2][c] << 16;
    four_ints which = __builtin_convertvector(sorted & 3, four_ints), is_cap = which == 2;
    four_ints width = (int32_t)widths >> 8 * which & 255;
    four_floats mean = stream->mean - (four_floats){0}, cap_mean = stream->cap_mean - (four_floats){0};
    four_floats mass = (four_floats)(((four_ints)cap_mean & is_cap) | ((four_ints)mean & ~is_cap));
    four_floats m = __builtin_convertvector(sorted >> 2, four_floats) * stream->scale, size = m + 1.0F;
    four_floats over = (m + 0.5F) / (mass * (four_floats)((127 - width) << 23) + 0.5F);
#if LANES == 4
    size = log_of(size), over = log_of(over);
#else
    vec log = log_of((vec){size[0], size[1], size[2], size[3], over[0], over[1], over[2], over[3]});
    size = (four_floats){log[0], log[1], log[2], log[3]}, over = (four_floats){log[4], log[5], log[6], log[7]};
#endif
    for (int i = 0; i < DECODE_VALUES; i++) {
        x[i] = size[i] * 0.2F - (i > 0 ? x[0] : 0);
        x[3 + i] = (float)width[i] * 0.125F;
        x[6 + i] = over[i] * (1 / 3.0F);
    }
    x[9] = (float)(items->step[c] - STEP_SHARE) * 0.03125F;
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
    float part[PARTS];
    UNROLL for (int i = 0; i < 8; i += LANES)
    {
        vec sum = load(w->answer + i) * load(b + i);
        sum = FUSED(load(w->answer + i + 8), load(b + i + 8), sum);
        store(part + i, FUSED(load(w->answer + i + 16), load(b + i + 16), sum));
    }
    UNROLL for (int i = 0; i < 4; i++) part[i] += part[i + 4];
    return ((part[0] + part[2]) + (part[1] + part[3])) + w->answer_bias;
}

static void decode_many(const struct decode_weights *w, const struct decode_stream *stream,
                        const struct decode_items *items, float h[MANY])
{
    struct sorted sorted;
    float x[DECODE_READS][MANY], a[HIDDEN][MANY], b[MIXED][MANY];
    sort_reads(stream, items, &sorted);
    see_reads(stream, items, &sorted, x);
    layer_many(DECODE_READS, HIDDEN, DECODE_HIDDEN_ROOM, TILE_READS, 1, stream->bias, w->reads[0], x[0], a[0]);
    layer_many(HIDDEN, MIXED, DECODE_MIXED_ROOM, TILE_MIX, 2, w->mix_bias, w->mix[0], a[0], b[0]);
    answer_many(w, (const float(*)[MANY])b, h);
}

static void decode_one(const struct decode_weights *w, const struct decode_stream *stream,
                       const struct decode_items *items, unsigned c, float *h)
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
        for (int i = 0; i < DECODE_VALUES; i++) items->value[i][c] = items->width[i][c] = 0;
        items->step[c] = STEP_SHARE;
    }
    decode_many(w, stream, items, h);
}

static bool supported(void)
{
    return SUPPORTED;
}

const struct decode_kernels DECODER = {.name = DECODER_NAME, .supported = supported, .decode = decode_items};
