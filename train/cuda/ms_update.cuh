/* ms_update: clipping, Adam, the columns of A, and what follows the tasks. */
#ifndef LEGO_CUDA_MS_UPDATE_CUH
#define LEGO_CUDA_MS_UPDATE_CUH

#include "ms_device.cuh"

namespace {

/* ---- parameters lie there twice ---------------------------------------------------------------------------------- */

/* Where [out][in] at `at` has its entry p in [in][out]. */
__device__ int transpose(int p, int at, int in, int out)
{
    return at + (p - at) % in * out + (p - at) / in;
}

__device__ int transposed_place(int p)
{
#define MS_LAYER_TRANSPOSED(layer, in, out, norm) \
    if (p >= MS_AT_##layer && p < MS_BIAS_##layer) return transpose(p, MS_AT_##layer, in, out);
    MS_LAYERS(MS_LAYER_TRANSPOSED)
    if (p >= MS_AT_ADDRESS && p < MS_AT_LOSS) {
        int depth = (p - MS_AT_ADDRESS) / (REFINED * SLOTS);
        return transpose(p, MS_AT_ADDRESS + depth * REFINED * SLOTS, SLOTS, REFINED);
    }
    return p;
}

__device__ void set_parameter(const device &s, int p, float x)
{
    s.parameters[p] = x;
    s.transposed[transposed_place(p)] = x;
}

__global__ void transpose_all(device s)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < PARAMETERS) set_parameter(s, p, s.parameters[p]);
}

/* ---- a step ------------------------------------------------------------------------------------------------------ */

/* A warp a task takes the norm of its gradient; then the first thread says what the step's losses were, and whether it
 * counts. */
__global__ void clip(device s)
{
    __shared__ bool finite[TASKS];
    const int b = threadIdx.x / 32, lane = threadIdx.x % 32, count = *s.count;
    if (b < count) {
        double square = 0;
        for (int i = lane; i < SUM_BLOCKS; i += 32) square += s.squares[b * SUM_BLOCKS + i];
        for (int d = 16; d > 0; d /= 2) square += __shfl_xor_sync(0xffffffff, square, d);
        double norm = sqrt(square);
        if (lane == 0) {
            s.clip[b] = norm > 5 ? 5 / (norm + 1e-6) : 1;
            finite[b] = isfinite(norm) && isfinite(s.of_task[b].losses.total);
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    struct ms_losses mean = {0, 0, 0, 0};
    for (int i = 0; i < count; i++) {
        const struct ms_losses &l = s.of_task[i].losses;
        mean.total += l.total / count;
        mean.mse += l.mse / count;
        mean.are += l.are / count;
        mean.aae += l.aae / count;
        if (!finite[i]) *s.broken = 1;
    }
    s.history[*s.step % HISTORY] = mean;
}

__global__ void __launch_bounds__(SUM_THREADS) adam(device s)
{
    const int p = blockIdx.x * SUM_THREADS + threadIdx.x, count = *s.count;
    if (p >= PARAMETERS || *s.broken) return;
    double t = (double)(*s.step + 1), g = 0;
    for (int b = 0; b < count; b++) g += s.clip[b] * s.gradients[(size_t)b * PARAMETERS + p];
    g /= count;
    double first = 0.9 * s.first[p] + (1 - 0.9) * g, second = 0.999 * s.second[p] + (1 - 0.999) * g * g;
    double size = *s.rate / (1 - pow(0.9, t)), root = sqrt(1 - pow(0.999, t));
    s.first[p] = (float)first;
    s.second[p] = (float)second;
    set_parameter(s, p, s.parameters[p] - (float)(size * first / (sqrt(second) / root + 1e-8)));
}

/* One block: A's columns back to length 1, means and variances after the tasks, and the step counts. */
__global__ void finish(device s)
{
    if (*s.broken) return;
    const int t = threadIdx.x;
    if (t < DEPTH * SLOTS) {
        const int at = MS_AT_ADDRESS + t / SLOTS * REFINED * SLOTS + t % SLOTS;
        double square = 0;
        for (int r = 0; r < REFINED; r++) square += (double)s.parameters[at + r * SLOTS] * s.parameters[at + r * SLOTS];
        for (int r = 0; r < REFINED && square > 0; r++)
            set_parameter(s, at + r * SLOTS, (float)(s.parameters[at + r * SLOTS] / sqrt(square)));
    }
    if (t < MS_NORMED)
        for (int b = 0; b < *s.count; b++) {
            double follow = 0.01 * s.tasks[b].n / s.recipe.n_max;
            s.mean[t] += follow * (s.of_task[b].mean[t] - s.mean[t]);
            s.variance[t] += follow * (s.of_task[b].variance[t] - s.variance[t]);
        }
    if (t == 0) ++*s.step;
}

} // namespace

#endif
