/* The level code of block.h: one integer found, changed or put between others, or all of them at once. Part of the body
 * that kernels_body.h is. */
#pragma once

#include "block/kernels_fields.h"
#include "block/kernels_many.h"
#include "block/levels.h"

/* Room for the integers of a block, a multiple of MANY. */
enum { LEVELS_ROOM = (BLOCK_ENTRIES + MANY - 1) / MANY * MANY };

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

/* ---- one integer ------------------------------------------------------------------------------------------------- */

/* Its way through the levels: where a level begins, how many have a digit there, and which of them it is; level 0 are
 * the integers themselves. It has digits on levels 1 to depth. */
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
    unsigned at = way->start[l], n = way->count[l], i = way->rank[l];
    struct ranked ranked = l > 1 && n <= 64 ? rank_near(get_bits(block, at, n), n, i) : rank_in(block, at, n, i);
    way->start[l + 1] = next_level(levels, l, way->start[l], way->count[l]);
    way->rank[l + 1] = ranked.before;
    way->count[l + 1] = ranked.all;
}

static __attribute__((noinline)) struct ranked rank_apart(const struct block *block, unsigned at, unsigned n,
                                                          unsigned rank)
{
    return rank_far(block, at, n, rank);
}

/* Integer i: its low bits, and of T a digit of each level; and its way. The map of a level from the second on is mostly
 * seen at once. */
