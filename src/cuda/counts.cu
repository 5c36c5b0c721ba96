/* counts: see counts.h. */
#include "cuda/counts.h"

#include "cuda/device.cuh"

namespace
{

constexpr unsigned SUM_THREADS = 256;

__device__ uint64_t sum_of(uint64_t a, uint64_t b) /* at most 2^62 + 2^63 */
{
    return a + b < COUNTS_MOST ? a + b : COUNTS_MOST;
}

/* A part for each block of threads. */
__global__ void sum_counts(const int64_t *counts, size_t n, uint64_t *sums)
{
    __shared__ uint64_t shared[SUM_THREADS];
    uint64_t sum = 0;
    for (size_t i = blockIdx.x * (size_t)SUM_THREADS + threadIdx.x; i < n; i += gridDim.x * (size_t)SUM_THREADS)
        sum = sum_of(sum, counts[i] < 0 ? 0 - (uint64_t)counts[i] : (uint64_t)counts[i]);
    shared[threadIdx.x] = sum;
    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) shared[threadIdx.x] = sum_of(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

} // namespace

cudaError_t device_sum(const int64_t *counts, size_t n, uint64_t sums[COUNTS_PARTS], cudaStream_t stream)
{
    return launch(sum_counts, COUNTS_PARTS, SUM_THREADS, 0, stream, counts, n, sums);
}
