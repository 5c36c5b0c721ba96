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
    struct way way;
    if (step_keeps(list.step)) {
        const struct kept kept = find_kept(block, &list, &levels, key, entry, &way);
        reading->listed = kept.there;
        reading->alike = (int64_t)kept.alike;
        reading->value = kept.there ? from_code(kept.code, signs) : 0;
    } else {
        reading->listed = true;
        reading->alike = reading->value = from_code(levels_get(block, &levels, entry.index, &way), signs);
    }
}

/* ---- many keys --------------------------------------------------------------------------------------------------- */

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512CD__) && defined(__AVX512DQ__)

/* Eight integers to be found: of n from bit `at` of each block on, coded with g, number i. */
struct sought {
    __m512i byte;  /* where each block begins */
    __mmask8 mask; /* the lanes in use */
    __m512i at, n, g, i, v;
    __m512i w, shift, first; /* as they are gone through; the first bits of a level */
    __mmask8 heavy;          /* those that have a digit on the level of the heavy, ... */
    __mmask8 all;            /* (where all entries are) */
    __m512i behind;          /* ... and of them how many are not before this one */
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

/* Notes who is heavy, but of those that all are. */
static inline void heavy8(struct sought *s)
{
    const __mmask8 now = (__mmask8)~s->all;
    s->heavy |= s->mask & now;
    s->behind = _mm512_mask_sub_epi64(s->behind, now, s->n, s->i);
}

/* As levels_get(), of two at a time: what one waits for is time for the other. */
static inline __attribute__((always_inline)) void levels8(const struct block *base, struct sought s[2])
{
    for (unsigned k = 0; k < 2; k++) {
        s[k].heavy = s[k].all;
        s[k].behind = _mm512_sub_epi64(s[k].n, s[k].i);
        s[k].w = s[k].shift = s[k].g;
        s[k].first = bits8(base, s[k].byte, s[k].mask, s[k].at);
        s[k].v = digits8(base, &s[k]);
    }
    for (unsigned l = 1; l <= LEVELS && (s[0].mask | s[1].mask); l++)
        for (unsigned k = 0; k < 2; k++)
            if (s[k].mask) {
                level8(base, &s[k], width[l]);
                if (l == LEVEL_HEAVY) heavy8(&s[k]);
            }
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

/* As find_zero(). */
static inline __attribute__((always_inline)) __m512i zeros8(const struct block *base, __m512i byte, __mmask8 mask,
                                                            __m512i k)
{
    __m512i word[8], zeros = E8(-1), sum = E8(0), before = sum, found = sum, start = sum;
    words8(base, byte, word);
    word[0] = _mm512_andnot_si512(E8(HEAD_ZERO), _mm512_or_si512(word[0], E8(HEAD_ZERO - 1)));
#pragma GCC unroll 8
    for (unsigned i = 0; i < QUOTIENT_WORDS; i++) {
        if (i >= 5 && !mask) break;
        zeros = _mm512_andnot_si512(word[i], E8(-1));
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(zeros));
        found = take8(mask, zeros, found);
        mask = _mm512_mask_cmple_epu64_mask(mask, sum, k);
        before = take8(mask, sum, before);
        start = _mm512_mask_add_epi64(start, mask, start, E8(64));
    }
    return _mm512_add_epi64(start, select8(found, _mm512_sub_epi64(k, before)));
}

/* Eight readings as they are made. */
struct eight {
    __mmask8 here, keeps, rare; /* of the lanes: all, those of blocks that keep, and those that are yet to be read */
    __m512i key, head, print, index;
};

static inline __m512i bits_of8(__m512i x, unsigned at, unsigned n)
{
    return _mm512_and_si512(_mm512_srli_epi64(x, at), E8((UINT64_C(1) << n) - 1));
}

/* Where the counts of keys are in lists: s->mask has those that are there. */
static inline __attribute__((always_inline)) void lists8(const struct block *base, unsigned whole, struct eight *e,
                                                         struct sought *s)
{
    const __m512i one = E8(1), zero = E8(0), key = e->key;
    const __m512i step = bits_of8(e->head, 11, 4), n = bits_of8(e->head, 15, 9);
    const __mmask8 mask = _mm512_mask_test_epi64_mask(e->here, n, n);
    __m512i q = _mm512_max_epi64(_mm512_sub_epi64(E8(64), _mm512_lzcnt_epi64(_mm512_sub_epi64(n, one))), E8(2));
    e->print = _mm512_max_epi64(_mm512_sub_epi64(E8(PRINT_MOST + STEP_LIST), step), E8(PRINT_FLOOR));
    e->print = take8(_mm512_test_epi64_mask(step, step), e->print, E8(whole));
    s->all = heavy_level(STEP_LAST) == 0 ? _mm512_cmpeq_epi64_mask(step, E8(STEP_LAST)) : 0;
    __m512i bits = _mm512_sub_epi64(e->print, q);
    __m512i quotient = _mm512_srlv_epi64(key, _mm512_sub_epi64(E8(64), q));
    __m512i remainder = _mm512_srlv_epi64(_mm512_sllv_epi64(key, q), _mm512_sub_epi64(E8(64), bits));
    __m512i at = zeros8(base, s->byte, mask, quotient);
    __m512i index = _mm512_sub_epi64(_mm512_sub_epi64(at, E8(BLOCK_HEAD - 1)), quotient);
    __m512i start = _mm512_add_epi64(_mm512_add_epi64(n, E8(BLOCK_HEAD)), _mm512_sllv_epi64(one, q));

