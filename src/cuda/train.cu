/* train.cu: the training step on a GPU. The same mathematics as train/cpu.c, laid out for a machine that would rather
 * compute than remember: nothing but the bricks and a few sums goes to memory, items are drawn again in every pass.
 *
 *     draw     8 tasks                                   1 thread a task
 *     store    items -> bricks                           1 thread an item, 64-bit integer atomics: any order, one sum
 *     scan     bricks -> s(n), s(alpha), implicit        1 block a row of a brick, 1 thread a cell
 *     errors   items -> f', f'' -> sums of errors        1 thread an item
 *     loss     sums -> losses, and what a unit of each error is worth
 *     query    items -> gradients of the decoder and V   1 thread an item forward and back; then, layer by layer, the
 *                                                        block multiplies its 128 items' inputs and deltas
 *     rescan   bricks -> gradients of the scan
 *     sum, update                                        partial gradients in a fixed order, clipping, Adam
 *
 * Every sum has a fixed order or is of integers, so the same seed gives the same weights, bit for bit. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "backend.h"
#include "model.h"
}

namespace {

constexpr int ROWS = TRAIN_ROWS, COLUMNS = TRAIN_COLUMNS, TABLE = TRAIN_TABLE, TASKS = TRAIN_BATCH, LOSSES = TRAIN_LOSSES;
constexpr int ITEMS = 128, CELLS = COLUMNS / 10;
constexpr double FIXED = 16777216.0; /* 2^24: a cell counts in units of its inverse */

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
    float implicit[4], skew, distinct;
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
    double *tile_sums;                /* [tile][6] */
    float *tile_implicit;             /* [tile][4] */
    float *worth;                     /* [task][3]: dL / dE / n */
    double *table_scale;              /* of the fixed point that gradients of V are summed in */
    float *partial_dec;               /* [block][DEC_SIZE] */
    long long *partial_table;         /* [block][TABLE], fixed point */
    float *partial_scan;              /* [task * ROWS][SCAN_SIZE] */
    struct losses *losses;            /* of this step */
    struct losses *history;           /* [HISTORY], by step modulo its size */
    int blocks;                       /* of the query kernel */
};
constexpr int HISTORY = 4096;

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

__device__ uint64_t splitmix(uint64_t state, uint64_t output)
{
    uint64_t z = state + output * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

__device__ double uniform(uint64_t x)
{
    return (double)(x >> 11) * 0x1p-53;
}

__global__ void draw(device s)
{
    __shared__ drawn tasks[TASKS];
    const recipe &r = s.recipe;
    int b = threadIdx.x;
    uint64_t key = splitmix(splitmix(r.seed, 1) + 8 * *s.step + b, 1);
    drawn t;
    t.key = key;
    t.n = r.n_min + (uint32_t)(uniform(splitmix(key, 1)) * (r.n_max - r.n_min + 1));
    t.alpha = (float)(r.alpha_min + (double)(r.alpha_max - r.alpha_min) * uniform(splitmix(key, 2)));
    t.scale = (float)(r.scale_min + (double)(r.scale_max - r.scale_min) * uniform(splitmix(key, 3)));
    t.tiles = (t.n + ITEMS - 1) / ITEMS;
    tasks[b] = t;
    __syncthreads();
    t.first_tile = 0;
    for (int i = 0; i < b; i++) t.first_tile += tasks[i].tiles;
    s.tasks[b] = t;
    s.mass[b] = 0;
}

__device__ const uint64_t row_multiplier[ROWS] = {0xe220a8397b1dcdafull, 0x6e789e6aa1b965f5ull, 0x06c45d188009454full,
                                                  0xf88bb8a8724c81edull, 0x1b39896a51a8749bull};

/* An item as hash_place() and the embedding make it. */
struct item {
    float f;
    uint32_t column[ROWS], index[ROWS];
    float v[ROWS];
    float norm; /* dv / dV */
};

__device__ item make_item(const drawn &t, uint32_t i, const float *table, bool no_norm)
{
    item x;
    uint64_t lo = splitmix(t.key, 4 + 2 * (uint64_t)i), hi = splitmix(t.key, 5 + 2 * (uint64_t)i);
    x.f = t.scale * powf((float)(t.n + 1) / (float)(i + 2), t.alpha);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        uint64_t h = row_multiplier[k] * (lo + k * hi);
        x.column[k] = (uint32_t)(h >> 32) % COLUMNS;
        x.index[k] = (((uint32_t)h >> 16) * TABLE) >> 16;
        x.v[k] = table[x.index[k]];
        sum += x.v[k];
    }
    x.norm = no_norm ? 1.0f : ROWS / sum;
#pragma unroll
    for (int k = 0; k < ROWS; k++) x.v[k] *= x.norm;
    return x;
}

/* The task and item of this thread in a tile; false beyond the task's last item. */
__device__ bool find_tile(const device &s, uint32_t tile, int *task, uint32_t *i)
{
    int b = 0;
#pragma unroll
    for (int t = 1; t < TASKS; t++) b += tile >= s.tasks[t].first_tile;
    *task = b;
    *i = (tile - s.tasks[b].first_tile) * ITEMS + threadIdx.x;
    return *i < s.tasks[b].n;
}

__device__ uint32_t tile_count(const device &s)
{
    return s.tasks[TASKS - 1].first_tile + s.tasks[TASKS - 1].tiles;
}

__global__ void store(device s)
{
    __shared__ float table[TABLE];
    __shared__ unsigned long long mass;
    if (threadIdx.x < TABLE) table[threadIdx.x] = s.parameters[threadIdx.x];
    for (uint32_t tile = blockIdx.x; tile < tile_count(s); tile += gridDim.x) {
        if (threadIdx.x == 0) mass = 0;
        __syncthreads();
        int b;
        uint32_t i;
        if (find_tile(s, tile, &b, &i)) {
            item x = make_item(s.tasks[b], i, table, s.recipe.no_norm);
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                atomicAdd(&s.bricks[((size_t)b * ROWS + k) * COLUMNS + x.column[k]],
                          (unsigned long long)llrint((double)x.f * x.v[k] * FIXED));
            atomicAdd(&mass, (unsigned long long)llrint((double)x.f * FIXED));
        }
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(&s.mass[b], mass);
    }
}

/* ---- layers: y = act(W x + b), W [OUT][IN] in shared memory --------------------------------------------------------- */

/* Keeps the compiler from loading all weights of a layer at once, for which there are no registers. */
__device__ void fence()
{
    asm volatile("" ::: "memory");
}

