/* Many integers at once: MANY of them, or all of an array that has room for a multiple of MANY and zeros behind its
 * n. Part of the body that kernels_body.h is. */
#pragma once

#include <stdint.h>
#include <string.h>

enum { MANY = 64 };

#if defined(__AVX512F__)
#include <immintrin.h>

enum { LANES = 8 };
typedef __m512i lanes;
typedef __mmask8 lanes_mask;

static inline lanes lanes_of(const uint64_t v[])
{
    return _mm512_loadu_si512(v);
}

static inline lanes lanes_all(uint64_t x)
{
    return _mm512_set1_epi64((long long)x);
}

/* Which are at least x. */
static inline unsigned lanes_reach(lanes v, lanes x)
{
    return _mm512_cmpge_epu64_mask(v, x);
}

/* Which have a bit of `bit` in v - x. */
static inline unsigned lanes_bit(lanes v, lanes x, unsigned bit)
{
    return _mm512_test_epi64_mask(_mm512_sub_epi64(v, x), lanes_all(UINT64_C(1) << bit));
}

static inline void lanes_add(uint64_t v[], unsigned where, lanes x)
{
    lanes all = lanes_of(v);
    _mm512_storeu_si512(v, _mm512_mask_add_epi64(all, (lanes_mask)where, all, x));
}

#elif defined(__AVX2__)
#include <immintrin.h>

enum { LANES = 4 };
typedef __m256i lanes;

static inline lanes lanes_of(const uint64_t v[])
{
    return _mm256_loadu_si256((const __m256i *)(const void *)v);
}

static inline lanes lanes_all(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

/* Comparisons are of signed integers. */
static inline unsigned lanes_reach(lanes v, lanes x)
{
    lanes top = lanes_all(UINT64_C(1) << 63);
    lanes less = _mm256_cmpgt_epi64(_mm256_xor_si256(x, top), _mm256_xor_si256(v, top));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(less)) ^ 15;
}

static inline unsigned lanes_bit(lanes v, lanes x, unsigned bit)
{
    lanes up = _mm256_sll_epi64(_mm256_sub_epi64(v, x), _mm_cvtsi32_si128((int)(63 - bit)));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(up));
}

static inline void lanes_add(uint64_t v[], unsigned where, lanes x)
{
    lanes bit = _mm256_set_epi64x(8, 4, 2, 1), these = _mm256_and_si256(lanes_all(where), bit);
    lanes mask = _mm256_cmpeq_epi64(these, bit);
    _mm256_storeu_si256((__m256i *)(void *)v, _mm256_add_epi64(lanes_of(v), _mm256_and_si256(x, mask)));
}

#else

enum { LANES = 1 };
typedef uint64_t lanes;

static inline lanes lanes_of(const uint64_t v[])
{
    return *v;
}

static inline lanes lanes_all(uint64_t x)
{
    return x;
}

static inline unsigned lanes_reach(lanes v, lanes x)
{
    return v >= x;
}

static inline unsigned lanes_bit(lanes v, lanes x, unsigned bit)
{
    return (v - x) >> bit & 1;
}

static inline void lanes_add(uint64_t v[], unsigned where, lanes x)
{
    *v += where ? x : 0;
}

#endif

/* Which of MANY are at least x. */
static inline uint64_t many_reach(const uint64_t v[], uint64_t x)
{
    uint64_t mask = 0;
    lanes all = lanes_all(x);
    for (unsigned i = 0; i < MANY; i += LANES) mask |= (uint64_t)lanes_reach(lanes_of(v + i), all) << i;
    return mask;
}

/* Which of MANY have this bit in v - x. */
static inline uint64_t many_bit(const uint64_t v[], uint64_t x, unsigned bit)
{
    uint64_t mask = 0;
    lanes all = lanes_all(x);
    for (unsigned i = 0; i < MANY; i += LANES) mask |= (uint64_t)lanes_bit(lanes_of(v + i), all, bit) << i;
    return mask;
}

/* Adds x to those of MANY that the mask has. */
static inline void many_add(uint64_t v[], uint64_t where, uint64_t x)
{
    lanes all = lanes_all(x);
    for (unsigned i = 0; i < MANY; i += LANES) lanes_add(v + i, (unsigned)(where >> i) & ((1u << LANES) - 1), all);
}

/* How many of n are at least x, which is not 0. */
static inline unsigned many_count(const uint64_t v[], unsigned n, uint64_t x)
{
    unsigned sum = 0;
    lanes all = lanes_all(x);
    for (unsigned i = 0; i < n; i += 4 * LANES) {
        uint32_t mask = 0;
        for (unsigned k = 0; k < 4; k++) mask |= lanes_reach(lanes_of(v + i + k * LANES), all) << k * LANES;
        sum += (unsigned)__builtin_popcount(mask);
    }
    return sum;
}