    /* As find_field(). */
    __m512i run = bits8(base, s->byte, mask, _mm512_add_epi64(at, one));
    run = _mm512_sub_epi64(_mm512_popcnt_epi64(_mm512_xor_si512(run, _mm512_add_epi64(run, one))), one);
    __m512i low = _mm512_i64gather_epi64(bits, every, 8), high = _mm512_sllv_epi64(low, _mm512_sub_epi64(bits, one));
    __m512i some = _mm512_popcnt_epi64(_mm512_and_si512(high, E8((UINT64_C(1) << AT_ONCE) - 1)));
    __m512i window = bits8(base, s->byte, mask, _mm512_add_epi64(start, _mm512_mul_epu32(index, bits)));
    __m512i differ = _mm512_xor_si512(window, _mm512_mullo_epi64(remainder, low));
    __m512i none = _mm512_andnot_si512(differ, _mm512_and_si512(_mm512_sub_epi64(differ, low), high));
    none = _mm512_and_si512(none, ones8(_mm512_mul_epu32(_mm512_min_epu64(run, some), bits)));
    __mmask8 there = _mm512_mask_test_epi64_mask(mask, none, none);
    __m512i first = _mm512_and_si512(none, _mm512_sub_epi64(zero, none));
    __m512i field = _mm512_popcnt_epi64(_mm512_and_si512(low, _mm512_sub_epi64(first, one)));
    e->index = _mm512_sub_epi64(_mm512_add_epi64(index, field), one);

    /* Where entries are not all seen, and where several that keep may have this print. (What match_fields() does above
     * the first may be wrong, but leaves no such field out.) */
    e->keeps = _mm512_mask_cmpge_epu64_mask(mask, step, E8(STEP_KEEP));
    __mmask8 more = _mm512_mask_cmpgt_epu64_mask(mask, run, some);
    e->rare = more & (e->keeps | (__mmask8)~there);
    e->rare |= _mm512_mask_cmpneq_epu64_mask(there & e->keeps, none, first);

