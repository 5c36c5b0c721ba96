/* random: SplitMix64 as train.h and ms_train.h count its outputs. */
#ifndef LEGO_CUDA_RANDOM_CUH
#define LEGO_CUDA_RANDOM_CUH

#include <stdint.h>

namespace {

__device__ uint64_t splitmix(uint64_t state, uint64_t output)
{
    uint64_t z = state + output * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

__device__ double uniform(uint64_t x)
{
    return (double)(x >> 11) * 0x1p-53;
}

} // namespace

#endif
