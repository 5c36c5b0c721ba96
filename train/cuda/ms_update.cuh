/* ms_update: from the gradients of a step's tasks to the one that Adam gets, and what follows Adam. */
#pragma once

#include "ms_device.cuh"

extern "C" {
#include "adam.h"
}

namespace
{

/* A warp a task takes the norm of its gradient; then the first thread says what the step's losses were. */
__global__ void clip(device s)
{
    const int b = threadIdx.x / 32, lane = threadIdx.x % 32, count = *s.tasks_now;
    double square = 0;
    for (int i = lane; b < count && i < SUM_BLOCKS; i += 32) square += s.squares[b * SUM_BLOCKS + i];
    square = warp_sum(square);
    if (b < count && lane == 0) s.task_clip[b] = adam_clip(square, MS_CLIP);
    if (threadIdx.x != 0) return;
    struct ms_losses mean = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        const struct ms_losses &l = s.of_task[i].losses;
        mean.total += l.total / count;
        mean.mse += l.mse / count;
        mean.are += l.are / count;
        mean.aae += l.aae / count;
    }
    *reinterpret_cast<struct ms_losses *>(s.losses) = mean;
}

__global__ void __launch_bounds__(SUM_THREADS) mean_gradient(device s)
{
    const int p = blockIdx.x * SUM_THREADS + threadIdx.x, count = *s.tasks_now;
    if (p >= PARAMETERS) return;
    double g = 0;
    for (int b = 0; b < count; b++) g += s.task_clip[b] * s.gradients[(size_t)b * PARAMETERS + p];
    s.gradient[p] = g / count;
}

/* ---- after Adam -------------------------------------------------------------------------------------------------- */

/* One block: A's columns back to length 1. */
__global__ void normalise(device s)
{
    const int t = threadIdx.x, at = MS_AT_ADDRESS + t / SLOTS * REFINED * SLOTS + t % SLOTS;
    if (*s.broken || t >= DEPTH * SLOTS) return;
    double square = 0;
    for (int r = 0; r < REFINED; r++) square += (double)s.parameters[at + r * SLOTS] * s.parameters[at + r * SLOTS];
    for (int r = 0; r < REFINED && square > 0; r++)
        s.parameters[at + r * SLOTS] = (float)(s.parameters[at + r * SLOTS] / sqrt(square));
}

/* One block: means and variances follow those of the step's tasks. */
__global__ void follow(device s)
{
    const int t = threadIdx.x;
    if (*s.broken || t >= MS_NORMED) return;
    for (int b = 0; b < *s.tasks_now; b++) {
        double by = ms_follow(&s.recipe, s.tasks[b].n), &mean = s.statistics[t],
               &variance = s.statistics[MS_NORMED + t];
        mean += by * (s.of_task[b].mean[t] - mean);
        variance += by * (s.of_task[b].variance[t] - variance);
    }
}

/* Where [out][in] at `at` has its entry p in [in][out]. */
__device__ int transpose(int p, int at, int in, int out)
{
    return at + (p - at) % in * out + (p - at) / in;
}

__device__ int transposed_place(int p)
{
#define MS_LAYER_TRANSPOSED(layer, in, out, norm)                                                                      \
    if (p >= MS_AT_##layer && p < MS_BIAS_##layer) return transpose(p, MS_AT_##layer, in, out);
    MS_LAYERS(MS_LAYER_TRANSPOSED)
    if (p >= MS_AT_ADDRESS && p < MS_AT_LOSS) {
        int depth = (p - MS_AT_ADDRESS) / (REFINED * SLOTS);
        return transpose(p, MS_AT_ADDRESS + depth * REFINED * SLOTS, SLOTS, REFINED);
    }
    return p;
}

/* Parameters lie there twice. */
__global__ void transpose_all(device s)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < PARAMETERS) s.transposed[transposed_place(p)] = s.parameters[p];
}

} // namespace
