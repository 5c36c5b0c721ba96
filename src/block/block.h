/* block: what a crowd of items came to, in 256 bytes: listed while there is room, in shared cells when there is not.
 *
 * The room block holds a block and its code (block, bits, levels, list, share), its content unpacked (content), the
 * blocks of a sketch (blocks), and the bodies that are compiled once for each kind of CPU (kernels, x86/). It may
 * include core.
 *
 * An item has one block and in it a *key* of 64 bits: 24 of a hash, its *print*, and below them what its block's number
 * does not tell of another 38, so that number and key together are the item's 62 bits (blocks.h). A block is at a
 * *step*:
 *
 *     0          it lists its items with whole keys, (key, count) by (key, count), exact
 *     1 to 49    it lists prints of 24, then 23, ... 12 bits. Between two lengths there are three steps more, at which
 *                a quarter, a half and three quarters of the prints have given up the bit already. Entries whose
 *                prints became equal add up
 *     50 to 94   it has two rows of shared cells, 512 and 256 at first. An item's cells follow from 12 bits of its
 *                print. At each step a quarter of a row is folded, cells i and i + half into one, until there are 8
 *                and 8
 *
 * A block's step is the first at which its content fits. Both codes, of prints and of counts, only get longer by an
 * item or a count more (docs/design.md has the proof); so the step, and with it every byte, follows from the content
 * alone, in whatever order it came. At the last step any sixteen integers of 64 bits fit: nothing ever overflows.
 *
 *     95 to 119  of a *cap*, a block that 32 others share: one row of 512 to 8 cells, chosen by the 24 bits of the
 *                print. Who shares a short print with a giant would inherit its count; the cap bounds that (blocks.h)
 *
 * The head, from bit 0: bits in use behind it (11), step (7), entries of a list (9), g (5), signs (2).
 * An empty block is all zeros. Behind the head, of a list:
 *
 *     quotients    for every value of the keys' leading q bits in turn, a one for each entry that has it, then a zero
 *     remainders   the other bits of each key, p - q of them
 *     counts       count - 1, in levels
 *
 * with q = the least for which 2^q is at least the number of entries, and at least 2. Of rows: the cells, in levels.
 *
 * *Levels* code integers v >= 0 such that one of them is found without reading the others. Its low g bits are as they
 * are; of T = v >> g, if T is not 0, T - 1 goes on in digits of 1, 1, 1, 2, 4, 8, 16 and 31 bits, lowest first:
 * after a digit of w bits what is left is T' = (T - 1) >> w, and the code ends where that is 0. For n integers:
 *
 *     n bits       has integer i a digit on level 1? (map 0)
 *     n * g bits   the low bits
 *     level 1      a bit for each that has a digit here: is there one on level 2? (map 1); then the digits themselves
 *     level 2      the same for each that goes on; and so forth
 *
 * Where an integer's digit is on level l + 1 is the number of ones before its own in map l. Example: g = 0 and 0, 4, 1:
 * map 0 is 0 1 1; T - 1 is 3 and 0, so level 1 has map 1 0 and digits 1 0; T' = 1 is left of the 4, so level 2 has
 * map 0 and digit 0. Signs 2: nothing is above 0 and something below, and -c is coded in the place of c. Signs 1: there
 * are both, and 2c is coded for c >= 0 and -2c - 1 else.
 *
 * (Rank-indexed levels are those of BRICK: Hua, Lin, Xu, Zhao, ANCS 2008. Quotients and remainders: Elias 1974.) */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    BLOCK_WORDS = 32,
    BLOCK_BITS = 64 * BLOCK_WORDS,
    BLOCK_HEAD = 40,
    BLOCK_ROOM = BLOCK_BITS - BLOCK_HEAD,
    BLOCK_ENTRIES = 511, /* the most a list can have */
    BLOCK_CELLS = 768,   /* of all rows */
    BLOCK_PRINT = 24,    /* bits */
    BLOCK_SHARED = 12,   /* of them, that shared cells know */
    BLOCK_G_MAX = 31
};

enum {
    STEP_WHOLE = 0,
    STEP_LIST = 1,
    STEP_SHARE = STEP_LIST + 4 * (BLOCK_PRINT - BLOCK_SHARED) + 1,
    STEP_LAST = STEP_SHARE + 44,
    STEP_CAP = STEP_LAST + 1,
    STEP_CAP_LAST = STEP_CAP + 24
};