template <int L>
__device__ void forward(const float *w, const float *x, float *y, float slope)
{
    constexpr int I = IN[L], O = OUT[L], TOGETHER = O % 4 == 0 ? 4 : 1; /* outputs at a time: sums that do not wait */
#pragma unroll
    for (int o = 0; o < O; o += TOGETHER) {
        float sum[TOGETHER];
#pragma unroll
        for (int j = 0; j < TOGETHER; j++) sum[j] = w[I * O + o + j];
        if constexpr (I % 4 == 0) {
#pragma unroll
            for (int i = 0; i < I; i += 4)
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) {
                    float4 w4 = *reinterpret_cast<const float4 *>(w + (o + j) * I + i);
                    sum[j] += w4.x * x[i];
                    sum[j] += w4.y * x[i + 1];
                    sum[j] += w4.z * x[i + 2];
                    sum[j] += w4.w * x[i + 3];
                }
        } else {
#pragma unroll
            for (int i = 0; i < I; i++)
#pragma unroll
                for (int j = 0; j < TOGETHER; j++) sum[j] += w[(o + j) * I + i] * x[i];
        }
#pragma unroll
        for (int j = 0; j < TOGETHER; j++) y[o + j] = sum[j] < 0 ? slope * sum[j] : sum[j];
        fence();
    }
}

/* dy of the output before the activation; dx of the input. */
template <int L>
__device__ void backward(const float *w, const float *dy, float *dx)
{
    constexpr int I = IN[L], O = OUT[L];
#pragma unroll
    for (int i = 0; i < I; i++) dx[i] = 0;
#pragma unroll
    for (int o = 0; o < O; o++) {
        if constexpr (I % 4 == 0) {
#pragma unroll
            for (int i = 0; i < I; i += 4) {
                float4 w4 = *reinterpret_cast<const float4 *>(w + o * I + i);
                dx[i] += w4.x * dy[o];
                dx[i + 1] += w4.y * dy[o];
                dx[i + 2] += w4.z * dy[o];
                dx[i + 3] += w4.w * dy[o];
            }
        } else {
#pragma unroll
            for (int i = 0; i < I; i++) dx[i] += w[o * I + i] * dy[o];
        }
        if (o % 2) fence();
    }
}

/* The gradient before an activation: y is the activation's output, whose sign is that of its input. */
template <int N>
__device__ void through(float *dy, const float *y, float slope)
{
#pragma unroll
    for (int i = 0; i < N; i++) dy[i] *= y[i] > 0 ? 1.0f : slope;
}

/* ---- weight gradients: the sum over the block's 128 items of delta[o] * input[i] ---------------------------------- */

constexpr int round4(int n)
{
    return (n + 3) / 4 * 4;
}

constexpr int power_below(int n)
{
    int p = 1;
    while (2 * p <= n) p *= 2;
    return p;
}

template <int L>
struct tiling { /* 4 x 4 weights a thread; the bias is the weight of an input that is always 1 */
    static constexpr int I = IN[L], O = OUT[L], XI = round4(I + 1), XO = round4(O), TI = XI / 4, TO = XO / 4, TILES = TI * TO,
                         GROUPS = power_below((TILES < 16 ? 48 : ITEMS) / TILES), EACH = ITEMS / GROUPS,
                         ACTIVE = TILES * GROUPS; /* threads; small layers take fewer, for their sums take room */
};

/* Where the sums of a layer are, in floats, if those from `first` on follow each other. */
template <int FIRST, int L>
constexpr int sums_at()
{
    if constexpr (L == FIRST) return 0;
    else return sums_at<FIRST, L - 1>() + 16 * tiling<L - 1>::ACTIVE;
}

/* Adds the items' outer products to the thread's 16 sums, which lie at sums[16][ACTIVE]. All threads must call it. */
template <int L>
__device__ void multiply(float *sums, float *stage, const float *x, const float *dy)
{
    using T = tiling<L>;
    float *sx = stage, *sd = stage + ITEMS * T::XI;
    int t = threadIdx.x;
#pragma unroll
    for (int i = 0; i < T::XI; i += 4) {
        float4 v;
        v.x = i < T::I ? x[i] : i == T::I ? 1.0f : 0.0f;
        v.y = i + 1 < T::I ? x[i + 1] : i + 1 == T::I ? 1.0f : 0.0f;
        v.z = i + 2 < T::I ? x[i + 2] : i + 2 == T::I ? 1.0f : 0.0f;
        v.w = i + 3 < T::I ? x[i + 3] : i + 3 == T::I ? 1.0f : 0.0f;
        *reinterpret_cast<float4 *>(sx + t * T::XI + i) = v;
    }
#pragma unroll
    for (int o = 0; o < T::XO; o += 4) {
        float4 v;
        v.x = dy[o];
        v.y = o + 1 < T::O ? dy[o + 1] : 0.0f;
        v.z = o + 2 < T::O ? dy[o + 2] : 0.0f;
        v.w = o + 3 < T::O ? dy[o + 3] : 0.0f;
        *reinterpret_cast<float4 *>(sd + t * T::XO + o) = v;
    }
    __syncthreads();
    if (t < T::ACTIVE) {
        int tile = t % T::TILES, group = t / T::TILES, ti = tile % T::TI, to = tile / T::TI;
        float c[16];
#pragma unroll
        for (int j = 0; j < 16; j++) c[j] = sums[j * T::ACTIVE + t];
#pragma unroll 4
        for (int e = 0; e < T::EACH; e++) {
            int it = e * T::GROUPS + group;
            float4 a = *reinterpret_cast<const float4 *>(sx + it * T::XI + 4 * ti);
            float4 d = *reinterpret_cast<const float4 *>(sd + it * T::XO + 4 * to);
            c[0] += d.x * a.x; c[1] += d.x * a.y; c[2] += d.x * a.z; c[3] += d.x * a.w;
            c[4] += d.y * a.x; c[5] += d.y * a.y; c[6] += d.y * a.z; c[7] += d.y * a.w;
            c[8] += d.z * a.x; c[9] += d.z * a.y; c[10] += d.z * a.z; c[11] += d.z * a.w;
            c[12] += d.w * a.x; c[13] += d.w * a.y; c[14] += d.w * a.z; c[15] += d.w * a.w;
        }
#pragma unroll
        for (int j = 0; j < 16; j++) sums[j * T::ACTIVE + t] = c[j];
    }
    __syncthreads();
}

