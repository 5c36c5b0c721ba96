/* ms_sum: sums over the items of a task that have an entry for every weight or cell: memory, its gradient, and the
 * gradients of all layers. Groups of tiles are added up by a block each, then the groups in order. */
#pragma once

#include "ms_product.cuh"

namespace
{

struct group {
    int task, tiles;
    items *first;
};

/* The group of a task's tiles that has this number among those of all tasks; false beyond the last. */
template <int EACH, uint32_t drawn::*FIRST> __device__ bool find_group(const device &s, uint32_t number, group &g)
{
    const drawn &last = s.tasks[TASKS - 1];
    if (number >= last.*FIRST + groups(last.tiles, EACH)) return false;
    g.task = 0;
    for (int i = 1; i < TASKS; i++)
        if (s.tasks[i].n > 0 && number >= s.tasks[i].*FIRST) g.task = i;
    const drawn &task = s.tasks[g.task];
    uint32_t before = (number - task.*FIRST) * EACH;
    g.tiles = min(task.tiles - before, (uint32_t)EACH);
    g.first = s.tiles + task.first_tile + before;
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

constexpr int MEMORY_THREADS = 96;
using memory_shape = outer_shape<SLOTS, EMBED, 4, 4>;
static_assert(memory_shape::THREADS <= MEMORY_THREADS, "a thread for every 4 x 4 cells");

/* Grid: groups, depths. memory = a (x) f z, or its gradient, a (x) dread. */
template <bool BACKWARD> __global__ void __launch_bounds__(MEMORY_THREADS) store(device s)
{
    __shared__ __align__(16) float room[memory_shape::ROOM];
    const int d = blockIdx.y;
    group g;
    if (!find_group<MEMORY_TILES, &drawn::first_memory>(s, blockIdx.x, g)) return;
    const row *x = BACKWARD ? g.first->dread + d * EMBED : g.first->fz;
    float *to = s.partial_memory + (size_t)blockIdx.x * CELLS + d * SLOTS * EMBED;
    outer<SLOTS, EMBED, 4, 4, NO_BIAS>(g.first->a + d * SLOTS, x, g.tiles, to, EMBED, 1, NULL, room);
}

/* Grid: cells / 256, tasks. */
template <bool BACKWARD> __global__ void store_sum(device s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const drawn &task = s.tasks[blockIdx.y];
    if (i >= CELLS || task.n == 0) return;
    const float *partial = s.partial_memory + (size_t)task.first_memory * CELLS + i;
    float sum = 0;
    const uint32_t count = groups(task.tiles, MEMORY_TILES);
#pragma unroll 8
    for (uint32_t g = 0; g < count; g++) sum += partial[(size_t)g * CELLS];
    (BACKWARD ? s.of_task[blockIdx.y].dmemory : s.of_task[blockIdx.y].memory)[i] = sum;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

constexpr int WEIGHT_THREADS = 160, WEIGHT_HALF = MS_HIDDEN / 2, WEIGHT_JOBS = 14;
using widest = outer_shape<WEIGHT_HALF, MS_IN, 8, 8>;
constexpr int WEIGHT_SHARED = widest::ROOM * (int)sizeof(float);

template <int R, int C, int RR, int RC, bias BIAS>
__device__ void layer(const row *y, const row *x, int tiles, float *g, int rows, int columns, float *bias_to,
                      float *room)
{
    using S = outer_shape<R, C, RR, RC>;
    static_assert(S::THREADS <= WEIGHT_THREADS && S::ROOM <= widest::ROOM, "the block is large enough");
    static_assert(BIAS == NO_BIAS || (BIAS == BIAS_OF_ROWS ? R : C) <= WEIGHT_THREADS, "a thread for every bias");
    outer<R, C, RR, RC, BIAS>(y, x, tiles, g, rows, columns, bias_to, room);
}

/* Grid: groups, jobs, those of most work first. The gradients of beta and gamma of batch norm, and of the weights of
 * the loss, are there already: see direct(). */
__global__ void __launch_bounds__(WEIGHT_THREADS) weights(device s)
{
    extern __shared__ __align__(16) float room[];
    group g;
    if (!find_group<WEIGHT_TILES, &drawn::first_weights>(s, blockIdx.x, g)) return;
    const items *t = g.first;
    float *to = s.partial_weights + (size_t)blockIdx.x * PARAMETERS;
    const int n = g.tiles, half = blockIdx.y % 2 * WEIGHT_HALF;
    switch (blockIdx.y) {
    case 0:
    case 1:
        layer<WEIGHT_HALF, MS_IN, 8, 8, BIAS_OF_ROWS>(t->de + half, t->in, n, to + MS_AT_DECODE_0 + half * MS_IN, MS_IN,
                                                      1, to + MS_BIAS_DECODE_0 + half, room);
        break;
    case 2:
    case 3: /* the biases are of the columns, which both halves have */
        layer<WEIGHT_HALF, MS_IN, 8, 8, BIAS_OF_COLUMNS>(t->e + half, t->dg, n, to + MS_AT_DECODE_1 + half, 1,
                                                         MS_HIDDEN, half ? NULL : to + MS_BIAS_DECODE_1, room);
        break;
    case 4: layer<64, MS_BITS, 8, 4, NO_BIAS>(t->du0, t->x, n, to + MS_AT_EMBED_0, MS_BITS, 1, NULL, room); break;
    case 5:
        layer<MS_HALF, MS_IN, 4, 6, BIAS_OF_ROWS>(t->dk, t->g, n, to + MS_AT_DECODE_2, MS_IN, 1, to + MS_BIAS_DECODE_2,
                                                  room);
        break;
    case 6: layer<43, 64, 4, 5, NO_BIAS>(t->du1, t->h0, n, to + MS_AT_EMBED_1, 64, 1, NULL, room); break;
    case 7:
        layer<EMBED, 43, 4, 2, BIAS_OF_ROWS>(t->dz, t->h1, n, to + MS_AT_EMBED_2, 43, 1, to + MS_BIAS_EMBED_2, room);
        break;
    case 8: layer<32, EMBED, 4, 2, NO_BIAS>(t->dv0, t->z, n, to + MS_AT_REFINE_0, EMBED, 1, NULL, room); break;
    case 9: layer<18, 32, 2, 2, NO_BIAS>(t->dv1, t->r0, n, to + MS_AT_REFINE_1, 32, 1, NULL, room); break;
    case 10:
        layer<REFINED, 18, 1, 1, BIAS_OF_ROWS>(t->dq, t->r1, n, to + MS_AT_REFINE_2, 18, 1, to + MS_BIAS_REFINE_2,
                                               room);
        break;
    case 11:
        layer<1, MS_HALF, 1, 1, BIAS_OF_ROWS>(&t->danswer, t->k, n, to + MS_AT_DECODE_3, MS_HALF, 1,
                                              to + MS_BIAS_DECODE_3, room);
        break;
    default: /* 12, 13: a depth each */
        layer<REFINED, SLOTS, 2, 1, NO_BIAS>(t->q, t->da + (blockIdx.y - 12) * SLOTS, n,
                                             to + MS_AT_ADDRESS + (blockIdx.y - 12) * REFINED * SLOTS, SLOTS, 1, NULL,
                                             room);
    }
}

/* Whether a parameter's gradient comes from sums that batch norm or the loss has anyway. */
__device__ bool direct(int p)
{
    return (p >= MS_BIAS_EMBED_0 && p < MS_AT_EMBED_1) || (p >= MS_BIAS_EMBED_1 && p < MS_AT_EMBED_2) ||
           (p >= MS_BIAS_REFINE_0 && p < MS_AT_REFINE_1) || (p >= MS_BIAS_REFINE_1 && p < MS_AT_REFINE_2) ||
           p >= MS_AT_LOSS;
}

/* Grid: SUM_BLOCKS, tasks. The groups' gradients in order, in doubles; and the squares of a block's parameters. */
__global__ void __launch_bounds__(SUM_THREADS) weights_sum(device s)
{
    __shared__ double warp_sums[SUM_THREADS / 32];
    const int p = blockIdx.x * SUM_THREADS + threadIdx.x, b = blockIdx.y;
    const drawn &task = s.tasks[b];
    if (task.n == 0) return;
    double square = 0;
    if (p < PARAMETERS) {
        float *to = s.gradients + (size_t)b * PARAMETERS + p;
        if (!direct(p)) {
            const float *partial = s.partial_weights + (size_t)task.first_weights * PARAMETERS + p;
            double sum = 0;
            const uint32_t count = groups(task.tiles, WEIGHT_TILES);
#pragma unroll 4
            for (uint32_t g = 0; g < count; g++) sum += partial[(size_t)g * PARAMETERS];
            *to = (float)sum;
        }
        square = (double)*to * *to;
    }
    square = warp_sum(square);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x != 0) return;
    double sum = 0;
    for (double x : warp_sums) sum += x;
    s.squares[b * SUM_BLOCKS + blockIdx.x] = sum;
}

} // namespace