static inline __attribute__((always_inline)) uint64_t levels_get(const struct block *block, const struct levels *levels,
                                                                 unsigned i, struct way *way)
{
    unsigned at = levels->at, n = levels->n, w = levels->g;
    uint64_t low = lowest(peek(block, at + n + i * w), w), t = 0;
    way->depth = 0;
    way->start[0] = at;
    way->count[0] = n;
    way->rank[0] = i;
    if (!get_bit(block, at + i)) return low;
    struct ranked ranked = n <= AT_ONCE ? rank_near(peek(block, at), n, i) : rank_far(block, at, n, i);
#pragma GCC unroll 8 /* with widths that are constants */
    for (unsigned l = 1; l <= LEVELS; l++) {
        at += n * (1 + w);
        w = width[l];
        n = ranked.all;
        i = ranked.before;
        way->depth = l;
        way->start[l] = at;
        way->count[l] = n;
        way->rank[l] = i;
        t += (1 + lowest(peek(block, at + n + i * w), w)) << after[l];
        if (l > 1 && n <= AT_ONCE) {
            uint64_t map = peek(block, at);
            if (!(map >> i & 1)) break;
            ranked = rank_near(map, n, i);
        } else {
            if (!get_bit(block, at + i)) break;
            ranked = l > 1 ? rank_apart(block, at, n, i) : rank_in(block, at, n, i);
        }
    }
    return low + (t << levels->g);
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

/* An addition to an integer. It ends where nothing is carried to the next level; that is soon, mostly, and the levels
 * behind need not be looked at. What is carried beyond the last of its digits is the T of the levels that are to
 * follow. */
struct rise {
    struct way way; /* as far as something is carried */
    unsigned at[LEVELS + 1];
    uint64_t digit[LEVELS + 1];
    uint64_t left;
    unsigned extra; /* bits that it takes more */
};

static inline __attribute__((always_inline)) void rise_plan(const struct block *block, const struct levels *levels,
                                                            unsigned i, uint64_t count, struct rise *rise)
{
    struct way *way = &rise->way;
    way->start[0] = levels->at;
    way->count[0] = levels->n;
    way->rank[0] = i;
    unsigned l = 0, w = levels->g;
    for (rise->at[0] = levels->at + levels->n + i * w;; w = width[l]) {
        uint64_t sum = get_bits(block, rise->at[l], w) + count;
        rise->digit[l] = lowest(sum, w);
        count = sum >> w;
        if (count == 0 || !get_bit(block, way->start[l] + way->rank[l])) break;
        way_on(block, levels, way, l++);
        rise->at[l] = way->start[l] + way->count[l] + way->rank[l] * width[l];
    }
    way->depth = l;
    rise->left = count;
    rise->extra = 0;
    for (; count > 0; count = (count - 1) >> width[l]) rise->extra += 1u + width[++l];
}

/* The most frequent case: nothing is carried beyond the low bits. */
static inline bool rise_low(struct block *block, const struct levels *levels, unsigned i, uint64_t count)
{
    unsigned at = levels->at + levels->n + i * levels->g;
    uint64_t low = get_bits(block, at, levels->g);
    if ((low + count) >> levels->g || low + count < count) return false;
    put_bits(block, at, levels->g, low + count);
    return true;
}

static inline void rise_apply(struct block *block, const struct levels *levels, struct rise *rise)
{
    for (unsigned l = levels->g ? 0 : 1; l <= rise->way.depth; l++)
        put_bits(block, rise->at[l], l ? width[l] : levels->g, rise->digit[l]);
    if (rise->left > 0) grow_levels(block, levels, &rise->way, rise->left);
}

/* Where its way is known, and what it was: makes an integer v, which is more, if that takes at most so many bits more.
 * */
static inline bool levels_raise(struct block *block, const struct levels *levels, struct way *way, uint64_t before,
                                uint64_t v, unsigned room)
{
    uint64_t t = v >> levels->g;
    if (digit_bits(t) - digit_bits(before >> levels->g) > room) return false;
    if (levels->g) put_bits(block, levels->at + levels->n + way->rank[0] * levels->g, levels->g, lowest(v, levels->g));
    for (unsigned l = 1; l <= way->depth; t = (t - 1) >> width[l++])
        put_bits(block, way->start[l] + way->count[l] + way->rank[l] * width[l], width[l], lowest(t - 1, width[l]));
    if (t > 0) grow_levels(block, levels, way, t);
    return true;
}

/* Makes integer i, whose bit of the map is there, but nothing else, v. There is room for it. */
static inline void levels_fill(struct block *block, const struct levels *levels, unsigned i, uint64_t v)
{
    if (levels->g) {
        unsigned low = levels->at + levels->n + i * levels->g;
        insert_bits(block, low, levels_end(block), levels->g, lowest(v, levels->g));
        add_used(block, levels->g);
    }
    struct way way = {.start = {levels->at}, .count = {levels->n}, .rank = {i}};
    if (v >> levels->g) grow_levels(block, levels, &way, v >> levels->g);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

/* Arrays of them have room for a multiple of MANY, and zeros behind the last one. */
static inline unsigned many_words(unsigned n)
{
    return (n + MANY - 1) / MANY;
}

/* n and some of those zeros, so that vectors are full; or whatever is behind, where it does not matter. */
static inline unsigned many_some(unsigned n)
{
    return (n + 15) / 16 * 16;
}

/* Bits of the levels of n integers below 2^16, or of T that stand for something that is not less, up to level 6. */
static inline unsigned near_size(const uint16_t v[], unsigned n, unsigned g)
{
    uint16_t sum = 0, least[7], more[7];
    for (unsigned l = 1; l <= 6; l++) {
        bool near = reach[l] << g <= UINT16_MAX;
        least[l] = (uint16_t)(near ? reach[l] << g : 0);
        more[l] = (uint16_t)(near ? 1 + width[l] : 0);
    }
    for (unsigned i = 0; i < many_some(n); i++) {
        uint16_t bits = 0;
#pragma GCC unroll 6
        for (unsigned l = 1; l <= 6; l++) bits = (uint16_t)(bits + (v[i] >= least[l] ? more[l] : 0));
        sum = (uint16_t)(sum + bits);
    }
    return sum; /* of at most 23 bits each */
}

/* Bits of the levels from the 7th on, which no T below 2^16 has. */
static unsigned far_size(const uint64_t v[], unsigned n, unsigned g, uint64_t any)
{
    unsigned sum = 0;
    for (unsigned l = 7; l <= LEVELS && any >> g >= reach[l]; l++) {
        unsigned more = 0;
        for (unsigned i = 0; i < n; i++) more += v[i] >> g >= reach[l];
        sum += more * (1u + width[l]);
    }
    return sum;
}

/* The T of a g, as far as 16 bits go. Returns the bits that any of the integers has. */
static uint64_t narrow(const uint64_t v[], unsigned n, unsigned g, uint16_t t[])
{
    uint64_t any = 0;
    for (unsigned i = 0; i < many_some(n); i++) {
        t[i] = (uint16_t)(v[i] >> g < UINT16_MAX ? v[i] >> g : UINT16_MAX);
        any |= v[i];
    }
    return any;
}

/* The least g of those that take the fewest bits, and these. */
static unsigned levels_best(const uint64_t v[], unsigned n, unsigned *best_g)
{
    uint16_t t[LEVELS_ROOM];
    const uint64_t any = narrow(v, n, 0, t);
    const bool small = any <= UINT16_MAX;
    unsigned best = UINT32_MAX;
    *best_g = 0;
    for (unsigned g = 0; g <= BLOCK_G_MAX && n * (1 + g) < best; g++) {
        if (!small && g > 0) narrow(v, n, g, t);
        unsigned size = n * (1 + g) + near_size(t, n, small ? g : 0) + far_size(v, n, g, any);
        if (size >= best) continue;
        best = size;
        *best_g = g;
    }
    return best;
}

/* Digits on levels 1 to NEAR have one bit; there they are many, and beyond few. What an integer's T comes to on these
 * levels is in 8 bits. */
enum { NEAR = 3 };

/* Of those of 64 integers that have a digit on level l, w bits wide from bit `at` on: adds it. */
static inline void add_digits(const struct block *block, unsigned at, unsigned l, uint64_t where, unsigned g,
                              uint64_t v[])
{
    for (; where; where &= where - 1, at += width[l])
        v[__builtin_ctzll(where)] += (1 + get_bits(block, at, width[l])) << after[l] << g;
}

/* To the low bits those that levels 1 to NEAR tell. */
static inline void add_near(const uint8_t t[], unsigned n, unsigned g, uint64_t v[])
{
    if (g == 0)
        for (unsigned i = 0; i < many_some(n); i++) v[i] = t[i];
    else
        for (unsigned i = 0; i < many_some(n); i++) v[i] += (uint64_t)t[i] << g;
}

/* A level of all integers as it is gone through: where it begins, and how many have a digit there: those of the map. */
struct level {
    unsigned at, n;
    uint64_t map[LEVELS_ROOM / MANY];
};

/* Adds the digits of level l to t, or to v where they are few, and goes to the next level. */
static inline void decode_level(const struct block *block, unsigned l, unsigned g, struct level *level, uint8_t t[],
                                uint64_t v[])
{
    const unsigned w = width[l], at = level->at, digits = at + level->n;
    unsigned more = 0;
    for (unsigned i = 0, rank = 0; rank < level->n; i++) {
        uint64_t where = level->map[i];
        unsigned here = ones(where), digit = digits + rank * w;
        if (l <= NEAR) {
            many_add(t + MANY * i, where, 1u << after[l]);
            many_add(t + MANY * i, spread_bits(get_bits(block, digit, here), where), 1u << after[l]);
        } else add_digits(block, digit, l, where, g, v + MANY * i);
        level->map[i] = spread_bits(get_bits(block, at + rank, here), where);
        rank += here;
        more += ones(level->map[i]);
    }
    level->at = digits + level->n * w;
    level->n = more;
}

static void levels_decode(const struct block *block, const struct levels *levels, uint64_t v[])
{
    uint8_t t[LEVELS_ROOM];
    const unsigned n = levels->n, at = levels->at, g = levels->g;
    struct level level = {.at = at + n * (1 + g)};
    unsigned l = 1;
    for (unsigned i = 0; MANY * i < n; i++) {
        level.map[i] = get_bits(block, at + MANY * i, n - MANY * i < MANY ? n - MANY * i : MANY);
        level.n += ones(level.map[i]);
        memset(t + MANY * i, 0, MANY);
    }
    if (g) get_fields(block, at + n, g, n, 0, v);
    for (; l <= NEAR && level.n > 0; l++) decode_level(block, l, g, &level, t, v);
    add_near(t, n, g, v);
    for (; level.n > 0; l++) decode_level(block, l, g, &level, t, v);
}

/* Writes the digits of level l, beyond NEAR, of those of 64 integers that have one there. Returns who goes on. */
static inline uint64_t write_digits(struct draft *draft, unsigned at, unsigned l, uint64_t where, unsigned g,
                                    const uint64_t v[])
{
    uint64_t more = 0;
    for (; where; where &= where - 1, at += width[l]) {
        uint64_t t = v[__builtin_ctzll(where)] >> g;
        draft_bits(draft, at, lowest((t - reach[l]) >> after[l], width[l]));
        more |= l < LEVELS && t >= reach[l + 1] ? where & -where : 0;
    }
    return more;
}

static inline void encode_level(struct draft *draft, unsigned l, unsigned g, struct level *level, const uint8_t t[],
                                const uint64_t v[])
{
    const unsigned w = width[l], at = level->at, digits = at + level->n;
    unsigned more = 0;
    for (unsigned i = 0, rank = 0; rank < level->n; i++) {
        uint64_t where = level->map[i];
        unsigned digit = digits + rank * w;
        if (l <= NEAR) {
            draft_bits(draft, digit, gather_bits(many_bit(t + MANY * i, (unsigned)reach[l], after[l]), where));
            level->map[i] = many_reach(t + MANY * i, (unsigned)reach[l + 1]);
        } else level->map[i] = write_digits(draft, digit, l, where, g, v + MANY * i);
        draft_bits(draft, at + rank, gather_bits(level->map[i], where));
        rank += ones(where);
        more += ones(level->map[i]);
    }
    level->at = digits + level->n * w;
    level->n = more;
}

/* Returns where they end. */
static unsigned levels_encode(struct draft *draft, const struct levels *levels, const uint64_t v[])
{
    uint8_t t[LEVELS_ROOM];
    const unsigned n = levels->n, at = levels->at, g = levels->g;
    struct level level = {.at = at + n * (1 + g)};
    unsigned l = 1;
    if (g) put_fields(draft, at + n, v, n, 64 - g, g);
    memset(t, 0, many_words(n) * MANY);
    for (unsigned i = 0; i < many_some(n); i++) {
        uint64_t all = v[i] >> g, cut = 128 | (all & 7); /* which keeps the bits of the digits, and is in their reach */
        t[i] = (uint8_t)(all < cut ? all : cut);
    }
    for (unsigned i = 0; MANY * i < n; i++) {
        level.map[i] = many_reach(t + MANY * i, 1);
        draft_bits(draft, at + MANY * i, level.map[i]);
        level.n += ones(level.map[i]);
    }
    for (; l <= NEAR && level.n > 0; l++) encode_level(draft, l, g, &level, t, v);
    for (; level.n > 0; l++) encode_level(draft, l, g, &level, t, v);
    return level.at;
}
