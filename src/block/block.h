/* block: what a crowd of items came to, in 256 bytes: a list of (print, count), sorted by print.
 *
 * The room block holds a block and its code (block, bits, fields, levels, list), its content unpacked (content), the
 * rule of a full block (keep), the blocks of a sketch (blocks), and the bodies that are compiled once for each kind of
 * CPU (kernels, x86/). It may include core.
 *
 * An item has one block and in it a *key* of 64 bits: 24 of a hash, its *print*, and below them what its block's number
 * does not tell of another 38, so that number and key together are the item's 62 bits (blocks.h). A block is at a
 * *step*, which tells how much of the keys it lists:
 *
 *     0        whole keys: the list is exact
 *     1 to 5   prints of 24, 23, 22, 21, 20 bits. Entries whose prints became equal have added up. The step is the
 *              first at which the content fits, so that every byte follows from the content alone
 *     6 to 9   the block *keeps*: prints of p = 19, 18, 17, 16 bits, but longer ones for the heavy and for the sample.
 *              From 9 on it lets go of its lightest entries. keep.h has the rule
 *     10       the same at p = 16, but every entry counts as heavy
 *
 * The head, from bit 0: bits in use behind it, without a tail (11), step (4), entries (9), g (5), signs (2), and of a
 * block that keeps the widths in its tail (9). An empty block is all zeros. Behind the head:
 *
 *     quotients    for every value of the prints' leading q bits in turn, a one for each entry that has it, then a zero
 *     remainders   the other bits of each print, p - q of them
 *     counts       count - 1, in levels
 *     longer       of a block that keeps: for each heavy entry 23 - p bits, which are the bits of its print behind the
 *                  p-th as far as it knows them, below a one
 *
 * with q = the least for which 2^q is at least the number of entries, and at least 2.
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
 * map 0 and digit 0. Signs 2: no count is above 0 and one is below, and -c is coded in the place of c. Signs 1: there
 * are both, or a count of 0, and 2c is coded for c >= 0 and -2c - 1 else, without the 1 less.
 *
 * An entry is *heavy* if its integer has a digit on level 4 (T is 15 or more), or the step is the last.
 *
 * The tail, which only a block that keeps has, ends where the block ends. Its fields in the order of their bits, with
 * the widths that the head's 9 bits tell, a (4), b (4) and m (1):
 *
 *     left, nursed   4a + 1 bits each
 *     press          4a + 3 bits
 *     lost           4b + 2 bits, and as many for what was lost below 0 if m is set
 *     sample         up to step 9: for each of the first four entries 21 - p bits, as the longer bits of the heavy are;
 *                    1 if the entry is heavy, or is not there
 *     hand           8 bits
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
    BLOCK_ENTRIES = 191, /* more than a list can have */
    BLOCK_G_MAX = 31,
    BLOCK_SAMPLE = 4 /* entries that are never let go: the first ones */
};

enum {
    PRINT_MOST = 24,  /* bits of a print */
    PRINT_HEAVY = 22, /* what a heavy entry knows */
    PRINT_SAME = 20,  /* down to which all prints of a block are equally long; and what the sample knows */
    PRINT_FLOOR = 16, /* the fewest */
    STEP_WHOLE = 0,
    STEP_LIST = 1,
    STEP_KEEP = STEP_LIST + PRINT_MOST - PRINT_SAME + 1,
    STEP_FLOOR = STEP_LIST + PRINT_MOST - PRINT_FLOOR, /* from here on entries go */
    STEP_LAST = STEP_FLOOR + 1                         /* all of them are heavy */
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
    return block->word[0] >> 11 & 15;
}

static inline unsigned block_entries(const struct block *block)
{
    return block->word[0] >> 15 & 511;
}

static inline unsigned block_g(const struct block *block)
{
    return block->word[0] >> 24 & 31;
}

enum { SIGNS_ABOVE, SIGNS_BOTH, SIGNS_BELOW };

static inline unsigned block_signs(const struct block *block)
{
    return block->word[0] >> 29 & 3;
}

static inline bool step_keeps(unsigned step)
{
    return step >= STEP_KEEP;
}

static inline bool block_keeps(const struct block *block)
{
    return step_keeps(block_step(block));
}

/* Bits of a key that a list of this step keeps of every entry. whole: bits of a whole key, which depend on the number
 * of blocks. */
static inline unsigned step_print(unsigned step, unsigned whole)
{
    if (step == STEP_WHOLE) return whole;
    return step >= STEP_FLOOR ? PRINT_FLOOR : PRINT_MOST + STEP_LIST - step;
}

static inline uint64_t key_cut(uint64_t key, unsigned length)
{
    return key >> (64 - length) << (64 - length); /* 16 to 62 */
}

/* Bits of what a heavy entry, and one of the sample, may know beyond the p bits that all know: a one above them. At the
 * last step, where all are heavy, the sample has none of its own. */
static inline unsigned longer_width(unsigned print)
{
    return PRINT_HEAVY + 1 - print;
}

static inline unsigned sample_bits(unsigned step)
{
    return step == STEP_LAST ? 0 : PRINT_SAME + 1 - step_print(step, 0);
}

/* ---- the tail ---------------------------------------------------------------------------------------------------- */

/* The widths of a tail, as the head's last nine bits have them. */
struct tail_widths {
    unsigned press, lost; /* codes of 4 bits */
    bool below;           /* something was lost below 0 */
};

static inline struct tail_widths block_widths(const struct block *block)
{
    return (struct tail_widths){block->word[0] >> 31 & 15, block->word[0] >> 35 & 15, block->word[0] >> 39 & 1};
}

static inline unsigned tail_bits(unsigned step, struct tail_widths w)
{
    if (!step_keeps(step)) return 0;
    return 2 * (4 * w.press + 1) + 4 * w.press + 3 + (4 * w.lost + 2) * (1 + w.below) +
           BLOCK_SAMPLE * sample_bits(step) + 8;
}

/* How many bytes of a block a file has: all of one that keeps, which is full; else those with bits in use. */
static inline unsigned block_bytes(const struct block *block)
{
    return block_keeps(block) ? sizeof *block : (BLOCK_HEAD + block_used(block) + 7) / 8;
}
