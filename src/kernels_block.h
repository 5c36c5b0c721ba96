/* The code of block.h, a level at a time. Included by one file for each kind of CPU, which says:
 *
 *     KERNELS, KERNELS_NAME   what the table of functions is called, for the linker and for people
 *     SUPPORTED               whether this CPU can run them
 *
 * A block that changes is opened. Levels 1 to 3, whose digits are single bits, become words that have a bit for each
 * entry of level 1: to spread the entries of a level over those that it continues is one instruction, and so is the way
 * back. In between, a cell is found by counting the ones before it in map 0, and adding 1 is a carry that goes from word
 * to word. The longer digits, which few cells have, stay where they are unless one more is needed. */
#include "kernels.h"

#include <string.h>

#ifdef __BMI2__
#include <immintrin.h>
#endif

enum {
    BITS = 501, /* of a block, without the head */
    G_MAX = 31,
    WORDS = BLOCK_CELLS / 64, /* that map 0 can take */
    LEVELS = 8,
    FLAT = 3, /* levels that have digits of one bit */
    NOWHERE = BLOCK_CELLS /* the cell of a row that is not there any more */
};

static const unsigned char width[LEVELS + 1] = {0, 1, 1, 1, 2, 4, 8, 16, 31}; /* of a digit on a level, from 1 on */
static const uint16_t cells_at[BLOCK_STEPS] = {320, 288, 256, 224, 208, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4};

/* Which bits of a block's words are map 0. */
#define BELOW(n) ((n) >= 64 ? UINT64_MAX : (n) <= 0 ? 0 : (UINT64_C(1) << ((n) & 63)) - 1)
#define MAP_OF(n) {BELOW(n), BELOW(n - 64), BELOW(n - 128), BELOW(n - 192), BELOW(n - 256)}
static const uint64_t in_map[BLOCK_STEPS][WORDS] = {
    MAP_OF(320), MAP_OF(288), MAP_OF(256), MAP_OF(224), MAP_OF(208), MAP_OF(192), MAP_OF(128), MAP_OF(96), MAP_OF(64),
    MAP_OF(48),  MAP_OF(32),  MAP_OF(24),  MAP_OF(16),  MAP_OF(12),  MAP_OF(8),   MAP_OF(6),   MAP_OF(4)};

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

