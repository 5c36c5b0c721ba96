/* Many keys read at once, each of a block of its own. Part of the body that kernels_body.h is, which has body_read().
 *
 * With AVX-512 eight go through the same steps side by side, each in a lane of 64 bits; their words are gathered.
 * What is rare (very long keys, many with the same quotient) is left to body_read(). */
#pragma once

#include "block/kernels.h"
#include "block/kernels_list.h"

static unsigned body_read(const struct block *block, unsigned whole, uint64_t key, int64_t value[2]);

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512CD__) && defined(__AVX512DQ__)

/* Bits that can be had with one access, which begins at a byte. */
enum { AT_ONCE = 57 };

/* Eight integers to be found: of n from bit `at` of each block on, coded with g, number i. */
struct sought {
    __m512i byte;  /* where each block begins */
    __mmask8 mask; /* the lanes in use */
    __m512i at, n, g, i, v;
};

#define E8(x) _mm512_set1_epi64((long long)(x))

/* The lowest n bits of each lane are ones. */
static inline __m512i ones8(__m512i n)
{
    return _mm512_andnot_si512(_mm512_sllv_epi64(E8(-1), n), E8(-1));
}

static inline __m512i step8(__m512i head)
{
    return _mm512_and_si512(_mm512_srli_epi64(head, 11), E8(127));
}

static inline __m512i take8(__mmask8 mask, __m512i x, __m512i y)
{
    return _mm512_mask_mov_epi64(y, mask, x);
}

/* Bits from `at` on of the blocks that begin at these bytes: AT_ONCE, or those up to the end of the block. */
static inline __m512i bits8(const struct block *base, __m512i start, __mmask8 mask, __m512i at)
{
    __m512i byte = _mm512_min_epu64(_mm512_srli_epi64(at, 3), E8(sizeof(struct block) - 8));
    __m512i word = _mm512_mask_i64gather_epi64(E8(0), mask, _mm512_add_epi64(start, byte), base, 1);
    return _mm512_srlv_epi64(word, _mm512_sub_epi64(at, _mm512_slli_epi64(byte, 3)));
}

/* Goes a level on, whose digits have w bits: in s the integers that have one there are left. *width_here is the width
 * of the low bits or digits of the level before. */
static inline __attribute__((always_inline)) void level8(const struct block *base, struct sought *s,
                                                         __m512i *width_here, __m512i *shift, unsigned w)
{
    const __m512i one = E8(1), stretch = E8(AT_ONCE);
    __m512i all = E8(0), before = all, bit = all, from = s->at, left = s->n, rank = s->i;
    for (__mmask8 more = s->mask; more;) {
        __m512i map = _mm512_and_si512(bits8(base, s->byte, more, from), ones8(_mm512_min_epu64(left, stretch)));
        __m512i below = ones8(_mm512_max_epi64(rank, E8(0)));
        all = _mm512_mask_add_epi64(all, more, all, _mm512_popcnt_epi64(map));
        before = _mm512_mask_add_epi64(before, more, before, _mm512_popcnt_epi64(_mm512_and_si512(map, below)));
        /* A rank of a stretch before or behind shifts all bits out. */
        bit = _mm512_mask_or_epi64(bit, more, bit, _mm512_srlv_epi64(map, rank));
        from = _mm512_add_epi64(from, stretch);
        rank = _mm512_sub_epi64(rank, stretch);
        more = _mm512_mask_cmpgt_epu64_mask(more, left, stretch);
        left = _mm512_sub_epi64(left, stretch);
    }
    s->mask = _mm512_mask_test_epi64_mask(s->mask, bit, one);
    s->at = _mm512_add_epi64(s->at, _mm512_mullo_epi64(s->n, _mm512_add_epi64(*width_here, one)));
    s->n = all;
    s->i = before;
    *width_here = E8(w);
    __m512i at = _mm512_add_epi64(_mm512_add_epi64(s->at, all), _mm512_mullo_epi64(before, *width_here));
    __m512i digit = _mm512_and_si512(bits8(base, s->byte, s->mask, at), ones8(*width_here));
    s->v = _mm512_mask_add_epi64(s->v, s->mask, s->v, _mm512_sllv_epi64(_mm512_add_epi64(digit, one), *shift));
    *shift = _mm512_add_epi64(*shift, *width_here);
}