struct block {
    uint64_t word[BLOCK_WORDS]; /* bit i of the block is bit i % 64 of word[i / 64] */
};

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static inline unsigned block_used(const struct block *block)
{
    return block->word[0] & 2047;
}

static inline unsigned block_step(const struct block *block)
{
    return block->word[0] >> 11 & 127;
}

static inline unsigned block_entries(const struct block *block)
{
    return block->word[0] >> 18 & 511;
}

static inline unsigned block_g(const struct block *block)
{
    return block->word[0] >> 27 & 31;
}

enum { SIGNS_ABOVE, SIGNS_BOTH, SIGNS_BELOW };

static inline unsigned block_signs(const struct block *block)
{
    return block->word[0] >> 32 & 3;
}

/* How many bytes hold all bits in use: what a file has of a block. */
static inline unsigned block_bytes(const struct block *block)
{
    return (BLOCK_HEAD + block_used(block) + 7) / 8;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static inline bool step_lists(unsigned step)
{
    return step < STEP_SHARE;
}

/* Bits of a key that a list keeps of those in the upper quarters, and how many quarters have one less. whole: bits of a
 * whole key, which depend on the number of blocks. */
static inline unsigned step_print(unsigned step, unsigned whole)
{
    return step == STEP_WHOLE ? whole : BLOCK_PRINT - (step - STEP_LIST) / 4;
}

static inline unsigned step_quarters(unsigned step)
{
    return step == STEP_WHOLE ? 0 : (step - STEP_LIST) % 4;
}

/* Of a key in a list of this step: how many bits it keeps. */
static inline unsigned step_length(unsigned step, unsigned whole, uint64_t key)
{
    return step_print(step, whole) - ((unsigned)(key >> 62) < step_quarters(step));
}

static inline uint64_t key_cut(uint64_t key, unsigned length)
{
    return key >> (64 - length) << (64 - length); /* 11 to 62 */
}

/* A row that began with `start` cells and has had n quarters folded: its cells, and the power of two it is folded
 * from. */
struct row {
    unsigned cells, from;
};

static inline struct row row_folded(unsigned start, unsigned n)
{
    unsigned from = start >> n / 4;
    return (struct row){from - from / 8 * (n % 4), from};
}

/* The rows of a step from STEP_SHARE on take turns: four quarters of row 0, four of row 1. A cap has no row 1. */
static inline struct row step_row(unsigned step, unsigned row)
{
    if (step >= STEP_CAP) return row ? (struct row){0, 1} : row_folded(512, step - STEP_CAP);
    unsigned turn = (step - STEP_SHARE) / 4, part = (step - STEP_SHARE) % 4;
    return row ? row_folded(256, 4 * (turn / 2) + (turn % 2 ? part : 0))
               : row_folded(512, 4 * ((turn + 1) / 2) + (turn % 2 ? 0 : part));
}

static inline unsigned step_cells(unsigned step)
{
    return step_row(step, 0).cells + step_row(step, 1).cells;
}

/* The cell of a key, among all cells of a step. */
static inline unsigned step_cell(unsigned step, unsigned row, uint64_t key)
{
    uint32_t print = (uint32_t)(key >> (64 - BLOCK_PRINT)), shared = print >> (BLOCK_PRINT - BLOCK_SHARED);
    uint32_t hash = step >= STEP_CAP ? (print * 0xc2b2ae35u) >> 23
                    : row            ? (shared * 0x85ebca6bu) >> 24
                                     : (shared * 0x9e3779b1u) >> 23;
    struct row r = step_row(step, row);
    unsigned cell = hash & (r.from - 1);
    return (row ? step_row(step, 0).cells : 0) + (cell < r.cells ? cell : cell - r.from / 2);
}

/* Of how many keys one is in the cell of this key: from, or half of it where two cells have become one. */
static inline unsigned step_width(unsigned step, unsigned row, uint64_t key)
{
    struct row r = step_row(step, row);
    unsigned cell = step_cell(step, row, key) - (row ? step_row(step, 0).cells : 0);
    return cell < r.cells - r.from / 2 || cell >= r.from / 2 ? r.from : r.from / 2;
}

/* Whether the items of a cap's blocks are added to it. */
static inline bool cap_counts(const struct block *cap)
{
    return block_step(cap) >= STEP_CAP;
}
