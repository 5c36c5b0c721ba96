/* Keys to hashes, and hashes to where halves are, for many items: hash.h and kernels.h say what is computed, one item
 * at a time. Part of the body that kernels_block.h is. */
#pragma once

#include "block/kernels_bits.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>

/* Lanes have 64 bits; vpmuludq multiplies their lower halves. */
static inline __m512i times(__m512i x, uint64_t y)
{
    return _mm512_mullo_epi64(x, _mm512_set1_epi64((long long)y));
}

static inline __m512i xor_shift(__m512i x, unsigned n)
{
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, n));
}

/* The way XXH3 goes with 8 bytes, whose constants hash_short_way() has. The keys from the last whole vector on are read
 * as 0, and what comes of them is written too: there is room for it. */
static void hash_keys(const uint64_t key[], unsigned n, uint64_t seed, struct hashes *hashes)
{
    const struct hash_way way = hash_short_way(seed);
    const __m512i low_half = _mm512_set1_epi64(0xffffffff);
    const __m512i p0 = _mm512_set1_epi64((long long)(way.prime & 0xffffffff));
    const __m512i p1 = _mm512_set1_epi64((long long)(way.prime >> 32));
    for (unsigned i = 0; i < n; i += 8) {
        __mmask8 there = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 255);
        __m512i x = _mm512_maskz_loadu_epi64(there, key + i);
        x = _mm512_xor_si512(x, _mm512_set1_epi64((long long)way.flip));
        __m512i up = _mm512_srli_epi64(x, 32);
        __m512i ll = _mm512_mul_epu32(x, p0), lh = _mm512_mul_epu32(x, p1);
        __m512i hl = _mm512_mul_epu32(up, p0), hh = _mm512_mul_epu32(up, p1);
        __m512i middle = _mm512_add_epi64(hl, _mm512_and_si512(lh, low_half));
        middle = _mm512_add_epi64(middle, _mm512_srli_epi64(ll, 32));
        __m512i hi = _mm512_add_epi64(_mm512_add_epi64(hh, _mm512_srli_epi64(lh, 32)), _mm512_srli_epi64(middle, 32));
        __m512i lo = _mm512_or_si512(_mm512_slli_epi64(middle, 32), _mm512_and_si512(ll, low_half));
        hi = _mm512_add_epi64(hi, _mm512_add_epi64(lo, lo));
        lo = _mm512_xor_si512(lo, _mm512_srli_epi64(hi, 3));
        lo = xor_shift(times(xor_shift(lo, 35), way.low), 28);
        hi = xor_shift(times(xor_shift(hi, 37), way.high), 32);
        _mm512_storeu_si512(hashes->lo + i, lo);
        _mm512_storeu_si512(hashes->hi + i, hi);
    }
}

/* dense_index() */
static inline __m256i index_of(__m512i bits, struct divisor odd, uint32_t mask)
{
    const __m512i d = _mm512_set1_epi64(odd.d);
    __m512i part = times(_mm512_srli_epi64(bits, 32), odd.magic);
    __m512i r = _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(part, 32), d),
                                 _mm512_srli_epi64(_mm512_mul_epu32(part, d), 32));
    __m512i q = _mm512_and_si512(bits, _mm512_set1_epi64(mask));
    return _mm512_cvtepi64_epi32(_mm512_add_epi64(_mm512_srli_epi64(r, 32), _mm512_mul_epu32(q, d)));
}

static inline __m256i upper_half(__m512i bits)
{
    return _mm512_cvtepi64_epi32(_mm512_srli_epi64(bits, 32));
}

static inline void store_half(uint32_t *to, __m256i x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}

static void place(const struct hashes *hashes, unsigned n, struct divisor odd, uint32_t mask,
                  struct decode_places *places)
{
    for (unsigned i = 0; i < n; i += 8) {
        __m512i sum = _mm512_loadu_si512(hashes->lo + i), hi = _mm512_loadu_si512(hashes->hi + i);
        for (unsigned k = 0; k < BLOCK_ROWS; k++, sum = _mm512_add_epi64(sum, hi))
            store_half(&places->column[k % 2][k / 2][i], upper_half(times(sum, hash_row[k])));
        for (unsigned which = 0; which < 2; which++, sum = _mm512_add_epi64(sum, hi))
            store_half(&places->block[which][i], index_of(times(sum, hash_row[BLOCK_ROWS + which]), odd, mask));
    }
}

#else

static void hash_keys(const uint64_t key[], unsigned n, uint64_t seed, struct hashes *hashes)
{
    for (unsigned i = 0; i < n; i++) {
        struct hash hash = hash_u64(key[i], seed);
        hashes->lo[i] = hash.lo;
        hashes->hi[i] = hash.hi;
    }
}

static void place(const struct hashes *hashes, unsigned n, struct divisor odd, uint32_t mask,
                  struct decode_places *places)
{
    for (unsigned i = 0; i < n; i++) {
        struct hash hash = {hashes->lo[i], hashes->hi[i]};
        for (unsigned which = 0; which < 2; which++) {
            struct half half = half_of(hash, which, odd, mask);
            places->block[which][i] = half.block;
            places->column[which][0][i] = half.column[0];
            places->column[which][1][i] = half.column[1];
        }
    }
}

#endif
