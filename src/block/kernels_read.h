/* What blocks say of keys: of one, or of many at once, each of a block of its own. Part of the body that kernels_body.h
 * is.
 *
 * With AVX-512 eight go through the same steps side by side, each in a lane of 64 bits; their words are gathered.
 * What is rare (very long keys, many with the same quotient) is left to read_list(). */
#pragma once

#include "block/kernels.h"
#include "block/kernels_list.h"

/* ---- one key ----------------------------------------------------------------------------------------------------- */

/* The count of its entry, or 0. */
static inline __attribute__((always_inline)) int64_t read_list(const struct block *block, unsigned whole, uint64_t key)
{
    struct list list = list_of(block, whole, key);
    if (list.n == 0) return 0;
    struct entry entry = find_entry(block, &list, key);
    struct levels levels = counts_of(block, &list);
    return entry.there ? from_code(levels_get(block, &levels, entry.index) + 1, block_signs(block)) : 0;
}

/* A cell, as a value of a reading. */
static inline __attribute__((always_inline)) void read_cell(const struct block *block, unsigned row, uint64_t key,
                                                            struct reading *reading, unsigned value)
{
    const unsigned step = block_step(block);
    const struct levels levels = cells_of(block);
    uint64_t code = levels_get(block, &levels, step_cell(step, row, key));
    reading->value[value] = from_code(code, block_signs(block));
    reading->width[value] = step_width(step, row, key);
}

static __attribute__((noinline)) void read_rows(const struct block *block, const struct block *cap, uint64_t key,
                                                struct reading *reading)
{
    reading->values = block_step(block) < STEP_CAP ? 2 : 1;
    for (unsigned row = 0; row < reading->values; row++) read_cell(block, row, key, reading, row);
    if (cap && cap_counts(cap)) read_cell(cap, 0, key, reading, reading->values++);
}

static void body_read(const struct block *block, const struct block *cap, unsigned whole, uint64_t key,
                      struct reading *reading)
{
    const unsigned step = block_step(block);
    reading->step = step;
    reading->entries = block_entries(block);
    if (!step_lists(step)) {
        read_rows(block, cap, key, reading);
        return;
    }
    const unsigned length = step_length(step, whole, key);
    reading->values = 1;
    reading->width[0] = UINT32_C(1) << (length < BLOCK_PRINT ? length : BLOCK_PRINT);
    reading->value[0] = read_list(block, whole, key);
    /* What is below 0 in a cap may hide a count: then it is no bound. */
    if (reading->value[0] < BLOCKS_UNCAPPED || step <= STEP_LIST || !cap || !cap_counts(cap)) return;
    if (block_signs(cap) == SIGNS_ABOVE) read_cell(cap, 0, key, reading, reading->values++);
}

/* ---- many keys --------------------------------------------------------------------------------------------------- */

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512CD__) && defined(__AVX512DQ__)

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
    s->at = _mm512_add_epi64(s->at, _mm512_mul_epu32(s->n, _mm512_add_epi64(*width_here, one)));
    s->n = all;
    s->i = before;
    *width_here = E8(w);
    __m512i at = _mm512_add_epi64(_mm512_add_epi64(s->at, all), _mm512_mul_epu32(before, *width_here));
    __m512i digit = _mm512_and_si512(bits8(base, s->byte, s->mask, at), ones8(*width_here));
    s->v = _mm512_mask_add_epi64(s->v, s->mask, s->v, _mm512_sllv_epi64(_mm512_add_epi64(digit, one), *shift));
    *shift = _mm512_add_epi64(*shift, *width_here);
}

