/* Bits of a block: read, written, moved up, counted and found. Part of the body that kernels_body.h is. */
#pragma once

#include "block/block.h"

#ifdef __BMI2__
#include <immintrin.h>
#endif

static inline unsigned ones(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* The lowest n bits of x; all of them from 64 on. */
static inline uint64_t lowest(uint64_t x, unsigned n)
{
#ifdef __BMI2__
    if (!__builtin_constant_p(n)) return _bzhi_u64(x, n);
#endif
    return n < 64 ? x & ((UINT64_C(1) << n) - 1) : x;
}

/* Where x has its one number k, counted from 0. */
static inline unsigned select_one(uint64_t x, unsigned k)
{
#ifdef __BMI2__
    return (unsigned)__builtin_ctzll(_pdep_u64(UINT64_C(1) << k, x));
#else
    while (k-- > 0) x &= x - 1;
    return (unsigned)__builtin_ctzll(x);
#endif
}

/* The lowest bits of x, one for each one of the mask, put where those are; and back. */
static inline uint64_t spread_bits(uint64_t x, uint64_t mask)
{
#ifdef __BMI2__
    return _pdep_u64(x, mask);
#else
    uint64_t y = 0;
    for (; mask; mask &= mask - 1, x >>= 1) y |= x & 1 ? mask & -mask : 0;
    return y;
#endif
}

static inline uint64_t gather_bits(uint64_t x, uint64_t mask)
{
#ifdef __BMI2__
    return _pext_u64(x, mask);
#else
    uint64_t y = 0;
    for (unsigned i = 0; mask; mask &= mask - 1, i++) y |= (uint64_t)((x & mask & -mask) != 0) << i;
    return y;
#endif
}

static inline bool get_bit(const struct block *block, unsigned at)
{
    return block->word[at / 64] >> at % 64 & 1;
}

static inline void set_bit(struct block *block, unsigned at)
{
    block->word[at / 64] |= UINT64_C(1) << at % 64;
}

/* n bits, 0 to 64, that end within the block. */
static inline uint64_t get_bits(const struct block *block, unsigned at, unsigned n)
{
    unsigned i = at / 64, shift = at % 64;
    uint64_t low = block->word[i % BLOCK_WORDS] >> shift, high = block->word[(i + 1) % BLOCK_WORDS] << 1;
    return lowest(low | high << (63 - shift), n);
}

/* Bits from `at` on: at least so many, or those up to the end of the block; above them there may be others. */
enum { AT_ONCE = 57 };

static inline uint64_t peek(const struct block *block, unsigned at)
{
#ifdef __BMI2__
    const unsigned last = sizeof *block - 8, byte = at / 8 < last ? at / 8 : last;
    uint64_t x; /* which may begin at any byte */
    __builtin_memcpy(&x, (const unsigned char *)block + byte, sizeof x);
    return x >> (at - 8 * byte) % 64; /* at the block's end no bit is asked for */
#else
    return get_bits(block, at, 64);
#endif
}

/* Writes n bits, 1 to 63, over those that are there. */
static inline void put_bits(struct block *block, unsigned at, unsigned n, uint64_t x)
{
    unsigned i = at / 64, shift = at % 64;
    block->word[i] = (block->word[i] & ~(lowest(UINT64_MAX, n) << shift)) | x << shift;
    if (shift + n > 64)
        block->word[i + 1] = (block->word[i + 1] & ~lowest(UINT64_MAX, shift + n - 64)) | x >> (64 - shift);
}

/* Moves the bits from `at` to `end` up by n, 0 to 63, and writes x in between. Behind the end there are zeros. */
#ifdef __AVX512F__
static inline void insert_bits(struct block *block, unsigned at, unsigned end, unsigned n, uint64_t x)
{
    const __m512i lane = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0), new = _mm512_set1_epi64((long long)x);
    const __m512i ones = _mm512_set1_epi64(-1), zeros = _mm512_setzero_si512();
    const __m128i up = _mm_cvtsi32_si128((int)n), down = _mm_cvtsi32_si128((int)(64 - n));
    __m512i below = zeros; /* what is moved of the eight words before */
    for (unsigned i = at / 512; 512 * i < end + n; i++) {
        __m512i word = _mm512_loadu_si512(block->word + 8 * i);
        __m512i start = _mm512_sub_epi64(_mm512_set1_epi64((long long)at - 512 * (long long)i), lane);
        __m512i moves = _mm512_and_si512(word, _mm512_sllv_epi64(ones, _mm512_max_epi64(start, zeros)));
        __m512i before = _mm512_alignr_epi64(moves, below, 7);
        __m512i moved = _mm512_or_si512(_mm512_sll_epi64(moves, up), _mm512_srl_epi64(before, down));
        /* Shifts by 64 and more, which those by less than 0 are, too, leave nothing. */
        __m512i put =
            _mm512_or_si512(_mm512_sllv_epi64(new, start), _mm512_srlv_epi64(new, _mm512_sub_epi64(zeros, start)));
        __m512i stays = _mm512_xor_si512(word, moves);
        _mm512_storeu_si512(block->word + 8 * i, _mm512_or_si512(_mm512_or_si512(stays, moved), put));
        below = moves;
    }
}
#else
static inline void insert_bits(struct block *block, unsigned at, unsigned end, unsigned n, uint64_t x)
{
    if (n == 0) return;
    unsigned first = at / 64, shift = at % 64, last = (end + n - 1) / 64;
    for (unsigned i = last; i > first; i--) block->word[i] = block->word[i] << n | block->word[i - 1] >> (64 - n);
    uint64_t here = block->word[first];
    block->word[first] = lowest(here, shift) | here >> shift << shift << n;
    put_bits(block, at, n, x);
}
#endif

