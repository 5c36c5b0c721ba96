/* task: drawing tasks and items, and storing them into bricks. */
#pragma once

#include "device.cuh"

namespace
{

__global__ void draw(device s)
{
    __shared__ uint32_t tiles[TASKS];
    const int b = threadIdx.x;
    drawn t = {task_draw(&s.recipe, *s.step, b), 0, 0};
    t.tiles = tiles[b] = (t.n + ITEMS - 1) / ITEMS;
    __syncthreads();
    for (int i = 0; i < b; i++) t.first_tile += tiles[i];
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
    uint64_t lo = split_mix(t.key, 4 + 2 * (uint64_t)i), hi = split_mix(t.key, 5 + 2 * (uint64_t)i);
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

/* Tiles of the first so many tasks. */
__device__ uint32_t tile_count(const device &s, uint32_t tasks)
{
    return s.tasks[tasks - 1].first_tile + s.tasks[tasks - 1].tiles;
}

__global__ void store(device s)
{
    __shared__ float table[TABLE];
    __shared__ unsigned long long mass;
    if (threadIdx.x < TABLE) table[threadIdx.x] = s.parameters[threadIdx.x];
    for (uint32_t tile = blockIdx.x; tile < tile_count(s, TASKS); tile += gridDim.x) {
        if (threadIdx.x == 0) mass = 0;
        __syncthreads();
        int b;
        uint32_t i;
        if (find_tile(s, tile, &b, &i)) {
            item x = make_item(s.tasks[b], i, table, s.recipe.no_norm);
#pragma unroll
            for (int k = 0; k < ROWS; k++)
                atomicAdd(&s.bricks[((size_t)b * ROWS + k) * COLUMNS + x.column[k]],
                          (unsigned long long)llrint((double)x.f * x.v[k] * TRAIN_UNIT));
            atomicAdd(&mass, (unsigned long long)llrint((double)x.f * TRAIN_UNIT));
        }
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(&s.mass[b], mass);
    }
}

} // namespace
