/* A block that changes is opened. Levels 1 to 3, whose digits are single bits, become words that have a bit for each
 * entry of level 1: to spread the entries of a level over those that it continues is one instruction, and so is the way
 * back. In between, a cell is found by counting the ones before it in map 0, and adding 1 is a carry that goes from
 * word to word. The longer digits, which few cells have, stay where they are unless one more is needed. Part of the
 * body that kernels_block.h is. */
#pragma once

#include "block/kernels_add.h"

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

/* How many entries go on to level l + 2. The number of groups is given to this and others so that, where it is known to
 * be 1, there are no loops. */
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

/* Adds to the rest of the cell that is at `mine` on level 4, in the block itself, if that takes no digit more. A rest
 * with digits on n levels is a constant and the digits as a binary number. */
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

/* Adds to a cell; false, and nothing changed, if it can not be done: the sum is negative and the block is not
 * signed. */
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
        for (unsigned i = 0; i < o->rests; i++) bits += block_digit_bits((o->rest[i] << FLAT) + 7) - 2 * FLAT;
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
    unsigned at = o->cells * (1 + o->g) + 2 * (n[0] + n[1] + n[2]),
             bits = tail_length(o, count_on(o, groups, FLAT - 1));
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
