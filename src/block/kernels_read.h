/* Many keys read at once, each of a block of its own. Part of the body that kernels_body.h is, which has body_read().
 *
 * With AVX-512 eight go through the same steps side by side, each in a lane of 64 bits; their words are gathered. What is rare
 * (very long keys, many with the same quotient) is left to body_read(). */
#pragma once

#include "block/kernels_list.h"

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512CD__) && defined(__AVX512DQ__)

/* Bits that can be had with one access, which begins at a byte. */
enum { AT_ONCE = 57 };

struct eight {
    const struct block *base;
    __m512i byte;  /* where each block begins */
    __mmask8 here; /* the lanes in use */
};

#define E8(x) _mm512_set1_epi64((long long)(x))

/* The lowest n bits of each lane are ones. */
static inline __m512i ones8(__m512i n)
{
    return _mm512_andnot_si512(_mm512_sllv_epi64(E8(-1), n), E8(-1));
}

static inline __m512i take8(__mmask8 mask, __m512i x, __m512i y)
{
    return _mm512_mask_mov_epi64(y, mask, x);
}

/* Bits from `at` on: AT_ONCE, or those up to the end of the block. */
static inline __m512i bits8(const struct eight *e, __mmask8 mask, __m512i at)
{
    __m512i byte = _mm512_min_epu64(_mm512_srli_epi64(at, 3), E8(sizeof(struct block) - 8));
    __m512i word =
        _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), mask, _mm512_add_epi64(e->byte, byte), e->base, 1);
    return _mm512_srlv_epi64(word, _mm512_sub_epi64(at, _mm512_slli_epi64(byte, 3)));
}

/* As levels_get(): integer i of n from bit `at` on, coded with g. */
static inline __m512i levels8(const struct eight *e, __mmask8 mask, __m512i at, __m512i n, __m512i g, __m512i i)
{
    const __m512i one = E8(1), step = E8(AT_ONCE);
    __m512i low = _mm512_add_epi64(_mm512_add_epi64(at, n), _mm512_mullo_epi64(i, g));
    __m512i v = _mm512_and_si512(bits8(e, mask, low), ones8(g)), w = g, shift = g;
    for (unsigned l = 1; l <= LEVELS && mask; l++) {
        __m512i all = _mm512_setzero_si512(), before = all, bit = all, from = at, left = n, rank = i;
        for (__mmask8 more = mask; more;) {
            __m512i map = _mm512_and_si512(bits8(e, more, from), ones8(_mm512_min_epu64(left, step)));
            __m512i below = ones8(_mm512_max_epi64(rank, _mm512_setzero_si512()));
            all = _mm512_mask_add_epi64(all, more, all, _mm512_popcnt_epi64(map));
            before = _mm512_mask_add_epi64(before, more, before, _mm512_popcnt_epi64(_mm512_and_si512(map, below)));
            /* A rank of another stretch is a shift of 64 or more, once its bits are gone, or gives none. */
            bit = _mm512_mask_or_epi64(bit, more, bit, _mm512_and_si512(_mm512_srlv_epi64(map, rank), one));
            from = _mm512_add_epi64(from, step);
            rank = _mm512_sub_epi64(rank, step);
            more = _mm512_mask_cmpgt_epu64_mask(more, left, step);
            left = _mm512_sub_epi64(left, step);
        }
        mask = _mm512_mask_test_epi64_mask(mask, bit, one);
        at = _mm512_add_epi64(at, _mm512_mullo_epi64(n, _mm512_add_epi64(w, one)));
        n = all;
        i = before;
        w = E8(width[l]);
        __m512i digit = bits8(e, mask, _mm512_add_epi64(_mm512_add_epi64(at, n), _mm512_mullo_epi64(i, w)));
        digit = _mm512_add_epi64(_mm512_and_si512(digit, ones8(w)), one);
        v = _mm512_mask_add_epi64(v, mask, v, _mm512_sllv_epi64(digit, shift));
        shift = _mm512_add_epi64(shift, w);
    }
    return v;
}

