/* Notes of one block: many additions, after which it is packed once. Part of the body that kernels_block.h is.
 *
 * Most blocks get a few notes, each once. How often each cell is meant is counted for all cells at the same time, in
 * planes: words with a bit for each cell, plane p having digit p of the numbers in binary. Then all cells go up by 1
 * together, as often as that: where step_up() in kernels_open.h has the bit of an entry, there are many here. So no
 * branch depends on a cell. */
#pragma once

#include "block/kernels_sum.h"

enum {
    PLANES = 3, /* a cell may be meant 7 times; else there is another way */
    NOTES_MANY = 24
}; /* from which on plain integers pay: to unpack and pack them takes as long as so many notes */

struct planes {
    uint64_t of[WORDS + 1][PLANES]; /* for each word of map 0, and for NOWHERE */
};

/* Counts a cell; returns what is too much for the planes. */
static inline uint64_t plane_add(struct planes *planes, unsigned cell)
{
    uint64_t *plane = planes->of[cell / 64], carry = UINT64_C(1) << cell % 64;
    for (unsigned p = 0; p < PLANES; p++) {
        uint64_t both = plane[p] & carry;
        plane[p] ^= carry;
        carry = both;
    }
    return cell == NOWHERE ? 0 : carry;
}

static inline bool count_notes(unsigned step, const uint32_t note[], size_t n, struct planes *planes)
{
    uint64_t over = 0;
    memset(planes, 0, sizeof *planes);
    for (size_t i = 0; i < n; i++) {
        unsigned which = note_which(note[i]);
        over |= plane_add(planes, block_place(step, which, note_column(note[i], 0)));
        over |= plane_add(planes, block_place(step, which + 2, note_column(note[i], 1)));
    }
    return over == 0;
}

static inline uint64_t in_planes(const struct planes *planes, unsigned word)
{
    uint64_t any = 0;
    for (unsigned p = 0; p < PLANES; p++) any |= planes->of[word][p];
    return any;
}

/* Makes entries for all cells that are counted, in a block of one group; those that are new have T = 0, which they do
 * not keep. `times` gets the planes, by entry. Returns which entries there were. */
static inline uint64_t open_entries(struct open *o, const struct planes *planes, uint64_t times[PLANES])
{
    struct group *group = o->group;
    uint64_t were = 0;
    unsigned at = 0; /* 64 only where nothing more comes */
    for (unsigned p = 0; p < PLANES; p++) times[p] = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t map = o->word[i].map | in_planes(planes, i);
        were |= gather(o->word[i].map, map) << at % 64;
        for (unsigned p = 0; p < PLANES; p++) times[p] |= gather(planes->of[i][p], map) << at % 64;
        o->word[i].map = map;
        o->word[i].before = at;
        at += ones(map);
    }
    group->entries = at;
    for (unsigned l = 0; l < FLAT; l++) {
        group->on[l] = spread(group->on[l], were);
        group->digit[l] = spread(group->digit[l], were);
    }
    return were;
}

/* step_up() for the entries in `these`, of which those in `are` are there. */
static inline void all_step_up(struct open *o, uint64_t these, uint64_t are)
{
    struct group *group = o->group;
    uint64_t carry = group->digit[0] & these & are;
    group->digit[0] ^= these & are;
    for (unsigned l = 1; l < FLAT; l++) {
        uint64_t had = group->on[l - 1] & carry;
        group->on[l - 1] |= carry;
        carry = group->digit[l] & had;
        group->digit[l] ^= had;
    }
    for (; carry; carry &= carry - 1) {
        unsigned r = (unsigned)__builtin_ctzll(carry);
        add_rest(o, (struct entry){group, r, UINT64_C(1) << r}, 1);
    }
}

/* Adds notes, each once; false, and nothing changed, if that is not as simple as it mostly is. */
static bool add_counted(struct block *b, const uint32_t note[], size_t n)
{
    struct sum s;
    struct planes planes;
    uint64_t times[PLANES];
    unsigned step = block_step(b), entries = 0, more = 0;
    if (block_g(b) > 0 || block_signed(b) || !count_notes(step, note, n, &planes)) return false;
    for (unsigned i = 0; i < WORDS; i++) {
        uint64_t map = b->word[i] & in_map[step][i];
        entries += ones(map);
        more += ones(in_planes(&planes, i) & ~map);
    }
    if (entries + more > 64) return false;
    sum_open(&s, b, more);
    uint64_t are = open_entries(&s.open, &planes, times);
    for (unsigned p = 0; p < PLANES; p++)
        for (unsigned i = 0; times[p] && i < 1u << p; i++) {
            all_step_up(&s.open, times[p], are);
            are |= times[p];
        }
    sum_close(&s);
    return true;
}

static void add_as_values(struct block *b, const uint32_t note[], const int32_t count[], size_t n)
{
    int64_t value[BLOCK_CELLS] = {0};
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 2; k++) {
            int64_t *cell = &value[block_place(0, note_which(note[i]) + 2 * k, note_column(note[i], k))];
            *cell = (int64_t)((uint64_t)*cell + (uint64_t)(count ? count[i] : 1)); /* may leave 63 bits in between */
        }
    add_values(b, value);
}

static void add_notes(struct block *b, const uint32_t note[], const int32_t count[], size_t n)
{
    if (!count && add_counted(b, note, n)) return;
    if (n >= NOTES_MANY) {
        add_as_values(b, note, count, n);
        return;
    }
    struct sum s;
    unsigned step = block_step(b);
    sum_open(&s, b, 2 * (unsigned)n);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 2; k++)
            sum_add(&s, block_place(step, note_which(note[i]) + 2 * k, note_column(note[i], k)), count ? count[i] : 1);
    sum_close(&s);
}
