/* device: the library's own source, compiled for a GPU: what reads a block, where an item is, what was learnt. So there
 * is one implementation, and the same bits come out. (Where CUDA is not the compiler, it is plain C++ for one thread:
 * tests/cuda_on_host/kernels.cpp runs it without a GPU.) */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef LEGO_ON_HOST
#define DEVICE
#else
#define DEVICE __device__ __forceinline__
#define static static __device__ /* functions and tables */
#define __builtin_ctzll(x) (__ffsll((long long)(x)) - 1)
#define __builtin_ctz(x) (__ffs((int)(x)) - 1)
#define __builtin_prefetch(x) ((void)(x))
#endif
extern "C" {
#include "block/kernels_body.h"
#include "core/sip.h"
#include "cuda/kernels.h"
#include "model/posterior.h"
#include "paper/embed.h"
}
#undef static

DEVICE struct hash sip_key(struct seed seed, uint64_t key)
{
    uint64_t v[4];
    SIP_BEGIN(v, uint64_t, seed.number, seed.key);
    SIP_TAKE(v, key);
    SIP_END(v, SIP_EIGHT_BYTES);
    return hash_of_sip(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

/* As hash_u64(), on the way that hash_short_way() says. */
DEVICE struct hash hash_key(const struct hash_way &way, uint64_t key)
{
    if (seed_is_secret(way.seed)) return sip_key(way.seed, key);
    lego_u128 product = (lego_u128)(key ^ way.flip) * way.prime;
    uint64_t lo = (uint64_t)product, hi = (uint64_t)(product >> 64) + (lo << 1);
    lo ^= hi >> 3;
    lo = (lo ^ lo >> 35) * way.low;
    hi = (hi ^ hi >> 37) * way.high;
    return {lo ^ lo >> 28, hi ^ hi >> 32};
}
