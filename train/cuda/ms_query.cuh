/* ms_query: what the memory says of an item, the decoder, the loss, and back to what was read. */
#pragma once

#include "ms_embed.cuh"

namespace
{

/* Rows of the decoder's input. */
constexpr int IN_RATIO = DEPTH * EMBED, IN_LEAST = IN_RATIO + DEPTH, IN_GAP = IN_LEAST + DEPTH, IN_Z = MS_FEATURES,
              IN_TOTAL = IN_Z + EMBED;

/* ---- reads ------------------------------------------------------------------------------------------------------- */

struct minima {
    float ratio, least, gap;
    int of_ratio, of_least, of_gap; /* which feature; -1: none */
};

/* Of one item at one depth; read and z have their features ITEMS apart. As train/ms_net.h has them. */
__device__ minima find_minima(const float *read, const float *z)
{
    minima m = {1e30f, read[0], 1e30f, -1, 0, -1};
    for (int k = 1; k < EMBED; k++)
        if (read[k * ITEMS] < m.least) {
            m.least = read[k * ITEMS];
            m.of_least = k;
        }
    for (int k = 0; k < EMBED; k++) {
        float x = read[k * ITEMS], weight = z[k * ITEMS];
        if (!(weight > 1e-4f)) continue;
        if (x / weight < m.ratio) {
            m.ratio = x / weight;
            m.of_ratio = k;
        }
        if (x - m.least > 1e-4f && (x - m.least) / weight < m.gap) {
            m.gap = (x - m.least) / weight;
            m.of_gap = k;
        }
    }
    if (m.of_ratio < 0) m.ratio = 0;
    if (m.of_gap < 0) m.gap = 0;
    return m;
}

__global__ void __launch_bounds__(SMALL) read_forward(device s)
{
    __shared__ __align__(16) float memory[DEPTH][SLOTS * round4(EMBED)], a[DEPTH * SLOTS * ITEMS];
    __shared__ __align__(16) float read[DEPTH * EMBED * ITEMS];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    for (int d = 0; d < DEPTH; d++) load_matrix<SLOTS, EMBED>(memory[d], p.of_task->memory + d * SLOTS * EMBED);
    load_rows(a, p.t->a, DEPTH * SLOTS);
    __syncthreads();
    for (int d = 0; d < DEPTH; d++) {
        float square[8];
        get8(p.t->square[d], square);
        product<SLOTS, EMBED>(memory[d], a + d * SLOTS * ITEMS, [&](int m, float(&v)[8]) {
            for (int j = 0; j < 8; j++) v[j] *= 1 / square[j];
            put8(read + (d * EMBED + m) * ITEMS, v);
            put8(p.t->in[d * EMBED + m], v);
        });
    }
    __syncthreads();
    const int d = threadIdx.x / ITEMS, c = threadIdx.x % ITEMS;
    minima m = find_minima(read + d * EMBED * ITEMS + c, &p.t->z[0][c]);
    p.t->in[IN_RATIO + d][c] = m.ratio;
    p.t->in[IN_LEAST + d][c] = m.least;
    p.t->in[IN_GAP + d][c] = m.gap;
    if (d == 0) p.t->in[IN_TOTAL][c] = (float)p.of_task->total;
    for (int k = d; k < EMBED; k += DEPTH) p.t->in[IN_Z + k][c] = p.t->z[k][c];
}

/* One item at one depth: the gradient of its minima joins that of its reads; dz gets what they do to z. Returns that of
 * 1 / sum of a^2 by a, over a. */
__device__ float minima_backward(const place &p, int d, int c, float *dread, float *dz)
{
    const float *read = &p.t->in[d * EMBED][c], *z = &p.t->z[0][c];
    minima m = find_minima(read, z);
    float dratio = p.t->din[IN_RATIO + d][c], dleast = p.t->din[IN_LEAST + d][c], dgap = p.t->din[IN_GAP + d][c];
    float square = p.t->square[d][c], scale = 1 / square, dscale = 0;
    for (int k = 0; k < EMBED; k++) {
        float from_ratio = k == m.of_ratio ? dratio / z[k * ITEMS] : 0;
        float from_gap = k == m.of_gap ? dgap / z[k * ITEMS] : 0;
        dread[k * ITEMS] += from_ratio + from_gap;
        dz[k * ITEMS] = -from_ratio * m.ratio - from_gap * m.gap;
        dleast -= from_gap;
    }
    dread[m.of_least * ITEMS] += dleast;
    for (int k = 0; k < EMBED; k++) {
        dscale += dread[k * ITEMS] * read[k * ITEMS] * square; /* the read before it was scaled */
        dread[k * ITEMS] *= scale;
    }
    return -2 * dscale * scale * scale;
}

__global__ void __launch_bounds__(SMALL) read_backward(device s)
{
    __shared__ __align__(16) float memory[DEPTH][EMBED * round4(SLOTS)], dread[DEPTH * EMBED * ITEMS];
    __shared__ __align__(16) float dz[DEPTH * EMBED * ITEMS], by_square[DEPTH][ITEMS];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    for (int d = 0; d < DEPTH; d++) load_transposed<EMBED, SLOTS>(memory[d], p.of_task->memory + d * SLOTS * EMBED);
    load_rows(dread, p.t->din, DEPTH * EMBED);
    __syncthreads();
    const int depth = threadIdx.x / ITEMS, c = threadIdx.x % ITEMS;
    float *mine = dread + depth * EMBED * ITEMS + c;
    by_square[depth][c] = minima_backward(p, depth, c, mine, dz + depth * EMBED * ITEMS + c);
    for (int k = 0; k < EMBED; k++) p.t->dread[depth * EMBED + k][c] = mine[k * ITEMS];
    __syncthreads();
    for (int i = threadIdx.x; i < EMBED * ITEMS; i += SMALL)
        p.t->dz[i / ITEMS][i % ITEMS] = p.t->din[IN_Z + i / ITEMS][i % ITEMS] + dz[i] + dz[EMBED * ITEMS + i];
    for (int d = 0; d < DEPTH; d++)
        product<EMBED, SLOTS>(memory[d], dread + d * EMBED * ITEMS, [&](int m, float(&v)[8]) {
            float a[8], by[8];
            get8(p.t->a[d * SLOTS + m], a);
            get8(by_square[d], by);
            for (int j = 0; j < 8; j++) v[j] += by[j] * a[j];
            put8(p.t->da[d * SLOTS + m], v);
        });
}

/* ---- the two wide layers of the decoder: most of the work ------------------------------------------------------- */

constexpr int WIDE = MS_HIDDEN / 2, WIDE_ROWS = 8, WIDE_THREADS = WIDE / WIDE_ROWS * 8,
              WIDE_SHARED = MS_IN * (WIDE + ITEMS) * (int)sizeof(float);

/* 76 -> 256, a half of the outputs a block (blockIdx.y): forward e of in, backward de of dg. */
template <bool BACKWARD> __global__ void __launch_bounds__(WIDE_THREADS) widen(device s)
{
    extern __shared__ __align__(16) float room[];
    float *w = room, *x = room + MS_IN * WIDE;
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    const int first = blockIdx.y * WIDE;
    load_matrix<MS_IN, WIDE>(w, (BACKWARD ? s.parameters + MS_AT_DECODE_1 : s.transposed + MS_AT_DECODE_0) + first,
                             MS_HIDDEN);
    load_rows(x, BACKWARD ? p.t->dg : p.t->in, MS_IN);
    __syncthreads();
    float sum[WIDE_ROWS][8];
    clear(sum);
    multiply<MS_IN, WIDE, WIDE_ROWS>(w, x, sum);
    finish_rows<WIDE, WIDE_ROWS>(sum, [&](int m, float(&v)[8]) {
        if (BACKWARD) {
            float e[8];
            get8(p.t->e[first + m], e);
            for (int j = 0; j < 8; j++) v[j] = e[j] > 0 ? v[j] : 0;
            put8(p.t->de[first + m], v);
        } else {
            float bias = s.parameters[MS_BIAS_DECODE_0 + first + m];
            for (int j = 0; j < 8; j++) v[j] = fmaxf(v[j] + bias, 0);
            put8(p.t->e[first + m], v);
        }
    });
}

constexpr int NARROW_ROWS = 4, NARROW_THREADS = 160, NARROW_INNER = 64; /* 8 threads for every 4 of 76 outputs */

/* 256 -> 76, 64 inputs at a time: forward g of e, backward din of de. */
template <bool BACKWARD> __global__ void __launch_bounds__(NARROW_THREADS) narrow(device s)
{
    __shared__ __align__(16) float w[NARROW_INNER * MS_IN], x[NARROW_INNER * ITEMS];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    const float *weights = BACKWARD ? s.parameters + MS_AT_DECODE_0 : s.transposed + MS_AT_DECODE_1;
    float sum[NARROW_ROWS][8];
    clear(sum);
    for (int k = 0; k < MS_HIDDEN; k += NARROW_INNER) {
        __syncthreads();
        load_matrix<NARROW_INNER, MS_IN>(w, weights + k * MS_IN);
        load_rows(x, (BACKWARD ? p.t->de : p.t->e) + k, NARROW_INNER);
        __syncthreads();
        if (has_rows<MS_IN, NARROW_ROWS>()) multiply<NARROW_INNER, MS_IN, NARROW_ROWS>(w, x, sum);
    }
    finish_rows<MS_IN, NARROW_ROWS>(sum, [&](int m, float(&v)[8]) {
        float past[8]; /* what goes past the two layers */
        get8(BACKWARD ? p.t->dg[m] : p.t->in[m], past);
        float bias = BACKWARD ? 0 : s.parameters[MS_BIAS_DECODE_1 + m];
        for (int j = 0; j < 8; j++) v[j] = BACKWARD ? v[j] + past[j] : fmaxf(v[j] + bias + past[j], 0);
        put8(BACKWARD ? p.t->din[m] : p.t->g[m], v);
    });
}

/* ---- the last two layers, the errors, and back ------------------------------------------------------------------- */

struct head_room {
    float w[MS_IN * round4(MS_HALF)], back[MS_HALF * MS_IN], g[MS_IN * ITEMS], k[MS_HALF * ITEMS], danswer[ITEMS];
    float last[MS_HALF + 1];
};

/* A warp's errors, as a tree. */
__device__ void add_error(double error, double *to)
{
    error = warp_sum(error);
    if (threadIdx.x % 32 == 0) *to = error;
}

__global__ void __launch_bounds__(NARROW_THREADS) head(device s)
{
    extern __shared__ __align__(16) float room[];
    __shared__ double error[3][ITEMS / 32];
    head_room &r = *reinterpret_cast<head_room *>(room);
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    const int t = threadIdx.x;
    load_matrix<MS_IN, MS_HALF>(r.w, s.transposed + MS_AT_DECODE_2);
    load_matrix<MS_HALF, MS_IN>(r.back, s.parameters + MS_AT_DECODE_2);
    load_rows(r.g, p.t->g, MS_IN);
    if (t <= MS_HALF) r.last[t] = s.parameters[MS_AT_DECODE_3 + t]; /* its bias follows its weights */
    __syncthreads();
    product<MS_IN, MS_HALF>(r.w, r.g, [&](int m, float(&v)[8]) {
        for (float &x : v) x = fmaxf(x + s.parameters[MS_BIAS_DECODE_2 + m], 0);
        put8(r.k + m * ITEMS, v);
        put8(p.t->k[m], v);
    });
    __syncthreads();
    if (t < ITEMS) {
        const double w0 = s.parameters[MS_AT_LOSS], w1 = s.parameters[MS_AT_LOSS + 1], n = s.tasks[p.task].n;
        const float mse = (float)(1 / (w0 * w0) / n), are = (float)(0.5 / (w1 * w1) / n);
        const bool there = t < p.count;
        float answer = r.last[MS_HALF], f = there ? p.t->f[t] : 1;
        for (int i = 0; i < MS_HALF; i++) answer += r.last[i] * r.k[i * ITEMS + t];
        float e = there ? answer - f : 0;
        double exact = there ? (double)answer - (double)f : 0;
        r.danswer[t] = p.t->danswer[t] = mse * e + (e > 0 ? are / f : e < 0 ? -are / f : 0);
        add_error(exact * exact, &error[0][t / 32]);
        add_error(fabs(exact) / f, &error[1][t / 32]);
        add_error(fabs(exact), &error[2][t / 32]);
    }
    __syncthreads();
    if (t == 0) {
        p.tile_sums->mse = error[0][0] + error[0][1];
        p.tile_sums->are = error[1][0] + error[1][1];
        p.tile_sums->aae = error[2][0] + error[2][1];
    }
    for (int i = t; i < MS_HALF * ITEMS; i += NARROW_THREADS)
        r.k[i] = p.t->dk[i / ITEMS][i % ITEMS] = r.k[i] > 0 ? r.last[i / ITEMS] * r.danswer[i % ITEMS] : 0;
    __syncthreads();
    product<MS_HALF, MS_IN>(r.back, r.k, [&](int m, float(&v)[8]) {
        float g[8];
        get8(r.g + m * ITEMS, g);
        for (int j = 0; j < 8; j++) v[j] = g[j] > 0 ? v[j] : 0;
        put8(p.t->dg[m], v);
    });
}

/* A warp a task: its losses, and the gradient of their weights. */
__global__ void loss_settle(device s)
{
    const int b = threadIdx.x / 32, lane = threadIdx.x % 32;
    const drawn &task = s.tasks[b];
    if (task.n == 0) return;
    double metric[3] = {0, 0, 0};
    for (uint32_t i = lane; i < task.tiles; i += 32) {
        const sums &tile = s.tile_sums[task.first_tile + i];
        metric[0] += tile.mse / task.n;
        metric[1] += tile.are / task.n;
        metric[2] += tile.aae / task.n;
    }
    for (double &x : metric) x = warp_sum(x);
    if (lane != 0) return;
    double total = 0;
    for (int i = 0; i < 2; i++) {
        double w = s.parameters[MS_AT_LOSS + i];
        total += loss_weigh(metric[i], w);
        s.gradients[(size_t)b * PARAMETERS + MS_AT_LOSS + i] = (float)loss_weigh_backward(metric[i], w);
    }
    s.of_task[b].losses = {total, metric[0], metric[1], metric[2]};
}

} // namespace