/* Writes the block's sums of a layer, groups added in order, where the layer's gradient starts. */
template <int L>
__device__ void collect(const float *sums, float *gradient)
{
    using T = tiling<L>;
    for (int p = threadIdx.x; p < (T::I + 1) * T::O; p += blockDim.x) {
        int o = p < T::I * T::O ? p / T::I : p - T::I * T::O, i = p < T::I * T::O ? p % T::I : T::I;
        int tile = o / 4 * T::TI + i / 4, j = o % 4 * 4 + i % 4;
        float sum = 0;
        for (int g = 0; g < T::GROUPS; g++) sum += sums[j * T::ACTIVE + g * T::TILES + tile];
        gradient[p] = sum;
    }
}

/* ---- scan -------------------------------------------------------------------------------------------------------- */

constexpr float LEAKY = 0.01f;

__device__ float read_cell(const device &s, int b, int k, uint32_t column)
{
    return (float)((double)(long long)s.bricks[((size_t)b * ROWS + k) * COLUMNS + column] / FIXED);
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
template <int L>
__device__ void head_forward(const float *w, const float *x, float *y, float slope)
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
__device__ void head_backward(const float *w, const float *x, const float *dy, float *dx, float *gradient)
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

struct heads { /* what the three heads compute, in shared memory */
    float mean[32];
    float i0[16], i1[8], i2[4], a0[16], a1[16], a2[8], a3[1], n0[16], n1[16], n2[8], n3[1];
    float d0[32], d1[32], d2[32], dmean[32];
};

__device__ void heads_forward(const float *w, heads &h)
{
    head_forward<SCAN_IMPLICIT_0>(w, h.mean, h.i0, LEAKY);
    head_forward<SCAN_IMPLICIT_1>(w, h.i0, h.i1, LEAKY);
    head_forward<SCAN_IMPLICIT_2>(w, h.i1, h.i2, LEAKY);
    head_forward<SCAN_SKEW_0>(w, h.mean, h.a0, LEAKY);
    head_forward<SCAN_SKEW_1>(w, h.a0, h.a1, LEAKY);
    head_forward<SCAN_SKEW_2>(w, h.a1, h.a2, LEAKY);
    head_forward<SCAN_SKEW_3>(w, h.a2, h.a3, 1);
    head_forward<SCAN_DISTINCT_0>(w, h.mean, h.n0, LEAKY);
    head_forward<SCAN_DISTINCT_1>(w, h.n0, h.n1, LEAKY);
    head_forward<SCAN_DISTINCT_2>(w, h.n1, h.n2, LEAKY);
    head_forward<SCAN_DISTINCT_3>(w, h.n2, h.n3, 1);
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
            float v = n.y[i];
            for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
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
        for (int i = 0; i < 4; i++) r.implicit[i] = h.i2[i];
        r.skew = h.a3[0];
        r.distinct = h.n3[0];
        s.scans[blockIdx.x] = r;
    }
}

/* What the decoder is told of a task. */
struct told {
    float implicit[4], n, skew, distinct;
};

__device__ told read_told(const device &s, int b)
{
    told t = {{0, 0, 0, 0}, (float)((double)s.mass[b] / FIXED), 0, 0};
    if (s.recipe.no_scan) return t;
    for (int k = 0; k < ROWS; k++) {
        const scanned &r = s.scans[b * ROWS + k];
        for (int i = 0; i < 4; i++) t.implicit[i] += r.implicit[i] / ROWS;
        t.skew += r.skew / ROWS;
        t.distinct += r.distinct / ROWS;
    }
    return t;
}

/* ---- query ------------------------------------------------------------------------------------------------------- */

struct pair_net {
    float x[2], a[8], c[16], y[16];
};

__device__ void pair_forward(const float *w, pair_net &p)
{
    forward<DEC_PAIR_0>(w + layer_at(DEC_PAIR_0) - DEC_AT, p.x, p.a, 0);
    forward<DEC_PAIR_1>(w + layer_at(DEC_PAIR_1) - DEC_AT, p.a, p.c, 0);
    forward<DEC_PAIR_2>(w + layer_at(DEC_PAIR_2) - DEC_AT, p.c, p.y, 0);
}

/* An item's reads. They wait in shared memory, [row][thread], so that the loop over the rows need not be unrolled. */
struct reads {
    float (*m)[ITEMS], (*v)[ITEMS];
    float rule;
    int least;
};

__device__ reads read_item(const device &s, int b, const item &x, float (*m)[ITEMS], float (*v)[ITEMS])
{
    reads r = {m, v, 0, 0};
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        float read = read_cell(s, b, k, x.column[k]), q = read / x.v[k];
        m[k][threadIdx.x] = read;
        v[k][threadIdx.x] = x.v[k];
        if (k == 0 || q < r.rule) {
            r.rule = q;
            r.least = k;
        }
    }
    return r;
}

struct decoded {
    float joined[24], wide[32], mixed[20], a[8], b[4], answer;
};

__device__ void decode_forward(const float *w, const reads &r, const told &t, decoded &d)
{
#pragma unroll
    for (int i = 0; i < 16; i++) d.joined[i] = 0;
#pragma unroll 1
    for (int k = 0; k < ROWS; k++) {
        pair_net p;
        p.x[0] = r.m[k][threadIdx.x];
        p.x[1] = r.v[k][threadIdx.x];
        pair_forward(w, p);
#pragma unroll
        for (int i = 0; i < 16; i++) d.joined[i] += p.y[i] * (1.0f / ROWS);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) d.joined[16 + i] = t.implicit[i];
    d.joined[20] = d.mixed[16] = r.rule;
    d.joined[21] = d.mixed[17] = t.n;
    d.joined[22] = d.mixed[18] = t.skew;
    d.joined[23] = d.mixed[19] = t.distinct;
    forward<DEC_MIX_0>(w + layer_at(DEC_MIX_0) - DEC_AT, d.joined, d.wide, LEAKY);
    forward<DEC_MIX_1>(w + layer_at(DEC_MIX_1) - DEC_AT, d.wide, d.mixed, LEAKY);
    forward<DEC_OUT_0>(w + layer_at(DEC_OUT_0) - DEC_AT, d.mixed, d.a, LEAKY);
    forward<DEC_OUT_1>(w + layer_at(DEC_OUT_1) - DEC_AT, d.a, d.b, LEAKY);
    forward<DEC_OUT_2>(w + layer_at(DEC_OUT_2) - DEC_AT, d.b, &d.answer, 1);
}

