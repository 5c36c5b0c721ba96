/* The code of block.h, a level at a time. Included by one file for each kind of CPU, which says:
 *
 *     KERNELS, KERNELS_NAME   what the table of functions is called, for the linker and for people
 *     SUPPORTED               whether this CPU can run them
 *
 * A block that changes is opened: what its maps and its digits of one bit say about cell i becomes bit i of a word, its
 * *plane*. To spread a level's entries over the cells that have one is one instruction for 64 cells, and so is the way
 * back; in between, adding 1 is a carry that goes from plane to plane. The longer digits, which few cells have, stay
 * where they are unless a carry gets there. */
#include "kernels.h"

#include <string.h>

#ifdef __BMI2__
#include <immintrin.h>
#endif

enum {
    BITS = 501,                /* of a block, without the head */
    G_MAX = 31,
    WORDS = BLOCK_CELLS / 64,
    LEVELS = 8,
    FLAT = 3,                  /* levels that have digits of one bit */
    PLANE = WORDS + 1,         /* words of a plane: */
    NOWHERE = BLOCK_CELLS      /* the cell of a row that is not there any more is in the last, which is never packed */
};

static const unsigned char width[LEVELS + 1] = {0, 1, 1, 1, 2, 4, 8, 16, 31}; /* of a digit on a level, from 1 on */
static const uint16_t cells_at[BLOCK_STEPS] = {320, 288, 256, 224, 208, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4};

/* ---- bits -------------------------------------------------------------------------------------------------------- */

