/* support_draw: what tests of single rooms share: rounds, and random numbers. support.h has what tests of sketches
 * need. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/hash.h"

/* How many rounds of a test: a sanitizer or an emulator makes it slow, and sees what it sees in fewer. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined EMULATED
enum { FULL = 0 };
#else
enum { FULL = 1 };
#endif
#define ROUNDS(n) (FULL ? (n) : ((n) + 4) / 5)

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint64_t draw_below(uint64_t *state, uint64_t n)
{
    return (uint64_t)((lego_u128)draw(state) * n >> 64);
}

/* 1 up to about 10^digits, every order of magnitude alike. */
static inline int64_t draw_count(uint64_t *state, unsigned digits)
{
    uint64_t most = 1;
    for (uint64_t d = draw_below(state, digits + 1); d > 0; d--) most *= 10;
    return (int64_t)(1 + draw_below(state, most));
}

/* Integers as the bytes that they are as items, the least first, and where each begins. */
static inline void keys_as_bytes(const uint64_t *keys, size_t n, unsigned char *bytes, uint64_t *offsets)
{
    for (size_t i = 0; i <= n; i++) offsets[i] = 8 * i;
    for (size_t i = 0; i < 8 * n; i++) bytes[i] = (unsigned char)(keys[i / 8] >> 8 * (i % 8));
}

static inline uint64_t key_of_bytes(const unsigned char bytes[8])
{
    uint64_t key = 0;
    for (int i = 0; i < 8; i++) key |= (uint64_t)bytes[i] << 8 * i;
    return key;
}
