/* Reading of many items (read_items() of kernels_read.h) eight blocks at a time, each in a lane of a vector: for CPUs
 * that count ones in vectors. Nothing branches on what the cells
 * are, but for blocks with so many entries on a level that two windows do not show them all; these are left to the
 * scalar code.
 *
 * A window has the 57 bits or more that follow from a byte on; those after the block are any. */
#pragma once

#include "block/kernels_cells.h"

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)

typedef __m512i lanes;

enum { SHOWN = 57, EIGHT = 8 };

static inline lanes all(int64_t x)
{
    return _mm512_set1_epi64(x);
}

/* The first n lanes; all from 8 on. */
static inline __mmask8 lanes_before(unsigned n)
{
    return (__mmask8)(n < EIGHT ? (1u << n) - 1 : 0xff);
}

/* table[index]; index is below 32. */
static inline lanes look_up(const uint16_t table[32], lanes index)
{
    return _mm512_and_si512(_mm512_permutexvar_epi16(index, _mm512_loadu_si512(table)), all(0xffff));
}

/* The lowest n bits of x; all from 64 on. */
static inline lanes low_of(lanes x, lanes n)
{
    return _mm512_andnot_si512(_mm512_sllv_epi64(all(-1), n), x);
}

static inline lanes ones_below(lanes x, lanes n)
{
    return _mm512_popcnt_epi64(low_of(x, n));
}

/* Blocks are so many bytes from the first. */
static inline lanes show(const struct block *block, lanes bytes, lanes at)
{
    lanes byte = _mm512_min_epu64(_mm512_srli_epi64(at, 3), all(56));
    lanes x = _mm512_i64gather_epi64(_mm512_add_epi64(bytes, byte), (const void *)block, 1);
    return _mm512_srlv_epi64(x, _mm512_sub_epi64(at, _mm512_slli_epi64(byte, 3)));
}

/* By step: where the rows of a half start and how many columns they have, less 1; NOWHERE and 0 for one that is
 * gone. */
static const uint16_t row_first[2][2][32] = {
    {{0}, {192, 192, 192, 192, 192, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320}},
    {{128, 128, 128, 128, 128, 128, 64, 64, 32, 32, 16, 16, 8, 8, 4, 4, 2},
     {256, 256, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320, 320}}};
static const uint16_t row_mask[2][2][32] = {
    {{127, 127, 127, 127, 127, 127, 63, 63, 31, 31, 15, 15, 7, 7, 3, 3, 1}, {63, 63, 63, 31, 15}},
    {{63, 63, 63, 63, 63, 63, 63, 31, 31, 15, 15, 7, 7, 3, 3, 1, 1}, {63, 31}}};
static const uint16_t cells_of[32] = {320, 288, 256, 224, 208, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4};
static const uint16_t widths_of[2][32] = {{0x67, 0x67, 0x67, 0x57, 0x47, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1},
                                          {0x66, 0x56, 6, 6, 6, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1}};

/* Cells that go on: the bytes of their block; and 16 bits each of where their level starts, how many entries that has,
 * which is their own, and which of the reads they are. */
struct gathering {
    uint64_t t[BLOCK_ROWS][DECODE_MOST], low[BLOCK_ROWS][DECODE_MOST], head[2][DECODE_MOST];
    uint64_t bytes[BLOCK_ROWS * DECODE_MOST + EIGHT], where[BLOCK_ROWS * DECODE_MOST + EIGHT];
    unsigned n;
};

/* A cell of each of eight blocks, on its way through the levels. */
struct eight {
    lanes mine, on, t;
};

/* Takes the digit on flat level l. map and digit are windows that have the cell's entry at `shift`. */
static inline void take_digit(struct eight *cell, unsigned l, lanes map, lanes digit, lanes shift, lanes next)
{
    lanes d = _mm512_and_si512(_mm512_srlv_epi64(digit, shift), cell->on);
    cell->t = _mm512_add_epi64(cell->t, _mm512_slli_epi64(_mm512_add_epi64(cell->on, d), l));
    cell->on = _mm512_and_si512(_mm512_srlv_epi64(map, shift), cell->on);
    cell->mine = next;
}