__global__ void __launch_bounds__(ITEMS, 4) errors(device s)
{
    __shared__ float m[ROWS][ITEMS], v[ROWS][ITEMS];
    __shared__ __align__(16) float w[round4(DEC_SIZE)];
    __shared__ float table[TABLE];
    __shared__ double warp_sums[ITEMS / 32][6];
    for (int i = threadIdx.x; i < DEC_SIZE; i += ITEMS) w[i] = s.parameters[DEC_AT + i];
    if (threadIdx.x < TABLE) table[threadIdx.x] = s.parameters[threadIdx.x];
    __syncthreads();
    for (uint32_t tile = blockIdx.x; tile < tile_count(s); tile += gridDim.x) {
        int b;
        uint32_t i;
        double sums[6] = {0, 0, 0, 0, 0, 0};
        if (find_tile(s, tile, &b, &i)) {
            item x = make_item(s.tasks[b], i, table, s.recipe.no_norm);
            reads r = read_item(s, b, x, m, v);
            decoded d;
            decode_forward(w, r, read_told(s, b), d);
            float e = fabsf(d.answer - x.f), g = fabsf(r.rule - x.f);
            sums[0] = e;
            sums[1] = e / x.f;
            sums[2] = (double)e * e;
            sums[3] = g;
            sums[4] = g / x.f;
            sums[5] = (double)g * g;
        }
        for (int j = 0; j < 6; j++) {
            for (int d = 16; d > 0; d /= 2) sums[j] += __shfl_xor_sync(0xffffffff, sums[j], d);
            if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32][j] = sums[j];
        }
        __syncthreads();
        if (threadIdx.x < 6) {
            double sum = 0;
            for (int j = 0; j < ITEMS / 32; j++) sum += warp_sums[j][threadIdx.x];
            s.tile_sums[(size_t)tile * 6 + threadIdx.x] = sum;
        }
        __syncthreads();
    }
}

/* One warp a task sums its tiles, each lane its share, then the lanes as a tree; its first lane takes the task's losses,
 * and the first thread those of the step. */
