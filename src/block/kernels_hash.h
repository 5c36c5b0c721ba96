/* Many keys to words: hash.h says what is computed, one item at a time. Part of the body that kernels_body.h is. */
#pragma once

#include <string.h>

#include "block/kernels.h"
#include "core/sip.h"

#ifndef __CUDACC__ /* a GPU hashes one key a thread, in device.cuh */

/* Eight keys side by side, in as many vectors as the CPU has them in. */
typedef uint64_t sip_lanes __attribute__((vector_size(64)));
enum { SIP_LANES = 8 };
#define SIP_LANES_OF(x) ((x) - (sip_lanes){0})

static void sip_words(const uint64_t key[], unsigned n, struct seed seed, uint64_t word[])
{
    for (unsigned i = 0; i < n; i += SIP_LANES) {
        const size_t size = sizeof *key * (n - i < SIP_LANES ? n - i : SIP_LANES);
        sip_lanes item = {0}, v[4];
        memcpy(&item, key + i, size);
        SIP_BEGIN(v, SIP_LANES_OF, seed.number, seed.key);
        SIP_TAKE(v, item);
        SIP_END(v, SIP_EIGHT_BYTES);
        item = (v[0] ^ v[1] ^ v[2] ^ v[3]) >> (64 - HASH_PLACE - PRINT_MOST); /* hash_word() of hash_of_sip() */
        memcpy(word + i, &item, size);
    }
}

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

/* The first n lanes. */
static inline __mmask8 there(unsigned n)
{
    return (__mmask8)(n < 8 ? (1u << n) - 1 : 255);
}

struct lanes_hash {
    __m512i lo, hi;
};

/* The way XXH3 goes with 8 bytes, whose constants hash_short_way() has. Of n keys those from the last whole vector on
 * are read as 0. */
static inline struct lanes_hash hash_lanes(const uint64_t key[], unsigned n, const struct hash_way *way)
{
    const __m512i low_half = _mm512_set1_epi64(0xffffffff);
    const __m512i p0 = _mm512_set1_epi64((long long)(way->prime & 0xffffffff));
    const __m512i p1 = _mm512_set1_epi64((long long)(way->prime >> 32));
    __m512i x = _mm512_maskz_loadu_epi64(there(n), key);
    x = _mm512_xor_si512(x, _mm512_set1_epi64((long long)way->flip));
    __m512i up = _mm512_srli_epi64(x, 32);
    __m512i ll = _mm512_mul_epu32(x, p0), lh = _mm512_mul_epu32(x, p1);
    __m512i hl = _mm512_mul_epu32(up, p0), hh = _mm512_mul_epu32(up, p1);
    __m512i middle = _mm512_add_epi64(hl, _mm512_and_si512(lh, low_half));
    middle = _mm512_add_epi64(middle, _mm512_srli_epi64(ll, 32));
    __m512i hi = _mm512_add_epi64(_mm512_add_epi64(hh, _mm512_srli_epi64(lh, 32)), _mm512_srli_epi64(middle, 32));
    __m512i lo = _mm512_or_si512(_mm512_slli_epi64(middle, 32), _mm512_and_si512(ll, low_half));
    hi = _mm512_add_epi64(hi, _mm512_add_epi64(lo, lo));
    lo = _mm512_xor_si512(lo, _mm512_srli_epi64(hi, 3));
    lo = xor_shift(times(xor_shift(lo, 35), way->low), 28);
    hi = xor_shift(times(xor_shift(hi, 37), way->high), 32);
    return (struct lanes_hash){lo, hi};
}

static void public_words(const uint64_t key[], unsigned n, struct seed seed, uint64_t word[])
{
    const struct hash_way way = hash_short_way(seed);
    for (unsigned i = 0; i < n; i += 8) {
        struct lanes_hash hash = hash_lanes(key + i, n - i, &way);
        __m512i place = _mm512_slli_epi64(_mm512_srli_epi64(hash.lo, 64 - HASH_PLACE), PRINT_MOST);
        __m512i w = _mm512_or_si512(place, _mm512_srli_epi64(hash.hi, 64 - PRINT_MOST));
        _mm512_mask_storeu_epi64(word + i, there(n - i), w);
    }
}

#else

static void public_words(const uint64_t key[], unsigned n, struct seed seed, uint64_t word[])
{
    for (unsigned i = 0; i < n; i++) word[i] = hash_word(hash_u64(key[i], seed));
}

#endif

static void hash_words(const uint64_t key[], unsigned n, struct seed seed, uint64_t word[])
{
    if (seed_is_secret(seed)) sip_words(key, n, seed, word);
    else public_words(key, n, seed, word);
}

#endif
