/* ms_product: the products that everything is made of, from shared memory: with the features of a tile of items, and
 * over its items. Sums go over the inner index in order, so they have the same bits every time. */
#pragma once

#include "ms_device.cuh"

namespace
{

/* ---- into shared memory ------------------------------------------------------------------------------------------ */

__device__ void load_rows(float *to, const row *from, int rows)
{
    for (int i = threadIdx.x; i < rows * ITEMS / 4; i += blockDim.x)
        reinterpret_cast<float4 *>(to)[i] = reinterpret_cast<const float4 *>(from)[i];
}

/* [K][M] of a matrix whose rows are `stride` apart, with rows of round4(M) here. */
template <int K, int M> __device__ void load_matrix(float *to, const float *from, int stride = M)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < K * M; i += blockDim.x) to[i / M * round4(M) + i % M] = from[i / M * stride + i % M];
}

/* The same from [M][K]. */
template <int K, int M> __device__ void load_transposed(float *to, const float *from)
{
    for (int i = threadIdx.x; i < K * M; i += blockDim.x) to[i % K * round4(M) + i / K] = from[i];
}

/* ---- y [M][items] = a^T x: a [K][M], x [K][items] ---------------------------------------------------------------- */

/* A thread has R rows of y, and 8 of their items: 4 from 4 column() on, and the same 32 further. */
__device__ int column()
{
    return threadIdx.x % 8;
}

__device__ int item_of(int j)
{
    return j / 4 * 32 + 4 * column() + j % 4;
}

__device__ void get8(const float *x, float (&v)[8])
{
    float4 low = *reinterpret_cast<const float4 *>(x + 4 * column());
    float4 high = *reinterpret_cast<const float4 *>(x + 32 + 4 * column());
    v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
    v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
}

__device__ void put8(float *x, const float (&v)[8])
{
    *reinterpret_cast<float4 *>(x + 4 * column()) = make_float4(v[0], v[1], v[2], v[3]);
    *reinterpret_cast<float4 *>(x + 32 + 4 * column()) = make_float4(v[4], v[5], v[6], v[7]);
}

template <int K, int M, int R> __device__ void multiply(const float *a, const float *x, float (&sum)[R][8])
{
    const float *mine = a + threadIdx.x / 8 * R;
#pragma unroll 4
    for (int k = 0; k < K; k++) {
        float v[8];
        get8(x + k * ITEMS, v);
#pragma unroll
        for (int r = 0; r < R; r += 4) {
            float4 w = *reinterpret_cast<const float4 *>(mine + k * round4(M) + r);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                sum[r][j] += w.x * v[j];
                sum[r + 1][j] += w.y * v[j];
                sum[r + 2][j] += w.z * v[j];
                sum[r + 3][j] += w.w * v[j];
            }
        }
    }
}

template <int M, int R> __device__ bool has_rows()
{
    return threadIdx.x / 8 * R < M;
}

template <int R> __device__ void clear(float (&sum)[R][8])
{
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[r][j] = 0;
}

/* done(m, v): what to do with 8 items of row m. */
template <int M, int R, class Done> __device__ void finish_rows(float (&sum)[R][8], Done done)
{
#pragma unroll
    for (int r = 0; r < R; r++) {
        int m = threadIdx.x / 8 * R + r;
        if (m < M) done(m, sum[r]);
    }
}

/* All of it, for layers that are no work: 4 rows a thread. The block has 8 threads for every 4 rows, or more. */
template <int K, int M, class Done> __device__ void product(const float *a, const float *x, Done done)
{
    if (!has_rows<M, 4>()) return;
    float sum[4][8];
    clear(sum);
    multiply<K, M, 4>(a, x, sum);
    finish_rows<M, 4>(sum, done);
}

/* ---- sums over the items of a row, in doubles -------------------------------------------------------------------- */

/* Sums of v and v y over the tile's items; the row's 8 threads must call it together. */
__device__ void measure(const place &p, int feature, const float (&v)[8], const float (&y)[8])
{
    const unsigned together = 0xffu << (threadIdx.x & 24);
    double one = 0, two = 0;
#pragma unroll
    for (int j = 0; j < 8; j++)
        if (item_of(j) < p.count) {
            one += v[j];
            two += (double)v[j] * y[j];
        }
    for (int d = 4; d > 0; d /= 2) {
        one += __shfl_xor_sync(together, one, d);
        two += __shfl_xor_sync(together, two, d);
    }
    if (column() == 0) {
        p.tile_sums->one[feature] = one;
        p.tile_sums->two[feature] = two;
    }
}

