/* update: partial gradients summed in a fixed order, clipping, Adam. */
#ifndef LEGO_CUDA_UPDATE_CUH
#define LEGO_CUDA_UPDATE_CUH

#include "device.cuh"

namespace {

/* A warp a parameter: lanes take every 32nd partial gradient, then a tree. */
__global__ void sum(device s)
{
    int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (p >= LOSS_AT) return;
    double total = 0;
    if (p < TABLE) {
        for (int i = lane; i < s.blocks; i += 32) total += (double)s.partial_table[(size_t)i * TABLE + p] / *s.table_scale;
    } else if (p < DEC_AT) {
        if (!s.recipe.no_scan)
            for (int i = lane; i < TASKS * ROWS * QUARTERS; i += 32)
                total += s.partial_scan[(size_t)i * SCAN_SIZE + p - SCAN_AT];
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

#endif
