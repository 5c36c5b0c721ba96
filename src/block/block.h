/* block: exact integers in one cache line, as many as fit.
 *
 * The room block holds such blocks (block), where an item's two blocks are in a sketch's memory (dense), and the bodies
 * that are compiled once for each kind of CPU (kernels*, x86/). It may include core.
 *
 * A block is 64 bytes. It holds the cells of four rows; how many cells a row has is the block's *step* on a ladder:
 *
 *     step    0    1    2    3    4    5    6   7   8   9  10  11  12  13  14  15  16
 *     row 0 128  128  128  128  128  128   64  64  32  32  16  16   8   8   4   4   2
 *     row 1  64   64   64   64   64   64   64  32  32  16  16   8   8   4   4   2   2
 *     row 2  64   64   64   32   16    -    -   -   -   -   -   -   -   -   -   -   -
 *     row 3  64   32    -    -    -    -    -   -   -   -   -   -   -   -   -   -   -
 *
 * A block starts at step 0, empty, and goes a step further when its content no longer fits: a row of c cells becomes
 * one of c / 2, cell i the sum of cells i and i + c / 2; or a row is given up, which above a certain load makes the
 * others better than it helped. So light blocks have many small cells and heavy ones few large ones, block by block,
 * and the step follows from the content alone. At the last step any four 64-bit integers fit: nothing ever overflows.
 *
 * The code of a cell v >= 0 has levels, laid out so that a cell is found without reading those before it. Its low g
 * bits are as they are; of T = v >> g, if T is not 0, T - 1 goes on in digits of 1, 1, 1, 2, 4, 8, 16 and 31 bits,
 * lowest first: after a digit of w bits, what is left is T' = (T - 1) >> w, and the code ends where that is 0. (With
 * digits of 1 bit throughout this would be the Exp-Golomb code of order g; the longer ones spare the cells that are
 * used most the long way.) With C cells in all:
 *
 *     bit 0        C bits: has cell i a digit on level 1?     (map 0)
 *     bit C        C * g bits: the low bits of the cells
 *     level 1      a bit for each cell with a digit here: is there one on level 2? (map 1); then the digits themselves
 *     level 2      the same for each of those that go on; and so forth
 *     bit 501      11 bits: step (5), g (5), signed (1)
 *
 * Where a cell's entry is on level l + 1 is the number of ones before its own in map l. Example: g = 0 and cells 0, 4,
 * 1: map 0 is 0 1 1; T - 1 is 3 and 0, so level 1 has map 1 0 and digits 1 0; T' = 1 is left of the 4, so level 2 has
 * map 0 and digit 0. Signed blocks, which have a negative cell, code 2v for v >= 0 and -2v - 1 else.
 *
 * (Rank-indexed levels are those of BRICK: Hua, Lin, Xu, Zhao, ANCS 2008.) */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { BLOCK_ROWS = 4, BLOCK_STEPS = 17, BLOCK_CELLS = 320, BLOCK_BITS = 501 }; /* without the head */

/* Cells of each row at a step. */
extern const uint8_t block_columns[BLOCK_STEPS][BLOCK_ROWS];

struct block {
    uint64_t word[8]; /* bit i of the block is bit i % 64 of word[i / 64] */
};

static inline unsigned block_step(const struct block *block)
{
    return block->word[7] >> 53 & 31;
}

static inline unsigned block_g(const struct block *block)
{
    return block->word[7] >> 58 & 31;
}

/* Bits of the levels for a T. It reaches level l if it is at least 1 + 2^w1 (1 + 2^w2 (1 + ...)): these are the
 * constants. */
static inline unsigned block_digit_bits(uint64_t t)
{
    return (unsigned)(2 * (t >= 1) + 2 * (t >= 3) + 2 * (t >= 7) + 3 * (t >= 15) + 5 * (t >= 47) + 9 * (t >= 559) +
                      17 * (t >= 131631) + 32 * (t >= UINT64_C(8590066223)));
}

/* The cell of a row for a column hash, or BLOCK_CELLS if the row is not there any more. */
static inline unsigned block_place(unsigned step, unsigned row, uint32_t hash)
{
    static const struct {
        uint16_t first;
        uint8_t mask; /* columns - 1 */
    } place[BLOCK_STEPS][BLOCK_ROWS] = {
        {{0, 127}, {128, 63}, {192, 63}, {256, 63}}, {{0, 127}, {128, 63}, {192, 63}, {256, 31}},
        {{0, 127}, {128, 63}, {192, 63}, {320, 0}},  {{0, 127}, {128, 63}, {192, 31}, {320, 0}},
        {{0, 127}, {128, 63}, {192, 15}, {320, 0}},  {{0, 127}, {128, 63}, {320, 0}, {320, 0}},
        {{0, 63}, {64, 63}, {320, 0}, {320, 0}},     {{0, 63}, {64, 31}, {320, 0}, {320, 0}},
        {{0, 31}, {32, 31}, {320, 0}, {320, 0}},     {{0, 31}, {32, 15}, {320, 0}, {320, 0}},
        {{0, 15}, {16, 15}, {320, 0}, {320, 0}},     {{0, 15}, {16, 7}, {320, 0}, {320, 0}},
        {{0, 7}, {8, 7}, {320, 0}, {320, 0}},        {{0, 7}, {8, 3}, {320, 0}, {320, 0}},
        {{0, 3}, {4, 3}, {320, 0}, {320, 0}},        {{0, 3}, {4, 1}, {320, 0}, {320, 0}},
        {{0, 1}, {2, 1}, {320, 0}, {320, 0}}};
    return place[step][row].first + (hash & place[step][row].mask);
}