static inline __m512i low8(const struct block *base, const struct sought *s)
{
    __m512i at = _mm512_add_epi64(_mm512_add_epi64(s->at, s->n), _mm512_mullo_epi64(s->i, s->g));
    return _mm512_and_si512(bits8(base, s->byte, s->mask, at), ones8(s->g));
}

/* As levels_get(), of two at a time: what one waits for is time for the other. */
static inline __attribute__((always_inline)) void levels8(const struct block *base, struct sought *a, struct sought *b)
{
    __m512i width_a = a->g, shift_a = a->g, width_b = b->g, shift_b = b->g;
    a->v = low8(base, a);
    b->v = low8(base, b);
    for (unsigned l = 1; l <= LEVELS && (a->mask | b->mask); l++) {
        level8(base, a, &width_a, &shift_a, width[l]);
        level8(base, b, &width_b, &shift_b, width[l]);
    }
}

/* As find_zero(), of two numbers at once. */
static inline __attribute__((always_inline)) void zeros8(const struct block *base, __m512i byte, __mmask8 mask,
                                                         const __m512i k[2], __m512i at[2])
{
    uint64_t word[2][8], left[2][8], to[2][8];
    __m512i zeros = E8(0), sum = zeros, before[2] = {zeros, zeros}, found[2] = {zeros, zeros};
    __m512i start[2] = {zeros, zeros};
    __mmask8 search[2] = {mask, mask};
    for (unsigned i = 0; search[0] | search[1]; i++) {
        __m512i words = _mm512_mask_i64gather_epi64(E8(0), search[0] | search[1], byte, &base->word[i], 1);
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
        _mm512_storeu_si512(left[j], _mm512_maskz_sub_epi64(mask, k[j], before[j]));
        for (unsigned i = 0; i < 8; i++) to[j][i] = select_one(word[j][i] | !word[j][i], (unsigned)left[j][i]);
        at[j] = _mm512_add_epi64(start[j], _mm512_loadu_si512(to[j]));
    }
}

/* Where the counts of keys are in lists, s->mask, of which those that are there stay; `rare` gets those that have yet
 * to be looked up. */
