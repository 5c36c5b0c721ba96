/* Addition where the bits are. What is added to a cell flips digits that it has. If the carry leaves them, the cell
 * gets one on the next level: its bit in the map before is flipped, and two gaps are opened, for its entry there and
 * its digit. So a block need not be opened for one item, unless it is full. Part of the body that kernels_block.h is.
 *
 * How far a carry goes can not be foreseen, so there are few branches on it. */
#pragma once

#include "block/kernels_read.h"

/* Where `cells` or more than that is a constant only so. */
#define INLINED static inline __attribute__((always_inline))

static const unsigned char bits_to[LEVELS + 1] = {0, 1, 2, 3, 5, 9, 17, 33, 64}; /* of the digits up to a level */

/* Two cells, in their order, on their way through the levels. Level l starts at[l] and has entries[l]; level 0 is
 * map 0. */
struct way {
    unsigned at[LEVELS + 2], entries[LEVELS + 2];
    unsigned mine[2][LEVELS + 2]; /* which of them a cell has, or would have */
    unsigned levels[2];           /* so many it has been seen on, */
    uint64_t on[2];               /* 1 if there are more; */
    uint64_t digits[2];           /* its digits there, as a binary number */
};

static inline unsigned way_at(const struct way *way, int j, unsigned l)
{
    return way->at[l] + way->entries[l] + way->mine[j][l] * width[l];
}

/* Takes the digit on level l, whose map has `goes` at its entry, and goes on to its place on the next. */
static inline void way_digit(const uint64_t word[8], unsigned l, struct way *way, int j, uint64_t goes, unsigned next)
{
    uint64_t digit = bit_at(word, way_at(way, j, l));
    way->levels[j] += (unsigned)way->on[j];
    way->digits[j] |= (digit & way->on[j]) << (l - 1);
    way->on[j] &= goes;
    way->mine[j][l + 1] = next;
}

/* The flat levels of the first `cells` of them; false if a level has more entries than are looked at here. */
INLINED bool way_flat(const struct block *b, const unsigned cell[2], const int cells, struct way *way)
{
    const uint64_t *word = b->word;
    unsigned step = block_step(b), before[WORDS], n = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        before[i] = n;
        n += ones(word[i] & in_map[step][i]);
    }
    if (n > 128) return false;
    way->at[0] = 0;
    for (int j = 0; j < cells; j++) {
        uint64_t own = word[cell[j] / 64];
        way->on[j] = own >> cell[j] % 64 & 1;
        way->mine[j][0] = cell[j];
        way->mine[j][1] = before[cell[j] / 64] + ones(lowest(own, cell[j] % 64));
        way->levels[j] = 0;
        way->digits[j] = 0;
    }
    unsigned at = cells_at[step] * (1 + block_g(b));
    uint64_t map[2] = {window(word, at), window(word, (at + 64) % 512)};
    way->at[1] = at, way->entries[1] = n;
    for (int j = 0; j < cells; j++) {
        unsigned mine = way->mine[j][1];
        way_digit(word, 1, way, j, bit_at(word, at + mine), ones_in(map, mine));
    }
    at += 2 * n;
    n = ones_in(map, n);
    if (n > 64) return false;
    for (unsigned l = 2; l <= FLAT; l++) {
        map[0] = window(word, at);
        way->at[l] = at, way->entries[l] = n;
        for (int j = 0; j < cells; j++) {
            unsigned mine = way->mine[j][l];
            way_digit(word, l, way, j, map[0] >> mine % 64, ones(lowest(map[0], mine)));
        }
        at += 2 * n;
        n = ones(lowest(map[0], n));
    }
    way->at[FLAT + 1] = at, way->entries[FLAT + 1] = n;
    return true;
}

/* The levels after those, to the last; returns where it ends. */
static inline unsigned way_rest(const uint64_t word[8], int cells, struct way *way)
{
    unsigned l = FLAT + 1, at = way->at[l], n = way->entries[l];
    for (; n > 0; l++) {
        uint64_t map = window(word, at);
        for (int j = 0; j < cells; j++) {
            uint64_t on = way->on[j], digit = window(word, way_at(way, j, l) % 512) & below(width[l]) & -on;
            unsigned mine = way->mine[j][l] % 64;
            way->levels[j] += (unsigned)on;
            way->digits[j] |= digit << bits_to[l - 1];
            way->on[j] = on & map >> mine;
            way->mine[j][l + 1] = ones(lowest(map, mine));
        }
        at += n * (1 + width[l]);
        n = ones(lowest(map, n));
        way->at[l + 1] = at, way->entries[l + 1] = n;
    }
    return at;
}

