/* What blocks say of keys: of one, or of many at once, each of a block of its own. Part of the body that kernels_body.h
 * is.
 *
 * With AVX-512 eight go through the same steps side by side, each in a lane of 64 bits; their words are gathered.
 * What is rare (very long keys, many with the same quotient) is left to body_read(). */
#pragma once

#include "block/kernels.h"
#include "block/kernels_keep.h"

/* ---- one key ----------------------------------------------------------------------------------------------------- */

static void body_read(const struct block *block, unsigned whole, uint64_t key, struct reading *reading)
{
    const struct list list = list_of(block, whole, key);
    *reading = (struct reading){.step = (uint8_t)list.step};
    if (step_keeps(list.step)) {
        struct loss loss;
        const struct tail tail = tail_of(list.step, block_widths(block));
        get_loss(block, &tail, &loss);
        reading->plus = loss.plus;
        reading->minus = loss.minus;
    }
    if (list.n == 0) return;
    const struct entry_at entry = find_entry(block, &list, key);
    if (!entry.there) return;
    const struct levels levels = counts_of(block, &list);
    const unsigned signs = block_signs(block);
    if (step_keeps(list.step)) {
        const struct kept kept = find_kept(block, &list, &levels, key, entry);
        reading->listed = kept.there;
        reading->alike = (int64_t)kept.alike;
        reading->value = kept.there ? from_code(kept.code, signs) : 0;
    } else {
        struct heavy heavy;
        reading->listed = true;
        reading->alike = reading->value = from_code(levels_get(block, &levels, entry.index, &heavy), signs);
    }
}

/* ---- many keys --------------------------------------------------------------------------------------------------- */

#if 0

