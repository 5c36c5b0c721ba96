/* Lists: an entry found among quotients and remainders, put between others, or all of them at once. Part of the body
 * that kernels_body.h is. */
#pragma once

#include "block/kernels_levels.h"

/* What follows from a list's head, and where in it a key is looked for. */
struct list {
    unsigned step, n, q;
    unsigned remainders; /* where they begin, ... */
    unsigned r;          /* ... and bits of one */
    unsigned quotient;   /* of the key, ... */
    unsigned zero;       /* ... and where the zero before the ones of that quotient is */
};

/* Number 0 of the zeros that the quotients are counted by is the head's last bit, whatever that is. */
#define HEAD_ZERO (UINT64_C(1) << (BLOCK_HEAD - 1))

/* The head and the quotients of any list are in so many words. */
enum { QUOTIENT_WORDS = 8 };
_Static_assert(BLOCK_HEAD + BLOCK_ENTRIES + 256 <= 64 * QUOTIENT_WORDS && BLOCK_ENTRIES <= 256, "8 words");

/* Where the quotients, which end within so many words, have their zero number k. The words are gone through without
 * asking which is the one: that could not be foreseen. */
#ifdef __AVX512VPOPCNTDQ__
static inline unsigned find_zero(const struct block *block, unsigned words, unsigned k)
{
    _Alignas(64) uint64_t zeros[8], before[8];
    const __m512i none = _mm512_setzero_si512(), all = _mm512_set1_epi64(-1);
    __m512i word = _mm512_andnot_si512(_mm512_loadu_si512(block->word), all);
    word = _mm512_mask_or_epi64(word, 1, word, _mm512_set1_epi64((long long)HEAD_ZERO));
    word = _mm512_mask_and_epi64(word, 1, word, _mm512_set1_epi64(-(long long)HEAD_ZERO));
    __m512i here = _mm512_popcnt_epi64(word);
    __m512i sum = _mm512_add_epi64(here, _mm512_alignr_epi64(here, none, 7));
    sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, none, 6));
    sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, none, 4));
    _mm512_store_si512(zeros, word);
    _mm512_store_si512(before, _mm512_sub_epi64(sum, here));
    unsigned in = ones(_mm512_cmple_epu64_mask(sum, _mm512_set1_epi64(k)));
    (void)words; /* all at once */
    return 64 * in + select_one(zeros[in], k - (unsigned)before[in]);
}
#else
static inline unsigned find_zero(const struct block *block, unsigned words, unsigned k)
{
    unsigned word = 0, before = 0, sum = 0;
    uint64_t first = (~block->word[0] | HEAD_ZERO) & -HEAD_ZERO, zeros = first;
    for (unsigned i = 0; i + 1 < words; zeros = ~block->word[++i]) {
        sum += ones(zeros);
        word += sum <= k;
        before = sum <= k ? sum : before;
    }
    return 64 * word + select_one(word ? ~block->word[word] : first, k - before);
}
#endif

static inline __attribute__((always_inline)) struct list list_of(const struct block *block, unsigned whole,
                                                                 uint64_t key)
{
    const unsigned step = block_step(block), n = block_entries(block), q = quotient_bits(n);
    const unsigned remainders = BLOCK_HEAD + n + (1u << q), words = (remainders + 63) / 64;
    const unsigned quotient = (unsigned)(key >> (64 - q));
    const unsigned zero = find_zero(block, words, quotient);
    return (struct list){.step = step,
                         .n = n,
                         .q = q,
                         .remainders = remainders,
                         .r = step_print(step, whole) - q,
                         .quotient = quotient,
                         .zero = zero};
}

static inline unsigned remainder_at(const struct list *list, unsigned i)
{
    return list->remainders + i * list->r;
}

/* What a key has for a remainder here. */
static inline uint64_t remainder_of(const struct list *list, uint64_t key)
{
    return key << list->q >> (64 - list->r);
}

static inline struct levels counts_of(const struct block *block, const struct list *list)
{
    return (struct levels){remainder_at(list, list->n), list->n, block_g(block)};
}

/* The entry of a key, or the first that has its quotient, or would; and where its one in the quotients is. */
struct entry_at {
    unsigned index, at;
    bool there;
};

/* A one at the beginning of each field of r bits that is whole in 64. */
#define EVERY(r) ((UINT64_MAX >> 64 % (r)) / ((UINT64_C(1) << (r)) - 1))
#define EVERY4(r) EVERY(r), EVERY(r + 1), EVERY(r + 2), EVERY(r + 3)
#define EVERY16(r) EVERY4(r), EVERY4(r + 4), EVERY4(r + 8), EVERY4(r + 12)
static const uint64_t every[64] = {0,           EVERY(1),    EVERY(2),   EVERY(3),   EVERY4(4),  EVERY4(8), EVERY4(12),
                                   EVERY16(16), EVERY16(32), EVERY4(48), EVERY4(52), EVERY4(56), EVERY4(60)};

/* Which of the first fields of so many bits in a window are x, by a one at each one's end. The subtraction borrows from
 * a field's highest bit where the field is 0; what it does above the first such field does not matter. */
