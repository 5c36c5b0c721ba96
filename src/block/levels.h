/* levels: what the code of counts in block.h takes, told without a block. */
#pragma once

#include "block/block.h"

enum { LEVELS = 8, LEVEL_HEAVY = 4 };
static const unsigned char width[LEVELS + 1] = {0, 1, 1, 1, 2, 4, 8, 16, 31}; /* of a digit on a level, from 1 on */

/* The least T that has a digit on level l: 1 + 2^w1 (1 + 2^w2 (1 + ...)). The digit is at bit after[l] of T less
 * that. */
static const uint64_t reach[LEVELS + 1] = {0, 1, 3, 7, 15, 47, 559, 131631, UINT64_C(8590066223)};
static const unsigned char after[LEVELS + 1] = {0, 0, 1, 2, 3, 5, 9, 17, 33};

/* Bits of the levels for a T. */
static inline unsigned digit_bits(uint64_t t)
{
    if (t < 15) return (unsigned)(2 * (t >= 1) + 2 * (t >= 3) + 2 * (t >= 7));
    return (unsigned)(9 + 5 * (t >= 47) + 9 * (t >= 559) + 17 * (t >= 131631) + 32 * (t >= UINT64_C(8590066223)));
}

/* The level on which the heavy have a digit; 0: all are heavy. */
static inline unsigned heavy_level(unsigned step)
{
    return step == STEP_LAST ? 0 : LEVEL_HEAVY;
}

/* The integer that stands for a count in a list. */
static inline uint64_t to_code(int64_t v, unsigned signs)
{
    if (signs == SIGNS_BOTH) return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
    return (signs == SIGNS_BELOW ? -(uint64_t)v : (uint64_t)v) - 1;
}

static inline int64_t from_code(uint64_t v, unsigned signs)
{
    if (signs == SIGNS_BOTH) return (int64_t)(v >> 1 ^ -(v & 1));
    return (int64_t)(signs == SIGNS_BELOW ? -(v + 1) : v + 1);
}

/* Bits of a key that are its quotient in a list of so many entries. */
static inline unsigned quotient_bits(unsigned entries)
{
    return entries <= 4 ? 2 : 32 - (unsigned)__builtin_clz(entries - 1);
}

/* Bits of quotients and remainders of n prints of so many bits. */
static inline unsigned keys_size(unsigned n, unsigned print)
{
    unsigned q = quotient_bits(n);
    return n > 0 ? n + (1u << q) + n * (print - q) : 0;
}