/* Level 1, which may be as long as two windows. */
static inline lanes first_level(const struct block *block, lanes bytes, lanes at, lanes n, struct eight cell[2])
{
    lanes map[2], digit[2], zero = all(0), shown = all(SHOWN), from = _mm512_add_epi64(at, n);
    map[0] = show(block, bytes, at), map[1] = show(block, bytes, _mm512_add_epi64(at, shown));
    digit[0] = show(block, bytes, from), digit[1] = show(block, bytes, _mm512_add_epi64(from, shown));
    for (int j = 0; j < 2; j++) {
        lanes beyond = _mm512_sub_epi64(cell[j].mine, shown);
        __mmask8 second = _mm512_cmpge_epi64_mask(beyond, zero);
        lanes next = _mm512_add_epi64(ones_below(map[0], _mm512_min_epi64(cell[j].mine, shown)),
                                      ones_below(map[1], _mm512_max_epi64(beyond, zero)));
        take_digit(&cell[j], 0, _mm512_mask_mov_epi64(map[0], second, map[1]),
                   _mm512_mask_mov_epi64(digit[0], second, digit[1]),
                   _mm512_mask_mov_epi64(cell[j].mine, second, beyond), next);
    }
    return _mm512_add_epi64(ones_below(map[0], _mm512_min_epi64(n, shown)),
                            ones_below(map[1], _mm512_max_epi64(_mm512_sub_epi64(n, shown), zero)));
}