/* The lowest n bits; all of them from 64 on. */
static inline uint64_t below(unsigned n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* The lowest n bits of x, n < 256. */
static inline uint64_t lowest(uint64_t x, unsigned n)
{
#ifdef __BMI2__
    return _bzhi_u64(x, n);
#else
    return x & below(n);
#endif
}

static inline uint64_t bit_at(const uint64_t word[8], unsigned at)
{
    return word[at / 64] >> at % 64 & 1;
}

/* 64 bits from `at` on, at < 512. Those from bit 512 on are any, so that nothing need follow a block. */
static inline uint64_t window(const uint64_t word[8], unsigned at)
{
    return word[at / 64] >> at % 64 | word[(at / 64 + 1) % 8] << 1 << (63 - at % 64);
}

/* Exchanges bits for their opposites; none of them may be beyond bit 511. */
static inline void flip(uint64_t word[8], unsigned at, uint64_t x)
{
    word[at / 64] ^= x << at % 64;
    word[(at / 64 + 1) % 8] ^= x >> 1 >> (63 - at % 64);
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

static inline uint64_t to_code(int64_t v, bool is_signed)
{
    return is_signed ? (uint64_t)v << 1 ^ (uint64_t)(v >> 63) : (uint64_t)v;
}

static inline int64_t from_code(uint64_t v, bool is_signed)
{
    return is_signed ? (int64_t)(v >> 1 ^ -(v & 1)) : (int64_t)v;
}

/* Bits of the levels for a T. It reaches level l if it is at least 1 + 2^w1 (1 + 2^w2 (1 + ...)): these are the constants. */
static inline unsigned digit_bits(uint64_t t)
{
    return (unsigned)(2 * (t >= 1) + 2 * (t >= 3) + 2 * (t >= 7) + 3 * (t >= 15) + 5 * (t >= 47) + 9 * (t >= 559) +
                      17 * (t >= 131631) + 32 * (t >= UINT64_C(8590066223)));
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

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

/* Two cells of a block at once: most of the way is the same for both. What is read NOWHERE is any. Most cells end on one of
 * the flat levels, but not all on the same: so these are gone through without a branch. */
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
 * than the way. So all items go through the flat levels first; those of their cells that are not at their end are put on
 * a list, which then goes from level to level and gets shorter. Nothing branches on what the cells are. */
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
        r->going[r->n] = (struct going){word, (uint16_t)at, (uint16_t)n, (uint16_t)pair.mine[j],
                                        (uint16_t)(2 * which + j), (uint16_t)item};
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
        r->going[next] = (struct going){e.word, (uint16_t)(e.at + e.n * (1 + w)), (uint16_t)ones(lowest(map, e.n)),
                                        (uint16_t)ones(lowest(map, e.mine)), e.read, e.item};
        next += (unsigned)(map >> e.mine) & 1;
    }
    r->n = next;
}

static inline int64_t read_key(uint64_t value, unsigned i)
{
    return (int64_t)(value << 2 | i);
}

#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)
#include "kernels_gather.h"
#endif

static void read_items(const struct block block[], const struct decode_places *place, unsigned n,
                       struct decode_items *items)
{
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)
    if (n >= 4) { /* fewer are faster one by one */
        gather_items(block, place, n, items);
        return;
    }
#endif
    struct reading r;
    r.n = 0;
    for (unsigned c = 0; c < n; c++)
        for (unsigned which = 0; which < 2; which++) {
            const uint32_t hash[2] = {place->column[which][0][c], place->column[which][1][c]};
            read_flat(&block[place->block[which][c]], which, hash, c, &r);
        }
    for (unsigned l = FLAT + 1, shift = FLAT; r.n > 0; shift += width[l++]) read_level(&r, l, shift);
    for (unsigned c = 0; c < n; c++) {
        uint64_t value[2][2];
        unsigned widths[2];
        for (unsigned which = 0; which < 2; which++) {
            const struct block *b = &block[place->block[which][c]];
            for (unsigned j = 0; j < 2; j++) {
                unsigned i = 2 * which + j;
                value[which][j] = (uint64_t)from_code(r.t[i][c] << block_g(b) | r.low[i][c], block_signed(b));
            }
            widths[which] = widths_at[which][block_step(b)];
            items->step[which][c] = (uint8_t)block_step(b);
        }
        /* What there is comes first. */
        bool two = widths[0] > 15, more = widths[1] > 15;
        int64_t none = INT64_MAX;
        items->key[0][c] = read_key(value[0][0], 0);
        items->key[1][c] = read_key(two ? value[0][1] : value[1][0], 1);
        items->key[2][c] = (two | more) ? read_key(value[1][!two], 2) : none;
        items->key[3][c] = (two & more) ? read_key(value[1][1], 3) : none;
        items->widths[c] = widths[0] | widths[1] << (two ? 8 : 4);
    }
}

/* ---- an open block ----------------------------------------------------------------------------------------------- */

/* Entries of level 1, up to 64 of them. */
struct group {
    uint64_t on[FLAT];    /* bit r of on[l]: entry r has a digit on level l + 2; */
    uint64_t digit[FLAT]; /* bit r of digit[l]: its digit on level l + 1, or 0 */
    unsigned entries;
};

/* A word of map 0, and where the entries of its cells are: in a group, after some others. */
struct word {
    uint64_t map;
    struct group *group;
    unsigned before;
};

/* In most blocks one group has the entries of all words. After the words of the block there is one for NOWHERE, with a
 * group of its own: what is added there goes the same way, and is never packed. */
struct open {
    struct block *block; /* where low bits and long digits are changed in place */
    unsigned step, cells, g;
    bool is_signed;
    struct word word[WORDS + 1];
    struct group group[WORDS + 1];
    unsigned groups;
    unsigned tail_at;           /* where level 4 starts in the block */
    bool has_rest;              /* whether that has been opened too: */
    unsigned rests;             /* how many cells there are on level 4, */
    uint64_t rest[BLOCK_CELLS]; /* and what is left there of T, in their order */
};

