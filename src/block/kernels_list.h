/* Lists: an entry found among quotients and remainders, put between others, or all of them at once. Part of the body
 * that kernels_body.h is. */
#pragma once

#include "block/kernels_levels.h"

/* Bits of a key that are its quotient in a list of so many entries. */
static inline unsigned quotient_bits(unsigned entries)
{
    return entries <= 4 ? 2 : 32 - (unsigned)__builtin_clz(entries - 1);
}

/* What follows from a list's head. */
struct list {
    unsigned step, whole, n, q;
    unsigned remainders; /* where they begin */
    unsigned r;          /* bits of one in the upper quarters */
    unsigned shorter;    /* so many, the first ones, have one bit less */
};

/* Where the quotients of a list of n entries have their zero number k; number 0 is the head's last bit, before them.
 * The words are gone through without asking which is the one: that could not be foreseen. */
static inline unsigned find_zero(const struct block *block, unsigned n, unsigned q, unsigned k)
{
    uint64_t zeros = ~block->word[0] >> (BLOCK_HEAD - 1) << (BLOCK_HEAD - 1);
    unsigned word = 0, before = 0, sum = 0, words = (BLOCK_HEAD + n + (1u << q) + 63) / 64;
    for (unsigned i = 0; i + 1 < words; zeros = ~block->word[++i]) {
        sum += ones(zeros);
        bool past = sum <= k;
        word += past;
        before = past ? sum : before;
    }
    zeros = ~block->word[word];
    if (word == 0) zeros = zeros >> (BLOCK_HEAD - 1) << (BLOCK_HEAD - 1);
    return 64 * word + select_one(zeros, k - before);
}

/* How many entries have a quotient below this. */
static inline unsigned entries_below(const struct block *block, unsigned n, unsigned q, unsigned quotient)
{
    return find_zero(block, n, q, quotient) + 1 - BLOCK_HEAD - quotient;
}

static inline __attribute__((always_inline)) struct list list_of(const struct block *block, unsigned whole)
{
    unsigned step = block_step(block), n = block_entries(block), q = quotient_bits(n);
    return (struct list){.step = step,
                         .whole = whole,
                         .n = n,
                         .q = q,
                         .remainders = BLOCK_HEAD + n + (1u << q),
                         .r = step_print(step, whole) - q,
                         .shorter = entries_below(block, n, q, step_quarters(step) << (q - 2))};
}

static inline unsigned remainder_at(const struct list *list, unsigned i)
{
    return list->remainders + i * list->r - (i < list->shorter ? i : list->shorter);
}

static inline unsigned remainder_bits(const struct list *list, unsigned i)
{
    return list->r - (i < list->shorter);
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

enum { NOWHERE = 2 * BLOCK_ENTRIES };

/* The first of the fields of so many bits in a window that is x, or NOWHERE. The subtraction borrows from a field's
 * highest bit where the field is 0; what it does above the first such field does not matter. */
static inline unsigned find_field(uint64_t window, unsigned bits, unsigned fields, uint64_t x)
{
    uint64_t low = every[bits], differ = window ^ x * low;
    uint64_t none = (differ - low) & ~differ & low << (bits - 1) & lowest(UINT64_MAX, fields * bits);
    return none ? ones(low & ((none & -none) - 1)) - 1 : NOWHERE;
}

static inline __attribute__((always_inline)) struct entry find_entry(const struct block *block, const struct list *list,
                                                                     uint64_t key)
{
    unsigned quotient = (unsigned)(key >> (64 - list->q));
    unsigned bits = step_length(list->step, list->whole, key) - list->q;
    uint64_t remainder = key << list->q >> (64 - bits);
    unsigned zero = find_zero(block, list->n, list->q, quotient), some = 64 / bits;
    struct entry entry = {zero + 1 - BLOCK_HEAD - quotient, zero + 1, false};
    unsigned run = (unsigned)__builtin_ctzll(~lowest(get_bits(block, entry.at, 64), 63));
    uint64_t window = get_bits(block, remainder_at(list, entry.index), 64);
    unsigned field = find_field(window, bits, run < some ? run : some, remainder);
    if (field == NOWHERE && run > some) { /* which is rare */
        for (field = some; get_bit(block, entry.at + field); field++)
            if (get_bits(block, remainder_at(list, entry.index + field), bits) == remainder) break;
        if (!get_bit(block, entry.at + field)) field = NOWHERE;
    }
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
static inline void insert_entry(struct block *block, struct list *list, const struct entry *entry, uint64_t key,
                                uint64_t v)
{
    unsigned bits = step_length(list->step, list->whole, key) - list->q;
    insert_bits(block, entry->at, levels_end(block), 1, 1);
    add_used(block, 1);
    list->remainders++;
    unsigned at = remainder_at(list, entry->index);
    insert_bits(block, at, levels_end(block), bits, key << list->q >> (64 - bits));
    add_used(block, bits);
    struct levels levels = counts_of(block, list);
    levels.at += bits;
    levels_insert(block, &levels, entry->index, v);
    block->word[0] += UINT64_C(1) << 18; /* an entry more */
}

/* Bits of quotients and remainders. */
static inline unsigned keys_size(unsigned n, unsigned shorter, unsigned print)
{
    unsigned q = quotient_bits(n);
    return n + (1u << q) + n * (print - q) - shorter;
}

static void keys_decode(const struct block *block, const struct list *list, uint64_t key[])
{
    uint64_t word = block->word[0] >> BLOCK_HEAD << BLOCK_HEAD;
    for (unsigned i = 0, w = 0; i < list->n; word = block->word[++w])
        for (; word && i < list->n; word &= word - 1, i++) {
            uint64_t quotient = MANY * w + (unsigned)__builtin_ctzll(word) - BLOCK_HEAD - i;
            key[i] = quotient << (64 - list->q);
        }
    unsigned bits = list->r - 1, at = list->remainders, i = 0;
    for (; i < list->shorter; i++, at += bits) key[i] |= get_bits(block, at, bits) << (64 - list->q - bits);
    bits = list->r;
    for (; i < list->n; i++, at += bits) key[i] |= get_bits(block, at, bits) << (64 - list->q - bits);
}

/* Returns where the counts begin. */
static unsigned keys_encode(struct draft *draft, unsigned step, unsigned whole, const uint64_t key[], unsigned n)
{
    unsigned q = quotient_bits(n), start = BLOCK_HEAD + n + (1u << q), to = start, word = 0;
    uint64_t ink = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned at = BLOCK_HEAD + i + (unsigned)(key[i] >> (64 - q));
        if (at / 64 != word) {
            draft->word[word] |= ink;
            word = at / 64;
            ink = 0;
        }
        ink |= UINT64_C(1) << at % 64;
    }
    draft->word[word] |= ink;
    struct pen pen = pen_at(draft, start);
    for (unsigned i = 0; i < n; i++) {
        unsigned bits = step_length(step, whole, key[i]) - q;
        pen_write(&pen, key[i] << q >> (64 - bits), bits);
        to += bits;
    }
    pen_lift(&pen);
    return to;
}