static inline __m512i low8(const struct block *base, const struct sought *s)
{
    __m512i at = _mm512_add_epi64(_mm512_add_epi64(s->at, s->n), _mm512_mul_epu32(s->i, s->g));
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
 * to be looked up. Returns how many keys one print is of. */
static inline __attribute__((always_inline)) __m512i lists8(const struct block *base, struct sought *s, __m512i head,
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
    __m512i place = _mm512_sub_epi64(_mm512_mul_epu32(index, r), _mm512_min_epu64(index, shorter));
    __m512i window = bits8(base, s->byte, mask, _mm512_add_epi64(start, place));
    __m512i differ = _mm512_xor_si512(window, _mm512_mullo_epi64(remainder, low));
    __m512i none = _mm512_andnot_si512(differ, _mm512_and_si512(_mm512_sub_epi64(differ, low), high));
    none = _mm512_and_si512(none, ones8(_mm512_mul_epu32(_mm512_min_epu64(run, some), bits)));
    __mmask8 there = _mm512_mask_test_epi64_mask(mask, none, none);
    __m512i first = _mm512_and_si512(none, _mm512_sub_epi64(zero, none));
    __m512i field = _mm512_popcnt_epi64(_mm512_and_si512(low, _mm512_sub_epi64(first, one)));
    index = _mm512_sub_epi64(_mm512_add_epi64(index, field), one);
    *rare = _mm512_mask_cmpgt_epu64_mask(mask & (__mmask8)~there, run, some);

    __m512i counts = _mm512_sub_epi64(_mm512_mul_epu32(n, r), _mm512_min_epu64(n, shorter));
    s->mask = there;
    s->at = _mm512_add_epi64(start, counts);
    s->n = n;
    s->i = index;
    return _mm512_sllv_epi64(one, _mm512_min_epu64(_mm512_add_epi64(bits, q), E8(BLOCK_PRINT)));
}

/* A row of cells that began with `start` of them, and the one of a hash. As row_folded(), step_cell() and
 * step_width(). */
struct rows {
    __m512i cells, cell, width;
};

static inline struct rows fold8(__m512i start, __m512i folded, __m512i hash)
{
    __m512i from = _mm512_srlv_epi64(start, _mm512_srli_epi64(folded, 2)), half = _mm512_srli_epi64(from, 1);
    __m512i part = _mm512_mul_epu32(_mm512_srli_epi64(from, 3), _mm512_and_si512(folded, E8(3)));
    __m512i cells = _mm512_sub_epi64(from, part), cell = _mm512_and_si512(hash, _mm512_sub_epi64(from, E8(1)));
    cell = _mm512_mask_sub_epi64(cell, _mm512_cmpge_epu64_mask(cell, cells), cell, half);
    __mmask8 one = _mm512_cmplt_epu64_mask(cell, _mm512_sub_epi64(cells, half)) | _mm512_cmpge_epu64_mask(cell, half);
    return (struct rows){cells, cell, take8(one, from, half)};
}

/* The highest of 32 bits of a product. */
static inline __m512i hash8(__m512i x, uint32_t factor, unsigned bits)
{
    return _mm512_srli_epi64(_mm512_slli_epi64(_mm512_mul_epu32(x, E8(factor)), 32), 64 - bits);
}

/* Where the cell of keys is in one of two rows, in the lanes of s->mask; its width. */
static inline __m512i rows8(struct sought *s, __m512i head, __m512i key, unsigned row)
{
    __m512i shared = _mm512_srli_epi64(key, 64 - BLOCK_SHARED), step = _mm512_sub_epi64(step8(head), E8(STEP_SHARE));
    __m512i turn = _mm512_srli_epi64(step, 2), part = _mm512_and_si512(step, E8(3));
    __mmask8 odd = _mm512_test_epi64_mask(turn, E8(1));
    __m512i folded[2] = {_mm512_slli_epi64(_mm512_srli_epi64(_mm512_add_epi64(turn, E8(1)), 1), 2),
                         _mm512_slli_epi64(_mm512_srli_epi64(turn, 1), 2)};
    folded[0] = _mm512_mask_add_epi64(folded[0], (__mmask8)~odd, folded[0], part);
    folded[1] = _mm512_mask_add_epi64(folded[1], odd, folded[1], part);
    struct rows first = fold8(E8(512), folded[0], hash8(shared, 0x9e3779b1u, 9));
    struct rows second = fold8(E8(256), folded[1], hash8(shared, 0x85ebca6bu, 8));
    s->at = _mm512_mask_mov_epi64(s->at, s->mask, E8(BLOCK_HEAD));
    s->n = _mm512_mask_add_epi64(s->n, s->mask, first.cells, second.cells);
    s->i = take8(s->mask, row ? _mm512_add_epi64(first.cells, second.cell) : first.cell, s->i);
    return row ? second.width : first.width;
}

/* The same in caps. */
static inline __m512i caps8(struct sought *s, __m512i head, __m512i key)
{
    __m512i print = _mm512_srli_epi64(key, 64 - BLOCK_PRINT), folded = _mm512_sub_epi64(step8(head), E8(STEP_CAP));
    struct rows row = fold8(E8(512), folded, hash8(print, 0xc2b2ae35u, 9));
    s->at = E8(BLOCK_HEAD);
    s->n = row.cells;
    s->i = row.cell;
    return row.width;
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

/* Eight readings, by the field. */
struct readings {
    uint64_t step[8], entries[8], value[3][8], width[3][8];
};

static inline void read_eight(const struct block *base, unsigned whole, const struct asked *asked, __mmask8 here,
                              struct reading reading[])
{
    struct sought a, b;
    struct readings to;
    __m512i head = heads8(base, asked->block, here, &a), key = _mm512_maskz_loadu_epi64(here, asked->key);
    __m512i step = step8(head), other = E8(0), widths[3] = {other, other, other}, value[3] = {other, other, other};
    __mmask8 lists = _mm512_mask_cmplt_epu64_mask(here, step, E8(STEP_SHARE)), rows = here & (__mmask8)~lists;
    __mmask8 rare = 0, there, capped = 0;
    b = a;
    b.mask = 0;
    if (asked->cap) {
        other = heads8(base, asked->cap, here, &b);
        b.mask = _mm512_mask_cmpge_epu64_mask(here, step8(other), E8(STEP_CAP));
        widths[2] = caps8(&b, other, key);
    }
    a.mask = lists;
    if (lists) widths[0] = lists8(base, &a, head, whole, key, &rare);
    there = a.mask;
    a.mask = rows;
    if (rows) widths[0] = take8(rows, rows8(&a, head, key, 0), widths[0]);
    a.mask |= there;
    __mmask8 counted = a.mask;
    capped = b.mask;
    levels8(base, &a, &b);
    a.v = _mm512_mask_add_epi64(a.v, there, a.v, E8(1));
    value[0] = counts8(head, _mm512_maskz_mov_epi64(counted, a.v));
    value[2] = counts8(other, b.v);
    if (rows) {
        struct sought c = a;
        c.mask = rows;
        c.g = _mm512_and_si512(_mm512_srli_epi64(head, 27), E8(31));
        widths[1] = rows8(&c, head, key, 1);
        b.mask = 0;
        levels8(base, &c, &b);
        value[1] = counts8(head, c.v);
    }
    __m512i entries = _mm512_and_si512(_mm512_srli_epi64(head, 18), E8(511));
    _mm512_storeu_si512(to.step, step);
    _mm512_storeu_si512(to.entries, entries);
    for (unsigned i = 0; i < 3; i++) {
        _mm512_storeu_si512(to.value[i], value[i]);
        _mm512_storeu_si512(to.width[i], widths[i]);
    }
    capped &=
        _mm512_cmpgt_epu64_mask(step, E8(STEP_LIST)) & (rows | (_mm512_cmpge_epi64_mask(value[0], E8(BLOCKS_UNCAPPED)) &
                                                                _mm512_testn_epi64_mask(other, E8(UINT64_C(3) << 32))));
    for (unsigned i = 0; here >> i & 1; i++) {
        bool shares = rows >> i & 1, cap = capped >> i & 1;
        reading[i] = (struct reading){
            .step = (unsigned)to.step[i],
            .values = 1u + shares + cap,
            .value = {(int64_t)to.value[0][i], (int64_t)to.value[shares ? 1 : 2][i], (int64_t)to.value[2][i]},
            .width = {(uint32_t)to.width[0][i], (uint32_t)to.width[shares ? 1 : 2][i], (uint32_t)to.width[2][i]},
            .entries = (unsigned)to.entries[i]};
    }
    for (; rare; rare &= (__mmask8)(rare - 1)) {
        unsigned i = (unsigned)__builtin_ctz(rare);
        body_read(&base[asked->block[i]], asked->cap ? &base[asked->cap[i]] : NULL, whole, asked->key[i], &reading[i]);
    }
}

static void body_read_many(const struct block *base, unsigned whole, const struct asked *asked, unsigned n,
                           struct reading reading[])
{
    for (unsigned i = 0; i < n; i += 8) {
        struct asked eight = {asked->block + i, asked->cap ? asked->cap + i : NULL, asked->key + i};
        read_eight(base, whole, &eight, (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 255), reading + i);
    }
}

#undef E8

#else

static void body_read_many(const struct block *base, unsigned whole, const struct asked *asked, unsigned n,
                           struct reading reading[])
{
    for (unsigned i = 0; i < n; i++)
        body_read(&base[asked->block[i]], asked->cap ? &base[asked->cap[i]] : NULL, whole, asked->key[i], &reading[i]);
}

#endif