/* Makes groups that have room for so many entries more. Those of a single word have: it can not have more than 64. */
static inline void open_groups(struct open *o, unsigned room)
{
    unsigned n[WORDS], sum = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        n[i] = ones(o->word[i].map);
        o->word[i].group = o->group;
        o->word[i].before = sum;
        sum += n[i];
    }
    struct group *group = o->group;
    if (sum + room > 64) {
        sum = n[0];
        for (unsigned i = 1; i < WORDS; i++) {
            if (sum + n[i] + room > 64) {
                group++->entries = sum;
                sum = 0;
            }
            o->word[i].group = group;
            o->word[i].before = sum;
            sum += n[i];
        }
    }
    group->entries = sum;
    o->groups = (unsigned)(group - o->group) + 1;
    o->word[WORDS] = (struct word){1, &o->group[WORDS], 0};
    o->group[WORDS] = (struct group){.entries = 1};
}

/* How many entries go on to level l + 2. The number of groups is given to this and others so that, where it is known to be
 * 1, there are no loops. */
static inline unsigned count_on(const struct open *o, unsigned groups, unsigned l)
{
    unsigned n = 0;
    for (unsigned k = 0; k < groups; k++) n += ones(o->group[k].on[l]);
    return n;
}

static inline unsigned count_entries(const struct open *o, unsigned groups)
{
    unsigned n = 0;
    for (unsigned k = 0; k < groups; k++) n += o->group[k].entries;
    return n;
}

static inline void open_levels(struct open *o, unsigned groups)
{
    const uint64_t *word = o->block->word;
    unsigned at = o->cells * (1 + o->g), n = count_entries(o, groups);
    for (unsigned k = 0, from = at; k < groups; from += o->group[k++].entries) {
        o->group[k].on[0] = window(word, from) & below(o->group[k].entries);
        o->group[k].digit[0] = window(word, from + n) & below(o->group[k].entries);
    }
    for (unsigned l = 1; l < FLAT; l++) {
        at += 2 * n;
        n = count_on(o, groups, l - 1);
        for (unsigned k = 0, from = at; k < groups; from += ones(o->group[k++].on[l - 1])) {
            o->group[k].on[l] = spread(window(word, from), o->group[k].on[l - 1]);
            o->group[k].digit[l] = spread(window(word, from + n), o->group[k].on[l - 1]);
        }
    }
    o->tail_at = at + 2 * n;
}

/* room: how many cells that are 0 may be added to. */
static inline void open_block(struct block *b, unsigned room, struct open *o)
{
    o->block = b;
    o->step = block_step(b);
    o->cells = cells_at[o->step];
    o->g = block_g(b);
    o->is_signed = block_signed(b);
    o->has_rest = false;
    for (unsigned i = 0; i < WORDS; i++) o->word[i].map = b->word[i] & in_map[o->step][i];
    open_groups(o, room);
    if (o->groups == 1) open_levels(o, 1);
    else open_levels(o, o->groups);
}

static void open_rest(struct open *o)
{
    const uint64_t *word = o->block->word;
    uint16_t index[BLOCK_CELLS];
    unsigned n = count_on(o, o->groups, FLAT - 1), at = o->tail_at, shift = 0;
    o->rests = n;
    o->has_rest = true;
    for (unsigned i = 0; i < n; i++) o->rest[i] = 0, index[i] = (uint16_t)i;
    for (unsigned l = FLAT + 1; n > 0; shift += width[l++]) {
        unsigned on = 0, digits = at + n;
        uint64_t map = window(word, at);
        for (unsigned j = 0; j < n; j++, map >>= 1) {
            o->rest[index[j]] += (1 + (window(word, digits + j * width[l]) & below(width[l]))) << shift;
            index[on] = index[j];
            on += map & 1;
        }
        at = digits + n * width[l];
        n = on;
    }
}

/* ---- a cell of it ------------------------------------------------------------------------------------------------ */

struct entry {
    struct group *group;
    unsigned r;
    uint64_t bit; /* 2^r */
};

/* The entry of a cell, or where it would be. */
static inline struct entry find(const struct open *o, unsigned cell)
{
    const struct word *w = &o->word[cell / 64];
    unsigned r = w->before + ones(w->map & below(cell % 64));
    return (struct entry){w->group, r, UINT64_C(1) << r % 64};
}

static inline bool is_there(const struct open *o, unsigned cell)
{
    return o->word[cell / 64].map >> cell % 64 & 1;
}

