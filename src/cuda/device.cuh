/* device: the library's own source, compiled for a GPU: where an item is and which weights it has. So there is one
 * implementation, and the same bits come out. */
#pragma once

#include <cuda_runtime.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define static static __device__ /* functions and tables */
extern "C" {
#include "core/sip.h"
#include "paper/embed.h"
}
#undef static

constexpr unsigned WARP = 32;

__device__ __forceinline__ hash sip_key(seed seed, uint64_t key)
{
    uint64_t v[4];
    SIP_BEGIN(v, uint64_t, seed.number, seed.key);
    SIP_TAKE(v, key);
    SIP_END(v, SIP_EIGHT_BYTES);
    return hash_of_sip(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

/* As hash_u64(), on the way that hash_short_way() says. */
__device__ __forceinline__ hash hash_key(const hash_way &way, uint64_t key)
{
    if (seed_is_secret(way.seed)) return sip_key(way.seed, key);
    lego_u128 product = (lego_u128)(key ^ way.flip) * way.prime;
    uint64_t lo = (uint64_t)product, hi = (uint64_t)(product >> 64) + (lo << 1);
    lo ^= hi >> 3;
    lo = (lo ^ lo >> 35) * way.low;
    hi = (hi ^ hi >> 37) * way.high;
    return {lo ^ lo >> 28, hi ^ hi >> 32};
}

/* Starts a kernel: so many blocks of so many threads, with `shared` bytes of their own beside those it declares. */
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), unsigned grid, unsigned threads, size_t shared, cudaStream_t stream,
                   const Arguments &...arguments)
{
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3(grid);
    how.blockDim = dim3(threads);
    how.dynamicSmemBytes = shared;
    how.stream = stream;
    return cudaLaunchKernelEx(&how, kernel, arguments...);
}