/* The same in three places, which are as they were before, from low to high; n is 63 at most in all. */
struct insertion {
    unsigned at, n;
    uint64_t x;
};

#ifdef __AVX512BW__
static inline void insert_three(struct block *block, unsigned end, const struct insertion put[3])
{
    const __m512i ones = _mm512_set1_epi64(-1);
    __m512i lane = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0), below = _mm512_setzero_si512(), from[3];
    __m128i up[3], down[3];
    unsigned place[3], sum = 0;
    for (unsigned k = 0; k < 3; k++) {
        place[k] = put[k].at + sum;
        sum += put[k].n;
        from[k] = _mm512_set1_epi64(place[k]);
        up[k] = _mm_cvtsi32_si128((int)sum);
        down[k] = _mm_cvtsi32_si128((int)(64 - sum));
    }
    (void)end; /* how many words are in use could not be foreseen */
    for (unsigned i = 0; i < BLOCK_WORDS / 8; i++) {
        __m512i word = _mm512_loadu_si512(block->word + 8 * i), before = _mm512_alignr_epi64(word, below, 7), to = word;
        for (unsigned k = 0; k < 3; k++) {
            __m512i moved = _mm512_or_si512(_mm512_sll_epi64(word, up[k]), _mm512_srl_epi64(before, down[k]));
            /* The difference of 16 bits is not below 0, and a shift by 64 or more leaves nothing. */
            __m512i mask = _mm512_sllv_epi64(ones, _mm512_subs_epu16(from[k], lane));
            to = _mm512_ternarylogic_epi64(mask, moved, to, 0xca); /* where the mask has ones, what is moved */
        }
        _mm512_storeu_si512(block->word + 8 * i, to);
        lane = _mm512_add_epi64(lane, _mm512_set1_epi64(512));
        below = word;
    }
    for (unsigned k = 0; k < 3; k++) put_bits(block, place[k], put[k].n, put[k].x);
}
#else
static inline void insert_three(struct block *block, unsigned end, const struct insertion put[3])
{
    for (unsigned k = 3; k-- > 0; end += put[k].n) insert_bits(block, put[k].at, end, put[k].n, put[k].x);
}
#endif

/* How many of the n bits from `at` on are ones. */
static inline unsigned count_ones(const struct block *block, unsigned at, unsigned n)
{
    if (n == 0) return 0;
    unsigned first = at / 64, last = (at + n - 1) / 64, behind = 63 - (at + n - 1) % 64;
    uint64_t head = block->word[first] >> at % 64 << at % 64;
    if (first == last) return ones(head << behind);
    unsigned sum = ones(head) + ones(block->word[last] << behind);
    for (unsigned i = first + 1; i < last; i++) sum += ones(block->word[i]);
    return sum;
}

/* Of a map of n bits from `at` on: how many ones there are, and how many before bit number `rank`. */
struct ranked {
    unsigned all, before;
};

#ifdef __AVX512VPOPCNTDQ__
/* In eight words the bits from number `end` of them on. */
static inline __m512i bits_from(unsigned end)
{
    const __m512i lane = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0);
    /* The difference of 16 bits is not below 0, and a shift by 64 or more leaves nothing. */
    return _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_subs_epu16(_mm512_set1_epi64(end), lane));
}
#endif

/* For any map of a block's integers, which is in 8 words. */
static inline struct ranked rank_far(const struct block *block, unsigned at, unsigned n, unsigned rank)
{
#ifdef __AVX512VPOPCNTDQ__
    const unsigned first = at / 64, start = at % 64;
    __m512i map = _mm512_maskz_loadu_epi64((__mmask8)(UINT32_MAX >> first), block->word + first);
    map = _mm512_and_si512(map, bits_from(start));
    __m512i all = _mm512_popcnt_epi64(_mm512_andnot_si512(bits_from(start + n), map));
    __m512i some = _mm512_popcnt_epi64(_mm512_andnot_si512(bits_from(start + rank), map));
    uint64_t both = (uint64_t)_mm512_reduce_add_epi64(_mm512_or_si512(all, _mm512_slli_epi64(some, 32)));
    return (struct ranked){(uint32_t)both, (uint32_t)(both >> 32)};
#else
    struct ranked ranked = {0, 0};
    for (unsigned i = 0; i < n; i += 64) {
        uint64_t x = get_bits(block, at + i, n - i < 64 ? n - i : 64);
        unsigned below = rank > i ? rank - i : 0;
        ranked.all += ones(x);
        ranked.before += ones(lowest(x, below < 64 ? below : 64));
    }
    return ranked;
#endif
}

/* For at most 64, which x has. */
static inline struct ranked rank_near(uint64_t x, unsigned n, unsigned rank)
{
    return (struct ranked){ones(lowest(x, n)), ones(lowest(x, rank))};
}

/* Up to 128 there are no branches: which of them are taken could not be foreseen. */
static inline __attribute__((always_inline)) struct ranked rank_in(const struct block *block, unsigned at, unsigned n,
                                                                   unsigned rank)
{
    if (n > 128) return rank_far(block, at, n, rank);
    uint64_t x = get_bits(block, at, n), y = get_bits(block, at + 64, n > 64 ? n - 64 : 0);
    return (struct ranked){ones(x) + ones(y), ones(lowest(x, rank)) + ones(lowest(y, rank > 64 ? rank - 64 : 0))};
}
