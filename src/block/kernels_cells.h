/* Cells read where they are: two of a block at once, and the scalar way of many items. Part of the body that
 * kernels_block.h is. */
#pragma once

#include "block/kernels_bits.h"

/* Ones among the n bits from `at` on. */
static inline unsigned ones_from(const uint64_t word[8], unsigned at, unsigned n)
{
    unsigned sum = ones(window(word, at) & below(n));
    for (unsigned i = 64; i < n; i += 64) sum += ones(window(word, at + i) & below(n - i));
    return sum;
}

/* Two cells on their way through the levels. */
struct pair {
    unsigned mine[2]; /* where their entries are on a level, */
    uint64_t on[2];   /* 1 if they have one there; */
    uint64_t t[2];    /* what has come together of T */
};

/* Goes on from level l, which has n entries and starts at `at`, to the end. */
static void get_rest(const uint64_t word[8], unsigned l, unsigned at, unsigned n, unsigned shift, struct pair *pair)
{
    for (; pair->on[0] | pair->on[1]; shift += width[l++]) {
        for (int j = 0; j < 2; j++) {
            unsigned *mine = &pair->mine[j], digit = at + n + *mine * width[l];
            if (!pair->on[j]) continue;
            pair->t[j] += (1 + (window(word, digit) & below(width[l]))) << shift;
            pair->on[j] = window(word, at + *mine) & 1;
            *mine = ones_from(word, at, *mine);
        }
        unsigned next = ones_from(word, at, n);
        at += n * (1 + width[l]);
        n = next;
    }
}

/* Two cells of a block at once: most of the way is the same for both. What is read NOWHERE is any. Most cells end on
 * one of the flat levels, but not all on the same: so these are gone through without a branch. */
static inline void get_codes(const struct block *b, const unsigned cell[2], uint64_t code[2])
{
    const uint64_t *word = b->word;
    unsigned step = block_step(b), g = block_g(b), cells = cells_at[step], at = cells * (1 + g), n = 0;
    unsigned before[WORDS + 1];
    struct pair pair = {.t = {0}};
    for (unsigned i = 0; i < WORDS; i++) {
        before[i] = n;
        n += ones(word[i] & in_map[step][i]);
    }
    before[WORDS] = n;
    for (int j = 0; j < 2; j++) {
        pair.on[j] = word[cell[j] / 64] >> cell[j] % 64 & (cell[j] != NOWHERE);
        pair.mine[j] = before[cell[j] / 64] + ones(word[cell[j] / 64] & below(cell[j] % 64));
    }
    unsigned l = 0;
    for (; l < FLAT && n <= 64; l++) {
        uint64_t map = window(word, at) & below(n), digit = window(word, at + n);
        for (int j = 0; j < 2; j++) {
            pair.t[j] += (pair.on[j] + (digit >> pair.mine[j] % 64 & pair.on[j])) << l;
            pair.on[j] &= map >> pair.mine[j] % 64;
            pair.mine[j] = ones(map & below(pair.mine[j]));
        }
        at += 2 * n;
        n = ones(map);
    }
    if (pair.on[0] | pair.on[1]) get_rest(word, l + 1, at, n, l, &pair);
    for (int j = 0; j < 2; j++) {
        uint64_t low = g > 0 && cell[j] != NOWHERE ? window(word, cells + cell[j] * g) & below(g) : 0;
        code[j] = pair.t[j] << g | low;
    }
}

static inline void get_two(const struct block *b, const unsigned cell[2], int64_t value[2])
{
    uint64_t code[2];
    get_codes(b, cell, code);
    for (int j = 0; j < 2; j++) value[j] = from_code(code[j], block_signed(b));
}

static int64_t get(const struct block *b, unsigned cell)
{
    int64_t value[2];
    get_two(b, (const unsigned[2]){cell, NOWHERE}, value);
    return value[0];
}

static unsigned read_half(const struct block *b, unsigned which, const uint32_t hash[2], int64_t value[2],
                          uint32_t columns[2])
{
    unsigned step = block_step(b), cell[2];
    for (unsigned i = 0; i < 2; i++) {
        cell[i] = block_place(step, which + 2 * i, hash[i]);
        columns[i] = block_columns[step][which + 2 * i];
    }
    get_two(b, cell, value);
    return cell[1] == NOWHERE ? 1 : 2;
}

/* By half and step: log2 of the columns of its rows, or 0; 4 bits each. */
static const unsigned char widths_at[2][BLOCK_STEPS] = {
    {0x67, 0x67, 0x67, 0x57, 0x47, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1},
    {0x66, 0x56, 6, 6, 6, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1}};

/* Many items at once. How far a cell goes on after the flat levels can not be foreseen, and a wrong guess costs more
 * than the way. So all items go through the flat levels first; those of their cells that are not at their end are put
 * on a list, which then goes from level to level and gets shorter. Nothing branches on what the cells are. */
