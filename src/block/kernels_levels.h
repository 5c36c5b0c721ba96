/* The level code of block.h: one integer found, changed or put between others, or all of them at once. Part of the body
 * that kernels_body.h is. */
#pragma once

#include "block/kernels_bits.h"

enum { LEVELS = 8 };
static const unsigned char width[LEVELS + 1] = {0, 1, 1, 1, 2, 4, 8, 16, 31}; /* of a digit on a level, from 1 on */

/* n integers coded from bit `at` on. */
struct levels {
    unsigned at, n, g;
};

static inline unsigned levels_end(const struct block *block)
{
    return BLOCK_HEAD + block_used(block);
}

static inline void add_used(struct block *block, unsigned bits)
{
    block->word[0] += bits; /* the head's lowest field, which has room for it */
}

/* Bits of the levels for a T. It reaches level l if it is at least 1 + 2^w1 (1 + 2^w2 (1 + ...)): these are the
 * constants. */
static inline unsigned digit_bits(uint64_t t)
{
    return (unsigned)(2 * (t >= 1) + 2 * (t >= 3) + 2 * (t >= 7) + 3 * (t >= 15) + 5 * (t >= 47) + 9 * (t >= 559) +
                      17 * (t >= 131631) + 32 * (t >= UINT64_C(8590066223)));
}

/* ---- one integer ------------------------------------------------------------------------------------------------- */

/* Its way through the levels: where a level begins, how many have a digit there, and which of them it is; level 0 are the
 * integers themselves. It has digits on levels 1 to depth. */
struct way {
    unsigned depth;
    unsigned start[LEVELS + 1], count[LEVELS + 1], rank[LEVELS + 1];
};

/* Where level l + 1 begins, if there are `count` on level l, which begins at `start`. */
static inline unsigned next_level(const struct levels *levels, unsigned l, unsigned start, unsigned count)
{
    return start + count * (1 + (l == 0 ? levels->g : width[l]));
}

/* Goes a level on: the ranks are the ones in the map before. */
static inline void way_on(const struct block *block, const struct levels *levels, struct way *way, unsigned l)
{
    unsigned start = way->start[l], rank = way->rank[l], count = way->count[l];
    unsigned before = count_ones(block, start, rank);
    way->start[l + 1] = next_level(levels, l, start, count);
    way->rank[l + 1] = before;
    way->count[l + 1] = before + count_ones(block, start + rank, count - rank);
}

/* Integer i, and the way to it. */
static inline uint64_t levels_find(const struct block *block, const struct levels *levels, unsigned i, struct way *way)
{
    *way = (struct way){.start = {levels->at}, .count = {levels->n}, .rank = {i}};
    uint64_t low = get_bits(block, levels->at + levels->n + i * levels->g, levels->g), t = 0;
    unsigned l = 0, shift = 0;
    while (l < LEVELS && get_bit(block, way->start[l] + way->rank[l])) {
        way_on(block, levels, way, l++);
        unsigned at = way->start[l] + way->count[l] + way->rank[l] * width[l];
        t += (1 + get_bits(block, at, width[l])) << shift;
        shift += width[l];
    }
    way->depth = l;
    return t << levels->g | low;
}

static inline uint64_t levels_get(const struct block *block, const struct levels *levels, unsigned i)
{
    struct way way;
    return levels_find(block, levels, i, &way);
}

/* How many more bits integer v takes than one that has `depth` levels. */
static inline unsigned levels_extra(const struct levels *levels, const struct way *way, uint64_t v)
{
    static const unsigned char before[LEVELS + 1] = {0, 2, 4, 6, 9, 14, 23, 40, 72};
    return digit_bits(v >> levels->g) - before[way->depth];
}

/* Writes the digits of T on the levels that there are, and returns what is left behind them. */
static inline uint64_t put_digits(struct block *block, const struct way *way, uint64_t t)
{
    for (unsigned l = 1; l <= way->depth; l++) {
        unsigned at = way->start[l] + way->count[l] + way->rank[l] * width[l];
        put_bits(block, at, width[l], lowest(t - 1, width[l]));
        t = (t - 1) >> width[l];
    }
    return t;
}