/* Bits from `at` on move up by n, 0 < n < 64; what comes between is 0. */
static inline void open_gap(uint64_t word[8], unsigned at, unsigned n)
{
    uint64_t before = 0; /* what moves of the word before */
    for (unsigned i = 0; i < 8; i++) {
        uint64_t stays = at > 64 * i ? below(at - 64 * i) : 0, moves = word[i] & ~stays;
        word[i] = (word[i] & stays) | moves << n | before >> (64 - n);
        before = moves;
    }
}

/* Gives a cell, which is on the levels below l, its digit there. */
static inline void way_grow(uint64_t word[8], struct way *way, int j, unsigned l, uint64_t digit)
{
    unsigned at = way_at(way, j, l);
    open_gap(word, at, width[l]);
    flip(word, at, digit);
    open_gap(word, way->at[l] + way->mine[j][l], 1);
    way->entries[l]++;
}

/* Adds to T, whatever levels that takes. */
static __attribute__((noinline)) bool way_add(struct block *b, int cells, struct way *way, const uint64_t count[2])
{
    uint64_t *word = b->word, sum[2];
    unsigned length = way_rest(word, cells, way), grows[2] = {0}; /* to this level */
    for (int j = 0; j < cells; j++) {
        unsigned l = way->levels[j];
        uint64_t most = below(bits_to[l]);
        sum[j] = way->digits[j] + count[j];
        bool over = sum[j] > most;
        grows[j] = over ? l + 1 : 0;
        sum[j] -= over ? most + 1 : 0;
        length += over ? 1u + width[l + 1] : 0;
        if (sum[j] > below(bits_to[l + over])) return false;
    }
    if (length > BITS) return false;
    uint64_t top = word[7] & ~below(BITS % 64);
    word[7] ^= top;
    for (int j = 0; j < cells; j++) {
        unsigned levels = way->levels[j];
        uint64_t change = (way->digits[j] ^ sum[j]) & below(bits_to[levels]);
        for (unsigned l = 1; change > 0; change >>= width[l++]) flip(word, way_at(way, j, l), change & below(width[l]));
        flip(word, way->at[levels] + way->mine[j][levels], grows[j] > 0);
    }
    int last = grows[0] <= grows[1]; /* is done first: so what comes before stays where it is */
    for (int i = 0, j = last; i < 2 && grows[j] > 0; i++, j = !j)
        way_grow(word, way, j, grows[j], sum[j] >> bits_to[grows[j] - 1]);
    word[7] |= top;
    return true;
}

/* Adds to T of the first `cells` of them. */
INLINED bool add_digits(struct block *b, const unsigned cell[2], const int cells, const uint64_t count[2])
{
    uint64_t sum[2], over = 0;
    struct way way;
    if (!way_flat(b, cell, cells, &way)) return false;
    for (int j = 0; j < cells; j++) {
        sum[j] = way.digits[j] + count[j];
        over |= sum[j] >> way.levels[j];
    }
    if (over) return way_add(b, cells, &way, count);
    for (int j = 0; j < cells; j++)
        for (unsigned l = 1; l <= FLAT; l++) {
            unsigned at = way_at(&way, j, l);
            b->word[at / 64] ^= ((way.digits[j] ^ sum[j]) >> (l - 1) & 1) << at % 64;
        }
    return true;
}

/* Adds to two cells, count >= 0; false, and nothing changed, where the block has to be opened. */
INLINED bool add_there(struct block *b, const unsigned cell[2], uint64_t count)
{
    uint64_t *word = b->word, low[2], more[2] = {count, count};
    unsigned g = block_g(b), from = cells_at[block_step(b)];
    int cells = 1 + (cell[1] != NOWHERE);
    if (block_signed(b) || cell[0] == NOWHERE) return false;
    for (int j = 0; j < cells && g > 0; j++) {
        uint64_t was = window(word, from + cell[j] * g) & below(g);
        more[j] = (was + count) >> g;
        low[j] = was ^ ((was + count) & below(g));
    }
    if ((more[0] | more[cells - 1]) > 0 && !(cells == 2 ? add_digits(b, cell, 2, more) : add_digits(b, cell, 1, more)))
        return false;
    for (int j = 0; j < cells && g > 0; j++) flip(word, from + cell[j] * g, low[j]);
    return true;
}
