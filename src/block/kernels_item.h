/* Reading of one item alone (read_items() of kernels_read.h), its four cells in the lanes of a vector: for CPUs that
 * count ones in vectors. Both blocks are in registers, and nothing branches on what the cells are: a wrong guess would
 * cost more than the way. Blocks with low bits, with negative cells, or with more entries on a level than a window
 * shows are left to the scalar code. Lanes are those of kernels_gather.h.
 *
 * Lanes 0 to 3 are of half 0, 4 to 7 of half 1, whose bits are counted from 512 on. In each, cells 0 and 1 come twice:
 * the first two lanes look at maps, the others at digits. */
#pragma once

#include "block/kernels_gather.h"

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)

enum { DIGITS = 0xcc };

struct item {
    lanes word[2];     /* the blocks */
    lanes at, n, mine; /* where a level starts, how many entries it has, which is the cell's; */
    lanes on, t;       /* 1 if it has one there; what has come together of T, in DIGITS only */
};

/* 64 bits from `at` on; those after the second block are any. */
static inline lanes item_window(const struct item *item, lanes at)
{
    lanes i = _mm512_srli_epi64(at, 6), shift = _mm512_and_si512(at, all(63));
    lanes low = _mm512_permutex2var_epi64(item->word[0], i, item->word[1]);
    lanes high = _mm512_permutex2var_epi64(item->word[0], _mm512_add_epi64(i, all(1)), item->word[1]);
    return _mm512_or_si512(_mm512_srlv_epi64(low, shift), _mm512_sllv_epi64(high, _mm512_sub_epi64(all(64), shift)));
}

/* In each half, what its first two lanes have, or the others; or these exchanged. */
static inline lanes of_maps(lanes x)
{
    return _mm512_permutex_epi64(x, 0x44);
}

static inline lanes of_digits(lanes x)
{
    return _mm512_permutex_epi64(x, 0xee);
}

static inline lanes exchanged(lanes x)
{
    return _mm512_permutex_epi64(x, 0x4e);
}

/* Ones before three places of a block: 16 bits each, summed up over four of its words. */
static inline __m256i ones_before(lanes word, unsigned first, unsigned second, unsigned third)
{
    const lanes from = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0), zero = all(0);
    lanes a = ones_below(word, _mm512_max_epi64(_mm512_sub_epi64(all(first), from), zero));
    lanes b = ones_below(word, _mm512_max_epi64(_mm512_sub_epi64(all(second), from), zero));
    lanes c = ones_below(word, _mm512_max_epi64(_mm512_sub_epi64(all(third), from), zero));
    a = _mm512_or_si512(a, _mm512_or_si512(_mm512_slli_epi64(b, 16), _mm512_slli_epi64(c, 32)));
    return _mm256_add_epi64(_mm512_castsi512_si256(a), _mm512_extracti64x4_epi64(a, 1));
}

/* Takes digits of w bits from windows that begin with them; `goes` begins with the cells' bits in the map. */
static inline void item_digit(struct item *item, unsigned shift, unsigned w, lanes goes, lanes digit)
{
    lanes t = _mm512_add_epi64(low_of(digit, all(w)), all(1));
    t = _mm512_and_si512(t, _mm512_sub_epi64(all(0), item->on));
    item->t = _mm512_add_epi64(item->t, _mm512_slli_epi64(t, shift));
    item->on = _mm512_and_si512(item->on, goes);
}

/* w is a constant where this is called: 31 or a power of two. */
static inline lanes times_width(lanes x, unsigned w)
{
    return w == 31 ? _mm512_mul_epu32(x, all(w)) : _mm512_slli_epi64(x, (unsigned)__builtin_ctz(w));
}

/* Goes through a level of at most 64 entries, which have digits of w bits. */
static inline void item_level(struct item *item, unsigned shift, unsigned w)
{
    lanes digits = _mm512_add_epi64(_mm512_add_epi64(item->at, item->n), times_width(item->mine, w));
    lanes bits = item_window(item, _mm512_mask_mov_epi64(item->at, DIGITS, digits)), map = of_maps(bits);
    lanes next = ones_below(map, _mm512_mask_mov_epi64(item->n, DIGITS, item->mine));
    item_digit(item, shift, w, _mm512_srlv_epi64(map, item->mine), bits);
    item->at = _mm512_add_epi64(item->at, _mm512_add_epi64(item->n, times_width(item->n, w)));
    item->n = of_maps(next);
    item->mine = of_digits(next);
}