/* Puts the digits of what is left on levels that the integer did not reach. Its bit in the map of way->depth is 0. */
static inline void grow_levels(struct block *block, const struct levels *levels, struct way *way, uint64_t t)
{
    for (unsigned l = way->depth; t > 0; l++) {
        way_on(block, levels, way, l);
        set_bit(block, way->start[l] + way->rank[l]);
        unsigned w = width[l + 1], at = way->start[l + 1] + way->rank[l + 1];
        insert_bits(block, at, levels_end(block), 1, 0);
        add_used(block, 1);
        way->count[l + 1]++;
        at = way->start[l + 1] + way->count[l + 1] + way->rank[l + 1] * w;
        insert_bits(block, at, levels_end(block), w, lowest(t - 1, w));
        add_used(block, w);
        t = (t - 1) >> w;
    }
}

/* Gives integer i, found by this way, a value v that is not less. There is room for it. */
static inline void levels_raise(struct block *block, const struct levels *levels, unsigned i, struct way *way,
                                uint64_t v)
{
    if (levels->g) put_bits(block, levels->at + levels->n + i * levels->g, levels->g, lowest(v, levels->g));
    uint64_t left = put_digits(block, way, v >> levels->g);
    if (left > 0) grow_levels(block, levels, way, left);
}

/* Puts v between integers i - 1 and i. There is room for it. */
static inline void levels_insert(struct block *block, struct levels *levels, unsigned i, uint64_t v)
{
    insert_bits(block, levels->at + i, levels_end(block), 1, 0);
    add_used(block, 1);
    levels->n++;
    unsigned low = levels->at + levels->n + i * levels->g;
    insert_bits(block, low, levels_end(block), levels->g, lowest(v, levels->g));
    add_used(block, levels->g);
    struct way way = {.start = {levels->at}, .count = {levels->n}, .rank = {i}};
    if (v >> levels->g) grow_levels(block, levels, &way, v >> levels->g);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static inline unsigned levels_size(const uint64_t v[], unsigned n, unsigned g)
{
    unsigned sum = n * (1 + g);
    for (unsigned i = 0; i < n; i++) sum += digit_bits(v[i] >> g);
    return sum;
}

/* The least g of those that take the fewest bits, and these. */
static unsigned levels_best(const uint64_t v[], unsigned n, unsigned *best_g)
{
    unsigned best = levels_size(v, n, 0);
    *best_g = 0;
    for (unsigned g = 1; g <= BLOCK_G_MAX && n * (1 + g) < best; g++) {
        unsigned size = levels_size(v, n, g);
        if (size < best) {
            best = size;
            *best_g = g;
        }
    }
    return best;
}

static void levels_decode(const struct block *block, const struct levels *levels, uint64_t v[])
{
    uint16_t member[BLOCK_CELLS];
    unsigned n = 0, at = levels->at;
    for (unsigned i = 0; i < levels->n; i++) {
        v[i] = get_bits(block, at + levels->n + i * levels->g, levels->g);
        member[n] = (uint16_t)i;
        n += get_bit(block, at + i);
    }
    at += levels->n * (1 + levels->g);
    for (unsigned l = 1, shift = levels->g; n > 0; shift += width[l], l++) {
        unsigned more = 0, w = width[l];
        for (unsigned r = 0; r < n; r++) {
            uint16_t i = member[r];
            v[i] += (1 + get_bits(block, at + n + r * w, w)) << shift;
            member[more] = i;
            more += get_bit(block, at + r);
        }
        at += n * (1 + w);
        n = more;
    }
}

/* Writes over zeros, and returns where the code ends. */
static unsigned levels_encode(struct block *block, const struct levels *levels, const uint64_t v[])
{
    uint64_t t[BLOCK_CELLS];
    unsigned n = 0, at = levels->at;
    for (unsigned i = 0; i < levels->n; i++) {
        if (levels->g) put_bits(block, at + levels->n + i * levels->g, levels->g, lowest(v[i], levels->g));
        t[n] = v[i] >> levels->g;
        if (t[n]) set_bit(block, at + i);
        n += t[n] > 0;
    }
    at += levels->n * (1 + levels->g);
    for (unsigned l = 1; n > 0; l++) {
        unsigned more = 0, w = width[l];
        for (unsigned r = 0; r < n; r++) {
            uint64_t left = (t[r] - 1) >> w;
            put_bits(block, at + n + r * w, w, lowest(t[r] - 1, w));
            if (left) set_bit(block, at + r);
            t[more] = left;
            more += left > 0;
        }
        at += n * (1 + w);
        n = more;
    }
    return at;
}
