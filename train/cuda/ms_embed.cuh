/* ms_embed: items -> embedding and address, and back. A block has a tile of 64 items; stages are those of
 * train/ms_net.h, cut where a sum over all items of a task is needed. */
#pragma once

#include "ms_norm.cuh"
#include "ms_task.cuh"

namespace
{

__device__ void embed_0_items(const device &s, const place &p, float *x)
{
    const int c = threadIdx.x % ITEMS, half = threadIdx.x / ITEMS;
    const uint32_t i = p.first + c;
    const drawn &task = s.tasks[p.task];
    uint64_t bits = c < p.count ? ms_item_bits(&task, i) : 0;
    for (int b = half; b < MS_BITS; b += SMALL / ITEMS) p.t->x[b][c] = x[b * ITEMS + c] = (float)(bits >> b & 1);
    if (half != 0) return;
    float f = c < p.count ? ms_item_frequency(&task, task.top, i) : 0;
    double total = warp_sum((double)f);
    p.t->f[c] = f;
    if (c % 32 == 0) atomicAdd(&p.of_task->total, total);
}

__global__ void __launch_bounds__(SMALL) embed_0_forward(device s)
{
    __shared__ __align__(16) float x[MS_BITS * ITEMS], w[MS_BITS * 64];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    load_matrix<MS_BITS, 64>(w, s.transposed + MS_AT_EMBED_0);
    embed_0_items(s, p, x);
    __syncthreads();
    product<MS_BITS, 64>(w, x, [&](int m, float(&u)[8]) {
        put8(p.t->u0[m], u);
        measure(p, MS_NORM_EMBED_0 + m, u, u);
    });
}

__global__ void __launch_bounds__(SMALL) embed_2_forward(device s)
{
    __shared__ __align__(16) float h1[43 * ITEMS], w[43 * round4(EMBED)], z[EMBED * ITEMS], w_refine[EMBED * 32];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    load_matrix<43, EMBED>(w, s.transposed + MS_AT_EMBED_2);
    load_matrix<EMBED, 32>(w_refine, s.transposed + MS_AT_REFINE_0);
    norm_forward(NORM_EMBED_1, p, h1);
    __syncthreads();
    product<43, EMBED>(w, h1, [&](int m, float(&v)[8]) {
        for (float &x : v) x = fmaxf(x + s.parameters[MS_BIAS_EMBED_2 + m], 0);
        put8(z + m * ITEMS, v);
        put8(p.t->z[m], v);
    });
    __syncthreads();
    product<EMBED, 32>(w_refine, z, [&](int m, float(&u)[8]) {
        put8(p.t->v0[m], u);
        measure(p, MS_NORM_REFINE_0 + m, u, u);
    });
}

/* One item at one depth, in place: the slots are ITEMS apart. As train/ms_net.h does it. */
__device__ void sparsemax_forward(float *a)
{
    float top = a[0], tau = -1;
    for (int i = 1; i < SLOTS; i++) top = fmaxf(top, a[i * ITEMS]);
    for (int i = 0; i < SLOTS; i++) a[i * ITEMS] -= top;
    for (int round = 0; round < SLOTS; round++) {
        float sum = 0, count = 0;
        for (int i = 0; i < SLOTS; i++)
            if (a[i * ITEMS] > tau) {
                sum += a[i * ITEMS];
                count += 1;
            }
        float next = (sum - 1) / count;
        if (!(next > tau)) break;
        tau = next;
    }
    for (int i = 0; i < SLOTS; i++) a[i * ITEMS] = fmaxf(a[i * ITEMS] - tau, 0);
}

__device__ void sparsemax_backward(const float *a, float *da)
{
    float sum = 0, count = 0;
    for (int i = 0; i < SLOTS; i++)
        if (a[i * ITEMS] > 0) {
            sum += da[i * ITEMS];
            count += 1;
        }
    for (int i = 0; i < SLOTS; i++) da[i * ITEMS] = a[i * ITEMS] > 0 ? da[i * ITEMS] - sum / count : 0;
}

__global__ void __launch_bounds__(SMALL) address_forward(device s)
{
    __shared__ __align__(16) float r1[18 * ITEMS], w[18 * round4(REFINED)], q[REFINED * ITEMS];
    __shared__ __align__(16) float address[DEPTH][REFINED * round4(SLOTS)], a[DEPTH * SLOTS * ITEMS];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    load_matrix<18, REFINED>(w, s.transposed + MS_AT_REFINE_2);
    for (int d = 0; d < DEPTH; d++)
        load_matrix<REFINED, SLOTS>(address[d], s.parameters + MS_AT_ADDRESS + d * REFINED * SLOTS);
    norm_forward(NORM_REFINE_1, p, r1);
    for (int i = threadIdx.x; i < EMBED * ITEMS; i += SMALL)
        p.t->fz[i / ITEMS][i % ITEMS] = p.t->f[i % ITEMS] * p.t->z[i / ITEMS][i % ITEMS];
    __syncthreads();
    product<18, REFINED>(w, r1, [&](int m, float(&v)[8]) {
        for (float &x : v) x += s.parameters[MS_BIAS_REFINE_2 + m];
        put8(q + m * ITEMS, v);
        put8(p.t->q[m], v);
    });
    __syncthreads();
    for (int d = 0; d < DEPTH; d++)
        product<REFINED, SLOTS>(address[d], q, [&](int m, float(&v)[8]) { put8(a + (d * SLOTS + m) * ITEMS, v); });
    __syncthreads();
    const int d = threadIdx.x / ITEMS, c = threadIdx.x % ITEMS;
    float *mine = a + d * SLOTS * ITEMS + c, square = 0;
    sparsemax_forward(mine);
    for (int i = 0; i < SLOTS; i++) {
        square += mine[i * ITEMS] * mine[i * ITEMS];
        p.t->a[d * SLOTS + i][c] = mine[i * ITEMS];
    }
    p.t->square[d][c] = square;
}

/* ---- back -------------------------------------------------------------------------------------------------------- */

struct address_room {
    float by_slot[DEPTH][SLOTS * round4(EMBED)], by_feature[DEPTH][EMBED * round4(SLOTS)]; /* the memory's gradient */
    float z[EMBED * ITEMS], a[DEPTH * SLOTS * ITEMS], da[DEPTH * SLOTS * ITEMS], dq[REFINED * ITEMS];
    float address[DEPTH * SLOTS * round4(REFINED)], w[REFINED * round4(18)];
};

/* Gradients of address and embedding, with what was stored counted too, then back to the last batch norm. */
__global__ void __launch_bounds__(SMALL) address_backward(device s)
{
    extern __shared__ __align__(16) float room[];
    address_room &r = *reinterpret_cast<address_room *>(room);
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    for (int d = 0; d < DEPTH; d++) {
        load_matrix<SLOTS, EMBED>(r.by_slot[d], p.of_task->dmemory + d * SLOTS * EMBED);
        load_transposed<EMBED, SLOTS>(r.by_feature[d], p.of_task->dmemory + d * SLOTS * EMBED);
    }
    load_rows(r.z, p.t->z, EMBED);
    load_rows(r.a, p.t->a, DEPTH * SLOTS);
    load_matrix<DEPTH * SLOTS, REFINED>(r.address, s.transposed + MS_AT_ADDRESS);
    load_matrix<REFINED, 18>(r.w, s.parameters + MS_AT_REFINE_2);
    __syncthreads();
    float f[8];
    get8(p.t->f, f);
    for (int d = 0; d < DEPTH; d++) {
        product<EMBED, SLOTS>(r.by_feature[d], r.z, [&](int m, float(&v)[8]) {
            float before[8];
            get8(p.t->da[d * SLOTS + m], before);
            for (int j = 0; j < 8; j++) v[j] = before[j] + f[j] * v[j];
            put8(r.da + (d * SLOTS + m) * ITEMS, v);
        });
        product<SLOTS, EMBED>(r.by_slot[d], r.a + d * SLOTS * ITEMS, [&](int m, float(&v)[8]) {
            float before[8];
            get8(p.t->dz[m], before);
            for (int j = 0; j < 8; j++) v[j] = before[j] + f[j] * v[j];
            put8(p.t->dz[m], v); /* the next depth has the same thread */
        });
    }
    __syncthreads();
    const int d = threadIdx.x / ITEMS, c = threadIdx.x % ITEMS;
    sparsemax_backward(r.a + d * SLOTS * ITEMS + c, r.da + d * SLOTS * ITEMS + c);
    for (int i = 0; i < SLOTS; i++) p.t->da[d * SLOTS + i][c] = r.da[(d * SLOTS + i) * ITEMS + c];
    __syncthreads();
    product<DEPTH * SLOTS, REFINED>(r.address, r.da, [&](int m, float(&v)[8]) {
        put8(r.dq + m * ITEMS, v);
        put8(p.t->dq[m], v);
    });
    __syncthreads();
    product<REFINED, 18>(r.w, r.dq, [&](int m, float(&v)[8]) { norm_arrive(NORM_REFINE_1, p, m, v); });
}

__global__ void __launch_bounds__(SMALL) embed_2_backward(device s)
{
    __shared__ __align__(16) float dv0[32 * ITEMS], w_refine[32 * round4(EMBED)];
    __shared__ __align__(16) float dz[EMBED * ITEMS], w[EMBED * round4(43)];
    place p;
    if (!find_tile(s, blockIdx.x, p)) return;
    load_matrix<32, EMBED>(w_refine, s.parameters + MS_AT_REFINE_0);
    load_matrix<EMBED, 43>(w, s.parameters + MS_AT_EMBED_2);
    norm_backward(NORM_REFINE_0, p, dv0);
    __syncthreads();
    product<32, EMBED>(w_refine, dv0, [&](int m, float(&v)[8]) {
        float z[8], before[8];
        get8(p.t->z[m], z);
        get8(p.t->dz[m], before);
        for (int j = 0; j < 8; j++) v[j] = z[j] > 0 ? before[j] + v[j] : 0;
        put8(dz + m * ITEMS, v);
        put8(p.t->dz[m], v);
    });
    __syncthreads();
    product<EMBED, 43>(w, dz, [&](int m, float(&v)[8]) { norm_arrive(NORM_EMBED_1, p, m, v); });
}

__global__ void __launch_bounds__(SMALL) embed_0_backward(device s)
{
    place p;
    if (find_tile(s, blockIdx.x, p)) norm_backward(NORM_EMBED_0, p, NULL);
}

} // namespace