/* As find_zero(), of two numbers at once. */
static inline void zeros8(const struct eight *e, __mmask8 mask, const __m512i k[2], __m512i at[2])
{
    uint64_t word[2][8], left[2][8], to[2][8];
    __m512i zeros = E8(0), sum = zeros, before[2] = {zeros, zeros}, found[2] = {zeros, zeros};
    __m512i start[2] = {zeros, zeros};
    __mmask8 search[2] = {mask, mask};
    for (unsigned i = 0; search[0] | search[1]; i++) {
        __m512i words = _mm512_mask_i64gather_epi64(E8(0), search[0] | search[1], e->byte, &e->base->word[i], 1);
        zeros = _mm512_andnot_si512(words, E8(-1));
        if (i == 0) zeros = _mm512_slli_epi64(_mm512_srli_epi64(zeros, BLOCK_HEAD - 1), BLOCK_HEAD - 1);
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(zeros));
        for (unsigned j = 0; j < 2; j++) {
            found[j] = take8(search[j], zeros, found[j]);
            search[j] = _mm512_mask_cmple_epu64_mask(search[j], sum, k[j]);
            before[j] = take8(search[j], sum, before[j]);
            start[j] = _mm512_mask_add_epi64(start[j], search[j], start[j], E8(64));
        }
    }
    for (unsigned j = 0; j < 2; j++) {
        _mm512_storeu_si512(word[j], found[j]);
        _mm512_storeu_si512(left[j], _mm512_sub_epi64(k[j], before[j]));
        for (unsigned i = 0; i < 8; i++) to[j][i] = select_one(word[j][i] | !word[j][i], (unsigned)left[j][i]);
        at[j] = _mm512_add_epi64(start[j], _mm512_loadu_si512(to[j]));
    }
}

/* Counts of the keys in the lanes of lists; `rare` gets those that have yet to be looked up. */
static inline __m512i lists8(const struct eight *e, __mmask8 mask, __m512i head, unsigned whole, __m512i key,
                             __mmask8 *rare)
{
    const __m512i one = E8(1), zero = E8(0);
    __m512i step = _mm512_and_si512(_mm512_srli_epi64(head, 11), E8(127));
    __m512i n = _mm512_and_si512(_mm512_srli_epi64(head, 18), E8(511));
    mask = _mm512_mask_test_epi64_mask(mask, n, n);
    __m512i q = _mm512_max_epi64(_mm512_sub_epi64(E8(64), _mm512_lzcnt_epi64(_mm512_sub_epi64(n, one))), E8(2));
    __mmask8 cut = _mm512_test_epi64_mask(step, step);
    __m512i fourths = _mm512_sub_epi64(step, E8(STEP_LIST));
    __m512i print = take8(cut, _mm512_sub_epi64(E8(BLOCK_PRINT), _mm512_srli_epi64(fourths, 2)), E8(whole));
    __m512i quarters = _mm512_maskz_and_epi64(cut, fourths, E8(3));
    __m512i r = _mm512_sub_epi64(print, q);
    __mmask8 shorter_here = _mm512_cmplt_epu64_mask(_mm512_srli_epi64(key, 62), quarters);
    __m512i bits = _mm512_mask_sub_epi64(r, shorter_here, r, one);
    __m512i quotient = _mm512_srlv_epi64(key, _mm512_sub_epi64(E8(64), q));
    __m512i remainder = _mm512_srlv_epi64(_mm512_sllv_epi64(key, q), _mm512_sub_epi64(E8(64), bits));
    __m512i k[2] = {quotient, _mm512_sllv_epi64(quarters, _mm512_sub_epi64(q, E8(2)))}, at[2];
    zeros8(e, mask, k, at);
    __m512i index = _mm512_sub_epi64(_mm512_sub_epi64(at[0], E8(BLOCK_HEAD - 1)), k[0]);
    __m512i shorter = _mm512_sub_epi64(_mm512_sub_epi64(at[1], E8(BLOCK_HEAD - 1)), k[1]);
    __m512i start = _mm512_add_epi64(_mm512_add_epi64(n, E8(BLOCK_HEAD)), _mm512_sllv_epi64(one, q));

    /* As find_field(). */
    __m512i run = bits8(e, mask, _mm512_add_epi64(at[0], one));
    run = _mm512_sub_epi64(_mm512_popcnt_epi64(_mm512_xor_si512(run, _mm512_add_epi64(run, one))), one);
    __m512i low = _mm512_i64gather_epi64(bits, every, 8), high = _mm512_sllv_epi64(low, _mm512_sub_epi64(bits, one));
    __m512i some = _mm512_popcnt_epi64(_mm512_and_si512(high, E8((UINT64_C(1) << AT_ONCE) - 1)));
    __m512i place = _mm512_sub_epi64(_mm512_mullo_epi64(index, r), _mm512_min_epu64(index, shorter));
    __m512i window = bits8(e, mask, _mm512_add_epi64(start, place));
    __m512i differ = _mm512_xor_si512(window, _mm512_mullo_epi64(remainder, low));
    __m512i none = _mm512_andnot_si512(differ, _mm512_and_si512(_mm512_sub_epi64(differ, low), high));
    none = _mm512_and_si512(none, ones8(_mm512_mullo_epi64(_mm512_min_epu64(run, some), bits)));
    __mmask8 there = _mm512_mask_test_epi64_mask(mask, none, none);
    __m512i first = _mm512_and_si512(none, _mm512_sub_epi64(zero, none));
    __m512i field = _mm512_popcnt_epi64(_mm512_and_si512(low, _mm512_sub_epi64(first, one)));
    index = _mm512_sub_epi64(_mm512_add_epi64(index, field), one);
    *rare = _mm512_mask_cmpgt_epu64_mask(mask & (__mmask8)~there, run, some);

    __m512i counts = _mm512_sub_epi64(_mm512_mullo_epi64(n, r), _mm512_min_epu64(n, shorter));
    __m512i g = _mm512_and_si512(_mm512_srli_epi64(head, 27), E8(31));
    __m512i v = levels8(e, there, _mm512_add_epi64(start, counts), n, g, index);
    return _mm512_maskz_add_epi64(there, v, one);
}