static inline uint64_t match_fields(uint64_t window, unsigned bits, unsigned fields, uint64_t x)
{
    uint64_t low = every[bits], differ = window ^ x * low;
    return (differ - low) & ~differ & low << (bits - 1) & lowest(UINT64_MAX, fields * bits);
}

/* The same where there are more than a window has: the entries of one quotient, whose ones are from `at` on and whose
 * remainders are from `from` on. Returns which of them is x, or NOWHERE. */
enum { NOWHERE = 2 * BLOCK_ENTRIES };

static __attribute__((noinline)) unsigned find_field(const struct block *block, unsigned at, unsigned from,
                                                     unsigned bits, uint64_t x)
{
    for (unsigned i = 0; get_bit(block, at + i); i++)
        if (get_bits(block, from + i * bits, bits) == x) return i;
    return NOWHERE;
}

/* Of the key that the list was looked at for: the first of its entries, if there are several. */
static inline __attribute__((always_inline)) struct entry_at find_entry(const struct block *block,
                                                                        const struct list *list, uint64_t key)
{
    const unsigned bits = list->r;
    const uint64_t remainder = remainder_of(list, key);
    struct entry_at entry = {list->zero + 1 - BLOCK_HEAD - list->quotient, list->zero + 1, false};
    unsigned run = (unsigned)__builtin_ctzll(~lowest(peek(block, entry.at), AT_ONCE));
    unsigned from = remainder_at(list, entry.index);
    unsigned some = ones(every[bits]), fields = run < some ? run : some;
    uint64_t match = match_fields(get_bits(block, from, 64), bits, fields, remainder);
    unsigned field = match ? ones(every[bits] & ((match & -match) - 1)) - 1 : NOWHERE;
    if (!match && run > some) field = find_field(block, entry.at, from, bits, remainder); /* which is rare */
    entry.there = field != NOWHERE;
    entry.index += entry.there ? field : 0;
    entry.at += entry.there ? field : 0;
    return entry;
}

/* Goes from the first entry of its quotient to where a key that is not there belongs. */
static inline void pass_entries(const struct block *block, const struct list *list, uint64_t key,
                                struct entry_at *entry)
{
    const uint64_t remainder = remainder_of(list, key);
    while (get_bit(block, entry->at) && get_bits(block, remainder_at(list, entry->index), list->r) < remainder) {
        entry->at++;
        entry->index++;
    }
}

/* Puts a new entry where it belongs. There is room for it, and the quotients keep their length. */
static inline void insert_entry(struct block *block, const struct list *list, const struct entry_at *entry,
                                uint64_t key, uint64_t v)
{
    struct levels levels = counts_of(block, list);
    const struct insertion put[3] = {{entry->at, 1, 1},
                                     {remainder_at(list, entry->index), list->r, remainder_of(list, key)},
                                     {levels.at + entry->index, 1, 0}};
    insert_three(block, levels_end(block), put);
    add_used(block, list->r + 2);
    levels.at += list->r + 1;
    levels.n++;
    levels_fill(block, &levels, entry->index, v);
    block->word[0] += UINT64_C(1) << 15; /* an entry more */
}

/* There is room for a multiple of 16. */
static void keys_decode(const struct block *block, const struct list *list, uint64_t key[])
{
    const unsigned n = list->n, up = 64 - list->q;
    get_fields(block, list->remainders, list->r, n, up - list->r, key);
    uint32_t at[BLOCK_ENTRIES + 16];
    find_ones(block, BLOCK_HEAD, n, at);
    for (unsigned i = 0; i < many_some(n); i++) key[i] |= (uint64_t)(at[i] - BLOCK_HEAD - i) << up;
}

/* Puts the ones of the quotients. */
static inline void write_quotients(struct draft *draft, const uint64_t key[], unsigned n, unsigned q)
{
#ifdef __AVX512BW__
    uint8_t at[QUOTIENT_WORDS * 64]; /* not 0 where there is a one */
    const unsigned words = (BLOCK_HEAD + n + (1u << q) + 63) / 64;
    memset(at, 0, words * 64);
    for (unsigned i = 0; i < n; i++) at[BLOCK_HEAD + i + (key[i] >> (64 - q))] = 1;
    for (unsigned i = 0; i < words; i++) draft->word[i] = many_reach(at + 64 * i, 1);
#else
    unsigned word = 0;
    uint64_t ink = 0;
    for (unsigned i = 0; i < n; i++) { /* a word is written again with each of its ones: no branch */
        unsigned at = BLOCK_HEAD + i + (unsigned)(key[i] >> (64 - q));
        ink = (at / 64 == word ? ink : 0) | UINT64_C(1) << at % 64;
        word = at / 64;
        draft->word[word] = ink;
    }
#endif
}

/* Returns where the counts begin. */
static unsigned keys_encode(struct draft *draft, unsigned print, const uint64_t key[], unsigned n)
{
    const unsigned q = quotient_bits(n), r = print - q, start = BLOCK_HEAD + n + (1u << q);
    write_quotients(draft, key, n, q);
    put_fields(draft, start, key, n, q, r);
    return start + n * r;
}