static inline __attribute__((always_inline)) void lists8(const struct block *base, struct sought *s, __m512i head,
                                                         unsigned whole, __m512i key, __mmask8 *rare)
{
    __mmask8 mask = s->mask;
    const __m512i one = E8(1), zero = E8(0);
    __m512i step = step8(head);
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
    zeros8(base, s->byte, mask, k, at);
    __m512i index = _mm512_sub_epi64(_mm512_sub_epi64(at[0], E8(BLOCK_HEAD - 1)), k[0]);
    __m512i shorter = _mm512_sub_epi64(_mm512_sub_epi64(at[1], E8(BLOCK_HEAD - 1)), k[1]);
    __m512i start = _mm512_add_epi64(_mm512_add_epi64(n, E8(BLOCK_HEAD)), _mm512_sllv_epi64(one, q));

    /* As find_field(). */
    __m512i run = bits8(base, s->byte, mask, _mm512_add_epi64(at[0], one));
    run = _mm512_sub_epi64(_mm512_popcnt_epi64(_mm512_xor_si512(run, _mm512_add_epi64(run, one))), one);
    __m512i low = _mm512_i64gather_epi64(bits, every, 8), high = _mm512_sllv_epi64(low, _mm512_sub_epi64(bits, one));
    __m512i some = _mm512_popcnt_epi64(_mm512_and_si512(high, E8((UINT64_C(1) << AT_ONCE) - 1)));
    __m512i place = _mm512_sub_epi64(_mm512_mullo_epi64(index, r), _mm512_min_epu64(index, shorter));
    __m512i window = bits8(base, s->byte, mask, _mm512_add_epi64(start, place));
    __m512i differ = _mm512_xor_si512(window, _mm512_mullo_epi64(remainder, low));
    __m512i none = _mm512_andnot_si512(differ, _mm512_and_si512(_mm512_sub_epi64(differ, low), high));
    none = _mm512_and_si512(none, ones8(_mm512_mullo_epi64(_mm512_min_epu64(run, some), bits)));
    __mmask8 there = _mm512_mask_test_epi64_mask(mask, none, none);
    __m512i first = _mm512_and_si512(none, _mm512_sub_epi64(zero, none));
    __m512i field = _mm512_popcnt_epi64(_mm512_and_si512(low, _mm512_sub_epi64(first, one)));
    index = _mm512_sub_epi64(_mm512_add_epi64(index, field), one);
    *rare = _mm512_mask_cmpgt_epu64_mask(mask & (__mmask8)~there, run, some);

    __m512i counts = _mm512_sub_epi64(_mm512_mullo_epi64(n, r), _mm512_min_epu64(n, shorter));
    s->mask = there;
    s->at = _mm512_add_epi64(start, counts);
    s->n = n;
    s->i = index;
}

/* Where the cells of keys are in rows, s->mask. */
static inline void rows8(struct sought *s, __m512i head, const uint64_t key[8], unsigned row)
{
    uint64_t step[8], cell[8] = {0}, n[8] = {0};
    _mm512_storeu_si512(step, step8(head));
    for (unsigned i = 0; i < 8; i++) {
        if (!(s->mask >> i & 1)) continue;
        cell[i] = step_cell((unsigned)step[i], row, key[i]);
        n[i] = step_cells((unsigned)step[i]);
    }
    s->at = _mm512_mask_mov_epi64(s->at, s->mask, E8(BLOCK_HEAD));
    s->n = _mm512_mask_loadu_epi64(s->n, s->mask, n);
    s->i = _mm512_mask_loadu_epi64(s->i, s->mask, cell);
}

/* The same in caps: as step_cell(). */
static inline void caps8(struct sought *s, __m512i head, __m512i key)
{
    __m512i print = _mm512_srli_epi64(key, 64 - BLOCK_PRINT), folded = _mm512_sub_epi64(step8(head), E8(STEP_CAP));
    __m512i hash = _mm512_srli_epi64(_mm512_and_si512(_mm512_mul_epu32(print, E8(0xc2b2ae35u)), E8(0xffffffff)), 23);
    __m512i from = _mm512_srlv_epi64(E8(512), _mm512_srli_epi64(folded, 2));
    __m512i part = _mm512_mul_epu32(_mm512_srli_epi64(from, 3), _mm512_and_si512(folded, E8(3)));
    __m512i cell = _mm512_and_si512(hash, _mm512_sub_epi64(from, E8(1)));
    s->at = E8(BLOCK_HEAD);
    s->n = _mm512_sub_epi64(from, part);
    s->i = _mm512_mask_sub_epi64(cell, _mm512_cmpge_epu64_mask(cell, s->n), cell, _mm512_srli_epi64(from, 1));
}

static inline __m512i counts8(__m512i head, __m512i code)
{
    __mmask8 both = _mm512_test_epi64_mask(head, E8((uint64_t)SIGNS_BOTH << 32));
    __mmask8 below = _mm512_test_epi64_mask(head, E8((uint64_t)SIGNS_BELOW << 32));
    __m512i odd = _mm512_sub_epi64(E8(0), _mm512_and_si512(code, E8(1)));
    code = take8(both, _mm512_xor_si512(_mm512_srli_epi64(code, 1), odd), code);
    return take8(below, _mm512_sub_epi64(E8(0), code), code);
}

