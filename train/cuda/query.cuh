/* query: errors of the decoder, the loss, and the gradients of decoder and V. */
#pragma once

#include "layers.cuh"
#include "scan.cuh"
#include "task.cuh"

namespace
{

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
    int least;         /* the row that f'' is from (TRAIN_TIE) */
    double exact_rule; /* f'' from the exact cell: where most items are alone in one the guide is close to 0 */
};

__device__ reads read_item(const device &s, int b, const item &x, float (*m)[ITEMS], float (*v)[ITEMS])
{
    reads r = {m, v, 0, 0, 0};
    float ratio[ROWS], least = 0, weight = 2 * ROWS; /* all weights are below */
    double exact[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        exact[k] = exact_cell(s, b, k, x.column[k]);
        float read = (float)exact[k];
        ratio[k] = read / x.v[k];
        m[k][threadIdx.x] = read;
        v[k][threadIdx.x] = x.v[k];
        least = k == 0 || ratio[k] < least ? ratio[k] : least;
    }
#pragma unroll
    for (int k = 0; k < ROWS; k++)
        if (ratio[k] <= least * (float)TRAIN_TIE && x.v[k] < weight) {
            weight = x.v[k];
            r.rule = ratio[k];
            r.least = k;
            r.exact_rule = exact[k] / (double)x.v[k];
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
    for (uint32_t tile = blockIdx.x; tile < tile_count(s, recipe_queried(&s.recipe)); tile += gridDim.x) {
        int b;
        uint32_t i;
        double sums[6] = {0, 0, 0, 0, 0, 0};
        if (find_tile(s, tile, &b, &i)) {
            item x = make_item(s.tasks[b], i, table, s.recipe.no_norm);
            reads r = read_item(s, b, x, m, v);
            decoded d;
            decode_forward(w, r, read_told(s, b), d);
            double e = fabs((double)d.answer - x.f), g = fabs(r.exact_rule - x.f);
            sums[0] = e;
            sums[1] = e / x.f;
            sums[2] = e * e;
            sums[3] = g;
            sums[4] = g / x.f;
            sums[5] = g * g;
        }
        for (int j = 0; j < 6; j++) {
            double sum = warp_sum(sums[j]);
            if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32][j] = sum;
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

/* One warp a task sums its tiles, each lane its share, then the lanes as a tree; its first lane takes the task's
 * losses, and the first thread those of the step. A scout was not queried: its errors are 0, so it adds nothing to
 * L'. */
__global__ void loss(device s)
{
    __shared__ struct losses part[TASKS];
    __shared__ double typical[TASKS]; /* dL / df' of an item */
    int b = threadIdx.x / 32, lane = threadIdx.x % 32;
    const drawn &t = s.tasks[b];
    const float *weights = s.parameters + LOSS_AT;
    uint32_t tiles = t.scout ? 0 : t.tiles;
    double error[6];
    for (int j = 0; j < 6; j++) {
        double sum = 0;
        for (uint32_t i = lane; i < tiles; i += 32) sum += s.tile_sums[(size_t)(t.first_tile + i) * 6 + j];
        error[j] = warp_sum(sum) / t.n;
    }
    if (lane == 0) {
        told r = read_told(s, b);
        const double off[2] = {(double)r.skew - t.alpha, (double)r.distinct - t.n};
        double derror[3];
        for (int m = 0; m < 3; m++) {
            part[b].error[m] = error[m];
            part[b].guide[m] = error[m + 3];
        }
        loss_task_forward(&s.recipe, off, &part[b]);
        loss_task_backward(&s.recipe, weights, &part[b], off, derror, s.doff + 2 * b);
        for (int m = 0; m < 3; m++) s.worth[b * 3 + m] = (float)(derror[m] / t.n);
        typical[b] = t.scout ? 0 : (derror[0] + derror[1] + 2 * derror[2] * sqrt(error[2])) / t.n;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    double most = 1e-30;
    for (int c = 0; c < TASKS; c++) most = fmax(most, typical[c]);
    loss_step(&s.recipe, weights, part, reinterpret_cast<struct losses *>(s.losses), s.gradient + LOSS_AT);
    /* An item's gradient of V in units of 2^-20 of the usual df': rounding to whole units is below 1e-6 of a sum even
     * where dv / df' is 0.01. */
    *s.table_scale = exp2(20 - ceil(log2(most)));
}

/* Shared memory of the query kernel, in floats. */
constexpr int QUERY_SUMS = sums_at<DEC_PAIR_0, DEC_OUT_2>() + 16 * tiling<DEC_OUT_2>::ACTIVE;
constexpr int QUERY_SHARED = (round4(DEC_SIZE) + STAGE + QUERY_SUMS + TABLE) * 4 + TABLE * 8;

/* Backward through one row's pair of read and weight; returns dv. */
__device__ float pair_backward(const float *w, pair_net &p, float *dy, float *sums, float *stage)
{
    float d1[16], d2[8], d3[2];
    through<16>(dy, p.y, 0);
    back<DEC_PAIR_0, DEC_PAIR_2, 16>(w, p.c, dy, d1, 0, sums, stage);
    back<DEC_PAIR_0, DEC_PAIR_1, 8>(w, p.a, d1, d2, 0, sums, stage);
    back<DEC_PAIR_0, DEC_PAIR_0, 0>(w, p.x, d2, d3, 0, sums, stage);
    return d3[1];
}

/* From df' back to the 24 joined values; *drule gets what reaches f''. */
__device__ void decode_backward(const float *w, decoded &d, float slope_of_loss, float *joined, float *drule,
                                float *sums, float *stage)
{
    float d1[1] = {slope_of_loss}, d2[4], d3[8], d4[20], d5[32];
    back<DEC_PAIR_0, DEC_OUT_2, 4>(w, d.b, d1, d2, LEAKY, sums, stage);
    back<DEC_PAIR_0, DEC_OUT_1, 8>(w, d.a, d2, d3, LEAKY, sums, stage);
    back<DEC_PAIR_0, DEC_OUT_0, 16>(w, d.mixed, d3, d4, LEAKY, sums, stage);
    *drule = d4[16];
    back<DEC_PAIR_0, DEC_MIX_1, 32>(w, d.wide, d4, d5, LEAKY, sums, stage);
    back<DEC_PAIR_0, DEC_MIX_0, 0>(w, d.joined, d5, joined, 0, sums, stage);
    *drule += joined[20];
}

__device__ void add_table(long long *table_sums, uint32_t index, double gradient)
{
    /* dv / df' is up to f'' / v, 10^8 or 2^27, far from the 2^50; a block has some 2^10 items, so its sum cannot
     * overflow */
    long long fixed = llrint(fmin(fmax(gradient, -0x1p50), 0x1p50));
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
    for (uint32_t tile = blockIdx.x; tile < tile_count(s, recipe_queried(&s.recipe)); tile += gridDim.x) {
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
            if (real && !s.recipe.fixed_table)
                add_table(table_sums, index[k][threadIdx.x], (double)dv * norm * table_scale);
        }
        for (int j = 0; j < 4; j++) {
            float di = warp_sum(joined[16 + j]);
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
    collect_all<DEC_PAIR_0, DEC_OUT_2>(sums, s.partial_dec + (size_t)blockIdx.x * DEC_SIZE);
    if (threadIdx.x < TABLE) s.partial_table[(size_t)blockIdx.x * TABLE + threadIdx.x] = table_sums[threadIdx.x];
}

} // namespace
