/* Many small integers at once: MANY of them, of 8 bits. Part of the body that kernels_body.h is. */
#pragma once

#include <stdint.h>
#include <string.h>

enum { MANY = 64 };

#if defined(__AVX512BW__)
#include <immintrin.h>

/* Which of MANY are at least x. */
static inline uint64_t many_reach(const uint8_t v[], unsigned x)
{
    return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(v), _mm512_set1_epi8((char)x));
}

/* Which of MANY have this bit in v - x. */
static inline uint64_t many_bit(const uint8_t v[], unsigned x, unsigned bit)
{
    __m512i less = _mm512_sub_epi8(_mm512_loadu_si512(v), _mm512_set1_epi8((char)x));
    return _mm512_test_epi8_mask(less, _mm512_set1_epi8((char)(1 << bit)));
}

/* Adds x to those of MANY that the mask has. */
static inline void many_add(uint8_t v[], uint64_t where, unsigned x)
{
    __m512i all = _mm512_loadu_si512(v);
    _mm512_storeu_si512(v, _mm512_mask_add_epi8(all, where, all, _mm512_set1_epi8((char)x)));
}

#elif defined(__AVX2__)
#include <immintrin.h>

static inline __m256i half_of(const uint8_t v[], unsigned half)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)(v + 32 * half));
}

static inline uint64_t many_reach(const uint8_t v[], unsigned x)
{
    const __m256i all = _mm256_set1_epi8((char)x);
    uint64_t mask = 0;
    for (unsigned half = 0; half < 2; half++) {
        __m256i these = half_of(v, half), reach = _mm256_cmpeq_epi8(_mm256_max_epu8(these, all), these);
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(reach) << 32 * half;
    }
    return mask;
}

static inline uint64_t many_bit(const uint8_t v[], unsigned x, unsigned bit)
{
    const __m256i all = _mm256_set1_epi8((char)x);
    const __m128i up = _mm_cvtsi32_si128((int)(7 - bit));
    uint64_t mask = 0;
    for (unsigned half = 0; half < 2; half++) { /* to the highest bit of each */
        __m256i less = _mm256_sll_epi16(_mm256_sub_epi8(half_of(v, half), all), up);
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(less) << 32 * half;
    }
    return mask;
}

static inline void many_add(uint8_t v[], uint64_t where, unsigned x)
{
    const __m256i all = _mm256_set1_epi8((char)x), bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    const __m256i byte = _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    for (unsigned half = 0; half < 2; half++) {
        __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(uint32_t)(where >> 32 * half)), byte);
        __m256i these = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
        __m256i sum = _mm256_add_epi8(half_of(v, half), _mm256_and_si256(these, all));
        _mm256_storeu_si256((__m256i *)(void *)(v + 32 * half), sum);
    }
}

#else

static inline uint64_t many_reach(const uint8_t v[], unsigned x)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < MANY; i++) mask |= (uint64_t)(v[i] >= x) << i;
    return mask;
}

static inline uint64_t many_bit(const uint8_t v[], unsigned x, unsigned bit)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < MANY; i++) mask |= (uint64_t)((v[i] - x) >> bit & 1) << i;
    return mask;
}

static inline void many_add(uint8_t v[], uint64_t where, unsigned x)
{
    for (unsigned i = 0; i < MANY; i++) v[i] = (uint8_t)(v[i] + (where >> i & 1) * x);
}

#endif