/* There is one entry more, or one less, from this cell on. */
static inline void count_cell(struct open *o, unsigned cell, unsigned more)
{
    struct word *w = &o->word[cell / 64];
    w->map ^= UINT64_C(1) << cell % 64;
    w->group->entries += more;
    for (unsigned i = cell / 64 + 1; i < WORDS; i++) o->word[i].before += o->word[i].group == w->group ? more : 0;
}

/* Makes an entry for a cell that has none: T = 1. */
static void insert(struct open *o, unsigned cell)
{
    struct entry e = find(o, cell);
    for (unsigned l = 0; l < FLAT; l++) { /* what is above moves up */
        e.group->on[l] += e.group->on[l] & -e.bit;
        e.group->digit[l] += e.group->digit[l] & -e.bit;
    }
    count_cell(o, cell, 1);
}

/* How many cells on level 4 are before an entry. */
static inline unsigned rest_index(const struct open *o, struct entry e)
{
    unsigned n = ones(e.group->on[FLAT - 1] & (e.bit - 1));
    for (const struct group *group = o->group; group < e.group; group++) n += ones(group->on[FLAT - 1]);
    return n;
}

/* Takes the entry of a cell out; the rest must be open. */
static void take_out(struct open *o, unsigned cell)
{
    struct entry e = find(o, cell);
    if (e.group->on[FLAT - 1] & e.bit) {
        unsigned i = rest_index(o, e);
        memmove(&o->rest[i], &o->rest[i + 1], (--o->rests - i) * sizeof *o->rest);
    }
    for (unsigned l = 0; l < FLAT; l++) { /* what is above moves down */
        e.group->on[l] = (e.group->on[l] & (e.bit - 1)) | (e.group->on[l] >> 1 & -e.bit);
        e.group->digit[l] = (e.group->digit[l] & (e.bit - 1)) | (e.group->digit[l] >> 1 & -e.bit);
    }
    count_cell(o, cell, UINT32_MAX);
}

/* Adds to the rest of the cell that is at `mine` on level 4, in the block itself, if that takes no digit more. A rest with
 * digits on n levels is a constant and the digits as a binary number. */
static bool tail_add(struct open *o, unsigned mine, uint64_t count)
{
    uint64_t *word = o->block->word, sum = 0;
    unsigned at = o->tail_at, n = count_on(o, o->groups, FLAT - 1), bits = 0, levels = 0, digit_at[LEVELS];
    for (bool on = true; on; levels++) {
        unsigned w = width[FLAT + 1 + levels];
        uint64_t map = window(word, at);
        digit_at[levels] = at + n + mine * w;
        sum += (window(word, digit_at[levels]) & below(w)) << bits;
        bits += w;
        at += n * (1 + w);
        on = map >> mine & 1;
        n = ones(map & below(n));
        mine = ones(map & below(mine));
    }
    uint64_t change = sum ^ (sum + count);
    if (change >> bits) return false;
    for (unsigned l = 0; l < levels; change >>= width[FLAT + 1 + l], l++)
        flip(word, digit_at[l], change & below(width[FLAT + 1 + l]));
    return true;
}

static void add_rest(struct open *o, struct entry e, uint64_t count)
{
    if (e.group == &o->group[WORDS]) return; /* nowhere */
    unsigned i = rest_index(o, e);
    bool had = e.group->on[FLAT - 1] & e.bit;
    if (!o->has_rest) {
        if (had && tail_add(o, i, count)) return;
        open_rest(o);
    }
    if (!had) {
        memmove(&o->rest[i + 1], &o->rest[i], (o->rests++ - i) * sizeof *o->rest);
        o->rest[i] = 0;
        e.group->on[FLAT - 1] |= e.bit;
    }
    o->rest[i] += count;
}

/* Adds 1 to T: a digit 0 becomes a 1, and a 1 a 0 with a carry to the next level; where there is none comes a 0. */
static inline void step_up(struct open *o, unsigned cell)
{
    if (!is_there(o, cell)) {
        insert(o, cell);
        return;
    }
    struct entry e = find(o, cell);
    uint64_t carry = e.group->digit[0] & e.bit;
    e.group->digit[0] ^= e.bit;
    for (unsigned l = 1; l < FLAT; l++) {
        uint64_t had = e.group->on[l - 1] & carry;
        e.group->on[l - 1] |= carry;
        carry = e.group->digit[l] & had;
        e.group->digit[l] ^= had;
    }
    if (carry) add_rest(o, e, 1);
}

