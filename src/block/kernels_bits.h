/* Bits of a block: windows of 64, ones counted, spread and gathered, and the numbers that the code of block.h has. Part
 * of the body that kernels_block.h is. */
#pragma once

#include "block/kernels.h"

#include <string.h>

#ifdef __BMI2__
#include <immintrin.h>
#endif

enum {
    BITS = BLOCK_BITS,
    G_MAX = 31,
    WORDS = BLOCK_CELLS / 64, /* that map 0 can take */
    LEVELS = 8,
    FLAT = 3,             /* levels that have digits of one bit */
    NOWHERE = BLOCK_CELLS /* the cell of a row that is not there any more */
};

static const unsigned char width[LEVELS + 1] = {0, 1, 1, 1, 2, 4, 8, 16, 31}; /* of a digit on a level, from 1 on */
static const uint16_t cells_at[BLOCK_STEPS] = {320, 288, 256, 224, 208, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4};

/* Which bits of a block's words are map 0. */
#define BELOW(n) ((n) >= 64 ? UINT64_MAX : (n) <= 0 ? 0 : (UINT64_C(1) << ((n)&63)) - 1)
#define MAP_OF(n)                                                                                                      \
    {                                                                                                                  \
        BELOW(n), BELOW(n - 64), BELOW(n - 128), BELOW(n - 192), BELOW(n - 256)                                        \
    }
static const uint64_t in_map[BLOCK_STEPS][WORDS] = {
    MAP_OF(320), MAP_OF(288), MAP_OF(256), MAP_OF(224), MAP_OF(208), MAP_OF(192), MAP_OF(128), MAP_OF(96), MAP_OF(64),
    MAP_OF(48),  MAP_OF(32),  MAP_OF(24),  MAP_OF(16),  MAP_OF(12),  MAP_OF(8),   MAP_OF(6),   MAP_OF(4)};

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static inline unsigned ones(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* The lowest bits of x, in order, to where mask has ones; and back. */
static inline uint64_t spread(uint64_t x, uint64_t mask)
{
#ifdef __BMI2__
    return _pdep_u64(x, mask);
#else
    uint64_t y = 0;
    for (; mask; mask &= mask - 1, x >>= 1) y |= (mask & -mask) & -(x & 1);
    return y;
#endif
}

static inline uint64_t gather(uint64_t x, uint64_t mask)
{
#ifdef __BMI2__
    return _pext_u64(x, mask);
#else
    uint64_t y = 0;
    for (unsigned i = 0; mask; mask &= mask - 1, i++) y |= (uint64_t)((x & mask & -mask) != 0) << i;
    return y;
#endif
}

/* The lowest n bits; all of them from 64 on. */
static inline uint64_t below(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* The lowest n bits of x, n < 256. */
static inline uint64_t lowest(uint64_t x, unsigned n)
{
#ifdef __BMI2__
    return _bzhi_u64(x, n);
#else
    return x & below(n);
#endif
}

static inline uint64_t bit_at(const uint64_t word[8], unsigned at)
{
    return word[at / 64] >> at % 64 & 1;
}

/* 64 bits from `at` on, at < 512. Those from bit 512 on are any, so that nothing need follow a block. */
static inline uint64_t window(const uint64_t word[8], unsigned at)
{
    return word[at / 64] >> at % 64 | word[(at / 64 + 1) % 8] << 1 << (63 - at % 64);
}

/* Exchanges bits for their opposites; none of them may be beyond bit 511. */
static inline void flip(uint64_t word[8], unsigned at, uint64_t x)
{
    word[at / 64] ^= x << at % 64;
    word[(at / 64 + 1) % 8] ^= x >> 1 >> (63 - at % 64);
}

static inline bool block_signed(const struct block *b)
{
    return b->word[7] >> 63;
}

static inline uint64_t head(unsigned step, unsigned g, bool is_signed)
{
    return (uint64_t)step << 53 | (uint64_t)g << 58 | (uint64_t)is_signed << 63;
}

static inline uint64_t to_code(int64_t v, bool is_signed)
{
    return is_signed ? (uint64_t)v << 1 ^ (uint64_t)(v >> 63) : (uint64_t)v;
}

static inline int64_t from_code(uint64_t v, bool is_signed)
{
    return is_signed ? (int64_t)(v >> 1 ^ -(v & 1)) : (int64_t)v;
}
