/* Fields of equal width, one after the other: read, or written into a block as it is made. Part of the body that
 * kernels_body.h is. */
#pragma once

#include <string.h>

#include "block/kernels_bits.h"

#ifdef __AVX512VBMI__
/* Of eight fields of w bits, the first of which begins at bit `at` of a byte: the eight bytes in which each is, and
 * where in these it begins. */
struct spans {
    __m512i bytes, shift;
};

static inline struct spans spans_of(unsigned at, unsigned w)
{
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i byte = _mm512_set1_epi64(0x0706050403020100), eighth = _mm512_set1_epi64(0x0808080808080808);
    __m512i bit = _mm512_add_epi64(_mm512_set1_epi64(at), _mm512_mul_epu32(lane, _mm512_set1_epi64(w)));
    __m512i start = _mm512_srli_epi64(bit, 3),
            spread = _mm512_shuffle_epi8(start, _mm512_maskz_mov_epi64(0xaa, eighth));
    return (struct spans){_mm512_add_epi8(spread, byte), _mm512_and_si512(bit, _mm512_set1_epi64(7))};
}
#endif

/* n fields of w bits, 1 to 64, one after the other from `at` on, each moved up. There is room for a multiple of 8. */
static inline void get_fields(const struct block *block, unsigned at, unsigned w, unsigned n, unsigned up,
                              uint64_t to[])
{
    unsigned i = 0;
#ifdef __AVX512VBMI__
    if (w <= AT_ONCE &&
        n > 0) { /* eight of them are in the same bits of the w bytes they take as the next eight of the next */
        struct spans spans = spans_of(at % 8, w);
        const __m512i mask = _mm512_set1_epi64((1ll << w) - 1);
        for (unsigned byte = at / 8; i < n; i += 8, byte += w) {
            unsigned left = (unsigned)sizeof *block - byte;
            __m512i bytes =
                _mm512_maskz_loadu_epi8(lowest(UINT64_MAX, left < 64 ? left : 64), (const unsigned char *)block + byte);
            __m512i word = _mm512_srlv_epi64(_mm512_permutexvar_epi8(spans.bytes, bytes), spans.shift);
            _mm512_storeu_si512(to + i, _mm512_sll_epi64(_mm512_and_si512(word, mask), _mm_cvtsi32_si128((int)up)));
        }
    }
#endif
    for (; i < n; i++) to[i] = get_bits(block, at + i * w, w) << up;
}

/* Where the first n ones from `from` on are, which is in the first word. There is room for 16 more. */
static inline void find_ones(const struct block *block, unsigned from, unsigned n, uint32_t to[])
{
    uint64_t word = block->word[0] >> from << from;
#ifdef __AVX512F__
    const __m512i more = _mm512_set1_epi32(16);
    __m512i at = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (unsigned i = 0, w = 0; i < n; word = block->word[++w])
        for (unsigned part = 0; part < 4 && i < n; part++, word >>= 16) {
            _mm512_storeu_si512(to + i, _mm512_maskz_compress_epi32((__mmask16)word, at));
            i += ones(word & 0xffff);
            at = _mm512_add_epi32(at, more);
        }
#else
    for (unsigned i = 0, w = 0; i < n; word = block->word[++w])
        for (; word && i < n; word &= word - 1) to[i++] = 64 * w + (unsigned)__builtin_ctzll(word);
#endif
}

/* ---- a block as it is made --------------------------------------------------------------------------------------- */

/* With words more, so that bits at the end need not be looked at. All zeros at first. */
struct draft {
    uint64_t word[BLOCK_WORDS + 9];
};

/* Writes n bits, 0 to 64, over zeros. */
static inline void draft_bits(struct draft *draft, unsigned at, uint64_t x)
{
    unsigned i = at / 64, shift = at % 64;
    draft->word[i] |= x << shift;
    draft->word[i + 1] |= x >> 1 >> (63 - shift);
}

/* Writes fields of 1 to 63 bits one after the other over zeros. */
struct pen {
    uint64_t *word;
    uint64_t ink; /* not yet in a word */
    unsigned fill;
};

static inline struct pen pen_at(struct draft *draft, unsigned at)
{
    return (struct pen){&draft->word[at / 64], draft->word[at / 64], at % 64};
}

static inline void pen_write(struct pen *pen, uint64_t x, unsigned n)
{
    *pen->word = pen->ink |= x << pen->fill; /* whether it is full or not: no branch */
    pen->fill += n;
    bool full = pen->fill >= 64;
    pen->word += full;
    pen->ink = full ? x >> (64 + n - pen->fill) % 64 : pen->ink;
    pen->fill %= 64;
}

