/* warp: what the 32 threads of a warp do together, each with every 32nd of n things. All of them call these functions,
 * with the same n, and nobody goes on before what the others wrote is there. A group is some warps. */
#pragma once

#include "cuda/device.cuh"

enum { WARP = 32 };

#ifdef LEGO_ON_HOST /* one thread, which takes things from the last to the first: no order may be relied on */

enum { GROUP_WARPS = 1 };
#define warp_lane() 0u
#define warp_wait() ((void)0)
#define warp_total(x) (x)
#define warp_most(x) (x)
#define warp_any(x) (x)
#define group_wait() ((void)0)
#define WARP_EACH(i, n) for (unsigned i = (n); i-- > 0;)
#define GROUP_EACH(i, n) WARP_EACH(i, n)
#define or_into(word, bits) (*(word) |= (bits))
#define add_into(sum, value) (*(sum) += (value))

template <class F> DEVICE uint64_t warp_mask(unsigned n, F f)
{
    uint64_t mask = 0;
    WARP_EACH(i, n) mask |= (uint64_t)f(i) << i;
    return mask;
}

#else

enum { GROUP_WARPS = 8 };
#define warp_lane() (threadIdx.x % WARP)
#define warp_wait() __syncwarp()
#define warp_total(x) __reduce_add_sync(~0u, x)
#define warp_most(x) __reduce_max_sync(~0u, x)
#define warp_any(x) __reduce_or_sync(~0u, x)
#define group_wait() __syncthreads()
#define WARP_EACH(i, n) for (unsigned i = warp_lane(); i < (n); i += WARP)
#define GROUP_EACH(i, n) for (unsigned i = threadIdx.x; i < (n); i += GROUP_WARPS * WARP)

/* Into memory that others write to at the same time. */
#define or_into(word, bits) atomicOr(word, bits)
#define add_into(sum, value) atomicAdd((unsigned long long *)(sum), (unsigned long long)(value))

/* Of n things, at most 64: those for which f holds. */
template <class F> DEVICE uint64_t warp_mask(unsigned n, F f)
{
    unsigned i = warp_lane();
    uint64_t low = __ballot_sync(~0u, i < n && f(i));
    return n <= WARP ? low : (uint64_t)__ballot_sync(~0u, i + WARP < n && f(i + WARP)) << WARP | low;
}

#endif

/* Does something with each of n things. */
template <class F> DEVICE void warp_each(unsigned n, F f)
{
    WARP_EACH(i, n) f(i);
    warp_wait();
}

/* The sum over n things, and the largest, and which bits any has. */
template <class F> DEVICE unsigned warp_sum(unsigned n, F f)
{
    unsigned sum = 0;
    WARP_EACH(i, n) sum += f(i);
    return warp_total(sum);
}

template <class F> DEVICE unsigned warp_max(unsigned n, F f)
{
    unsigned most = 0;
    WARP_EACH(i, n)
    {
        unsigned x = f(i);
        most = x > most ? x : most;
    }
    return warp_most(most);
}

template <class F> DEVICE unsigned warp_or(unsigned n, F f)
{
    unsigned bits = 0;
    WARP_EACH(i, n) bits |= f(i);
    return warp_any(bits);
}