struct going {
    const uint64_t *word;
    uint16_t at, n, mine; /* where its level starts, how many entries that has, which is its own */
    uint16_t read, item;  /* read 0 to 3 of this item */
};

struct reading {
    uint64_t t[BLOCK_ROWS][DECODE_MOST]; /* reads 0 and 1 are of half 0 */
    uint64_t low[BLOCK_ROWS][DECODE_MOST];
    struct going going[BLOCK_ROWS * DECODE_MOST + 1]; /* one more: what is not needed is written too */
    unsigned n;
};

/* Takes the digit that a cell of a pair has on a flat level, and goes on to its place on the next. */
static inline void read_digit(const uint64_t word[8], unsigned l, unsigned at, unsigned n, struct pair *pair, int j,
                              unsigned next)
{
    unsigned mine = pair->mine[j];
    pair->t[j] += (pair->on[j] + (bit_at(word, at + n + mine) & pair->on[j])) << l;
    pair->on[j] &= bit_at(word, at + mine);
    pair->mine[j] = next;
}

/* Ones among the lowest n of 128 bits. */
static inline unsigned ones_in(const uint64_t map[2], unsigned n)
{
    return ones(lowest(map[0], n)) + ones(lowest(map[1], n < 64 ? 0 : n - 64));
}

static inline void read_flat(const struct block *b, unsigned which, const uint32_t hash[2], unsigned item,
                             struct reading *r)
{
    const uint64_t *word = b->word;
    unsigned step = block_step(b), g = block_g(b), cells = cells_at[step], at = cells * (1 + g), n = 0;
    unsigned cell[2] = {block_place(step, which, hash[0]), block_place(step, which + 2, hash[1])}, before[WORDS + 1];
    struct pair pair = {.t = {0}};
    for (unsigned i = 0; i < WORDS; i++) {
        before[i] = n;
        n += ones(word[i] & in_map[step][i]);
    }
    before[WORDS] = n;
    for (int j = 0; j < 2; j++) {
        uint64_t is_there = cell[j] != NOWHERE;
        pair.on[j] = word[cell[j] / 64] >> cell[j] % 64 & is_there;
        pair.mine[j] = before[cell[j] / 64] + ones(lowest(word[cell[j] / 64], cell[j] % 64));
        r->low[2 * which + (unsigned)j][item] = lowest(window(word, (cells + cell[j] * g) % 512), g) & -is_there;
    }
    unsigned l = 0;
    if (n <= 128) { /* on level 1 there are often more than 64, on the next hardly ever */
        uint64_t map[2] = {window(word, at), window(word, (at + 64) % 512)};
        for (int j = 0; j < 2; j++) read_digit(word, 0, at, n, &pair, j, ones_in(map, pair.mine[j]));
        at += 2 * n;
        n = ones_in(map, n);
        l = 1;
    }
    for (; l > 0 && l < FLAT && n <= 64; l++) {
        uint64_t map = window(word, at);
        for (int j = 0; j < 2; j++) read_digit(word, l, at, n, &pair, j, ones(lowest(map, pair.mine[j])));
        at += 2 * n;
        n = ones(lowest(map, n));
    }
    if (l < FLAT) {
        get_rest(word, l + 1, at, n, l, &pair);
        pair.on[0] = pair.on[1] = 0;
    }
    for (unsigned j = 0; j < 2; j++) {
        r->going[r->n] = (struct going){
            word, (uint16_t)at, (uint16_t)n, (uint16_t)pair.mine[j], (uint16_t)(2 * which + j), (uint16_t)item};
        r->n += (unsigned)pair.on[j];
    }
    for (unsigned j = 0; j < 2; j++) r->t[2 * which + j][item] = pair.t[j];
}

/* The cells that go on to level l; after that, the list has those that go on to the next. */
static inline void read_level(struct reading *r, unsigned l, unsigned shift)
{
    unsigned next = 0, w = width[l];
    for (unsigned i = 0; i < r->n; i++) {
        struct going e = r->going[i];
        uint64_t map = window(e.word, e.at);
        unsigned digit = e.at + e.n + e.mine * w;
        r->t[e.read][e.item] += (1 + lowest(window(e.word, digit), w)) << shift;
        r->going[next] = (struct going){e.word,
                                        (uint16_t)(e.at + e.n * (1 + w)),
                                        (uint16_t)ones(lowest(map, e.n)),
                                        (uint16_t)ones(lowest(map, e.mine)),
                                        e.read,
                                        e.item};
        next += (unsigned)(map >> e.mine) & 1;
    }
    r->n = next;
}

static inline int64_t read_key(uint64_t value, unsigned i)
{
    return (int64_t)(value << 2 | i);
}
