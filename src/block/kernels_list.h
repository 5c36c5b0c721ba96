/* Lists: an entry found among quotients and remainders, put between others, or all of them at once. Part of the body that
 * kernels_body.h is. */
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

/* Where the quotients have their zero number k, counted from 0. */
static inline unsigned find_zero(const struct block *block, unsigned k)
{
    uint64_t zeros = ~block->word[0] >> BLOCK_HEAD << BLOCK_HEAD;
    unsigned i = 0;
    for (unsigned n; (n = ones(zeros)) <= k; zeros = ~block->word[++i]) k -= n;
    return 64 * i + select_one(zeros, k);
}

/* How many entries have a quotient below this. */
static inline unsigned entries_below(const struct block *block, unsigned quotient)
{
    return quotient == 0 ? 0 : find_zero(block, quotient - 1) + 1 - BLOCK_HEAD - quotient;
}

static inline struct list list_of(const struct block *block, unsigned whole)
{
    unsigned step = block_step(block), n = block_entries(block), q = quotient_bits(n);
    return (struct list){.step = step,
                         .whole = whole,
                         .n = n,
                         .q = q,
                         .remainders = BLOCK_HEAD + n + (1u << q),
                         .r = step_print(step, whole) - q,
                         .shorter = entries_below(block, step_quarters(step) << (q - 2))};
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

/* The entry of a key, or where it would be, whether it is there, and where its one in the quotients is or would be. */
struct entry {
    unsigned index, at;
    bool there;
};

static inline struct entry find_entry(const struct block *block, const struct list *list, uint64_t key)
{
    unsigned quotient = (unsigned)(key >> (64 - list->q));
    unsigned bits = step_length(list->step, list->whole, key) - list->q;
    uint64_t remainder = key << list->q >> (64 - bits);
    unsigned i = entries_below(block, quotient);
    struct entry entry = {i, BLOCK_HEAD + i + quotient, false};
    for (; get_bit(block, entry.at); entry.index++, entry.at++) {
        uint64_t here = get_bits(block, remainder_at(list, entry.index), bits);
        entry.there = here == remainder;
        if (here >= remainder) break;
    }
    return entry;
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