/* The heads of the blocks, into whose lanes s is set. */
static inline __m512i heads8(const struct block *base, const uint32_t block[8], __mmask8 here, struct sought *s)
{
    s->byte = _mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(here, block)), 8);
    __m512i head = _mm512_mask_i64gather_epi64(E8(0), here, s->byte, base, 1);
    s->at = s->n = s->i = E8(0);
    s->g = _mm512_and_si512(_mm512_srli_epi64(head, 27), E8(31));
    return head;
}

static inline void read_eight(const struct block *base, unsigned whole, const struct asked *asked, __mmask8 here)
{
    struct sought a, b;
    __m512i head = heads8(base, asked->block, here, &a), key = _mm512_maskz_loadu_epi64(here, asked->key),
            other = E8(0);
    __mmask8 lists = _mm512_mask_cmplt_epu64_mask(here, step8(head), E8(STEP_SHARE)), rows = here & (__mmask8)~lists;
    __mmask8 rare = 0, there = 0;
    b = a;
    b.mask = 0;
    if (asked->cap) {
        other = heads8(base, asked->cap, here, &b);
        b.mask = _mm512_mask_cmpge_epu64_mask(here, step8(other), E8(STEP_CAP));
        caps8(&b, other, key);
    }
    a.mask = lists;
    if (lists) lists8(base, &a, head, whole, key, &rare);
    there = a.mask;
    if (rows) {
        a.mask = rows;
        rows8(&a, head, asked->key, 0);
        a.mask |= there;
    }
    __mmask8 counted = a.mask, capped = b.mask;
    levels8(base, &a, &b);
    a.v = _mm512_mask_add_epi64(a.v, there, a.v, E8(1));
    _mm512_mask_storeu_epi64(asked->first, here, counts8(head, _mm512_maskz_mov_epi64(counted, a.v)));
    if (asked->cap) _mm512_mask_storeu_epi64(asked->capped, here, counts8(other, _mm512_maskz_mov_epi64(capped, b.v)));
    rows = _mm512_mask_cmplt_epu64_mask(rows, step8(head), E8(STEP_CAP));
    if (rows) {
        struct sought c = a;
        c.mask = rows;
        c.g = _mm512_and_si512(_mm512_srli_epi64(head, 27), E8(31));
        rows8(&c, head, asked->key, 1);
        b.mask = 0;
        levels8(base, &c, &b);
        _mm512_mask_storeu_epi64(asked->second, rows, counts8(head, c.v));
    }
    for (; rare; rare &= (__mmask8)(rare - 1)) {
        unsigned i = (unsigned)__builtin_ctz(rare);
        int64_t value[2];
        body_read(&base[asked->block[i]], whole, asked->key[i], value);
        asked->first[i] = value[0];
    }
}

static void body_read_many(const struct block *base, unsigned whole, const struct asked *asked, unsigned n)
{
    for (unsigned i = 0; i < n; i += 8) {
        struct asked eight = {asked->block + i,  asked->cap ? asked->cap + i : NULL,   asked->key + i, asked->first + i,
                              asked->second + i, asked->cap ? asked->capped + i : NULL};
        read_eight(base, whole, &eight, (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 255));
    }
}

#undef E8

#else

static void body_read_many(const struct block *base, unsigned whole, const struct asked *asked, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        int64_t value[2] = {0, 0};
        if (body_read(&base[asked->block[i]], whole, asked->key[i], value) == 2) asked->second[i] = value[1];
        asked->first[i] = value[0];
        if (!asked->cap) continue;
        value[0] = 0;
        if (block_step(&base[asked->cap[i]]) >= STEP_CAP) body_read(&base[asked->cap[i]], whole, asked->key[i], value);
        asked->capped[i] = value[0];
    }
}

#endif