static inline void pen_lift(const struct pen *pen)
{
    *pen->word |= pen->ink;
}

/* Of each of n integers w bits, 1 to 63, behind the highest `skip`: several at once, where a word holds so many. */
static inline void pen_fields(struct pen *pen, const uint64_t x[], unsigned n, unsigned skip, unsigned w)
{
    unsigned i = 0, down = 64 - w;
#ifdef __AVX512F__
    const uint64_t bytes = UINT64_C(0x0101010101010101) * lowest(255, w);
    const __m128i up = _mm_cvtsi32_si128((int)skip), back = _mm_cvtsi32_si128((int)down);
    for (; 8 * w < 64 && i + 8 <= n; i += 8) {
        __m512i field = _mm512_srl_epi64(_mm512_sll_epi64(_mm512_loadu_si512(x + i), up), back);
        pen_write(pen, gather_bits((uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(field)), bytes), 8 * w);
    }
#endif
    for (; 4 * w < 64 && i + 4 <= n; i += 4) {
        uint64_t low = x[i] << skip >> down | x[i + 1] << skip >> down << w;
        uint64_t high = x[i + 2] << skip >> down | x[i + 3] << skip >> down << w;
        pen_write(pen, low | high << 2 * w, 4 * w);
    }
    for (; 2 * w < 64 && i + 2 <= n; i += 2)
        pen_write(pen, x[i] << skip >> down | x[i + 1] << skip >> down << w, 2 * w);
    for (; i < n; i++) pen_write(pen, x[i] << skip >> down, w);
}

#ifdef __AVX512VBMI__
/* The same for 8 to AT_ONCE bits, eight at once. A byte has bits of at most two of them, which are neighbours: those
 * with even numbers and those with odd ones are put to their bytes apart. */
static inline void put_eights(struct draft *draft, unsigned at, const uint64_t x[], unsigned n, unsigned skip,
                              unsigned w)
{
    uint8_t from[2][72], *byte = (uint8_t *)draft->word + at / 8;
    memset(from, 128, sizeof from); /* nothing goes there */
    for (unsigned i = 0; i < 8; i++) {
        uint64_t bytes = UINT64_C(0x0706050403020100) + i * UINT64_C(0x0808080808080808);
        memcpy(from[i % 2] + (at % 8 + i * w) / 8, &bytes, sizeof bytes);
    }
    const __m512i even = _mm512_loadu_si512(from[0]), odd = _mm512_loadu_si512(from[1]);
    const __mmask64 evens = ~_mm512_movepi8_mask(even), odds = ~_mm512_movepi8_mask(odd);
    const __m512i shift = spans_of(at % 8, w).shift, last = _mm512_set1_epi8((char)w);
    const __m128i up = _mm_cvtsi32_si128((int)skip), back = _mm_cvtsi32_si128((int)(64 - w));
    __m512i begun = _mm512_zextsi128_si512(_mm_cvtsi32_si128(*byte)); /* the byte that is not full yet */
    for (unsigned i = 0; i < n; i += 8, byte += w) {
        __m512i field = _mm512_maskz_loadu_epi64((__mmask8)lowest(255, n - i < 8 ? n - i : 8), x + i);
        field = _mm512_sllv_epi64(_mm512_srl_epi64(_mm512_sll_epi64(field, up), back), shift);
        __m512i bytes = _mm512_or_si512(_mm512_maskz_permutexvar_epi8(evens, even, field),
                                        _mm512_maskz_permutexvar_epi8(odds, odd, field));
        bytes = _mm512_or_si512(bytes, begun);
        _mm512_storeu_si512(byte, bytes);
        begun = _mm512_maskz_permutexvar_epi8(1, last, bytes);
    }
}
#endif

/* The same from bit `at` on, behind which there are zeros. */
static inline void put_fields(struct draft *draft, unsigned at, const uint64_t x[], unsigned n, unsigned skip,
                              unsigned w)
{
    if (n == 0) return;
#ifdef __AVX512VBMI__
    if (w >= 8 && w <= AT_ONCE) {
        put_eights(draft, at, x, n, skip, w);
        return;
    }
#endif
    struct pen pen = pen_at(draft, at);
    pen_fields(&pen, x, n, skip, w);
    pen_lift(&pen);
}
