/* scan: g_scan forward, a block a row of a brick, and back, a block a quarter of the cells of a row. */
#pragma once

#include "layers.cuh"
#include "task.cuh"

namespace
{

constexpr float LEAKY = 0.01f;

__device__ double exact_cell(const device &s, int b, int k, uint32_t column)
{
    return (double)(long long)s.bricks[((size_t)b * ROWS + k) * COLUMNS + column] / TRAIN_UNIT;
}

__device__ float read_cell(const device &s, int b, int k, uint32_t column)
{
    return (float)exact_cell(s, b, k, column);
}

struct cell_net {
    float x, a[8], c[16], y[32];
};

__device__ void cell_forward(const float *w, cell_net &n)
{
    forward<SCAN_CELL_0>(w + layer_at(SCAN_CELL_0) - SCAN_AT, &n.x, n.a, 0);
    forward<SCAN_CELL_1>(w + layer_at(SCAN_CELL_1) - SCAN_AT, n.a, n.c, 0);
    forward<SCAN_CELL_2>(w + layer_at(SCAN_CELL_2) - SCAN_AT, n.c, n.y, 0);
}

/* One layer of a head, by the block, a thread an output: the vectors are in shared memory. */
template <int L> __device__ void layer_forward(const float *w, const float *x, float *y, float slope)
{
    constexpr int in = IN[L], out = OUT[L];
    int o = threadIdx.x;
    if (o < out) {
        const float *m = w + layer_at(L) - SCAN_AT;
        float sum = m[in * out + o];
        for (int i = 0; i < in; i++) sum += m[o * in + i] * x[i];
        y[o] = sum < 0 ? slope * sum : sum;
    }
    __syncthreads();
}

/* dy before the activation -> dx, and the layer's gradient. */
template <int L>
__device__ void layer_backward(const float *w, const float *x, const float *dy, float *dx, float *gradient)
{
    constexpr int in = IN[L], out = OUT[L];
    const float *m = w + layer_at(L) - SCAN_AT;
    float *g = gradient + layer_at(L) - SCAN_AT;
    for (int p = threadIdx.x; p < (in + 1) * out; p += blockDim.x)
        g[p] = p < in * out ? dy[p / in] * x[p % in] : dy[p - in * out];
    if (threadIdx.x < in) {
        float sum = 0;
        for (int o = 0; o < out; o++) sum += m[o * in + threadIdx.x] * dy[o];
        dx[threadIdx.x] = sum;
    }
    __syncthreads();
}

typedef float head[4][16]; /* what each layer of a head gives */
struct heads {             /* what the three heads compute, in shared memory */
    float mean[32];
    head implicit, skew, distinct;
    float d[2][32], dmean[32]; /* d: gradients of a layer's output and of its input, in turns */
};

/* Layers L to LAST of a head; a single output is linear. */
template <int L, int LAST> __device__ void head_forward(const float *w, const float *x, float (*y)[16])
{
    constexpr float slope = OUT[L] == 1 ? 1 : LEAKY;
    layer_forward<L>(w, x, *y, slope);
    if constexpr (L < LAST) head_forward<L + 1, LAST>(w, *y, y + 1);
}

__device__ void heads_forward(const float *w, heads &h)
{
    head_forward<SCAN_IMPLICIT_0, SCAN_IMPLICIT_2>(w, h.mean, h.implicit);
    head_forward<SCAN_SKEW_0, SCAN_SKEW_3>(w, h.mean, h.skew);
    head_forward<SCAN_DISTINCT_0, SCAN_DISTINCT_3>(w, h.mean, h.distinct);
}

/* Means over the block's 512 cells, a fixed tree: lanes, then warps, then tiles. */
__device__ void mean_over_cells(const device &s, const float *w, int b, int k, heads &h, float (*warp_sums)[32])
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float total = 0; /* thread i < 32 has the mean of feature i */
    for (int c = threadIdx.x; c < CELLS; c += ITEMS) {
        cell_net n;
        n.x = read_cell(s, b, k, c);
        cell_forward(w, n);
#pragma unroll
        for (int i = 0; i < 32; i++) {
            float v = warp_sum(n.y[i]);
            if (lane == 0) warp_sums[warp][i] = v;
        }
        __syncthreads();
        if (threadIdx.x < 32)
            for (int j = 0; j < ITEMS / 32; j++) total += warp_sums[j][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.x < 32) h.mean[threadIdx.x] = total / CELLS;
    __syncthreads();
}

__global__ void __launch_bounds__(ITEMS) scan(device s)
{
    __shared__ __align__(16) float w[SCAN_SIZE];
    __shared__ heads h;
    __shared__ float warp_sums[ITEMS / 32][32];
    for (int i = threadIdx.x; i < SCAN_SIZE; i += ITEMS) w[i] = s.parameters[SCAN_AT + i];
    __syncthreads();
    int b = blockIdx.x / ROWS, k = blockIdx.x % ROWS;
    mean_over_cells(s, w, b, k, h, warp_sums);
    heads_forward(w, h);
    if (threadIdx.x == 0) {
        scanned r;
        for (int i = 0; i < 32; i++) r.mean[i] = h.mean[i];
        for (int i = 0; i < 4; i++) r.implicit[i] = h.implicit[2][i];
        r.skew = h.skew[3][0];
        r.distinct = h.distinct[3][0];
        s.scans[blockIdx.x] = r;
    }
}

/* What the decoder is told of a task. */
struct told {
    float implicit[4], n, skew, distinct;
};

__device__ told read_told(const device &s, int b)
{
    told t = {{0, 0, 0, 0}, (float)((double)s.mass[b] / TRAIN_UNIT), 0, 0};
    if (s.recipe.no_scan) return t;
    for (int k = 0; k < ROWS; k++) {
        const scanned &r = s.scans[b * ROWS + k];
        for (int i = 0; i < 4; i++) t.implicit[i] += r.implicit[i] / ROWS;
        t.skew += r.skew / ROWS;
        t.distinct += r.distinct / ROWS;
    }
    return t;
}

/* ---- backward through the scan ----------------------------------------------------------------------------------- */

constexpr int RESCAN_SUMS = sums_at<SCAN_CELL_0, SCAN_CELL_2>() + 16 * tiling<SCAN_CELL_2>::ACTIVE;
constexpr int RESCAN_SHARED = (round4(SCAN_SIZE) + STAGE + RESCAN_SUMS) * 4;

/* From the gradient of layer L's output before its activation, which is d[L % 2], back to the means. */
template <int FIRST, int L> __device__ void head_backward(const float *w, heads &h, const head &y, float *gradient)
{
    const float *x = L == FIRST ? h.mean : y[L == FIRST ? 0 : L - FIRST - 1];
    float *dx = h.d[(L + 1) % 2];
    constexpr int in = IN[L];
    const int t = threadIdx.x;
    layer_backward<L>(w, x, h.d[L % 2], dx, gradient);
    if (L > FIRST && t < in) dx[t] *= x[t] > 0 ? 1.0f : LEAKY;
    if (L == FIRST && t < 32) h.dmean[t] += dx[t];
    __syncthreads();
    if constexpr (L > FIRST) head_backward<FIRST, L - 1>(w, h, y, gradient);
}

/* The same where layer L has a single output. */
template <int FIRST, int L>
__device__ void head_backward(const float *w, heads &h, const head &y, double dy, float *gradient)
{
    if (threadIdx.x == 0) h.d[L % 2][0] = (float)dy;
    __syncthreads();
    head_backward<FIRST, L>(w, h, y, gradient);
}

__device__ void heads_backward(const device &s, const float *w, int b, heads &h, float *gradient)
{
    const drawn &t = s.tasks[b];
    { /* what the decoder sends back, over the task's tiles: a warp a value, each lane its share, then a tree; of a
         scout nothing, and what tile_implicit holds there is of an earlier step */
        int j = threadIdx.x / 32, lane = threadIdx.x % 32;
        uint32_t tiles = t.scout ? 0 : t.tiles;
        double sum = 0;
        for (uint32_t i = lane; i < tiles; i += 32) sum += s.tile_implicit[(size_t)(t.first_tile + i) * 4 + j];
        sum = warp_sum(sum);
        if (lane == 0) h.d[SCAN_IMPLICIT_2 % 2][j] = (float)sum / ROWS * (h.implicit[2][j] > 0 ? 1.0f : LEAKY);
    }
    if (threadIdx.x < 32) h.dmean[threadIdx.x] = 0;
    __syncthreads();
    head_backward<SCAN_IMPLICIT_0, SCAN_IMPLICIT_2>(w, h, h.implicit, gradient);
    head_backward<SCAN_SKEW_0, SCAN_SKEW_3>(w, h, h.skew, s.doff[2 * b] / ROWS, gradient);
    head_backward<SCAN_DISTINCT_0, SCAN_DISTINCT_3>(w, h, h.distinct, s.doff[2 * b + 1] / ROWS, gradient);
}

__global__ void __launch_bounds__(ITEMS) rescan(device s)
{
    extern __shared__ __align__(16) float shared[];
    float *w = shared, *stage = w + round4(SCAN_SIZE), *sums = stage + STAGE;
    __shared__ heads h;
    for (int i = threadIdx.x; i < SCAN_SIZE; i += ITEMS) w[i] = s.parameters[SCAN_AT + i];
    for (int i = threadIdx.x; i < RESCAN_SUMS; i += ITEMS) sums[i] = 0;
    __syncthreads();
    int row = blockIdx.x / QUARTERS, quarter = blockIdx.x % QUARTERS, b = row / ROWS, k = row % ROWS;
    float *gradient = s.partial_scan + (size_t)blockIdx.x * SCAN_SIZE;
    if (threadIdx.x < 32) h.mean[threadIdx.x] = s.scans[row].mean[threadIdx.x];
    __syncthreads();
    heads_forward(w, h);
    heads_backward(s, w, b, h, gradient);
    if (quarter != 0) /* every block needs dmean; the gradients of the heads count once */
        for (int i = layer_at(SCAN_IMPLICIT_0) - SCAN_AT + threadIdx.x; i < SCAN_SIZE; i += ITEMS) gradient[i] = 0;
    cell_net n;
    n.x = read_cell(s, b, k, quarter * ITEMS + threadIdx.x);
    cell_forward(w, n);
    float d1[32], d2[16], d3[8];
#pragma unroll
    for (int i = 0; i < 32; i++) d1[i] = h.dmean[i] * (1.0f / CELLS);
    through<32>(d1, n.y, 0);
    back<SCAN_CELL_0, SCAN_CELL_2, 16>(w, n.c, d1, d2, 0, sums, stage);
    back<SCAN_CELL_0, SCAN_CELL_1, 8>(w, n.a, d2, d3, 0, sums, stage);
    multiply<SCAN_CELL_0>(sums, stage, &n.x, d3);
    collect_all<SCAN_CELL_0, SCAN_CELL_2>(sums, gradient);
}

} // namespace