/* Eight integers to be found: of n from bit `at` of each block on, coded with g, number i. */
struct sought {
    __m512i byte;  /* where each block begins */
    __mmask8 mask; /* the lanes in use */
    __m512i at, n, g, i, v;
    __m512i w, shift, first; /* as they are gone through; the first bits of a level */
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

/* Of the map of a level: how many ones it has, how many before number i, and the bit of that. */
struct map8 {
    __m512i all, before, bit;
};

static inline __attribute__((always_inline)) struct map8 map8(const struct block *base, const struct sought *s)
{
    const __m512i stretch = E8(AT_ONCE);
    __m512i map = s->first, from = s->at, left = s->n, rank = s->i;
    __m512i all = E8(0), before = all, bit = all;
    for (__mmask8 more = s->mask;;) {
        map = _mm512_and_si512(map, ones8(_mm512_min_epu64(left, stretch)));
        __m512i below = ones8(_mm512_max_epi64(rank, E8(0)));
        all = _mm512_mask_add_epi64(all, more, all, _mm512_popcnt_epi64(map));
        before = _mm512_mask_add_epi64(before, more, before, _mm512_popcnt_epi64(_mm512_and_si512(map, below)));
        /* A rank of a stretch before or behind shifts all bits out. */
        bit = _mm512_mask_or_epi64(bit, more, bit, _mm512_srlv_epi64(map, rank));
        more = _mm512_mask_cmpgt_epu64_mask(more, left, stretch);
        if (!more) return (struct map8){all, before, bit};
        from = _mm512_add_epi64(from, stretch);
        rank = _mm512_sub_epi64(rank, stretch);
        left = _mm512_sub_epi64(left, stretch);
        map = bits8(base, s->byte, more, from);
    }
}

/* Low bits or digits of s->w bits, which are behind a map that s->first has the first bits of. Mostly it has these
 * too. */
static inline __attribute__((always_inline)) __m512i digits8(const struct block *base, const struct sought *s)
{
    __m512i behind = _mm512_add_epi64(s->n, _mm512_mul_epu32(s->i, s->w)), bits = _mm512_srlv_epi64(s->first, behind);
    if (_mm512_mask_cmpgt_epu64_mask(s->mask, _mm512_add_epi64(behind, s->w), E8(AT_ONCE)))
        bits = bits8(base, s->byte, s->mask, _mm512_add_epi64(s->at, behind));
    return _mm512_and_si512(bits, ones8(s->w));
}

/* Goes a level on, whose digits have w bits: in s the integers that have one there are left. */
static inline __attribute__((always_inline)) void level8(const struct block *base, struct sought *s, unsigned w)
{
    const __m512i one = E8(1);
    struct map8 map = map8(base, s);
    s->mask = _mm512_mask_test_epi64_mask(s->mask, map.bit, one);
    if (!s->mask) return;
    s->at = _mm512_add_epi64(s->at, _mm512_mul_epu32(s->n, _mm512_add_epi64(s->w, one)));
    s->n = map.all;
    s->i = map.before;
    s->w = E8(w);
    s->first = bits8(base, s->byte, s->mask, s->at);
    __m512i digit = _mm512_add_epi64(digits8(base, s), one);
    s->v = _mm512_mask_add_epi64(s->v, s->mask, s->v, _mm512_sllv_epi64(digit, s->shift));
    s->shift = _mm512_add_epi64(s->shift, s->w);
}

/* As levels_get(), of two at a time: what one waits for is time for the other. */
static inline __attribute__((always_inline)) void levels8(const struct block *base, struct sought s[2])
{
    for (unsigned k = 0; k < 2; k++) {
        s[k].w = s[k].shift = s[k].g;
        s[k].first = bits8(base, s[k].byte, s[k].mask, s[k].at);
        s[k].v = digits8(base, &s[k]);
    }
    for (unsigned l = 1; l <= LEVELS && (s[0].mask | s[1].mask); l++)
        for (unsigned k = 0; k < 2; k++)
            if (s[k].mask) level8(base, &s[k], width[l]);
}

/* As select_one(): by halves. */
static inline __attribute__((always_inline)) __m512i select8(__m512i x, __m512i k)
{
    __m512i at = E8(0);
#pragma GCC unroll 6
    for (unsigned half = 32; half > 0; half /= 2) {
        __m512i low = _mm512_popcnt_epi64(_mm512_and_si512(x, E8((UINT64_C(1) << half) - 1)));
        __mmask8 above = _mm512_cmple_epu64_mask(low, k);
        k = _mm512_mask_sub_epi64(k, above, k, low);
        x = _mm512_mask_srli_epi64(x, above, x, half);
        at = _mm512_mask_add_epi64(at, above, at, E8(half));
    }
    return at;
}

/* The first eight words of eight blocks: word by word, of each block one. */
static inline __attribute__((always_inline)) void words8(const struct block *base, __m512i start, __m512i word[8])
{
    uint64_t byte[8];
    __m512i row[8], pair[8], four[8];
    _mm512_storeu_si512(byte, start);
    for (unsigned i = 0; i < 8; i++) row[i] = _mm512_loadu_si512((const unsigned char *)base + byte[i]);
    for (unsigned i = 0; i < 8; i += 2) {
        pair[i] = _mm512_unpacklo_epi64(row[i], row[i + 1]);
        pair[i + 1] = _mm512_unpackhi_epi64(row[i], row[i + 1]);
    }
    for (unsigned i = 0; i < 8; i += 4)
        for (unsigned k = 0; k < 2; k++) {
            four[i + k] = _mm512_shuffle_i64x2(pair[i + k], pair[i + 2 + k], 0x88);
            four[i + 2 + k] = _mm512_shuffle_i64x2(pair[i + k], pair[i + 2 + k], 0xdd);
        }
    for (unsigned k = 0; k < 4; k++) {
        word[k] = _mm512_shuffle_i64x2(four[k], four[4 + k], 0x88);
        word[4 + k] = _mm512_shuffle_i64x2(four[k], four[4 + k], 0xdd);
    }
}

/* As find_zeros(), of two numbers at once. */
static inline __attribute__((always_inline)) void zeros8(const struct block *base, __m512i byte, __mmask8 mask,
                                                         const __m512i k[2], __m512i at[2])
{
    __m512i word[8], zeros = E8(0), sum = zeros, before[2] = {zeros, zeros}, found[2] = {zeros, zeros};
    __m512i start[2] = {zeros, zeros};
    __mmask8 search[2] = {mask, mask};
    words8(base, byte, word);
    word[0] = _mm512_or_si512(word[0], E8((UINT64_C(1) << (BLOCK_HEAD - 1)) - 1));
#pragma GCC unroll 8
    for (unsigned i = 0; i < BLOCK_WORDS; i++) {
        if (i >= 5 && !(search[0] | search[1])) break;
        __m512i words = i < 8 ? word[i % 8] : _mm512_mask_i64gather_epi64(E8(0), mask, byte, &base->word[i], 1);
        zeros = _mm512_andnot_si512(words, E8(-1));
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(zeros));
        for (unsigned j = 0; j < 2; j++) {
            found[j] = take8(search[j], zeros, found[j]);
            search[j] = _mm512_mask_cmple_epu64_mask(search[j], sum, k[j]);
            before[j] = take8(search[j], sum, before[j]);
            start[j] = _mm512_mask_add_epi64(start[j], search[j], start[j], E8(64));
        }
    }
    for (unsigned j = 0; j < 2; j++)
        at[j] = _mm512_add_epi64(start[j], select8(found[j], _mm512_sub_epi64(k[j], before[j])));
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
    s->mask = here;
    s->at = s->n = s->i = E8(0);
    s->g = _mm512_and_si512(_mm512_srli_epi64(head, 27), E8(31));
    return head;
}

