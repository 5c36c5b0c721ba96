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
