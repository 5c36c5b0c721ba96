/* As much of CUDA's header of this name as the kernels of src/cuda/ ask for, so that a C++ compiler takes them and a
 * CPU runs them: threads.cpp. */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <cuda_runtime_api.h>

#define __global__
#define __device__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ constinit thread_local /* of one block of threads, which are all of one thread here */

using std::max;
using std::min;

struct dim3 {
    unsigned x, y = 1, z = 1;
    constexpr dim3(unsigned number = 1) : x(number)
    {
    }
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

/* ---- what threads do together ------------------------------------------------------------------------------------ */

unsigned warp_votes(bool vote); /* a bit for each thread of the warp */
void __syncthreads();

inline unsigned __ballot_sync(unsigned, bool vote)
{
    return warp_votes(vote);
}

inline bool __any_sync(unsigned, bool vote)
{
    return warp_votes(vote) != 0;
}

inline void __syncwarp()
{
    warp_votes(false);
}

/* A thread is not interrupted here. */
template <class T> T atomicAdd(T *at, T value)
{
    T before = *at;
    *at += value;
    return before;
}

template <class T> T atomicOr(T *at, T bits)
{
    T before = *at;
    *at |= bits;
    return before;
}

template <class T> T atomicCAS(T *at, T expected, T value)
{
    T before = *at;
    if (before == expected) *at = value;
    return before;
}

inline int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};

void run_threads(unsigned blocks, unsigned threads, void (*body)(void *), void *context);

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *how, void (*kernel)(Parameters...),
                               const Arguments &...arguments)
{
    auto call = [&] { kernel(arguments...); };
    run_threads(
        how->gridDim.x, how->blockDim.x, [](void *it) { (*static_cast<decltype(call) *>(it))(); }, &call);
    return cudaSuccess;
}

/* Two processors, with room for two blocks each: a grid has several, and each of them several turns. */
template <class Kernel> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, size_t)
{
    *blocks = 2;
    return cudaSuccess;
}
