/* ms_norm: batch norm over all items of a task: sums of tiles -> what the next stage multiplies with, and back. */
#pragma once

#include "ms_product.cuh"

namespace
{

/* A batch norm and its activation: y = act(norm(u)). */
struct norm {
    int at, features; /* among means */
    int bias, gamma;  /* among parameters */
    float slope;
    int u, y, dy; /* among the rows of a tile */
};
#define ROW(member) (int)(offsetof(items, member) / sizeof(row))
#define NORM(layer, slope, u, y, dy)                                                                                   \
    {                                                                                                                  \
        MS_NORM_##layer, MS_OUT_##layer, MS_BIAS_##layer, MS_GAMMA_##layer, slope, ROW(u), ROW(y), ROW(dy)             \
    }
constexpr norm NORM_EMBED_0 = NORM(EMBED_0, 0, u0, h0, du0), NORM_EMBED_1 = NORM(EMBED_1, 0, u1, h1, du1),
               NORM_REFINE_0 = NORM(REFINE_0, LEAKY, v0, r0, dv0), NORM_REFINE_1 = NORM(REFINE_1, LEAKY, v1, r1, dv1);

__device__ row *rows_of(const place &p, int first)
{
    return reinterpret_cast<row *>(p.t) + first;
}

constexpr int SETTLED = 8; /* features of a block: a warp each */

/* A warp's sums over the tiles of a task: each lane its share, then the lanes as a tree. */
__device__ void add_tiles(const device &s, const drawn &task, int feature, double &one, double &two)
{
    one = two = 0;
    for (uint32_t i = threadIdx.x % 32; i < task.tiles; i += 32) {
        one += s.tile_sums[task.first_tile + i].one[feature];
        two += s.tile_sums[task.first_tile + i].two[feature];
    }
    one = warp_sum(one);
    two = warp_sum(two);
}

/* Grid: features / 8, tasks. */
__global__ void norm_settle(device s, norm norm)
{
    const drawn &task = s.tasks[blockIdx.y];
    shared &m = s.of_task[blockIdx.y];
    const int o = blockIdx.x * SETTLED + threadIdx.x / 32, i = norm.at + o;
    if (o >= norm.features || task.n == 0) return;
    double one, two;
    add_tiles(s, task, i, one, two);
    if (threadIdx.x % 32 != 0) return;
    double mean = one / task.n, variance = fmax(two / task.n - mean * mean, 0.0);
    double rest = 1 / sqrt(variance + (double)1e-5f);
    double scale = s.parameters[norm.gamma + o] * rest;
    m.mean[i] = mean;
    m.rest[i] = rest;
    m.variance[i] = variance * task.n / (task.n - 1.0);
    m.scale[i] = (float)scale;
    m.shift[i] = (float)(s.parameters[norm.bias + o] - scale * mean);
}

__global__ void norm_settle_backward(device s, norm norm)
{
    const drawn &task = s.tasks[blockIdx.y];
    shared &m = s.of_task[blockIdx.y];
    const int o = blockIdx.x * SETTLED + threadIdx.x / 32, i = norm.at + o;
    if (o >= norm.features || task.n == 0) return;
    double one, two;
    add_tiles(s, task, i, one, two);
    if (threadIdx.x % 32 != 0) return;
    float *gradient = s.gradients + (size_t)blockIdx.y * PARAMETERS;
    double dyx = (two - m.mean[i] * one) * m.rest[i];
    gradient[norm.bias + o] = (float)one;
    gradient[norm.gamma + o] = (float)dyx;
    double scale = s.parameters[norm.gamma + o] * m.rest[i], slope = dyx / task.n * m.rest[i];
    m.by[i] = (float)scale;
    m.slope[i] = (float)(scale * slope);
    m.less[i] = (float)(scale * (one / task.n - m.mean[i] * slope));
}

/* y = act(scale u + shift), into shared memory and the tile. */
__device__ void norm_forward(const norm norm, const place &p, float *to)
{
    const row *u = rows_of(p, norm.u);
    row *y = rows_of(p, norm.y);
    for (int i = threadIdx.x; i < norm.features * ITEMS; i += blockDim.x) {
        const int r = i / ITEMS, c = i % ITEMS, o = norm.at + r;
        float t = p.of_task->scale[o] * u[r][c] + p.of_task->shift[o];
        to[i] = y[r][c] = t > 0 ? t : norm.slope * t;
    }
}

/* v: the gradient of 8 items of y, feature m, goes before the activation and into dy; and its sums. */
__device__ void norm_arrive(const norm norm, const place &p, int m, float (&v)[8])
{
    float y[8], u[8];
    get8(rows_of(p, norm.y)[m], y);
    get8(rows_of(p, norm.u)[m], u);
    for (int j = 0; j < 8; j++) v[j] *= y[j] > 0 ? 1 : norm.slope;
    put8(rows_of(p, norm.dy)[m], v);
    measure(p, norm.at + m, v, u);
}

/* du = by dy - slope u - less, 0 for padding: in place of dy, and into shared memory unless that is NULL. */
__device__ void norm_backward(const norm norm, const place &p, float *to)
{
    const row *u = rows_of(p, norm.u);
    row *du = rows_of(p, norm.dy);
    for (int i = threadIdx.x; i < norm.features * ITEMS; i += blockDim.x) {
        const int r = i / ITEMS, c = i % ITEMS, o = norm.at + r;
        float d = p.of_task->by[o] * du[r][c] - p.of_task->slope[o] * u[r][c] - p.of_task->less[o];
        du[r][c] = c < p.count ? d : 0;
        if (to) to[i] = du[r][c];
    }
}

/* ---- layers between two batch norms ------------------------------------------------------------------------------ */

constexpr int SMALL = 128; /* threads of a block: 8 for every 4 of 64 outputs; and one for an item at each depth */

/* y of one norm -> u of the next, and its sums; a block has a tile. at: the layer among parameters. */
template <int K, int M> __global__ void __launch_bounds__(SMALL) between_forward(device s, norm from, norm to, int at)
{
    __shared__ __align__(16) float y[K * ITEMS], w[K * round4(M)];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    load_matrix<K, M>(w, s.transposed + at);
    norm_forward(from, p, y);
    __syncthreads();
    product<K, M>(w, y, [&](int m, float(&u)[8]) {
        put8(rows_of(p, to.u)[m], u);
        measure(p, to.at + m, u, u);
    });
}

/* The same back, from the gradient of what the later one gives. */
template <int K, int M> __global__ void __launch_bounds__(SMALL) between_backward(device s, norm from, norm to, int at)
{
    __shared__ __align__(16) float du[M * ITEMS], w[M * round4(K)];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    load_matrix<M, K>(w, s.parameters + at);
    norm_backward(to, p, du);
    __syncthreads();
    product<M, K>(w, du, [&](int m, float(&v)[8]) { norm_arrive(from, p, m, v); });
}

} // namespace