static inline unsigned ones(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* The lowest bits of x, in order, to where mask has ones; and back. */
static inline uint64_t spread(uint64_t x, uint64_t mask)
{
#ifdef __BMI2__
    return _pdep_u64(x, mask);
#else
    uint64_t y = 0;
    for (; mask; mask &= mask - 1, x >>= 1) y |= (mask & -mask) & -(x & 1);
    return y;
#endif
}

static inline uint64_t gather(uint64_t x, uint64_t mask)
{
#ifdef __BMI2__
    return _pext_u64(x, mask);
#else
    uint64_t y = 0;
    for (unsigned i = 0; mask; mask &= mask - 1, i++) y |= (uint64_t)((x & mask & -mask) != 0) << i;
    return y;
#endif
}

/* The lowest n bits, n from 0 to 63; and all ones from 64 on. */
static inline uint64_t below(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* 64 bits from `at` on, at < 512. Those from bit 512 on are any, so that nothing need follow a block. */
static inline uint64_t window(const uint64_t word[8], unsigned at)
{
    return word[at / 64] >> at % 64 | word[(at / 64 + 1) % 8] << 1 << (63 - at % 64);
}

/* Puts bits where there are zeros; none of them may be beyond bit 511. */
static inline void put(uint64_t word[8], unsigned at, uint64_t x)
{
    word[at / 64] |= x << at % 64;
    word[(at / 64 + 1) % 8] |= x >> 1 >> (63 - at % 64);
}

static inline unsigned block_g(const struct block *b)
{
    return b->word[7] >> 58 & 31;
}

static inline bool block_signed(const struct block *b)
{
    return b->word[7] >> 63;
}

static inline uint64_t head(unsigned step, unsigned g, bool is_signed)
{
    return (uint64_t)step << 53 | (uint64_t)g << 58 | (uint64_t)is_signed << 63;
}

/* ---- a cell ------------------------------------------------------------------------------------------------------ */

static inline uint64_t to_code(int64_t v, bool is_signed)
{
    return is_signed ? (uint64_t)v << 1 ^ (uint64_t)(v >> 63) : (uint64_t)v;
}

static inline int64_t from_code(uint64_t v, bool is_signed)
{
    return is_signed ? (int64_t)(v >> 1 ^ -(v & 1)) : (int64_t)v;
}

/* Bits of a code beyond map 0 and the low g bits. A code reaches level l if its T is at least 1 + 2^w1 (1 + 2^w2 (1 + ...)):
 * these are the constants. No loop and no branch, so that the compiler can do several cells at once. */
static inline unsigned digit_bits(uint64_t t)
{
    return (unsigned)(2 * (t >= 1) + 2 * (t >= 3) + 2 * (t >= 7) + 3 * (t >= 15) + 5 * (t >= 47) + 9 * (t >= 559) +
                      17 * (t >= 131631) + 32 * (t >= UINT64_C(8590066223)));
}

/* Ones among the n bits from `at` on, and those before the bit `mine` of them. */
static inline unsigned rank(const struct block *b, unsigned at, unsigned n, unsigned mine, unsigned *before)
{
    unsigned sum = 0;
    *before = 0;
    for (unsigned i = 0; i < n; i += 64) {
        uint64_t map = window(b->word, at + i) & below(n - i);
        if (mine >= i) *before = sum + ones(map & (mine - i < 64 ? below(mine - i) : UINT64_MAX));
        sum += ones(map);
    }
    return sum;
}

static int64_t get(const struct block *b, unsigned cell)
{
    unsigned g = block_g(b), n = cells_at[block_step(b)], low_at = n + cell * g, at = 0, mine = cell, shift = 0;
    uint64_t t = 0;
    for (unsigned l = 0; b->word[(at + mine) / 64] >> (at + mine) % 64 & 1;) {
        unsigned before, next = rank(b, at, n, mine, &before);
        at += n * (1 + (l == 0 ? g : width[l]));
        n = next;
        mine = before;
        l++;
        t += (1 + (window(b->word, at + n + mine * width[l]) & below(width[l]))) << shift;
        shift += width[l];
    }
    return from_code(t << g | (window(b->word, low_at) & below(g)), block_signed(b));
}

static unsigned read_half(const struct block *b, unsigned which, const uint32_t hash[2], int64_t value[2],
                          uint32_t columns[2])
{
    unsigned n = 0, step = block_step(b);
    for (unsigned i = 0; i < 2; i++) {
        int cell = block_cell(step, which + 2 * i, hash[i]);
        if (cell < 0) continue;
        columns[n] = block_columns[step][which + 2 * i];
        value[n++] = get(b, (unsigned)cell);
    }
    return n;
}

/* ---- an open block ----------------------------------------------------------------------------------------------- */

struct open {
    struct block *block;           /* where low bits and long digits are changed in place */
    unsigned step, cells, g;
    bool is_signed;
    bool has_rest;
    unsigned tail_at;              /* where level 4 starts in the block */
    uint64_t map[FLAT + 1][PLANE]; /* bit i of map[l]: cell i has a digit on level l + 1; */
    uint64_t digit[FLAT][PLANE];   /* bit i of digit[l]: this one, or 0 */
    uint64_t rest[BLOCK_CELLS];    /* of the cells in map[FLAT], if has_rest: T as it is left after the flat levels */
};

static inline unsigned count_entries(const uint64_t map[PLANE])
{
    unsigned n = 0;
    for (unsigned i = 0; i < WORDS; i++) n += ones(map[i]);
    return n;
}

/* Opens level l + 1, at `at`; returns where it ends. */
static inline unsigned open_level(struct open *o, unsigned l, unsigned at)
{
    const uint64_t *has = o->map[l];
    unsigned n[WORDS], entries = 0;
    for (unsigned i = 0; i < WORDS; i++) entries += n[i] = ones(has[i]);
    if (entries <= 64) {
        uint64_t map = window(o->block->word, at), digit = window(o->block->word, at + entries);
        for (unsigned i = 0; i < WORDS; i++) {
            o->map[l + 1][i] = spread(map, has[i]);
            o->digit[l][i] = spread(digit, has[i]);
            map >>= n[i] % 64; /* if it is 64 there is nothing more to come */
            digit >>= n[i] % 64;
        }
    } else {
        for (unsigned i = 0, from = at; i < WORDS; from += n[i++]) {
            o->map[l + 1][i] = spread(window(o->block->word, from), has[i]);
            o->digit[l][i] = spread(window(o->block->word, from + entries), has[i]);
        }
    }
    return at + 2 * entries;
}

/* Bits of the levels after the flat ones. There are at most 501 / 9 entries on a level here, each cell having paid for
 * those before it. */
static inline unsigned tail_length(const uint64_t word[8], unsigned at, unsigned entries)
{
    unsigned start = at;
    for (unsigned l = FLAT + 1; l < FLAT + 4; l++) { /* no branch: most blocks end here, but not all at the same level */
        uint64_t map = window(word, at) & below(entries);
        at += entries * (1 + width[l]);
        entries = ones(map);
    }
    for (unsigned l = FLAT + 4; entries > 0; l++) {
        uint64_t map = window(word, at) & below(entries);
        at += entries * (1 + width[l]);
        entries = ones(map);
    }
    return at - start;
}

/* Bits of map 0 that are in word i. */
static inline uint64_t cells_in(unsigned cells, unsigned i)
{
    return cells > 64 * i ? below(cells - 64 * i) : 0;
}

static inline void open_block(struct block *b, struct open *o)
{
    o->block = b;
    o->step = block_step(b);
    o->cells = cells_at[o->step];
    o->g = block_g(b);
    o->is_signed = block_signed(b);
    o->has_rest = false;
    for (unsigned i = 0; i < WORDS; i++) o->map[0][i] = b->word[i] & cells_in(o->cells, i);
    unsigned at = o->cells * (1 + o->g);
    for (unsigned l = 0; l < FLAT; l++) at = open_level(o, l, at);
    o->tail_at = at;
    for (unsigned l = 0; l <= FLAT; l++) o->map[l][WORDS] = 0;
    for (unsigned l = 0; l < FLAT; l++) o->digit[l][WORDS] = 0;
}

/* The cells that go on after the flat levels; returns how many. */
static inline unsigned list_rest(const struct open *o, uint16_t cell[BLOCK_CELLS])
{
    unsigned n = 0;
    for (unsigned i = 0; i < WORDS; i++)
        for (uint64_t map = o->map[FLAT][i]; map; map &= map - 1)
            cell[n++] = (uint16_t)(64 * i + (unsigned)__builtin_ctzll(map));
    return n;
}

static void open_rest(struct open *o)
{
    uint16_t cell[BLOCK_CELLS];
    unsigned entries = list_rest(o, cell), at = o->tail_at, shift = 0;
    for (unsigned i = 0; i < entries; i++) o->rest[cell[i]] = 0;
    for (unsigned l = FLAT + 1; entries > 0; shift += width[l++]) {
        unsigned on = 0, digits = at + entries;
        uint64_t map = window(o->block->word, at);
        for (unsigned j = 0; j < entries; j++, map >>= 1) {
            o->rest[cell[j]] += (1 + (window(o->block->word, digits + j * width[l]) & below(width[l]))) << shift;
            cell[on] = cell[j];
            on += map & 1;
        }
        at = digits + entries * width[l];
        entries = on;
    }
    o->has_rest = true;
}

static inline bool goes_on(const struct open *o, unsigned cell)
{
    return o->map[FLAT][cell / 64] >> cell % 64 & 1;
}

/* T; the rest must be open if the cell has one. */
static inline uint64_t open_get(const struct open *o, unsigned cell)
{
    uint64_t t = 0;
    for (unsigned l = 0; l < FLAT; l++)
        t += ((o->map[l][cell / 64] >> cell % 64 & 1) + (o->digit[l][cell / 64] >> cell % 64 & 1)) << l;
    return goes_on(o, cell) ? t + (o->rest[cell] << FLAT) : t;
}

/* Sets the flat levels to T; returns what is left. With n levels, T is 2^n - 1 and their digits as a binary number. */
static inline uint64_t open_set_flat(struct open *o, unsigned cell, uint64_t t)
{
    unsigned i = cell / 64, s = cell % 64, n = (unsigned)((t >= 1) + (t >= 3) + (t >= 7));
    uint64_t u = t - below(n), bit = UINT64_C(1) << s;
    for (unsigned l = 0; l < FLAT; l++) {
        o->map[l][i] = (o->map[l][i] & ~bit) | (uint64_t)(l < n) << s;
        o->digit[l][i] = (o->digit[l][i] & ~bit) | (u >> l & 1) << s;
    }
    return u >> FLAT;
}

/* Sets T; the rest must be open. */
static inline void open_set(struct open *o, unsigned cell, uint64_t t)
{
    uint64_t bit = UINT64_C(1) << cell % 64, rest = open_set_flat(o, cell, t);
    o->map[FLAT][cell / 64] = (o->map[FLAT][cell / 64] & ~bit) | (rest > 0 ? bit : 0);
    if (rest > 0) o->rest[cell] = rest;
}

/* Adds to the rest of a cell that has one, in the block itself, if that takes no digit more. A rest with digits on n
 * levels is a constant and the digits as a binary number. */
static bool tail_add(struct open *o, unsigned cell, uint64_t count)
{
    uint64_t *word = o->block->word, sum = 0;
    unsigned at = o->tail_at, n = 0, mine = 0, bits = 0, levels = 0, digit_at[LEVELS];
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned below_cell = cell > 64 * i ? cell - 64 * i : 0;
        n += ones(o->map[FLAT][i]);
        mine += ones(o->map[FLAT][i] & below(below_cell));
    }
    for (uint64_t map, on = 1; on;) {
        unsigned w = width[FLAT + 1 + levels];
        map = window(word, at);
        digit_at[levels] = at + n + mine * w;
        sum += (window(word, digit_at[levels]) & below(w)) << bits;
        bits += w;
        levels++;
        at += n * (1 + w);
        on = map >> mine & 1;
        n = ones(map & below(n));
        mine = ones(map & below(mine));
    }
    uint64_t flip = sum ^ (sum + count);
    if (flip >> bits) return false;
    for (unsigned l = 0; l < levels; flip >>= width[FLAT + 1 + l], l++) {
        uint64_t x = flip & below(width[FLAT + 1 + l]);
        word[digit_at[l] / 64] ^= x << digit_at[l] % 64;
        word[(digit_at[l] / 64 + 1) % 8] ^= x >> 1 >> (63 - digit_at[l] % 64);
    }
    return true;
}

/* Adds to the rest of a cell. */
static void open_add_rest(struct open *o, unsigned cell, uint64_t count)
{
    if (cell == NOWHERE) return;
    if (!o->has_rest) {
        if (goes_on(o, cell) && tail_add(o, cell, count)) return;
        open_rest(o);
    }
    o->rest[cell] = count + (goes_on(o, cell) ? o->rest[cell] : 0);
    o->map[FLAT][cell / 64] |= UINT64_C(1) << cell % 64;
}

/* Adds 1 to T: where there is no digit comes a 0, a 0 becomes a 1, and a 1 a 0 with a carry to the next level. */
static inline void open_step(struct open *o, unsigned cell)
{
    unsigned i = cell / 64;
    uint64_t carry = UINT64_C(1) << cell % 64;
    for (unsigned l = 0; l < FLAT; l++) {
        uint64_t had = o->map[l][i] & carry;
        o->map[l][i] |= carry;
        carry = had & o->digit[l][i];
        o->digit[l][i] ^= had;
    }
    if (carry) open_add_rest(o, cell, 1);
}

/* Adds any number to T. */
static inline void open_steps(struct open *o, unsigned cell, uint64_t count)
{
    uint64_t t = 0; /* without the rest */
    for (unsigned l = 0; l < FLAT; l++)
        t += ((o->map[l][cell / 64] >> cell % 64 & 1) + (o->digit[l][cell / 64] >> cell % 64 & 1)) << l;
    uint64_t rest = open_set_flat(o, cell, t + count);
    if (rest > 0) open_add_rest(o, cell, rest);
}

static inline uint64_t low_get(const struct open *o, unsigned cell)
{
    return o->g > 0 ? window(o->block->word, o->cells + cell * o->g) & below(o->g) : 0;
}

static inline void low_set(struct open *o, unsigned cell, uint64_t low)
{
    unsigned at = o->cells + cell * o->g, i = at / 64, s = at % 64;
    uint64_t flip = low_get(o, cell) ^ low;
    o->block->word[i] ^= flip << s;
    if (s + o->g > 64) o->block->word[i + 1] ^= flip >> (64 - s);
}

/* Adds to a cell; false, and nothing changed, if it can not be done: the sum is negative and the block is not signed. */
static inline bool open_add(struct open *o, unsigned cell, int64_t count)
{
    if (cell == NOWHERE) return true;
    if (count >= 0 && !o->is_signed) {
        uint64_t sum = low_get(o, cell) + (uint64_t)count;
        if (o->g > 0) low_set(o, cell, sum & below(o->g));
        if (sum >> o->g > 0) open_steps(o, cell, sum >> o->g);
        return true;
    }
    if (!o->has_rest) open_rest(o);
    int64_t value = from_code(open_get(o, cell) << o->g | low_get(o, cell), o->is_signed) + count;
    if (value < 0 && !o->is_signed) return false;
    uint64_t code = to_code(value, o->is_signed);
    open_set(o, cell, code >> o->g);
    if (o->g > 0) low_set(o, cell, code & below(o->g));
    return true;
}

/* ---- and back ---------------------------------------------------------------------------------------------------- */

/* Writes level l + 1 to `at`; returns where it ends. */
static inline unsigned close_level(const struct open *o, unsigned l, unsigned at, unsigned entries)
{
    const uint64_t *has = o->map[l];
    uint64_t *word = o->block->word;
    if (entries <= 64) {
        uint64_t map = 0, digit = 0;
        for (unsigned i = 0, to = 0; i < WORDS; to += ones(has[i++])) {
            map |= gather(o->map[l + 1][i], has[i]) << to % 64;
            digit |= gather(o->digit[l][i], has[i]) << to % 64;
        }
        put(word, at, map);
        put(word, at + entries, digit);
    } else {
        for (unsigned i = 0, to = at; i < WORDS; to += ones(has[i++])) {
            put(word, to, gather(o->map[l + 1][i], has[i]));
            put(word, to + entries, gather(o->digit[l][i], has[i]));
        }
    }
    return at + 2 * entries;
}

/* Writes the levels after the flat ones. */
static void close_rest(struct open *o, unsigned at)
{
    uint16_t cell[BLOCK_CELLS];
    unsigned entries = list_rest(o, cell);
    for (unsigned l = FLAT + 1; entries > 0; l++) {
        unsigned on = 0, digits = at + entries;
        uint64_t map = 0;
        for (unsigned j = 0; j < entries; j++) {
            uint64_t rest = o->rest[cell[j]] - 1, next = rest >> width[l];
            put(o->block->word, digits + j * width[l], rest & below(width[l]));
            o->rest[cell[j]] = next;
            map |= (uint64_t)(next > 0) << j;
            cell[on] = cell[j];
            on += next > 0;
        }
        put(o->block->word, at, map);
        at = digits + entries * width[l];
        entries = on;
    }
}

static unsigned rest_length(const struct open *o)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < WORDS; i++)
        for (uint64_t map = o->map[FLAT][i]; map; map &= map - 1)
            bits += digit_bits((o->rest[64 * i + (unsigned)__builtin_ctzll(map)] << FLAT) + 7) - 2 * FLAT;
    return bits;
}

