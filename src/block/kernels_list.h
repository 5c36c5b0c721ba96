/* Lists: an entry found among quotients and remainders, put between others, or all of them at once. Part of the body
 * that kernels_body.h is. */
#pragma once

#include "block/kernels_levels.h"

/* Bits of a key that are its quotient in a list of so many entries. */
static inline unsigned quotient_bits(unsigned entries)
{
    return entries <= 4 ? 2 : 32 - (unsigned)__builtin_clz(entries - 1);
}

/* What follows from a list's head, and where in it a key is looked for. */
struct list {
    unsigned step, whole, n, q;
    unsigned remainders; /* where they begin */
    unsigned r;          /* bits of one in the upper quarters */
    unsigned shorter;    /* so many, the first ones, have one bit less */
    unsigned quotient;   /* of the key, ... */
    unsigned zero;       /* ... and where the zero before the ones of that quotient is */
};

/* Where the quotients, which end within so many words, have their zeros number a and b; number 0 is the head's last
 * bit, before them. The words are gone through without asking which is the one: that could not be foreseen. */
struct zeros {
    unsigned a, b;
};

static inline struct zeros find_zeros(const struct block *block, unsigned words, unsigned a, unsigned b)
{
    unsigned word_a = 0, word_b = 0, before_a = 0, before_b = 0, sum = 0;
    uint64_t first = ~block->word[0] >> (BLOCK_HEAD - 1) << (BLOCK_HEAD - 1), zeros = first;
    for (unsigned i = 0; i + 1 < words; zeros = ~block->word[++i]) {
        sum += ones(zeros);
        word_a += sum <= a;
        word_b += sum <= b;
        before_a = sum <= a ? sum : before_a;
        before_b = sum <= b ? sum : before_b;
    }
    return (struct zeros){64 * word_a + select_one(word_a ? ~block->word[word_a] : first, a - before_a),
                          64 * word_b + select_one(word_b ? ~block->word[word_b] : first, b - before_b)};
}

#ifdef __AVX512VPOPCNTDQ__
/* The same in the first 8 words. */
static inline struct zeros near_zeros(const struct block *block, unsigned a, unsigned b)
{
    _Alignas(64) uint64_t zeros[8], before[8];
    const __m512i none = _mm512_setzero_si512();
    const __m512i mask = _mm512_set_epi64(-1, -1, -1, -1, -1, -1, -1, (long long)(UINT64_MAX << (BLOCK_HEAD - 1)));
    __m512i word = _mm512_andnot_si512(_mm512_loadu_si512(block->word), mask), here = _mm512_popcnt_epi64(word);
    __m512i sum = _mm512_add_epi64(here, _mm512_alignr_epi64(here, none, 7));
    sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, none, 6));
    sum = _mm512_add_epi64(sum, _mm512_alignr_epi64(sum, none, 4));
    _mm512_store_si512(zeros, word);
    _mm512_store_si512(before, _mm512_sub_epi64(sum, here));
    unsigned word_a = ones(_mm512_cmple_epu64_mask(sum, _mm512_set1_epi64(a)));
    unsigned word_b = ones(_mm512_cmple_epu64_mask(sum, _mm512_set1_epi64(b)));
    return (struct zeros){64 * word_a + select_one(zeros[word_a], a - (unsigned)before[word_a]),
                          64 * word_b + select_one(zeros[word_b], b - (unsigned)before[word_b])};
}
#endif

static inline __attribute__((always_inline)) struct list list_of(const struct block *block, unsigned whole,
                                                                 uint64_t key)
{
    const unsigned step = block_step(block), n = block_entries(block), q = quotient_bits(n);
    const unsigned remainders = BLOCK_HEAD + n + (1u << q), words = (remainders + 63) / 64;
    const unsigned quotient = (unsigned)(key >> (64 - q)), above = step_quarters(step) << (q - 2);
#ifdef __AVX512VPOPCNTDQ__
    struct zeros at = words <= 8 ? near_zeros(block, quotient, above) : find_zeros(block, words, quotient, above);
#else
    struct zeros at = find_zeros(block, words, quotient, above);
#endif
    return (struct list){.step = step,
                         .whole = whole,
                         .n = n,
                         .q = q,
                         .remainders = remainders,
                         .r = step_print(step, whole) - q,
                         .shorter = at.b + 1 - BLOCK_HEAD - above,
                         .quotient = quotient,
                         .zero = at.a};
}

