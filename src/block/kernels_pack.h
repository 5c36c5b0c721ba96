/* All values of a block at once: unpacked, folded, coded, packed. What a flat level says of 64 cells is a word, so it
 * is made of 64 bytes, and made to bytes again, by a few instructions. Part of the body that kernels_block.h is. */
#pragma once

#include "block/kernels_open.h"

/* ---- 64 cells ---------------------------------------------------------------------------------------------------- */

/* Which of them are at least n, all being below 128 and n above 0; */
static inline uint64_t at_least(const uint8_t v[64], unsigned n)
{
#if defined(__AVX512BW__)
    return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(v), _mm512_set1_epi8((char)n));
#elif defined(__AVX2__)
    uint64_t mask = 0;
    for (int i = 0; i < 64; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(v + i));
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(x, _mm256_set1_epi8((char)(n - 1)))) << i;
    }
    return mask;
#else
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) mask |= (uint64_t)(v[i] >= n) << i;
    return mask;
#endif
}

/* have this bit, of bits 0 to 7. */
static inline uint64_t with_bit(const uint8_t v[64], int bit)
{
#if defined(__AVX512BW__)
    return _mm512_test_epi8_mask(_mm512_loadu_si512(v), _mm512_set1_epi8((char)(1 << bit)));
#elif defined(__AVX2__)
    uint64_t mask = 0;
    for (int i = 0; i < 64; i += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)(v + i));
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(x, 7 - bit)) << i;
    }
    return mask;
#else
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) mask |= (uint64_t)(v[i] >> bit & 1) << i;
    return mask;
#endif
}

/* Adds n to those of a mask. */
static inline void add_where(uint8_t v[64], uint64_t mask, unsigned n)
{
#if defined(__AVX512BW__)
    __m512i x = _mm512_loadu_si512(v);
    _mm512_storeu_si512(v, _mm512_mask_add_epi8(x, mask, x, _mm512_set1_epi8((char)n)));
#else
    for (int i = 0; i < 64; i++) v[i] = (uint8_t)(v[i] + (n & -(unsigned)(mask >> i & 1)));
#endif
}

/* ---- low bits, of eight cells at once where those fit a word ----------------------------------------------------- */

static inline uint64_t eight_bytes(unsigned g)
{
    return UINT64_C(0x0101010101010101) * below(g);
}

/* All cells are 0. */
static void low_set_all(struct open *o, const uint64_t code[])
{
    if (o->g > 8) {
        for (unsigned i = 0; i < o->cells; i++) low_set(o, i, code[i] & below(o->g));
        return;
    }
    for (unsigned i = 0; i < o->cells; i += 8) {
        uint64_t x = 0;
        for (unsigned j = 0; j < 8 && i + j < o->cells; j++) x |= (code[i + j] & 255) << 8 * j;
        flip(o->block->word, o->cells + i * o->g, gather(x, eight_bytes(o->g)));
    }
}

static void low_get_all(const struct open *o, uint64_t code[])
{
    if (o->g == 0 || o->g > 8) {
        for (unsigned i = 0; i < o->cells; i++) code[i] = low_get(o, i);
        return;
    }
    for (unsigned i = 0; i < o->cells; i += 8) {
        uint64_t x = spread(window(o->block->word, o->cells + i * o->g), eight_bytes(o->g));
        for (unsigned j = 0; j < 8 && i + j < o->cells; j++) code[i + j] = x >> 8 * j & 255;
    }
}

/* ---- unpacking --------------------------------------------------------------------------------------------------- */

static void open_values(struct open *o, int64_t value[BLOCK_CELLS])
{
    uint64_t code[BLOCK_CELLS];
    uint8_t t[BLOCK_CELLS] = {0}; /* what the flat levels have of T, at most 14 */
    const uint64_t *rest = o->rest;
    if (!o->has_rest) open_rest(o);
    low_get_all(o, code);
    for (unsigned i = 0; i < WORDS; i++) {
        const struct word *w = &o->word[i];
        uint8_t *v = t + 64 * i;
        if (w->map == 0) continue;
        add_where(v, w->map, 1);
        for (unsigned l = 0; l < FLAT; l++) {
            add_where(v, spread(w->group->digit[l] >> w->before % 64, w->map), 1u << l);
            if (l + 1 < FLAT) add_where(v, spread(w->group->on[l] >> w->before % 64, w->map), 2u << l);
        }
    }
    for (unsigned i = 0; i < o->cells; i++) code[i] |= (uint64_t)t[i] << o->g;
    for (unsigned i = 0; i < WORDS; i++) {
        const struct word *w = &o->word[i];
        uint64_t on = w->map == 0 ? 0 : spread(w->group->on[FLAT - 1] >> w->before % 64, w->map);
        for (; on; on &= on - 1) code[64 * i + (unsigned)__builtin_ctzll(on)] += *rest++ << FLAT << o->g;
    }
    for (unsigned i = 0; i < o->cells; i++) value[i] = from_code(code[i], o->is_signed);
}