/* Map 0 and the low bits, which are there; nothing after them. */
static inline void close_low(const struct open *o)
{
    uint64_t *word = o->block->word;
    unsigned end = o->cells * (1 + o->g);
    if (o->g > 0) {
        for (unsigned i = 0; i < 8; i++) {
            uint64_t to = 64 * i < end ? below(end - 64 * i) : 0, from = 64 * i < o->cells ? below(o->cells - 64 * i) : 0;
            word[i] &= to & ~from;
        }
        for (unsigned i = 0; i < WORDS; i++) word[i] |= o->map[0][i];
    } else {
        for (unsigned i = 0; i < 8; i++) word[i] = i < WORDS ? o->map[0][i] : 0;
    }
    word[7] |= head(o->step, o->g, o->is_signed);
}

/* Packs what is open, if it fits with the g that it has. */
static inline bool close_block(struct open *o)
{
    uint64_t *word = o->block->word, tail[8];
    unsigned entries[FLAT], at = o->cells * (1 + o->g), length = at;
    unsigned tail_bits = o->has_rest ? rest_length(o) : tail_length(word, o->tail_at, count_entries(o->map[FLAT]));
    for (unsigned l = 0; l < FLAT; l++) length += 2 * (entries[l] = count_entries(o->map[l]));
    if (length + tail_bits > BITS) return false;
    tail[0] = window(word, o->tail_at) & below(tail_bits);
    for (unsigned i = 1; 64 * i < tail_bits && !o->has_rest; i++)
        tail[i] = window(word, o->tail_at + 64 * i) & below(tail_bits - 64 * i);
    close_low(o);
    for (unsigned l = 0; l < FLAT; l++) at = close_level(o, l, at, entries[l]);
    if (o->has_rest) {
        close_rest(o, at);
    } else {
        put(word, at, tail[0]);
        for (unsigned i = 1; 64 * i < tail_bits; i++) put(word, at + 64 * i, tail[i]);
    }
    return true;
}