/* The flat levels of a half of items c to c + 7. */
static inline void gather_flat(const struct block *block, const struct decode_places *place, unsigned which, unsigned c,
                               __mmask8 asked, struct gathering *r)
{
    lanes bytes = _mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(asked, &place->block[which][c])), 6);
    lanes word[WORDS], count[WORDS], n = all(0), zero = all(0), one = all(1), nowhere = all(NOWHERE);
    for (int i = 0; i < WORDS; i++) word[i] = _mm512_i64gather_epi64(bytes, (const char *)block + 8 * i, 1);
    lanes head = _mm512_i64gather_epi64(bytes, (const char *)block + 56, 1);
    lanes step = _mm512_and_si512(_mm512_srli_epi64(head, 53), all(31));
    lanes g = _mm512_and_si512(_mm512_srli_epi64(head, 58), all(31)), cells = look_up(cells_of, step);
    for (int i = 0; i < WORDS; i++) {
        count[i] = ones_below(word[i], _mm512_max_epi64(_mm512_sub_epi64(cells, all(64 * i)), zero));
        n = _mm512_add_epi64(n, count[i]);
    }
    _mm512_storeu_si512(&r->head[which][c], head);

    struct eight cell[2];
    for (int j = 0; j < 2; j++) {
        lanes hash = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(asked, &place->column[which][j][c]));
        lanes at = _mm512_add_epi64(look_up(row_first[which][j], step),
                                    _mm512_and_si512(hash, look_up(row_mask[which][j], step)));
        lanes own = word[0], before = zero, r64 = _mm512_and_si512(at, all(63));
        for (int i = 1; i < WORDS; i++) {
            __mmask8 after = _mm512_cmpge_epu64_mask(at, all(64 * i));
            own = _mm512_mask_mov_epi64(own, after, word[i]);
            before = _mm512_mask_add_epi64(before, after, before, count[i - 1]);
        }
        __mmask8 there = _mm512_cmpneq_epi64_mask(at, nowhere);
        cell[j].mine = _mm512_add_epi64(before, ones_below(own, r64));
        cell[j].on = _mm512_maskz_and_epi64(there, _mm512_srlv_epi64(own, r64), one);
        cell[j].t = zero;
        lanes low = zero;
        if (_mm512_test_epi64_mask(g, g)) {
            lanes from = _mm512_add_epi64(cells, _mm512_mul_epu32(at, g));
            low = _mm512_maskz_mov_epi64(there, low_of(show(block, bytes, from), g));
        }
        _mm512_storeu_si512(&r->low[2 * which + (unsigned)j][c], low);
    }

    lanes at = _mm512_mul_epu32(cells, _mm512_add_epi64(g, one));
    __mmask8 crowded = _mm512_cmpgt_epi64_mask(n, all(2 * SHOWN));
    lanes next = first_level(block, bytes, at, n, cell);
    for (unsigned l = 1; l < FLAT; l++) {
        at = _mm512_add_epi64(at, _mm512_slli_epi64(n, 1));
        n = next;
        crowded |= _mm512_cmpgt_epi64_mask(n, all(SHOWN));
        lanes map = show(block, bytes, at), digit = show(block, bytes, _mm512_add_epi64(at, n));
        for (int j = 0; j < 2; j++) take_digit(&cell[j], l, map, digit, cell[j].mine, ones_below(map, cell[j].mine));
        next = ones_below(map, n);
    }
    at = _mm512_add_epi64(at, _mm512_slli_epi64(n, 1));
    for (unsigned j = 0; j < 2; j++) {
        unsigned read = 2 * which + j;
        __mmask8 on = _mm512_mask_test_epi64_mask((__mmask8)(asked & ~crowded), cell[j].on, one);
        lanes index = _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), all(read * DECODE_MOST + c));
        lanes where =
            _mm512_or_si512(_mm512_or_si512(at, _mm512_slli_epi64(next, 16)),
                            _mm512_or_si512(_mm512_slli_epi64(cell[j].mine, 32), _mm512_slli_epi64(index, 48)));
        _mm512_storeu_si512(&r->t[read][c], cell[j].t);
        _mm512_storeu_si512(&r->bytes[r->n], _mm512_maskz_compress_epi64(on, bytes));
        _mm512_storeu_si512(&r->where[r->n], _mm512_maskz_compress_epi64(on, where));
        r->n += ones(on);
    }
    for (unsigned left = crowded & asked; left; left &= left - 1) {
        unsigned i = c + (unsigned)__builtin_ctz(left);
        const struct block *b = &block[place->block[which][i]];
        const uint32_t hash[2] = {place->column[which][0][i], place->column[which][1][i]};
        unsigned at_step = block_step(b);
        uint64_t code[2];
        get_codes(b,
                  (const unsigned[2]){block_place(at_step, which, hash[0]), block_place(at_step, which + 2, hash[1])},
                  code);
        for (unsigned j = 0; j < 2; j++) r->t[2 * which + j][i] = code[j] >> block_g(b);
    }
}

/* As read_level(). */
static inline void gather_level(const struct block *block, struct gathering *r, unsigned l, unsigned shift)
{
    unsigned next = 0, w = width[l];
    lanes few = all(0xffff), one = all(1);
    for (unsigned i = 0; i < r->n; i += EIGHT) {
        __mmask8 asked = lanes_before(r->n - i);
        lanes bytes = _mm512_maskz_loadu_epi64(asked, &r->bytes[i]),
              where = _mm512_maskz_loadu_epi64(asked, &r->where[i]);
        lanes at = _mm512_and_si512(where, few), n = _mm512_and_si512(_mm512_srli_epi64(where, 16), few);
        lanes mine = _mm512_and_si512(_mm512_srli_epi64(where, 32), few), index = _mm512_srli_epi64(where, 48);
        lanes map = show(block, bytes, at), size = all(w);
        lanes digits = _mm512_add_epi64(_mm512_add_epi64(at, n), _mm512_mul_epu32(mine, size));
        lanes digit = _mm512_add_epi64(low_of(show(block, bytes, digits), size), one);
        lanes t = _mm512_i64gather_epi64(index, (const void *)r->t, 8);
        _mm512_mask_i64scatter_epi64((void *)r->t, asked, index, _mm512_add_epi64(t, _mm512_slli_epi64(digit, shift)),
                                     8);
        __mmask8 on = _mm512_mask_test_epi64_mask(asked, _mm512_srlv_epi64(map, mine), one);
        at = _mm512_add_epi64(at, _mm512_mul_epu32(n, all(1 + w)));
        where = _mm512_or_si512(
            _mm512_or_si512(at, _mm512_slli_epi64(ones_below(map, n), 16)),
            _mm512_or_si512(_mm512_slli_epi64(ones_below(map, mine), 32), _mm512_slli_epi64(index, 48)));
        _mm512_storeu_si512(&r->bytes[next], _mm512_maskz_compress_epi64(on, bytes));
        _mm512_storeu_si512(&r->where[next], _mm512_maskz_compress_epi64(on, where));
        next += ones(on);
    }
    r->n = next;
}