/* Eight readings as they are made. */
struct eight {
    __mmask8 here, rows, capped, rare; /* of the lanes: all, those of rows, whose cap is part of it, yet to be read */
    __m512i key, head, step, value[3], width[3];
};

/* Lists, and row 0. */
static inline __attribute__((always_inline)) void
eight_first(const struct block *base, unsigned whole, const struct asked *asked, struct eight *e, struct sought *s)
{
    e->key = _mm512_maskz_loadu_epi64(e->here, asked->key);
    e->head = heads8(base, asked->block, e->here, s);
    e->step = step8(e->head);
    e->rare = 0;
    __mmask8 lists = _mm512_mask_cmplt_epu64_mask(e->here, e->step, E8(STEP_SHARE)), there;
    e->rows = e->here & (__mmask8)~lists;
    s->mask = lists;
    if (lists) e->width[0] = lists8(base, s, e->head, whole, e->key, &e->rare);
    there = s->mask;
    s->mask = e->rows;
    if (e->rows) e->width[0] = take8(e->rows, rows8(s, e->head, e->key, 0), lists ? e->width[0] : E8(0));
    s->mask |= there;
}

/* Row 1. */
static inline __attribute__((always_inline)) void eight_second(const struct block *base, const struct asked *asked,
                                                               struct eight *e, struct sought *s)
{
    heads8(base, asked->block, e->rows, s);
    s->mask = _mm512_mask_cmplt_epu64_mask(e->rows, e->step, E8(STEP_CAP));
    e->width[1] = rows8(s, e->head, e->key, 1);
}

/* Caps where they are part of the reading, and their heads. What is below 0 in a cap may hide a count of a list: then
 * it is no bound. */
static inline __attribute__((always_inline)) __m512i eight_caps(const struct block *base, const struct asked *asked,
                                                                struct eight *e, struct sought *s)
{
    __mmask8 large = _mm512_cmpge_epi64_mask(e->value[0], E8(BLOCKS_UNCAPPED));
    __mmask8 wanted = _mm512_mask_cmpgt_epu64_mask(e->here, e->step, E8(STEP_LIST)) & (e->rows | large);
    __m512i head = heads8(base, asked->cap, wanted, s);
    __mmask8 above = _mm512_testn_epi64_mask(head, E8(UINT64_C(3) << 32));
    e->capped = _mm512_mask_cmpge_epu64_mask(wanted & (e->rows | above), step8(head), E8(STEP_CAP));
    s->mask = e->capped;
    e->width[2] = caps8(s, head, e->key);
    return head;
}