__global__ void loss(device s)
{
    __shared__ struct losses part[TASKS];
    __shared__ double typical[TASKS]; /* dL / df' of an item */
    int b = threadIdx.x / 32, lane = threadIdx.x % 32;
    const drawn &t = s.tasks[b];
    const float *weight = s.parameters + LOSS_AT;
    double error[6];
    for (int j = 0; j < 6; j++) {
        double sum = 0;
        for (uint32_t i = lane; i < t.tiles; i += 32) sum += s.tile_sums[(size_t)(t.first_tile + i) * 6 + j];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        error[j] = sum / t.n;
    }
    if (lane == 0) {
        struct losses &l = part[b];
        double worth[3];
        for (int m = 0; m < 3; m++) {
            double e = error[m], guide = error[m + 3] + 0.001, scale = 0.5 / ((double)weight[m] * weight[m]) / TASKS;
            l.error[m] = e;
            l.guide[m] = error[m + 3];
            l.metric[m] = s.recipe.plain_loss ? e : e / guide * e / guide;
            worth[m] = scale * (s.recipe.plain_loss ? 1 : 2 * e / guide / guide) / t.n;
            s.worth[b * 3 + m] = (float)worth[m];
        }
        typical[b] = worth[0] + worth[1] + 2 * worth[2] * sqrt(error[2]);
        told r = read_told(s, b);
        double skew = r.skew - t.alpha, distinct = (double)r.distinct - t.n;
        l.metric[3] = s.recipe.no_scan ? 0 : skew * skew;
        l.metric[4] = s.recipe.no_scan ? 0 : distinct * distinct;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    struct losses l;
    memset(&l, 0, sizeof l);
    double most = 1e-30;
    for (int c = 0; c < TASKS; c++) {
        for (int m = 0; m < 3; m++) {
            l.error[m] += part[c].error[m] / TASKS;
            l.guide[m] += part[c].guide[m] / TASKS;
        }
        for (int m = 0; m < LOSSES; m++) l.metric[m] += part[c].metric[m] / TASKS;
        most = fmax(most, typical[c]);
    }
    for (int m = 0; m < LOSSES; m++) {
        double w = weight[m], share = m < 3 ? 1 : s.recipe.no_scan ? 0 : 0.1;
        l.total += share * (0.5 / (w * w) * l.metric[m] + log(1 + w * w));
        s.gradient[LOSS_AT + m] = (float)(share * (-l.metric[m] / (w * w * w) + 2 * w / (1 + w * w)));
    }
    /* dv / df' is up to f'' / v, 10^8, and there are 4 * 10^5 items: from 2^12 on that leaves the sum within 63 bits, and
     * rounding is below a thousandth of what the usual item adds. A loss starts at 10^14 and ends near 1. */
    *s.table_scale = exp2(12 - ceil(log2(most)));
    *s.losses = l;
}

/* Shared memory of the query kernel, in floats. */
constexpr int STAGE = ITEMS * 60; /* the most inputs and deltas of a layer, DEC_MIX_0 with 28 + 32 */
constexpr int QUERY_SUMS = sums_at<DEC_PAIR_0, DEC_OUT_2>() + 16 * tiling<DEC_OUT_2>::ACTIVE;
constexpr int QUERY_SHARED = (round4(DEC_SIZE) + STAGE + QUERY_SUMS + TABLE) * 4 + TABLE * 8;

/* Backward through one row's pair of read and weight; returns dv. */
__device__ float pair_backward(const float *w, pair_net &p, float *dy, float *sums, float *stage)
{
    float d1[16], d2[8], d3[2];
    through<16>(dy, p.y, 0);
    multiply<DEC_PAIR_2>(sums + sums_at<DEC_PAIR_0, DEC_PAIR_2>(), stage, p.c, dy);
    backward<DEC_PAIR_2>(w + layer_at(DEC_PAIR_2) - DEC_AT, dy, d1);
    through<16>(d1, p.c, 0);
    multiply<DEC_PAIR_1>(sums + sums_at<DEC_PAIR_0, DEC_PAIR_1>(), stage, p.a, d1);
    backward<DEC_PAIR_1>(w + layer_at(DEC_PAIR_1) - DEC_AT, d1, d2);
    through<8>(d2, p.a, 0);
    multiply<DEC_PAIR_0>(sums, stage, p.x, d2);
    backward<DEC_PAIR_0>(w + layer_at(DEC_PAIR_0) - DEC_AT, d2, d3);
    return d3[1];
}

/* From df' back to the 24 joined values; *drule gets what reaches f''. */
__device__ void decode_backward(const float *w, decoded &d, float slope_of_loss, float *joined, float *drule, float *sums,
                                float *stage)
{
    float d1[1] = {slope_of_loss}, d2[4], d3[8], d4[20], d5[32];
    multiply<DEC_OUT_2>(sums + sums_at<DEC_PAIR_0, DEC_OUT_2>(), stage, d.b, d1);
    backward<DEC_OUT_2>(w + layer_at(DEC_OUT_2) - DEC_AT, d1, d2);
    through<4>(d2, d.b, LEAKY);
    multiply<DEC_OUT_1>(sums + sums_at<DEC_PAIR_0, DEC_OUT_1>(), stage, d.a, d2);
    backward<DEC_OUT_1>(w + layer_at(DEC_OUT_1) - DEC_AT, d2, d3);
    through<8>(d3, d.a, LEAKY);
    multiply<DEC_OUT_0>(sums + sums_at<DEC_PAIR_0, DEC_OUT_0>(), stage, d.mixed, d3);
    backward<DEC_OUT_0>(w + layer_at(DEC_OUT_0) - DEC_AT, d3, d4);
    *drule = d4[16];
    through<16>(d4, d.mixed, LEAKY);
    multiply<DEC_MIX_1>(sums + sums_at<DEC_PAIR_0, DEC_MIX_1>(), stage, d.wide, d4);
    backward<DEC_MIX_1>(w + layer_at(DEC_MIX_1) - DEC_AT, d4, d5);
    through<32>(d5, d.wide, LEAKY);
    multiply<DEC_MIX_0>(sums + sums_at<DEC_PAIR_0, DEC_MIX_0>(), stage, d.joined, d5);
    backward<DEC_MIX_0>(w + layer_at(DEC_MIX_0) - DEC_AT, d5, joined);
    *drule += joined[20];
}

__device__ void add_table(long long *table_sums, uint32_t index, double gradient)
{
    long long fixed = llrint(fmin(fmax(gradient, -0x1p44), 0x1p44)); /* 2^44 * 4 * 10^5 items: no overflow */
    atomicAdd(reinterpret_cast<unsigned long long *>(&table_sums[index]), (unsigned long long)fixed);
}

__global__ void __launch_bounds__(ITEMS, 3) query(device s)
{
    extern __shared__ __align__(16) float shared[];
    float *w = shared, *stage = w + round4(DEC_SIZE), *sums = stage + STAGE, *table = sums + QUERY_SUMS;
    long long *table_sums = reinterpret_cast<long long *>(table + TABLE);
    __shared__ float warp_implicit[ITEMS / 32][4], m[ROWS][ITEMS], v[ROWS][ITEMS];
    __shared__ unsigned char index[ROWS][ITEMS];
    for (int i = threadIdx.x; i < DEC_SIZE; i += ITEMS) w[i] = s.parameters[DEC_AT + i];
    for (int i = threadIdx.x; i < QUERY_SUMS; i += ITEMS) sums[i] = 0;
    if (threadIdx.x < TABLE) {
        table[threadIdx.x] = s.parameters[threadIdx.x];
        table_sums[threadIdx.x] = 0;
    }
    __syncthreads();
    double table_scale = *s.table_scale;
    for (uint32_t tile = blockIdx.x; tile < tile_count(s); tile += gridDim.x) {
        int b;
        uint32_t i;
        bool real = find_tile(s, tile, &b, &i);
        item x = make_item(s.tasks[b], real ? i : 0, table, s.recipe.no_norm);
        reads r = read_item(s, b, x, m, v);
#pragma unroll
        for (int k = 0; k < ROWS; k++) index[k][threadIdx.x] = (unsigned char)x.index[k];
        float f = x.f, norm = x.norm;
        decoded d;
        decode_forward(w, r, read_told(s, b), d);

        float e = d.answer - f, sign = e > 0 ? 1.0f : e < 0 ? -1.0f : 0.0f;
        const float *worth = s.worth + 3 * b;
        float slope = real ? worth[0] * sign + worth[1] * sign / f + worth[2] * 2 * e : 0;
        float joined[24], drule;
        decode_backward(w, d, slope, joined, &drule, sums, stage);
#pragma unroll 1
        for (int k = 0; k < ROWS; k++) {
            pair_net p;
            p.x[0] = m[k][threadIdx.x];
            p.x[1] = v[k][threadIdx.x];
            pair_forward(w, p);
            float dy[16];
#pragma unroll
            for (int j = 0; j < 16; j++) dy[j] = joined[j] * (1.0f / ROWS);
            float dv = pair_backward(w, p, dy, sums, stage);
            if (k == r.least) dv -= drule * p.x[0] / (p.x[1] * p.x[1]);
            if (real && !s.recipe.fixed_table) add_table(table_sums, index[k][threadIdx.x], (double)dv * norm * table_scale);
        }
        for (int j = 0; j < 4; j++) {
            float di = joined[16 + j];
            for (int o = 16; o > 0; o /= 2) di += __shfl_xor_sync(0xffffffff, di, o);
            if (threadIdx.x % 32 == 0) warp_implicit[threadIdx.x / 32][j] = di;
        }
        __syncthreads();
        if (threadIdx.x < 4) {
            float di = 0;
            for (int j = 0; j < ITEMS / 32; j++) di += warp_implicit[j][threadIdx.x];
            s.tile_implicit[(size_t)tile * 4 + threadIdx.x] = di;
        }
        __syncthreads();
    }
    float *out = s.partial_dec + (size_t)blockIdx.x * DEC_SIZE;
    collect<DEC_PAIR_0>(sums, out + layer_at(DEC_PAIR_0) - DEC_AT);
    collect<DEC_PAIR_1>(sums + sums_at<DEC_PAIR_0, DEC_PAIR_1>(), out + layer_at(DEC_PAIR_1) - DEC_AT);
    collect<DEC_PAIR_2>(sums + sums_at<DEC_PAIR_0, DEC_PAIR_2>(), out + layer_at(DEC_PAIR_2) - DEC_AT);
    collect<DEC_MIX_0>(sums + sums_at<DEC_PAIR_0, DEC_MIX_0>(), out + layer_at(DEC_MIX_0) - DEC_AT);
    collect<DEC_MIX_1>(sums + sums_at<DEC_PAIR_0, DEC_MIX_1>(), out + layer_at(DEC_MIX_1) - DEC_AT);
    collect<DEC_OUT_0>(sums + sums_at<DEC_PAIR_0, DEC_OUT_0>(), out + layer_at(DEC_OUT_0) - DEC_AT);
    collect<DEC_OUT_1>(sums + sums_at<DEC_PAIR_0, DEC_OUT_1>(), out + layer_at(DEC_OUT_1) - DEC_AT);
    collect<DEC_OUT_2>(sums + sums_at<DEC_PAIR_0, DEC_OUT_2>(), out + layer_at(DEC_OUT_2) - DEC_AT);
    if (threadIdx.x < TABLE) s.partial_table[(size_t)blockIdx.x * TABLE + threadIdx.x] = table_sums[threadIdx.x];
}

/* ---- backward through the scan --------------------------------------------------------------------------------------- */

constexpr int RESCAN_SUMS = sums_at<SCAN_CELL_0, SCAN_CELL_2>() + 16 * tiling<SCAN_CELL_2>::ACTIVE;
constexpr int RESCAN_SHARED = (round4(SCAN_SIZE) + STAGE + RESCAN_SUMS) * 4;

__device__ void head_through(float *dy, const float *y, int n)
{
    if (threadIdx.x < n) dy[threadIdx.x] *= y[threadIdx.x] > 0 ? 1.0f : LEAKY;
    __syncthreads();
}

__device__ void add_mean(heads &h)
{
    if (threadIdx.x < 32) h.dmean[threadIdx.x] += h.d0[threadIdx.x];
    __syncthreads();
}

/* One head of four layers whose single output has the gradient dy. */
template <int FIRST>
__device__ void head_of_four(const float *w, const float *y0, const float *y1, const float *y2, float dy, heads &h,
                             float *gradient)
{
    if (threadIdx.x == 0) h.d0[0] = dy;
    __syncthreads();
    head_backward<FIRST + 3>(w, y2, h.d0, h.d1, gradient);
    head_through(h.d1, y2, 8);
    head_backward<FIRST + 2>(w, y1, h.d1, h.d2, gradient);
    head_through(h.d2, y1, 16);
    head_backward<FIRST + 1>(w, y0, h.d2, h.d1, gradient);
    head_through(h.d1, y0, 16);
    head_backward<FIRST>(w, h.mean, h.d1, h.d0, gradient);
    add_mean(h);
}

__device__ void heads_backward(const device &s, const float *w, int b, heads &h, float *gradient)
{
    const drawn &t = s.tasks[b];
    told r = read_told(s, b);
    const float *weight = s.parameters + LOSS_AT;
    { /* what the decoder sends back, over the task's tiles: a warp a value, each lane its share, then a tree */
        int j = threadIdx.x / 32, lane = threadIdx.x % 32;
        double sum = 0;
        for (uint32_t i = lane; i < t.tiles; i += 32) sum += s.tile_implicit[(size_t)(t.first_tile + i) * 4 + j];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (lane == 0) h.d0[j] = (float)sum / ROWS * (h.i2[j] > 0 ? 1.0f : LEAKY);
    }
    if (threadIdx.x < 32) h.dmean[threadIdx.x] = 0;
    __syncthreads();
    head_backward<SCAN_IMPLICIT_2>(w, h.i1, h.d0, h.d1, gradient);
    head_through(h.d1, h.i1, 8);
    head_backward<SCAN_IMPLICIT_1>(w, h.i0, h.d1, h.d2, gradient);
    head_through(h.d2, h.i0, 16);
    head_backward<SCAN_IMPLICIT_0>(w, h.mean, h.d2, h.d0, gradient);
    add_mean(h);
    double skew = 0.1 / ((double)weight[3] * weight[3]) * (r.skew - t.alpha) / TASKS / ROWS;
    double distinct = 0.1 / ((double)weight[4] * weight[4]) * ((double)r.distinct - t.n) / TASKS / ROWS;
    head_of_four<SCAN_SKEW_0>(w, h.a0, h.a1, h.a2, (float)skew, h, gradient);
    head_of_four<SCAN_DISTINCT_0>(w, h.n0, h.n1, h.n2, (float)distinct, h, gradient);
}

__global__ void __launch_bounds__(ITEMS) rescan(device s)
{
    extern __shared__ __align__(16) float shared[];
    float *w = shared, *stage = w + round4(SCAN_SIZE), *sums = stage + STAGE;
    __shared__ heads h;
    __shared__ float warp_sums[ITEMS / 32][32];
    for (int i = threadIdx.x; i < SCAN_SIZE; i += ITEMS) w[i] = s.parameters[SCAN_AT + i];
    for (int i = threadIdx.x; i < RESCAN_SUMS; i += ITEMS) sums[i] = 0;
    __syncthreads();
    int b = blockIdx.x / ROWS, k = blockIdx.x % ROWS;
    float *gradient = s.partial_scan + (size_t)blockIdx.x * SCAN_SIZE;
    mean_over_cells(s, w, b, k, h, warp_sums);
    heads_forward(w, h);
    heads_backward(s, w, b, h, gradient);
    for (int c = threadIdx.x; c < CELLS; c += ITEMS) {
        cell_net n;
        n.x = read_cell(s, b, k, c);
        cell_forward(w, n);
        float d1[32], d2[16], d3[8];
#pragma unroll
        for (int i = 0; i < 32; i++) d1[i] = h.dmean[i] * (1.0f / CELLS);
        through<32>(d1, n.y, 0);
        multiply<SCAN_CELL_2>(sums + sums_at<SCAN_CELL_0, SCAN_CELL_2>(), stage, n.c, d1);
        backward<SCAN_CELL_2>(w + layer_at(SCAN_CELL_2) - SCAN_AT, d1, d2);
        through<16>(d2, n.c, 0);
        multiply<SCAN_CELL_1>(sums + sums_at<SCAN_CELL_0, SCAN_CELL_1>(), stage, n.a, d2);
        backward<SCAN_CELL_1>(w + layer_at(SCAN_CELL_1) - SCAN_AT, d2, d3);
        through<8>(d3, n.a, 0);
        multiply<SCAN_CELL_0>(sums, stage, &n.x, d3);
    }
    collect<SCAN_CELL_0>(sums, gradient + layer_at(SCAN_CELL_0) - SCAN_AT);
    collect<SCAN_CELL_1>(sums + sums_at<SCAN_CELL_0, SCAN_CELL_1>(), gradient + layer_at(SCAN_CELL_1) - SCAN_AT);
    collect<SCAN_CELL_2>(sums + sums_at<SCAN_CELL_0, SCAN_CELL_2>(), gradient + layer_at(SCAN_CELL_2) - SCAN_AT);
}

/* ---- sum and update ------------------------------------------------------------------------------------------------ */

/* A warp a parameter: lanes take every 32nd partial gradient, then a tree. */
__global__ void sum(device s)
{
    int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (p >= LOSS_AT) return;
    double total = 0;
    if (p < TABLE) {
        long long whole = 0;
        for (int i = lane; i < s.blocks; i += 32) whole += s.partial_table[(size_t)i * TABLE + p];
        total = (double)whole / *s.table_scale;
    } else if (p < DEC_AT) {
        if (!s.recipe.no_scan)
            for (int i = lane; i < TASKS * ROWS; i += 32) total += s.partial_scan[(size_t)i * SCAN_SIZE + p - SCAN_AT];
    } else {
        for (int i = lane; i < s.blocks; i += 32) total += s.partial_dec[(size_t)i * DEC_SIZE + p - DEC_AT];
    }
    for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffff, total, d);
    if (lane == 0) s.gradient[p] = (float)total;
}