/* The cells of the keys, of rows, and how many there are. */
static inline void cells8(__mmask8 mask, __m512i head, const uint64_t key[8], unsigned row, __m512i *cell, __m512i *n)
{
    uint64_t step[8], cells[8] = {0}, all[8] = {0};
    _mm512_storeu_si512(step, _mm512_and_si512(_mm512_srli_epi64(head, 11), E8(127)));
    for (unsigned i = 0; i < 8; i++) {
        if (!(mask >> i & 1)) continue;
        cells[i] = step_cell((unsigned)step[i], row, key[i]);
        all[i] = step_cells((unsigned)step[i]);
    }
    *cell = _mm512_loadu_si512(cells);
    *n = _mm512_loadu_si512(all);
}

static inline __m512i rows8(const struct eight *e, __mmask8 mask, __m512i head, const uint64_t key[8], unsigned row)
{
    __m512i cell, n, g = _mm512_and_si512(_mm512_srli_epi64(head, 27), E8(31));
    cells8(mask, head, key, row, &cell, &n);
    return _mm512_maskz_mov_epi64(mask, levels8(e, mask, E8(BLOCK_HEAD), n, g, cell));
}

static inline __m512i counts8(__m512i head, __m512i code)
{
    __mmask8 is_signed = _mm512_test_epi64_mask(head, E8(UINT64_C(1) << 32));
    __m512i odd = _mm512_sub_epi64(E8(0), _mm512_and_si512(code, E8(1)));
    return take8(is_signed, _mm512_xor_si512(_mm512_srli_epi64(code, 1), odd), code);
}

static void read_eight(const struct block *base, unsigned whole, const uint32_t block[8], const uint64_t key[8],
                       __mmask8 here, int64_t first[8], int64_t second[8])
{
    __m512i number = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(here, block));
    struct eight e = {base, _mm512_slli_epi64(number, 8), here};
    __m512i head = _mm512_mask_i64gather_epi64(E8(0), here, e.byte, base, 1),
            keys = _mm512_maskz_loadu_epi64(here, key);
    __m512i step = _mm512_and_si512(_mm512_srli_epi64(head, 11), E8(127)), a = E8(0), b = a;
    __mmask8 lists = _mm512_mask_cmplt_epu64_mask(here, step, E8(STEP_SHARE)), rows = here & (__mmask8)~lists, rare = 0;
    __mmask8 two = _mm512_mask_cmplt_epu64_mask(rows, step, E8(STEP_CAP));
    if (lists) a = lists8(&e, lists, head, whole, keys, &rare);
    if (rows) a = take8(rows, rows8(&e, rows, head, key, 0), a);
    if (two) b = rows8(&e, two, head, key, 1);
    _mm512_mask_storeu_epi64(first, here, counts8(head, a));
    _mm512_mask_storeu_epi64(second, here, counts8(head, b));
    for (; rare; rare &= (__mmask8)(rare - 1)) {
        unsigned i = (unsigned)__builtin_ctz(rare);
        int64_t value[2];
        body_read(&base[block[i]], whole, key[i], value);
        first[i] = value[0];
    }
}

static void body_read_many(const struct block *base, unsigned whole, const uint32_t block[], const uint64_t key[],
                           unsigned n, int64_t first[], int64_t second[])
{
    for (unsigned i = 0; i < n; i += 8)
        read_eight(base, whole, block + i, key + i, (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 255), first + i,
                   second + i);
}

#undef E8

#else

static void body_read_many(const struct block *base, unsigned whole, const uint32_t block[], const uint64_t key[],
                           unsigned n, int64_t first[], int64_t second[])
{
    for (unsigned i = 0; i < n; i++) {
        int64_t value[2] = {0, 0};
        body_read(&base[block[i]], whole, key[i], value);
        first[i] = value[0];
        second[i] = value[1];
    }
}

#endif