/* ---- all values -------------------------------------------------------------------------------------------------- */

static void open_values(struct open *o, int64_t value[BLOCK_CELLS])
{
    if (!o->has_rest) open_rest(o);
    uint64_t code[BLOCK_CELLS];
    for (unsigned i = 0; i < o->cells; i++) code[i] = low_get(o, i);
    for (unsigned i = 0; i < WORDS; i++)
        for (uint64_t map = o->map[0][i]; map; map &= map - 1) {
            unsigned cell = 64 * i + (unsigned)__builtin_ctzll(map);
            code[cell] |= open_get(o, cell) << o->g;
        }
    for (unsigned i = 0; i < o->cells; i++) value[i] = from_code(code[i], o->is_signed);
}

static unsigned unpack(const struct block *b, int64_t value[BLOCK_CELLS])
{
    struct block copy = *b;
    struct open o;
    open_block(&copy, &o);
    open_values(&o, value);
    return o.cells;
}

/* The same for 0 <= t < 2^31, written so that it is compiled to vectors and not to branches: a difference that is below
 * zero, shifted by 31, is all ones. */
static inline int short_bits(int32_t t)
{
    return (2 & (0 - t) >> 31) + (2 & (2 - t) >> 31) + (2 & (6 - t) >> 31) + (3 & (14 - t) >> 31) +
           (5 & (46 - t) >> 31) + (9 & (558 - t) >> 31) + (17 & (131630 - t) >> 31);
}