__global__ void __launch_bounds__(1024) update(device s)
{
    __shared__ double warp_sums[32];
    double square = 0;
    for (int p = threadIdx.x; p < PARAMETERS; p += 1024) square += (double)s.gradient[p] * s.gradient[p];
    for (int d = 16; d > 0; d /= 2) square += __shfl_xor_sync(0xffffffff, square, d);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = square;
    __syncthreads();
    square = 0;
    for (int i = 0; i < 32; i++) square += warp_sums[i];
    double norm = sqrt(square), clip = norm > 10 ? 10 / (norm + 1e-6) : 1;
    bool broken = *s.broken || !isfinite(norm) || !isfinite(s.losses->total);
    uint64_t t = *s.step, stage = 10 * t / s.steps;
    __syncthreads();
    if (threadIdx.x == 0) {
        s.history[t % HISTORY] = *s.losses;
        *s.broken = broken;
        *s.step = t + !broken;
    }
    if (broken) return;

    double rate = pow(0.1, (double)(stage < 10 ? stage : 10) / 10) / (1 - pow(0.9, (double)(t + 1)));
    double root = sqrt(1 - pow(0.999, (double)(t + 1)));
    for (int p = threadIdx.x; p < PARAMETERS; p += 1024) {
        double g = clip * s.gradient[p], m = 0.9 * s.first[p] + 0.1 * g, v = 0.999 * s.second[p] + 0.001 * g * g;
        s.first[p] = (float)m;
        s.second[p] = (float)v;
        double base = p < TABLE ? s.recipe.rate_table : s.recipe.rate;
        float x = s.parameters[p] - (float)(base * rate * m / (sqrt(v) / root + 1e-8));
        if (p < TABLE) x = fminf(fmaxf(x, 0.001f), 1.0f);
        s.parameters[p] = x;
        s.average[p] += (float)(s.average_rate * ((double)x - (double)s.average[p]));
    }
}

} // namespace