static inline void eight_tell(const struct block *base, unsigned whole, const struct asked *asked,
                              const struct eight *e, struct reading reading[])
{
    uint64_t head[8], value[3][8], wide[3][8];
    _mm512_storeu_si512(head, e->head);
    for (unsigned i = 0; i < 3; i++) {
        if (i == 1 ? !e->rows : i == 2 && !e->capped) continue;
        _mm512_storeu_si512(value[i], e->value[i]);
        _mm512_storeu_si512(wide[i], e->width[i]);
    }
    for (unsigned i = 0; e->here >> i & 1; i++) {
        struct reading *to = &reading[i];
        to->step = head[i] >> 11 & 127;
        to->entries = head[i] >> 18 & 511;
        to->values = 1;
        to->value[0] = (int64_t)value[0][i];
        to->width[0] = (uint32_t)wide[0][i];
        for (unsigned k = 1; k < 3; k++) {
            if (!((k == 1 ? e->rows : e->capped) >> i & 1)) continue;
            to->value[to->values] = (int64_t)value[k][i];
            to->width[to->values++] = (uint32_t)wide[k][i];
        }
    }
    for (unsigned rare = e->rare; rare; rare &= rare - 1) {
        unsigned i = (unsigned)__builtin_ctz(rare);
        body_read(&base[asked->block[i]], asked->cap ? &base[asked->cap[i]] : NULL, whole, asked->key[i], &reading[i]);
    }
}

/* The codes that were sought, as counts. */
static inline void eight_take(struct eight e[2], const struct sought s[2], const __mmask8 found[2], unsigned value,
                              const __m512i head[2])
{
    for (unsigned k = 0; k < 2; k++) e[k].value[value] = counts8(head[k], _mm512_maskz_mov_epi64(found[k], s[k].v));
}

static void read_sixteen(const struct block *base, unsigned whole, const struct asked asked[2], const __mmask8 here[2],
                         struct reading reading[])
{
    struct eight e[2];
    struct sought s[2];
    __m512i head[2];
    __mmask8 found[2];
    for (unsigned k = 0; k < 2; k++) {
        e[k].here = here[k];
        e[k].capped = 0;
        eight_first(base, whole, &asked[k], &e[k], &s[k]);
        found[k] = s[k].mask;
        head[k] = e[k].head;
    }
    levels8(base, s);
    for (unsigned k = 0; k < 2; k++) s[k].v = _mm512_mask_add_epi64(s[k].v, (__mmask8)~e[k].rows, s[k].v, E8(1));
    eight_take(e, s, found, 0, head);
    if (e[0].rows | e[1].rows) {
        for (unsigned k = 0; k < 2; k++) eight_second(base, &asked[k], &e[k], &s[k]);
        for (unsigned k = 0; k < 2; k++) e[k].rows = found[k] = s[k].mask;
        levels8(base, s);
        eight_take(e, s, found, 1, head);
    }
    if (asked->cap) {
        for (unsigned k = 0; k < 2; k++) head[k] = eight_caps(base, &asked[k], &e[k], &s[k]);
        if (e[0].capped | e[1].capped) levels8(base, s);
        for (unsigned k = 0; k < 2; k++) found[k] = e[k].capped;
        eight_take(e, s, found, 2, head);
    }
    for (unsigned k = 0; k < 2; k++) eight_tell(base, whole, &asked[k], &e[k], reading + 8 * k);
}

static void body_read_many(const struct block *base, unsigned whole, const struct asked *asked, unsigned n,
                           struct reading reading[])
{
    for (unsigned i = 0; i < n; i += 16) {
        unsigned left = n - i < 16 ? (1u << (n - i)) - 1 : 0xffff, next = left > 255 ? i + 8 : i;
        const uint32_t *cap = asked->cap;
        struct asked two[2] = {{asked->block + i, cap ? cap + i : NULL, asked->key + i},
                               {asked->block + next, cap ? cap + next : NULL, asked->key + next}};
        read_sixteen(base, whole, two, (__mmask8[]){(__mmask8)left, (__mmask8)(left >> 8)}, reading + i);
    }
}

#undef E8

#else

static void body_read_many(const struct block *base, unsigned whole, const uint32_t block[], const uint64_t key[],
                           unsigned n, struct reading reading[])
{
    for (unsigned i = 0; i < n; i++) body_read(&base[block[i]], whole, key[i], &reading[i]);
}

#endif