/* What the flat levels have of T. */
static inline uint64_t flat_of(struct entry e)
{
    uint64_t t = 1 + (e.group->digit[0] >> e.r & 1);
    for (unsigned l = 1; l < FLAT; l++) t += ((e.group->on[l - 1] >> e.r & 1) + (e.group->digit[l] >> e.r & 1)) << l;
    return t;
}

/* Adds any number to T. With n flat levels, T is 2^n - 1 and their digits as a binary number, and 8 times the rest. */
static void steps_up(struct open *o, unsigned cell, uint64_t count)
{
    if (count == 0) return;
    if (!is_there(o, cell)) {
        insert(o, cell);
        count--;
    }
    struct entry e = find(o, cell);
    uint64_t t = flat_of(e) + count;
    unsigned n = (unsigned)(1 + (t >= 3) + (t >= 7));
    uint64_t u = t - below(n);
    for (unsigned l = 0; l < FLAT; l++) {
        if (l > 0) e.group->on[l - 1] |= (uint64_t)(l < n) << e.r;
        e.group->digit[l] = (e.group->digit[l] & ~e.bit) | (u >> l & 1) << e.r;
    }
    if (u >> FLAT > 0) add_rest(o, e, u >> FLAT);
}

/* T; the rest must be open. */
static inline uint64_t get_t(const struct open *o, unsigned cell)
{
    if (!is_there(o, cell)) return 0;
    struct entry e = find(o, cell);
    return flat_of(e) + (e.group->on[FLAT - 1] & e.bit ? o->rest[rest_index(o, e)] << FLAT : 0);
}

static inline uint64_t low_get(const struct open *o, unsigned cell)
{
    return o->g > 0 ? window(o->block->word, o->cells + cell * o->g) & below(o->g) : 0;
}

static inline void low_set(struct open *o, unsigned cell, uint64_t low)
{
    if (o->g > 0) flip(o->block->word, o->cells + cell * o->g, low_get(o, cell) ^ low);
}

/* Adds to a cell; false, and nothing changed, if it can not be done: the sum is negative and the block is not signed. */
static inline bool open_add(struct open *o, unsigned cell, int64_t count)
{
    if (cell == NOWHERE) return true;
    if (count >= 0 && !o->is_signed) {
        uint64_t sum = low_get(o, cell) + (uint64_t)count;
        low_set(o, cell, sum & below(o->g));
        steps_up(o, cell, sum >> o->g);
        return true;
    }
    if (!o->has_rest) open_rest(o);
    int64_t value = from_code(get_t(o, cell) << o->g | low_get(o, cell), o->is_signed) + count;
    if (value < 0 && !o->is_signed) return false;
    uint64_t code = to_code(value, o->is_signed);
    low_set(o, cell, code & below(o->g));
    if (is_there(o, cell)) take_out(o, cell);
    steps_up(o, cell, code >> o->g);
    return true;
}

/* ---- and back ---------------------------------------------------------------------------------------------------- */

static inline void close_levels(const struct open *o, unsigned groups, const unsigned n[FLAT])
{
    uint64_t *word = o->block->word;
    unsigned at = o->cells * (1 + o->g);
    for (unsigned k = 0, to = at; k < groups; to += o->group[k++].entries) {
        flip(word, to, o->group[k].on[0]);
        flip(word, to + n[0], o->group[k].digit[0]);
    }
    for (unsigned l = 1; l < FLAT; l++) {
        at += 2 * n[l - 1];
        for (unsigned k = 0, to = at; k < groups; to += ones(o->group[k++].on[l - 1])) {
            flip(word, to, gather(o->group[k].on[l], o->group[k].on[l - 1]));
            flip(word, to + n[l], gather(o->group[k].digit[l], o->group[k].on[l - 1]));
        }
    }
}