/* ---- g [R][C] = sum over items of y x^T -------------------------------------------------------------------------- */

/* Rows in shared memory are 4 floats longer, so that 8 of them at the same item are in different banks. */
constexpr int PITCH = ITEMS + 4;

enum bias { NO_BIAS, BIAS_OF_ROWS, BIAS_OF_COLUMNS }; /* whose sums over the items are wanted too */

/* A thread has RR x RC numbers of g: rows TR apart, columns TC apart. */
template <int R, int C, int RR, int RC> struct outer_shape {
    static constexpr int TR = (R + RR - 1) / RR, TC = (C + RC - 1) / RC, THREADS = TR * TC,
                         ROOM = (TR * RR + TC * RC) * PITCH; /* floats; what lies behind the last row is not used */
};

__device__ void load_pitched(float *to, const float *from, int rows)
{
    for (int i = threadIdx.x; i < rows * (ITEMS / 4); i += blockDim.x)
        *reinterpret_cast<float4 *>(to + i / (ITEMS / 4) * PITCH + i % (ITEMS / 4) * 4) =
            reinterpret_cast<const float4 *>(from)[i];
}

__device__ float row_sum(const float *x)
{
    float sum = 0;
#pragma unroll 4
    for (int c = 0; c < ITEMS; c += 4) {
        float4 v = *reinterpret_cast<const float4 *>(x + c);
        sum += v.x + v.y + (v.z + v.w);
    }
    return sum;
}

/* Of `tiles` tiles, whose rows y and x are at those places of the first and `sizeof(items)` further of the next. g's
 * entry goes to g[r rows + c columns], the bias to bias_to unless that is NULL. */
template <int R, int C, int RR, int RC, bias BIAS>
__device__ void outer(const row *y, const row *x, int tiles, float *g, int rows, int columns, float *bias_to,
                      float *room)
{
    using S = outer_shape<R, C, RR, RC>;
    constexpr int BIASES = BIAS == BIAS_OF_ROWS ? R : C;
    float *sy = room, *sx = room + S::TR * RR * PITCH, total = 0, sum[RR][RC];
    const int t = threadIdx.x, tr = t / S::TC, tc = t % S::TC;
#pragma unroll
    for (int r = 0; r < RR; r++)
#pragma unroll
        for (int c = 0; c < RC; c++) sum[r][c] = 0;
    for (int tile = 0; tile < tiles; tile++) {
        const size_t further = tile * (sizeof(items) / sizeof(float));
        __syncthreads();
        load_pitched(sy, &y[0][0] + further, R);
        load_pitched(sx, &x[0][0] + further, C);
        __syncthreads();
        if (t < S::THREADS)
#pragma unroll 2
            for (int at = 0; at < ITEMS; at += 4) {
                float4 down[RR];
#pragma unroll
                for (int r = 0; r < RR; r++)
                    down[r] = *reinterpret_cast<const float4 *>(sy + (tr + r * S::TR) * PITCH + at);
#pragma unroll
                for (int c = 0; c < RC; c++) {
                    float4 up = *reinterpret_cast<const float4 *>(sx + (tc + c * S::TC) * PITCH + at);
#pragma unroll
                    for (int r = 0; r < RR; r++) {
                        sum[r][c] += down[r].x * up.x;
                        sum[r][c] += down[r].y * up.y;
                        sum[r][c] += down[r].z * up.z;
                        sum[r][c] += down[r].w * up.w;
                    }
                }
            }
        if (BIAS != NO_BIAS && t < BIASES) total += row_sum((BIAS == BIAS_OF_ROWS ? sy : sx) + t * PITCH);
    }
    if (BIAS != NO_BIAS && t < BIASES && bias_to) bias_to[t] = total;
    if (t >= S::THREADS) return;
#pragma unroll
    for (int r = 0; r < RR; r++)
#pragma unroll
        for (int c = 0; c < RC; c++)
            if (tr + r * S::TR < R && tc + c * S::TC < C)
                g[(tr + r * S::TR) * rows + (tc + c * S::TC) * columns] = sum[r][c];
}

} // namespace