/* The order g of the shortest code that fits, the least if there are several, and its length; above BITS if none does. */
static unsigned choose_order(const uint64_t code[], unsigned cells, unsigned *length)
{
    int32_t small[BLOCK_CELLS];
    uint64_t large[BLOCK_CELLS];
    unsigned best = 0, n = 0;
    for (unsigned i = 0; i < cells; i++) {
        bool is_large = code[i] > INT32_MAX;
        small[i] = is_large ? 0 : (int32_t)code[i];
        large[n] = code[i];
        n += is_large;
    }
    *length = BITS + 1;
    for (unsigned g = 0; g <= G_MAX && cells * (1 + g) < *length; g++) {
        unsigned bits = cells * (1 + g);
        int more = 0;
        for (unsigned i = 0; i < cells; i++) more += short_bits(small[i] >> g);
        for (unsigned i = 0; i < n; i++) bits += digit_bits(large[i] >> g);
        if (bits + (unsigned)more < *length) *length = bits + (unsigned)more, best = g;
    }
    return best;
}

/* Packs codes that fit. */
static void pack(struct block *b, const uint64_t code[], unsigned step, unsigned g, bool is_signed)
{
    struct open o;
    memset(&o, 0, offsetof(struct open, rest));
    memset(b, 0, sizeof *b);
    o.block = b, o.step = step, o.cells = cells_at[step], o.g = g, o.is_signed = is_signed, o.has_rest = true;
    for (unsigned i = 0; i < o.cells; i++) {
        if (code[i] >> g > 0) open_set(&o, i, code[i] >> g);
        if (g > 0) low_set(&o, i, code[i] & below(g));
    }
    close_block(&o);
}