static inline unsigned remainder_at(const struct list *list, unsigned i)
{
    return list->remainders + i * list->r - (i < list->shorter ? i : list->shorter);
}

static inline struct levels counts_of(const struct block *block, const struct list *list)
{
    return (struct levels){remainder_at(list, list->n), list->n, block_g(block)};
}

/* The entry of a key, or the first that has its quotient, or would; and where its one in the quotients is. */
struct entry {
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

/* Of the key that the list was looked at for. */
static inline __attribute__((always_inline)) struct entry find_entry(const struct block *block, const struct list *list,
                                                                     uint64_t key)
{
    unsigned bits = step_length(list->step, list->whole, key) - list->q;
    uint64_t remainder = key << list->q >> (64 - bits);
    struct entry entry = {list->zero + 1 - BLOCK_HEAD - list->quotient, list->zero + 1, false};
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
static inline void pass_entries(const struct block *block, const struct list *list, uint64_t key, struct entry *entry)
{
    unsigned bits = step_length(list->step, list->whole, key) - list->q;
    uint64_t remainder = key << list->q >> (64 - bits);
    while (get_bit(block, entry->at) && get_bits(block, remainder_at(list, entry->index), bits) < remainder) {
        entry->at++;
        entry->index++;
    }
}

/* Puts a new entry where it belongs. There is room for it, and the quotients keep their length. */
static inline void insert_entry(struct block *block, const struct list *list, const struct entry *entry, uint64_t key,
                                uint64_t v)
{
    const unsigned bits = step_length(list->step, list->whole, key) - list->q;
    struct levels levels = counts_of(block, list);
    const struct insertion put[3] = {{entry->at, 1, 1},
                                     {remainder_at(list, entry->index), bits, key << list->q >> (64 - bits)},
                                     {levels.at + entry->index, 1, 0}};
    insert_three(block, levels_end(block), put);
    add_used(block, bits + 2);
    levels.at += bits + 1;
    levels.n++;
    levels_fill(block, &levels, entry->index, v);
    block->word[0] += UINT64_C(1) << 18; /* an entry more */
}

/* Bits of quotients and remainders. */
static inline unsigned keys_size(unsigned n, unsigned shorter, unsigned print)
{
    unsigned q = quotient_bits(n);
    return n + (1u << q) + n * (print - q) - shorter;
}

/* There is room for a multiple of 16. */
static void keys_decode(const struct block *block, const struct list *list, uint64_t key[])
{
    const unsigned n = list->n, shorter = list->shorter, r = list->r, up = 64 - list->q;
    get_fields(block, list->remainders, r - 1, shorter, up - (r - 1), key);
    get_fields(block, list->remainders + shorter * (r - 1), r, n - shorter, up - r, key + shorter);
    uint32_t at[BLOCK_ENTRIES + 16];
    find_ones(block, BLOCK_HEAD, n, at);
    for (unsigned i = 0; i < many_some(n); i++) key[i] |= (uint64_t)(at[i] - BLOCK_HEAD - i) << up;
}

/* Puts the ones of the quotients. */
static inline void write_quotients(struct draft *draft, const uint64_t key[], unsigned n, unsigned q)
{
#ifdef __AVX512BW__
    uint8_t at[2 * BLOCK_ENTRIES + 2 * 64]; /* not 0 where there is a one */
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
static unsigned keys_encode(struct draft *draft, unsigned print, unsigned shorter, const uint64_t key[], unsigned n)
{
    const unsigned q = quotient_bits(n), r = print - q, start = BLOCK_HEAD + n + (1u << q);
    write_quotients(draft, key, n, q);
    put_fields(draft, start, key, shorter, q, r - 1);
    put_fields(draft, start + shorter * (r - 1), key + shorter, n - shorter, q, r);
    return start + n * r - shorter;
}