/* Writes the levels after the flat ones. */
static void close_rest(struct open *o, unsigned at)
{
    unsigned n = o->rests;
    for (unsigned l = FLAT + 1; n > 0; l++) {
        unsigned on = 0, digits = at + n;
        uint64_t map = 0;
        for (unsigned j = 0; j < n; j++) {
            uint64_t rest = o->rest[j] - 1, next = rest >> width[l];
            flip(o->block->word, digits + j * width[l], rest & below(width[l]));
            map |= (uint64_t)(next > 0) << j;
            o->rest[on] = next;
            on += next > 0;
        }
        flip(o->block->word, at, map);
        at = digits + n * width[l];
        n = on;
    }
}

/* Bits of the levels after the flat ones. There are at most 501 / 9 entries on a level here, each cell having paid for
 * those before it. */
static inline unsigned tail_length(const struct open *o, unsigned entries)
{
    if (o->has_rest) {
        unsigned bits = 0;
        for (unsigned i = 0; i < o->rests; i++) bits += digit_bits((o->rest[i] << FLAT) + 7) - 2 * FLAT;
        return bits;
    }
    unsigned at = o->tail_at, l = FLAT + 1;
    do { /* three at once, without a branch: most blocks end there, but not all at the same level */
        for (int i = 0; i < 3 && l <= LEVELS; i++, l++) {
            uint64_t map = window(o->block->word, at) & below(entries);
            at += entries * (1 + width[l]);
            entries = ones(map);
        }
    } while (entries > 0);
    return at - o->tail_at;
}

/* Map 0, and the low bits, which are there already; nothing after them. */
static inline void close_low(const struct open *o)
{
    uint64_t *word = o->block->word;
    unsigned end = o->cells * (1 + o->g);
    if (o->g == 0) {
        for (unsigned i = 0; i < 8; i++) word[i] = i < WORDS ? o->word[i].map : 0;
    } else {
        for (unsigned i = 0; i < 8; i++) word[i] &= 64 * i < end ? below(end - 64 * i) : 0;
        for (unsigned i = 0; i < WORDS; i++) word[i] = (word[i] & ~in_map[o->step][i]) | o->word[i].map;
    }
    word[7] |= head(o->step, o->g, o->is_signed);
}

/* Packs what is open, if it fits with the g that it has. */
static inline bool close_groups(struct open *o, unsigned groups)
{
    uint64_t *word = o->block->word, tail[8];
    unsigned n[FLAT] = {count_entries(o, groups), count_on(o, groups, 0), count_on(o, groups, 1)};
    unsigned at = o->cells * (1 + o->g) + 2 * (n[0] + n[1] + n[2]), bits = tail_length(o, count_on(o, groups, FLAT - 1));
    if (at + bits > BITS) return false;
    tail[0] = window(word, o->tail_at) & below(bits);
    for (unsigned i = 1; 64 * i < bits && !o->has_rest; i++)
        tail[i] = window(word, o->tail_at + 64 * i) & below(bits - 64 * i);
    close_low(o);
    close_levels(o, groups, n);
    if (o->has_rest) {
        close_rest(o, at);
    } else {
        flip(word, at, tail[0]);
        for (unsigned i = 1; 64 * i < bits; i++) flip(word, at + 64 * i, tail[i]);
    }
    return true;
}

static inline bool close_block(struct open *o)
{
    return o->groups == 1 ? close_groups(o, 1) : close_groups(o, o->groups);
}

/* ---- all values -------------------------------------------------------------------------------------------------- */

static void open_values(struct open *o, int64_t value[BLOCK_CELLS])
{
    uint64_t code[BLOCK_CELLS];
    const uint64_t *rest = o->rest;
    if (!o->has_rest) open_rest(o);
    for (unsigned i = 0; i < o->cells; i++) code[i] = low_get(o, i);
    for (unsigned i = 0; i < WORDS; i++) {
        struct entry e = {o->word[i].group, o->word[i].before, UINT64_C(1) << o->word[i].before % 64};
        for (uint64_t map = o->word[i].map; map; map &= map - 1, e.r++, e.bit <<= 1) {
            uint64_t t = flat_of(e);
            if (e.group->on[FLAT - 1] & e.bit) t += *rest++ << FLAT;
            code[64 * i + (unsigned)__builtin_ctzll(map)] |= t << o->g;
        }
    }
    for (unsigned i = 0; i < o->cells; i++) value[i] = from_code(code[i], o->is_signed);
}

static unsigned unpack(const struct block *b, int64_t value[BLOCK_CELLS])
{
    struct block copy = *b;
    struct open o;
    open_block(&copy, 0, &o);
    open_values(&o, value);
    return o.cells;
}