/* ---- the backend ------------------------------------------------------------------------------------------------- */

struct session {
    device s;
    cudaStream_t stream;
    cudaGraphExec_t graph; /* a whole step: one call instead of eleven */
    void *memory;
    char description[300];
};

namespace {

/* Everything up to the gradient. */
void enqueue_gradient(session *t)
{
    device &s = t->s;
    cudaMemsetAsync(s.bricks, 0, sizeof(uint64_t) * TASKS * ROWS * COLUMNS, t->stream);
    draw<<<1, TASKS, 0, t->stream>>>(s);
    store<<<s.blocks * 4, ITEMS, 0, t->stream>>>(s);
    if (!s.recipe.no_scan) scan<<<TASKS * ROWS, ITEMS, 0, t->stream>>>(s);
    errors<<<s.blocks * 2, ITEMS, 0, t->stream>>>(s);
    loss<<<1, TASKS * 32, 0, t->stream>>>(s);
    query<<<s.blocks, ITEMS, QUERY_SHARED, t->stream>>>(s);
    if (!s.recipe.no_scan) rescan<<<TASKS * ROWS, ITEMS, RESCAN_SHARED, t->stream>>>(s);
    sum<<<(LOSS_AT * 32 + 255) / 256, 256, 0, t->stream>>>(s);
}

cudaError_t allocate(session *t)
{
    device &s = t->s;
    size_t tiles = (size_t)TASKS * ((s.recipe.n_max + ITEMS - 1) / ITEMS), floats = sizeof(float) * PARAMETERS;
    struct part {
        void **at;
        size_t size;
    } parts[] = {{(void **)&s.parameters, floats},
                 {(void **)&s.first, floats},
                 {(void **)&s.second, floats},
                 {(void **)&s.average, floats},
                 {(void **)&s.gradient, floats},
                 {(void **)&s.tasks, sizeof(drawn) * TASKS},
                 {(void **)&s.bricks, sizeof(uint64_t) * TASKS * ROWS * COLUMNS},
                 {(void **)&s.mass, sizeof(uint64_t) * TASKS},
                 {(void **)&s.scans, sizeof(scanned) * TASKS * ROWS},
                 {(void **)&s.tile_sums, sizeof(double) * 6 * tiles},
                 {(void **)&s.tile_implicit, sizeof(float) * 4 * tiles},
                 {(void **)&s.worth, sizeof(float) * 3 * TASKS},
                 {(void **)&s.table_scale, sizeof(double)},
                 {(void **)&s.partial_dec, sizeof(float) * DEC_SIZE * s.blocks},
                 {(void **)&s.partial_table, sizeof(long long) * TABLE * s.blocks},
                 {(void **)&s.partial_scan, sizeof(float) * SCAN_SIZE * TASKS * ROWS},
                 {(void **)&s.losses, sizeof(struct losses)},
                 {(void **)&s.history, sizeof(struct losses) * HISTORY},
                 {(void **)&s.step, sizeof(uint64_t)},
                 {(void **)&s.broken, sizeof(int)}};
    size_t total = 0;
    for (part &p : parts) total += (p.size + 255) / 256 * 256;
    cudaError_t error = cudaMalloc(&t->memory, total);
    if (error != cudaSuccess) return error;
    char *at = static_cast<char *>(t->memory);
    for (part &p : parts) {
        *p.at = at;
        at += (p.size + 255) / 256 * 256;
    }
    return cudaMemset(t->memory, 0, total);
}

cudaError_t capture(session *t)
{
    cudaGraph_t graph;
    cudaError_t error = cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeGlobal);
    if (error != cudaSuccess) return error;
    enqueue_gradient(t);
    update<<<1, 1024, 0, t->stream>>>(t->s);
    error = cudaStreamEndCapture(t->stream, &graph);
    if (error != cudaSuccess) return error;
    error = cudaGraphInstantiate(&t->graph, graph, 0);
    cudaGraphDestroy(graph);
    return error;
}