    s->mask = there & (__mmask8)~e->rare;
    s->at = _mm512_add_epi64(start, _mm512_mul_epu32(n, bits));
    s->n = n;
    s->i = e->index;
}

static inline __m512i counts8(__m512i head, __m512i code)
{
    __mmask8 both = _mm512_test_epi64_mask(head, E8((uint64_t)SIGNS_BOTH << 29));
    __mmask8 below = _mm512_test_epi64_mask(head, E8((uint64_t)SIGNS_BELOW << 29));
    __m512i odd = _mm512_sub_epi64(E8(0), _mm512_and_si512(code, E8(1))), count = _mm512_add_epi64(code, E8(1));
    count = take8(both, _mm512_xor_si512(_mm512_srli_epi64(code, 1), odd), count);
    return _mm512_mask_sub_epi64(count, below, E8(0), count);
}

/* Whether fields, which begin at `at` and have so many bits, agree with keys. */
static inline __mmask8 agree8(const struct block *base, const struct sought *s, const struct eight *e, __mmask8 mask,
                              __m512i at, __m512i bits)
{
    __m512i field = _mm512_and_si512(bits8(base, s->byte, mask, at), ones8(bits));
    __m512i more = _mm512_sub_epi64(E8(63), _mm512_lzcnt_epi64(field)), one = _mm512_sllv_epi64(E8(1), more);
    __m512i known = _mm512_srlv_epi64(e->key, _mm512_sub_epi64(_mm512_sub_epi64(E8(64), e->print), more));
    known = _mm512_or_si512(one, _mm512_and_si512(known, _mm512_sub_epi64(one, E8(1))));
    return _mm512_mask_cmpeq_epu64_mask(mask, field, known);
}

/* Of entries that have the keys' prints, in blocks that keep: those that agree in all that they know. */
static inline __attribute__((always_inline)) __mmask8 longer8(const struct block *base, const struct sought *s,
                                                              const struct eight *e, __mmask8 there)
{
    const __mmask8 kept = there & e->keeps, heavy = kept & s->heavy; /* of whom none has a field of the sample */
    const __mmask8 sample = _mm512_mask_cmplt_epu64_mask(kept & (__mmask8)~heavy, e->index, E8(BLOCK_SAMPLE));
    if (heavy) {
        __m512i bits = _mm512_sub_epi64(E8(PRINT_HEAVY + 1), e->print);
        __m512i end = _mm512_add_epi64(bits_of8(e->head, 0, 11), E8(BLOCK_HEAD));
        there ^= heavy ^ agree8(base, s, e, heavy, _mm512_sub_epi64(end, _mm512_mul_epu32(s->behind, bits)), bits);
    }
    if (sample) {
        __m512i bits = _mm512_sub_epi64(E8(PRINT_SAME + 1), e->print), end = E8(BLOCK_BITS - HAND_BITS);
        __m512i before = _mm512_mul_epu32(_mm512_sub_epi64(E8(BLOCK_SAMPLE), e->index), bits);
        there ^= sample ^ agree8(base, s, e, sample, _mm512_sub_epi64(end, before), bits);
    }
    return there;
}

/* What the blocks that keep have lost, above 0 and below. */
static inline __attribute__((always_inline)) void losses8(const struct block *base, const struct sought *s,
                                                          struct eight *e, __m512i lost[2])
{
    const __m512i bits = _mm512_add_epi64(_mm512_slli_epi64(bits_of8(e->head, 35, 4), 2), E8(2));
    const __mmask8 below = _mm512_mask_test_epi64_mask(e->keeps, e->head, E8(HEAD_ZERO));
    __m512i longer = _mm512_slli_epi64(_mm512_sub_epi64(E8(PRINT_SAME + 1), e->print), 2);
    longer = _mm512_maskz_mov_epi64((__mmask8)~s->all, longer);
    __m512i at = _mm512_sub_epi64(_mm512_sub_epi64(E8(BLOCK_BITS - HAND_BITS), longer), bits);
    e->rare |= _mm512_mask_cmpgt_epu64_mask(e->keeps, bits, E8(AT_ONCE));
    lost[1] = below ? _mm512_and_si512(bits8(base, s->byte, below, at), ones8(bits)) : E8(0);
    at = _mm512_mask_sub_epi64(at, below, at, bits);
    lost[0] = _mm512_and_si512(bits8(base, s->byte, e->keeps, at), ones8(bits));
}

static inline void tell8(const struct eight *e, __m512i count, __mmask8 alike, __mmask8 listed, const __m512i lost[2],
                         struct reading reading[])
{
    int64_t value[8];
    uint64_t plus[8] = {0}, minus[8] = {0}, step[8];
    _mm512_storeu_si512(value, count);
    _mm512_storeu_si512(step, bits_of8(e->head, 11, 4));
    if (e->keeps) {
        _mm512_storeu_si512(plus, lost[0]);
        _mm512_storeu_si512(minus, lost[1]);
    }
    for (unsigned i = 0; e->here >> i & 1; i++)
        reading[i] = (struct reading){.value = listed >> i & 1 ? value[i] : 0,
                                      .alike = alike >> i & 1 ? value[i] : 0,
                                      .plus = plus[i],
                                      .minus = minus[i],
                                      .listed = listed >> i & 1,
                                      .step = (uint8_t)step[i]};
}

static void read_sixteen(const struct block *base, unsigned whole, const uint32_t *const block[2],
                         const uint64_t *const key[2], const __mmask8 here[2], struct reading reading[])
{
    struct eight e[2];
    struct sought s[2];
    __mmask8 there[2];
    for (unsigned k = 0; k < 2; k++) {
        e[k].here = here[k];
        e[k].key = _mm512_maskz_loadu_epi64(here[k], key[k]);
        s[k].byte = _mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(here[k], block[k])), 8);
        e[k].head = _mm512_mask_i64gather_epi64(E8(0), here[k], s[k].byte, base, 1);
        s[k].g = bits_of8(e[k].head, 24, 5);
        lists8(base, whole, &e[k], &s[k]);
        there[k] = s[k].mask;
    }
    levels8(base, s);
    for (unsigned k = 0; k < 2; k++) {
        __m512i count = counts8(e[k].head, s[k].v), lost[2];
        __mmask8 listed = there[k];
        if (e[k].keeps) {
            listed = longer8(base, &s[k], &e[k], listed);
            losses8(base, &s[k], &e[k], lost);
        }
        tell8(&e[k], count, there[k], listed, lost, reading + 8 * k);
        for (unsigned rare = e[k].rare; rare; rare &= rare - 1) {
            unsigned i = (unsigned)__builtin_ctz(rare);
            body_read(&base[block[k][i]], whole, key[k][i], &reading[8 * k + i]);
        }
    }
}

static void body_read_many(const struct block *base, unsigned whole, const uint32_t block[], const uint64_t key[],
                           unsigned n, struct reading reading[])
{
    for (unsigned i = 0; i < n; i += 16) {
        unsigned left = n - i < 16 ? (1u << (n - i)) - 1 : 0xffff, next = left > 255 ? i + 8 : i;
        read_sixteen(base, whole, (const uint32_t *[]){block + i, block + next},
                     (const uint64_t *[]){key + i, key + next}, (__mmask8[]){(__mmask8)left, (__mmask8)(left >> 8)},
                     reading + i);
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