/* digit_bits() for 0 <= t < 2^31, written so that it is compiled to vectors and not to branches: a difference that is below
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
    o.groups = WORDS;
    for (unsigned i = 0; i < o.cells; i++) {
        uint64_t t = code[i] >> g;
        low_set(&o, i, code[i] & below(g));
        if (t == 0) continue;
        struct group *group = &o.group[i / 64];
        unsigned r = group->entries++, n = (unsigned)(1 + (t >= 3) + (t >= 7));
        uint64_t u = t - below(n), rest = u >> FLAT;
        o.word[i / 64].map |= UINT64_C(1) << i % 64;
        for (unsigned l = 0; l < FLAT; l++) {
            group->on[l] |= (uint64_t)(l + 1 < FLAT ? l + 1 < n : rest > 0) << r;
            group->digit[l] |= (u >> l & 1) << r;
        }
        o.rest[o.rests] = rest;
        o.rests += rest > 0;
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

/* Goes a step further where only the last of more than two rows changes, which has a word of map 0 of its own, and where
 * there is no other way to fit: if g is 0 and the block would be too large at 1, whatever its longer digits. */
static bool open_fold(struct open *o)
{
    if (o->step >= 5 || o->g > 0 || o->is_signed) return false;
    unsigned two = 0, row = o->step < 2 ? 3 : 2, word = row + 1, to = block_columns[o->step + 1][row];
    for (unsigned k = 0; k < o->groups; k++) two += ones(o->group[k].digit[0] | o->group[k].on[0]); /* T is 2 at least */
    if (2 * (o->cells + two) <= BITS) return false;
    if (!o->has_rest) open_rest(o);
    for (uint64_t map = o->word[word].map & ~below(to); map; map &= map - 1) {
        unsigned cell = 64 * word + (unsigned)__builtin_ctzll(map);
        uint64_t t = get_t(o, cell);
        take_out(o, cell);
        if (to > 0) steps_up(o, cell - to, t);
    }
    o->step++;
    o->cells = cells_at[o->step];
    return true;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* An open block, or plain integers from the first cell on that becomes negative. */
struct sum {
    struct open open;
    bool is_plain, is_simple; /* simple: to add 1 is step_up() */
    int64_t value[BLOCK_CELLS + 1];
};

static inline void sum_open(struct sum *s, struct block *b, unsigned room)
{
    open_block(b, room, &s->open);
    s->is_plain = false;
    s->is_simple = s->open.g == 0 && !s->open.is_signed;
}

static inline void sum_add(struct sum *s, unsigned cell, int64_t count)
{
    if (count == 1 && s->is_simple) {
        step_up(&s->open, cell);
        return;
    }
    if (!s->is_plain) {
        if (open_add(&s->open, cell, count)) return;
        open_values(&s->open, s->value);
        s->is_plain = true;
        s->is_simple = false;
    }
    s->value[cell] = (int64_t)((uint64_t)s->value[cell] + (uint64_t)count); /* may leave 63 bits between two notes */
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
    sum_open(&s, b, 2);
    for (int i = 0; i < 2; i++) sum_add(&s, block_place(step, row[i], hash[i]), count);
    sum_close(&s);
}

static void add_notes(struct block *b, const uint64_t note[], size_t n)
{
    struct sum s;
    unsigned step = block_step(b);
    sum_open(&s, b, n > BLOCK_CELLS ? BLOCK_CELLS : 2 * (unsigned)n);
    for (size_t i = 0; i < n; i++) {
        unsigned which = note_which(note[i]);
        sum_add(&s, block_place(step, which, note_column(note[i], 0)), note_count(note[i]));
        sum_add(&s, block_place(step, which + 2, note_column(note[i], 1)), note_count(note[i]));
    }
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
    unsigned n = cells_at[block_step(b)], at = 0;
    for (unsigned l = 0; n > 0; l++) {
        unsigned size = n * (1 + (l == 0 ? block_g(b) : width[l]));
        if (at + size > BITS) return false;
        n = ones_from(b->word, at, n);
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
                                      .pack = pack_values,
                                      .valid = valid,
                                      .read = read_half,
                                      .read_items = read_items,
                                      .add_notes = add_notes};
