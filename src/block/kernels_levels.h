/* The level code of block.h: one integer found, changed or put between others, or all of them at once. Part of the body
 * that kernels_body.h is. */
#pragma once

#include "block/kernels_bits.h"
#include "block/kernels_many.h"

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

/* The least T that has a digit on level l: 1 + 2^w1 (1 + 2^w2 (1 + ...)). The digit is at bit after[l] of T less
 * that. */
static const uint64_t reach[LEVELS + 1] = {0, 1, 3, 7, 15, 47, 559, 131631, UINT64_C(8590066223)};
static const unsigned char after[LEVELS + 1] = {0, 0, 1, 2, 3, 5, 9, 17, 33};

/* Bits of the levels for a T. */
static inline unsigned digit_bits(uint64_t t)
{
    return (unsigned)(2 * (t >= 1) + 2 * (t >= 3) + 2 * (t >= 7) + 3 * (t >= 15) + 5 * (t >= 47) + 9 * (t >= 559) +
                      17 * (t >= 131631) + 32 * (t >= UINT64_C(8590066223)));
}

/* ---- counts and codes -------------------------------------------------------------------------------------------- */

static inline uint64_t to_code(int64_t v, unsigned signs)
{
    if (signs == SIGNS_BOTH) return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
    return signs == SIGNS_BELOW ? -(uint64_t)v : (uint64_t)v;
}

static inline int64_t from_code(uint64_t v, unsigned signs)
{
    if (signs == SIGNS_BOTH) return (int64_t)(v >> 1 ^ -(v & 1));
    return (int64_t)(signs == SIGNS_BELOW ? -v : v);
}

/* The cells of a block that has rows. */
static inline struct levels cells_of(const struct block *block)
{
    return (struct levels){BLOCK_HEAD, step_cells(block_step(block)), block_g(block)};
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

/* Integer i: its low bits, and of T a digit of each level. The map of a level from the second on is mostly seen at
 * once. */
static inline __attribute__((always_inline)) uint64_t levels_get(const struct block *block, const struct levels *levels,
                                                                 unsigned i)
{
    unsigned at = levels->at, n = levels->n, w = levels->g;
    uint64_t low = lowest(peek(block, at + n + i * w), w), t = 0;
    if (!get_bit(block, at + i)) return low;
    struct ranked ranked = n <= AT_ONCE ? rank_near(peek(block, at), n, i) : rank_far(block, at, n, i);
#pragma GCC unroll 8 /* with widths that are constants */
    for (unsigned l = 1; l <= LEVELS; l++) {
        at += n * (1 + w);
        w = width[l];
        n = ranked.all;
        i = ranked.before;
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

static inline unsigned levels_size(const uint64_t v[], unsigned n, unsigned g)
{
    unsigned sum = n * (1 + g);
    for (unsigned l = 1; l <= LEVELS && reach[l] << g >> g == reach[l]; l++) {
        unsigned more = many_count(v, n, reach[l] << g);
        if (more == 0) break;
        sum += more * (1 + width[l]);
    }
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

/* Adds the digits of level l, w bits wide from bit `at` on, of those of 64 integers that have one there. */
static inline void add_digits(const struct block *block, unsigned at, unsigned w, uint64_t where, unsigned shift,
                              uint64_t v[])
{
    if (w == 1) {
        many_add(v, where, UINT64_C(1) << shift);
        many_add(v, spread_bits(get_bits(block, at, ones(where)), where), UINT64_C(1) << shift);
        return;
    }
    for (; where; where &= where - 1, at += w) v[__builtin_ctzll(where)] += (1 + get_bits(block, at, w)) << shift;
}

static void levels_decode(const struct block *block, const struct levels *levels, uint64_t v[])
{
    uint64_t map[BLOCK_CELLS / MANY]; /* of all integers: which of them have a digit on the level */
    unsigned n = levels->n, at = levels->at, words = many_words(n), more = 0;
    for (unsigned i = 0; i < words; i++) {
        map[i] = get_bits(block, at + MANY * i, n - MANY * i < MANY ? n - MANY * i : MANY);
        more += ones(map[i]);
    }
    if (levels->g) get_fields(block, at + n, levels->g, n, v);
    unsigned filled = levels->g ? n : 0;
    memset(v + filled, 0, (words * MANY - filled) * sizeof *v);
    at += n * (1 + levels->g);
    for (unsigned l = 1, shift = levels->g; more > 0; shift += width[l++]) {
        unsigned w = width[l], digits = at + more;
        n = more;
        more = 0;
        for (unsigned i = 0, rank = 0; rank < n; i++) {
            unsigned here = ones(map[i]);
            add_digits(block, digits + rank * w, w, map[i], shift, v + MANY * i);
            map[i] = spread_bits(get_bits(block, at + rank, here), map[i]);
            rank += here;
            more += ones(map[i]);
        }
        at += n * (1 + w);
    }
}

/* Writes the digits of level l of those of 64 integers that have one there. */
static inline void write_digits(struct draft *draft, unsigned at, unsigned l, uint64_t where, const uint64_t t[])
{
    if (width[l] == 1) {
        draft_bits(draft, at, gather_bits(many_bit(t, reach[l], after[l]), where));
        return;
    }
    for (; where; where &= where - 1, at += width[l])
        draft_bits(draft, at, lowest((t[__builtin_ctzll(where)] - reach[l]) >> after[l], width[l]));
}

static void levels_encode(struct draft *draft, const struct levels *levels, const uint64_t v[])
{
    uint64_t t[BLOCK_CELLS], map[BLOCK_CELLS / MANY];
    unsigned n = levels->n, words = many_words(n), at = levels->at, more = 0;
    struct pen pen = pen_at(draft, at + n);
    if (levels->g) pen_fields(&pen, v, n, 64 - levels->g, levels->g);
    pen_lift(&pen);
    for (unsigned i = 0; i < words * MANY; i++) t[i] = v[i] >> levels->g;
    for (unsigned i = 0; i < words; i++) {
        map[i] = many_reach(t + MANY * i, 1);
        draft_bits(draft, at + MANY * i, map[i]);
        more += ones(map[i]);
    }
    at += n * (1 + levels->g);
    for (unsigned l = 1; more > 0; l++) {
        unsigned w = width[l], digits = at + more;
        n = more;
        more = 0;
        for (unsigned i = 0, rank = 0; rank < n; i++) {
            uint64_t here = map[i];
            write_digits(draft, digits + rank * w, l, here, t + MANY * i);
            map[i] = l < LEVELS ? many_reach(t + MANY * i, reach[l + 1]) : 0;
            draft_bits(draft, at + rank, gather_bits(map[i], here));
            rank += ones(here);
            more += ones(map[i]);
        }
        at += n * (1 + w);
    }
}