cudaError_t prepare(session *t)
{
    cudaDeviceProp card;
    int number, resident;
    cudaError_t error = cudaGetDevice(&number);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&card, number);
    if (error == cudaSuccess) error = cudaFuncSetAttribute(query, cudaFuncAttributeMaxDynamicSharedMemorySize, QUERY_SHARED);
    if (error == cudaSuccess) error = cudaFuncSetAttribute(rescan, cudaFuncAttributeMaxDynamicSharedMemorySize, RESCAN_SHARED);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, query, ITEMS, QUERY_SHARED);
    if (error != cudaSuccess) return error;
    t->s.blocks = card.multiProcessorCount * resident; /* the sums of a gradient, so its last bits, depend on it */
    snprintf(t->description, sizeof t->description, "cuda, %s", card.name);
    error = allocate(t);
    if (error == cudaSuccess) error = cudaStreamCreate(&t->stream);
    return error == cudaSuccess ? capture(t) : error;
}

void cuda_close(session *t)
{
    if (!t) return;
    if (t->graph) cudaGraphExecDestroy(t->graph);
    if (t->stream) cudaStreamDestroy(t->stream);
    cudaFree(t->memory);
    free(t);
}

bool put(void *to, const void *from, size_t size)
{
    return cudaMemcpy(to, from, size, cudaMemcpyHostToDevice) == cudaSuccess;
}

bool get(void *to, const void *from, size_t size)
{
    return cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost) == cudaSuccess;
}

bool cuda_load(session *t, const struct state *state)
{
    const device &s = t->s;
    int whole = 0;
    return put(s.parameters, state->parameters, sizeof state->parameters) &&
           put(s.first, state->first, sizeof state->first) && put(s.second, state->second, sizeof state->second) &&
           put(s.average, state->average, sizeof state->average) && put(s.step, &state->step, sizeof state->step) &&
           put(s.broken, &whole, sizeof whole);
}

bool cuda_save(session *t, struct state *state)
{
    const device &s = t->s;
    return get(state->parameters, s.parameters, sizeof state->parameters) &&
           get(state->first, s.first, sizeof state->first) && get(state->second, s.second, sizeof state->second) &&
           get(state->average, s.average, sizeof state->average) && get(&state->step, s.step, sizeof state->step);
}

session *cuda_open(const struct recipe *recipe, unsigned threads, char error[BACKEND_ERROR])
{
    (void)threads;
    const char *problem = recipe_problem(recipe);
    session *t = problem ? NULL : static_cast<session *>(calloc(1, sizeof(session)));
    if (!t) {
        snprintf(error, BACKEND_ERROR, "%s", problem ? problem : "there is not enough memory");
        return NULL;
    }
    t->s.recipe = *recipe;
    t->s.steps = recipe_steps(recipe);
    t->s.average_rate = adam_average(recipe);
    cudaError_t failure = prepare(t);
    struct state *start = static_cast<struct state *>(malloc(sizeof *start));
    if (start) state_start(recipe, start);
    bool loaded = failure == cudaSuccess && start && cuda_load(t, start);
    free(start);
    if (loaded) return t;
    snprintf(error, BACKEND_ERROR, "the GPU: %s", cudaGetErrorString(failure != cudaSuccess ? failure : cudaGetLastError()));
    cuda_close(t);
    return NULL;
}

const char *cuda_describe(const session *t)
{
    return t->description;
}

enum backend_result cuda_gradient(session *t, uint64_t step, float gradient[TRAIN_PARAMETERS], struct losses *losses)
{
    uint64_t now;
    if (!get(&now, t->s.step, sizeof now) || !put(t->s.step, &step, sizeof step)) return BACKEND_FAILED;
    enqueue_gradient(t);
    if (cudaStreamSynchronize(t->stream) != cudaSuccess ||
        !get(gradient, t->s.gradient, sizeof(float) * PARAMETERS) || !get(losses, t->s.losses, sizeof *losses) ||
        !put(t->s.step, &now, sizeof now))
        return BACKEND_FAILED;
    bool finite = isfinite(losses->total);
    for (int i = 0; i < PARAMETERS; i++) finite = finite && isfinite(gradient[i]);
    return finite ? BACKEND_DONE : BACKEND_NOT_FINITE;
}

/* Losses of `count` steps, at most HISTORY, from `first` on. */
bool fetch_losses(const session *t, uint64_t first, uint32_t count, struct losses losses[])
{
    uint32_t slot = (uint32_t)(first % HISTORY), before = HISTORY - slot < count ? HISTORY - slot : count;
    return get(losses, t->s.history + slot, sizeof *losses * before) &&
           get(losses + before, t->s.history, sizeof *losses * (count - before));
}

enum backend_result cuda_steps(session *t, uint32_t count, struct losses losses[], uint32_t *done)
{
    for (*done = 0; *done < count;) {
        uint32_t part = count - *done < HISTORY ? count - *done : HISTORY;
        uint64_t first, after;
        int broken;
        if (!get(&first, t->s.step, sizeof first)) return BACKEND_FAILED;
        for (uint32_t i = 0; i < part; i++)
            if (cudaGraphLaunch(t->graph, t->stream) != cudaSuccess) return BACKEND_FAILED;
        if (cudaStreamSynchronize(t->stream) != cudaSuccess || !get(&after, t->s.step, sizeof after) ||
            !get(&broken, t->s.broken, sizeof broken))
            return BACKEND_FAILED;
        uint32_t real = (uint32_t)(after - first);
        if (!fetch_losses(t, first, real + (broken != 0), losses + *done)) return BACKEND_FAILED;
        *done += real;
        if (broken) return BACKEND_NOT_FINITE;
    }
    return BACKEND_DONE;
}

} // namespace

extern "C" const struct backend backend_cuda = {"cuda",    cuda_open, cuda_close,    cuda_describe,
                                                cuda_load, cuda_save, cuda_gradient, cuda_steps};