/* The keys of items c to c + 7. */
static inline void gather_keys(const struct gathering *r, unsigned c, struct decode_items *items)
{
    lanes value[2][2], widths[2], one = all(1), none = all(INT64_MAX);
    for (unsigned which = 0; which < 2; which++) {
        lanes head = _mm512_loadu_si512(&r->head[which][c]);
        lanes step = _mm512_and_si512(_mm512_srli_epi64(head, 53), all(31));
        lanes g = _mm512_and_si512(_mm512_srli_epi64(head, 58), all(31));
        __mmask8 is_signed = _mm512_movepi64_mask(head);
        for (unsigned j = 0; j < 2; j++) {
            lanes code = _mm512_or_si512(_mm512_sllv_epi64(_mm512_loadu_si512(&r->t[2 * which + j][c]), g),
                                         _mm512_loadu_si512(&r->low[2 * which + j][c]));
            lanes sign = _mm512_sub_epi64(all(0), _mm512_and_si512(code, one));
            value[which][j] =
                _mm512_slli_epi64(_mm512_mask_xor_epi64(code, is_signed, _mm512_srli_epi64(code, 1), sign), 2);
        }
        widths[which] = look_up(widths_of[which], step);
        _mm_storel_epi64((__m128i *)(void *)&items->step[which][c], _mm512_cvtepi64_epi8(step));
    }
    /* What there is comes first. */
    __mmask8 two = _mm512_cmpgt_epi64_mask(widths[0], all(15)), more = _mm512_cmpgt_epi64_mask(widths[1], all(15));
    lanes key[BLOCK_ROWS] = {value[0][0], _mm512_mask_mov_epi64(value[1][0], two, value[0][1]),
                             _mm512_mask_mov_epi64(value[1][1], two, value[1][0]), value[1][1]};
    _mm512_storeu_si512(&items->key[0][c], key[0]);
    _mm512_storeu_si512(&items->key[1][c], _mm512_or_si512(key[1], one));
    _mm512_storeu_si512(&items->key[2][c], _mm512_mask_or_epi64(none, two | more, key[2], all(2)));
    _mm512_storeu_si512(&items->key[3][c], _mm512_mask_or_epi64(none, two & more, key[3], all(3)));
    lanes shift = _mm512_mask_mov_epi64(all(4), two, all(8));
    _mm256_storeu_si256((__m256i *)(void *)&items->widths[c],
                        _mm512_cvtepi64_epi32(_mm512_or_si512(widths[0], _mm512_sllv_epi64(widths[1], shift))));
}

static void gather_items(const struct block block[], const struct decode_places *place, unsigned n,
                         struct decode_items *items)
{
    struct gathering r;
    r.n = 0;
    for (unsigned c = 0; c < n; c += EIGHT)
        for (unsigned which = 0; which < 2; which++) gather_flat(block, place, which, c, lanes_before(n - c), &r);
    for (unsigned l = FLAT + 1, shift = FLAT; r.n > 0; shift += width[l++]) gather_level(block, &r, l, shift);
    for (unsigned c = 0; c < n; c += EIGHT) gather_keys(&r, c, items);
}

#endif
