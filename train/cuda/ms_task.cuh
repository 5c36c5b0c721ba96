/* ms_task: drawing the tasks of a step and their items. */
#ifndef LEGO_CUDA_MS_TASK_CUH
#define LEGO_CUDA_MS_TASK_CUH

#include "ms_device.cuh"
#include "random.cuh"

namespace {

/* As train/ms_tasks.c has it. */
__device__ double zipf_sum(double alpha)
{
    const double from = 32, to = MS_POPULATION, t = 1 - alpha, ratio = log(to / from);
    double sum = 0;
    for (int j = 1; j < (int)from; j++) sum += pow((double)j, -alpha);
    sum += t == 0 ? ratio : pow(from, t) * expm1(t * ratio) / t;
    sum += (pow(from, -alpha) + pow(to, -alpha)) / 2;
    return sum + alpha / 12 * (pow(from, -alpha - 1) - pow(to, -alpha - 1));
}

/* One thread a task; those that a last step has not have no items. */
__global__ void draw(device s)
{
    __shared__ uint32_t tiles[TASKS];
    const struct ms_recipe &r = s.recipe;
    const int b = threadIdx.x;
    const uint64_t first = *s.step * r.batch;
    const int count = first < r.tasks && r.tasks - first < r.batch ? (int)(r.tasks - first) : (int)r.batch;
    drawn t = {};
    if (b < count) {
        t.key = splitmix(splitmix(r.seed, 1) + first + b, 1);
        t.n = r.n_min + (uint32_t)(uniform(splitmix(t.key, 1)) * (r.n_max - r.n_min + 1.0));
        t.alpha = r.alpha_min + uniform(splitmix(t.key, 2)) * (r.alpha_max - r.alpha_min);
        double u = uniform(splitmix(t.key, 3));
        double scale = r.log_scale ? r.scale_min * pow(r.scale_max / r.scale_min, u)
                                   : r.scale_min + u * (r.scale_max - r.scale_min);
        t.top = scale * MS_POPULATION / zipf_sum(t.alpha);
        t.tiles = (t.n + ITEMS - 1) / ITEMS;
    }
    tiles[b] = t.tiles;
    __syncthreads();
    for (int i = 0; i < b; i++) {
        t.first_tile += tiles[i];
        t.first_memory += groups(tiles[i], MEMORY_TILES);
        t.first_weights += groups(tiles[i], WEIGHT_TILES);
    }
    s.tasks[b] = t;
    s.of_task[b].total = 0;
    if (b == 0) {
        double late = 2 * (double)*s.step / (double)((r.tasks + r.batch - 1) / r.batch) - 1; /* ms_rate() */
        *s.rate = late <= 0 || r.rate == 0 ? r.rate : r.rate * pow(r.rate_end / r.rate, late);
        *s.count = count;
    }
}

__device__ uint64_t item_bits(const drawn &t, uint32_t i)
{
    return splitmix(t.key, 4 + 2 * (uint64_t)i) >> (64 - MS_BITS);
}

__device__ float item_frequency(const drawn &t, uint32_t i)
{
    uint64_t rank = 1 + ((splitmix(t.key, 5 + 2 * (uint64_t)i) >> 32) * MS_POPULATION >> 32);
    return (float)(1 + floor(t.top * pow((double)rank, -t.alpha) + 0.5));
}

} // namespace

#endif