/* cell: of each half; cells: how many its block has. False if a level has more entries than are shown. */
static inline bool item_walk(struct item *item, unsigned cell[2][2], const unsigned cells[2])
{
    const lanes zero = all(0), start = _mm512_set_epi64(512, 512, 512, 512, 0, 0, 0, 0);
    const lanes place = _mm512_set_epi64(cell[1][1], cell[1][0], cell[1][1], cell[1][0], cell[0][1], cell[0][0],
                                         cell[0][1], cell[0][0]);
    lanes sums =
        _mm512_inserti64x4(_mm512_castsi256_si512(ones_before(item->word[0], cell[0][0], cell[0][1], cells[0])),
                           ones_before(item->word[1], cell[1][0], cell[1][1], cells[1]), 1);
    sums = _mm512_add_epi64(sums, exchanged(sums));
    sums = _mm512_add_epi64(sums, _mm512_shuffle_epi32(sums, _MM_PERM_BADC));
    lanes n = _mm512_srli_epi64(sums, 32);
    lanes mine = _mm512_srlv_epi64(sums, _mm512_set_epi64(16, 0, 16, 0, 16, 0, 16, 0));
    lanes at = _mm512_add_epi64(start, _mm512_mask_mov_epi64(all(cells[0]), 0xf0, all(cells[1])));
    mine = _mm512_min_epi64(_mm512_and_si512(mine, all(0xffff)), n);
    __mmask8 there = _mm512_cmpneq_epi64_mask(place, all(NOWHERE)), crowded = _mm512_cmpgt_epi64_mask(n, all(128));
    /* Rows that are gone end here, so that they do not keep the others from ending below. */
    item->on = _mm512_maskz_and_epi64(there, item_window(item, _mm512_add_epi64(place, start)), all(1));
    item->t = zero;

    /* Level 1, of two windows. */
    lanes own = _mm512_add_epi64(at, mine), skip = _mm512_maskz_mov_epi64(DIGITS, all(64));
    lanes bits = item_window(item, _mm512_mask_add_epi64(own, DIGITS, own, n));
    lanes map = item_window(item, _mm512_add_epi64(at, skip));
    lanes next = ones_below(map, _mm512_max_epi64(_mm512_sub_epi64(n, skip), zero));
    own = ones_below(map, _mm512_max_epi64(_mm512_sub_epi64(mine, skip), zero));
    item_digit(item, 0, 1, of_maps(bits), bits);
    item->at = _mm512_add_epi64(at, _mm512_slli_epi64(n, 1));
    item->n = _mm512_add_epi64(next, exchanged(next));
    item->mine = _mm512_add_epi64(own, exchanged(own));
    if (crowded | _mm512_cmpgt_epi64_mask(item->n, all(64))) return false;

    item_level(item, 1, 1);
    item_level(item, 2, 1);
    item_level(item, 3, 2);
    item_level(item, 5, 4);
    item_level(item, 9, 8);
    if (_mm512_test_epi64_mask(item->on, item->on)) { /* from 131,631 on */
        item_level(item, 17, 16);
        item_level(item, 33, 31);
    }
    return true;
}

/* The values of item c; false if it is left to the scalar code. */
static inline bool item_read(const struct block block[], const struct decode_places *place, unsigned c,
                             uint64_t value[2][2])
{
    const struct block *b[2] = {&block[place->block[0][c]], &block[place->block[1][c]]};
    unsigned cell[2][2], cells[2];
    struct item item;
    if ((b[0]->word[7] | b[1]->word[7]) >> 58) return false;
    for (unsigned which = 0; which < 2; which++) {
        unsigned step = block_step(b[which]);
        for (unsigned j = 0; j < 2; j++) cell[which][j] = block_place(step, which + 2 * j, place->column[which][j][c]);
        cells[which] = cells_at[step];
        item.word[which] = _mm512_loadu_si512(b[which]->word);
    }
    if (!item_walk(&item, cell, cells)) return false;
    _mm512_mask_compressstoreu_epi64(value, DIGITS, item.t);
    return true;
}

#endif