static bool to_codes(const int64_t value[], unsigned cells, uint64_t code[])
{
    bool is_signed = false;
    for (unsigned i = 0; i < cells; i++) is_signed |= value[i] < 0;
    for (unsigned i = 0; i < cells; i++) code[i] = to_code(value[i], is_signed);
    return is_signed;
}

/* Folds the values from one step to the next. */
static void fold(int64_t value[], unsigned step)
{
    const uint8_t *from = block_columns[step], *to = block_columns[step + 1];
    int64_t *in = value, *out = value;
    for (unsigned k = 0; k < BLOCK_ROWS; in += from[k], out += to[k], k++)
        for (unsigned i = 0; i < to[k]; i++) out[i] = to[k] < from[k] ? in[i] + in[i + to[k]] : in[i];
}

/* Packs values of a step into the block, going as far down the ladder as it takes. */
static void pack_values(struct block *b, int64_t value[], unsigned step)
{
    for (;; step++) {
        uint64_t code[BLOCK_CELLS];
        bool is_signed = to_codes(value, cells_at[step], code);
        unsigned length, g = choose_order(code, cells_at[step], &length);
        if (length <= BITS) {
            pack(b, code, step, g, is_signed);
            return;
        }
        fold(value, step);
    }
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* Goes a step further where only the last of more than two rows changes, and there is no other way to fit: if g is 0 and
 * would be too large at 1, whatever the rest is. */
static bool open_fold(struct open *o)
{
    if (o->step >= 5 || o->g > 0 || o->is_signed) return false;
    unsigned more = 2 * o->cells, row = o->step < 2 ? 3 : 2, word = row + 1;
    for (unsigned i = 0; i < WORDS; i++) more += 2 * ones(o->digit[0][i] | o->map[1][i]); /* T is 2 at least */
    if (more <= BITS) return false;

    unsigned from = block_columns[o->step][row], to = block_columns[o->step + 1][row];
    if (!o->has_rest) open_rest(o);
    for (uint64_t map = o->map[0][word] & (below(from) - below(to)); map; map &= map - 1) {
        unsigned cell = 64 * word + (unsigned)__builtin_ctzll(map);
        if (to > 0) open_set(o, cell - to, open_get(o, cell - to) + open_get(o, cell));
        open_set(o, cell, 0);
    }
    o->step++;
    o->cells = cells_at[o->step];
    return true;
}

/* An open block, or plain integers from the first cell on that becomes negative. */
struct sum {
    struct open open;
    bool is_plain, is_simple; /* simple: to add 1 is open_step() */
    int64_t value[BLOCK_CELLS + 1];
};

static inline void sum_open(struct sum *s, struct block *b)
{
    open_block(b, &s->open);
    s->is_plain = false;
    s->is_simple = s->open.g == 0 && !s->open.is_signed;
}

static inline void sum_add(struct sum *s, unsigned cell, int64_t count)
{
    if (count == 1 && s->is_simple) {
        open_step(&s->open, cell);
        return;
    }
    if (!s->is_plain) {
        if (open_add(&s->open, cell, count)) return;
        open_values(&s->open, s->value);
        s->is_plain = true;
        s->is_simple = false;
    }
    s->value[cell] += count;
}

static inline void sum_close(struct sum *s)
{
    if (!s->is_plain) {
        do {
            if (close_block(&s->open)) return;
        } while (open_fold(&s->open));
        open_values(&s->open, s->value);
    }
    pack_values(s->open.block, s->value, s->open.step);
}

static void add(struct block *b, const unsigned row[2], const uint32_t hash[2], int64_t count)
{
    struct sum s;
    unsigned step = block_step(b);
    sum_open(&s, b);
    for (int i = 0; i < 2; i++) sum_add(&s, block_place(step, row[i], hash[i]), count);
    sum_close(&s);
}

static void add_notes(struct block *b, const uint64_t note[], size_t n)
{
    struct sum s;
    unsigned step = block_step(b);
    sum_open(&s, b);
    for (size_t i = 0; i < n; i++)
        for (unsigned j = 0; j < 2; j++)
            sum_add(&s, block_place(step, note_which(note[i]) + 2 * j, note_column(note[i], j)), note_count(note[i]));
    sum_close(&s);
}

static void add_all(struct block *into, const struct block *from, int sign)
{
    int64_t value[2][BLOCK_CELLS];
    const struct block *block[2] = {into, from};
    unsigned step = block_step(into) > block_step(from) ? block_step(into) : block_step(from);
    for (int j = 0; j < 2; j++) {
        unpack(block[j], value[j]);
        for (unsigned s = block_step(block[j]); s < step; s++) fold(value[j], s);
    }
    for (unsigned i = 0; i < cells_at[step]; i++) value[0][i] += sign * value[1][i];
    pack_values(into, value[0], step);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static struct block canonical(const struct block *b)
{
    if (2 * cells_at[block_step(b)] > BITS && !block_signed(b)) return *b; /* there is one way only */
    int64_t value[BLOCK_CELLS];
    struct block made;
    unpack(b, value);
    pack_values(&made, value, block_step(b));
    return made;
}

/* Whether all levels end within the block. */
static bool levels_end(const struct block *b)
{
    unsigned n = cells_at[block_step(b)], at = 0, none;
    for (unsigned l = 0; n > 0; l++) {
        unsigned size = n * (1 + (l == 0 ? block_g(b) : width[l]));
        if (at + size > BITS) return false;
        n = rank(b, at, n, 0, &none);
        at += size;
        if (l == LEVELS && n > 0) return false;
    }
    return true;
}

static bool valid(const struct block *b)
{
    if (block_step(b) >= BLOCK_STEPS || !levels_end(b)) return false;
    int64_t value[BLOCK_CELLS];
    uint64_t code[BLOCK_CELLS];
    unsigned cells = unpack(b, value), length;
    bool is_signed = to_codes(value, cells, code);
    unsigned g = choose_order(code, cells, &length);
    if (is_signed != block_signed(b) || g != block_g(b) || length > BITS) return false;
    struct block same;
    pack(&same, code, block_step(b), g, is_signed);
    return memcmp(&same, b, sizeof same) == 0;
}

static bool supported(void)
{
    return SUPPORTED;
}

const struct block_kernels KERNELS = {.name = KERNELS_NAME,
                                      .supported = supported,
                                      .get = get,
                                      .add = add,
                                      .add_all = add_all,
                                      .unpack = unpack,
                                      .canonical = canonical,
                                      .valid = valid,
                                      .read = read_half,
                                      .add_notes = add_notes};