static unsigned unpack(const struct block *b, int64_t value[BLOCK_CELLS])
{
    struct block copy = *b;
    struct open o;
    open_block(&copy, 0, &o);
    open_values(&o, value);
    return o.cells;
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/* block_digit_bits() for 0 <= t < 2^31, written so that it is compiled to vectors and not to branches: a difference
 * that is below zero, shifted by 31, is all ones. */
static inline int short_bits(int32_t t)
{
    return (2 & (0 - t) >> 31) + (2 & (2 - t) >> 31) + (2 & (6 - t) >> 31) + (3 & (14 - t) >> 31) +
           (5 & (46 - t) >> 31) + (9 & (558 - t) >> 31) + (17 & (131630 - t) >> 31);
}

/* The order g of the shortest code that fits, the least if there are several, and its length; above BITS if none. */
static unsigned choose_order(const uint64_t code[], unsigned cells, unsigned *length)
{
    int32_t small[BLOCK_CELLS];
    uint64_t large[BLOCK_CELLS], all = 0;
    unsigned best = 0, n = 0;
    for (unsigned i = 0; i < cells; i++) all |= code[i];
    for (unsigned i = 0; i < cells; i++) small[i] = code[i] > INT32_MAX ? 0 : (int32_t)code[i];
    for (unsigned i = 0; i < cells && all > INT32_MAX; i++) {
        large[n] = code[i];
        n += code[i] > INT32_MAX;
    }
    *length = BITS + 1;
    for (unsigned g = 0; g <= G_MAX && cells * (1 + g) < *length; g++) {
        unsigned bits = cells * (1 + g);
        int more = 0;
        for (unsigned i = 0; i < cells; i++) more += short_bits(small[i] >> g);
        for (unsigned i = 0; i < n; i++) bits += block_digit_bits(large[i] >> g);
        if (bits + (unsigned)more < *length) *length = bits + (unsigned)more, best = g;
    }
    return best;
}

/* Packs codes that fit. */
static void pack(struct block *b, const uint64_t code[], unsigned step, unsigned g, bool is_signed)
{
    struct open o;
    uint8_t t[BLOCK_CELLS], digits[BLOCK_CELLS]; /* T, from 15 on 16 and its last three bits; and its flat digits */
    memset(&o, 0, offsetof(struct open, rest));
    memset(b, 0, sizeof *b);
    o.block = b, o.step = step, o.cells = cells_at[step], o.g = g, o.is_signed = is_signed, o.has_rest = true;
    o.groups = (o.cells + 63) / 64;
    memset(t + 64 * (o.groups - 1), 0, 64);
    for (unsigned i = 0; i < o.cells; i++) t[i] = (uint8_t)(code[i] >> g < 15 ? code[i] >> g : 16 | (code[i] >> g & 7));
    for (unsigned i = 0; i < 64 * o.groups; i++) digits[i] = (uint8_t)(t[i] - (t[i] >= 7 ? 7 : t[i] >= 3 ? 3 : 1));
    for (unsigned i = 0; i < o.groups; i++) {
        struct group *group = &o.group[i];
        const uint8_t *v = t + 64 * i;
        uint64_t map = at_least(v, 1), rest = at_least(v, 15);
        o.word[i].map = map;
        group->entries = ones(map);
        group->on[0] = gather(at_least(v, 3), map);
        group->on[1] = gather(at_least(v, 7), map);
        group->on[2] = gather(rest, map);
        for (int l = 0; l < FLAT; l++) group->digit[l] = gather(with_bit(digits + 64 * i, l), map);
        for (; rest; rest &= rest - 1)
            o.rest[o.rests++] = ((code[64 * i + (unsigned)__builtin_ctzll(rest)] >> g) - below(FLAT)) >> FLAT;
    }
    if (g > 0) low_set_all(&o, code);
    close_block(&o);
}

static bool to_codes(const int64_t value[], unsigned cells, uint64_t code[])
{
    bool is_signed = false;
    for (unsigned i = 0; i < cells; i++) is_signed |= value[i] < 0;
    for (unsigned i = 0; i < cells; i++) code[i] = to_code(value[i], is_signed);
    return is_signed;
}

/* Folds the values from one step to the next. */
static void fold(int64_t value[], unsigned step)
{
    const uint8_t *from = block_columns[step], *to = block_columns[step + 1];
    unsigned k = 0, cells = cells_at[step];
    for (; to[k] == from[k]; k++) value += from[k], cells -= from[k];
    const int64_t *restrict upper = value + to[k]; /* one row changes: half of its cells are left, or none */
    for (unsigned i = 0; i < to[k]; i++) value[i] += upper[i];
    memmove(value + to[k], value + from[k], (cells - from[k]) * sizeof *value);
}

/* gcc 12 forgets this after pack(); the SSE code that comes next, the caller's too, would pay for it. */
static inline void leave_vectors(void)
{
#ifdef __AVX__
    _mm256_zeroupper();
#endif
}

/* Packs values of a step into the block, going as far down the ladder as it takes. */
static void pack_values(struct block *b, int64_t value[], unsigned step)
{
    for (;; step++) {
        uint64_t code[BLOCK_CELLS];
        bool is_signed = to_codes(value, cells_at[step], code);
        unsigned length, g = choose_order(code, cells_at[step], &length);
        if (length <= BITS) {
            pack(b, code, step, g, is_signed);
            leave_vectors();
            return;
        }
        fold(value, step);
    }
}
