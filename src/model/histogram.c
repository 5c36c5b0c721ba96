/* histogram: see histogram.h. */
#include "model/histogram.h"

#include <math.h>
#include <string.h>

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void see_cell(struct histogram *histogram, uint16_t cells[LEARN_BINS], int64_t value, int sign)
{
    const float size = fabsf((float)value);
    const unsigned bin = bin_of(size);
    cells[bin] = (uint16_t)(cells[bin] + sign);
    if (value < 0) histogram->negative += (uint32_t)sign;
    if (bin >= 8) histogram->parts[bin] += (uint32_t)sign * bin_part(size); /* else all in it are the same */
}

/* Adds cells of one width, or takes them away if sign is -1. Small ones, which are most, are counted in turns, so that
 * none waits for the one before it. */
static void see_cells(struct histogram *histogram, unsigned cap, const int64_t value[], unsigned n, unsigned width,
                      int sign)
{
    if (n == 0) return; /* half of the narrowest */
    uint16_t *cells = histogram->cells[cap][__builtin_ctz(width) - LEARN_NARROWEST];
    unsigned small[4][8] = {{0}};
    for (unsigned i = 0; i < n; i++)
        if ((uint64_t)value[i] < 8) small[i % 4][value[i]]++;
        else see_cell(histogram, cells, value[i], sign);
    for (unsigned b = 0; b < 8; b++)
        cells[b] = (uint16_t)(cells[b] + (unsigned)sign * (small[0][b] + small[1][b] + small[2][b] + small[3][b]));
}

/* Of a row, those cells that two have become are in the middle: step_width(). */
static void see_row(struct histogram *histogram, unsigned cap, const int64_t value[], struct row row, int sign)
{
    unsigned half = row.from / 2, first = row.cells - half;
    see_cells(histogram, cap, value, first, row.from, sign);
    see_cells(histogram, cap, value + first, half - first, half, sign);
    see_cells(histogram, cap, value + half, first, row.from, sign);
}

/* A block that shares, or a cap. */
static void see_block(struct histogram *histogram, const struct blocks *blocks, const struct block *block, int sign)
{
    struct content content;
    blocks->kernels->open(block, blocks->whole, &content);
    for (unsigned i = 0; i < content.n && histogram->unit > 1; i++) content.value[i] /= histogram->unit;
    const unsigned step = content.step, cap = step >= STEP_CAP;
    histogram->steps[step] += (uint32_t)sign;
    see_row(histogram, cap, content.value, step_row(step, 0), sign);
    if (!cap) see_row(histogram, cap, content.value + step_row(step, 0).cells, step_row(step, 1), sign);
}

/* ---- the unit ---------------------------------------------------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint32_t among(const struct blocks *blocks)
{
    return blocks->blocks < LEARN_AMONG ? blocks->blocks : LEARN_AMONG;
}

/* The greatest common divisor of all cells that are looked at. Mostly a few of them tell that it is 1. Caps have sums
 * of the same items. */
static int64_t find_unit(const struct blocks *blocks)
{
    struct content content;
    uint64_t unit = 0;
    for (uint32_t i = 0, seen = 0; i < among(blocks) && seen < LEARN_BLOCKS && unit != 1; i++) {
        if (step_lists(block_step(&blocks->block[i]))) continue;
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        seen++;
        for (unsigned k = 0; k < content.n && unit != 1; k++) {
            int64_t value = content.value[k];
            unit = common_divisor(unit, value < 0 ? -(uint64_t)value : (uint64_t)value);
        }
    }
    return unit > 1 && unit < UINT64_C(1) << 62 ? (int64_t)unit : 1;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

void histogram_scan(const struct blocks *blocks, struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
    histogram->unit = find_unit(blocks);
    for (unsigned seen = 0; histogram->end < among(blocks) && seen < LEARN_BLOCKS; histogram->end++) {
        const struct block *block = &blocks->block[histogram->end];
        if (step_lists(block_step(block))) continue;
        const uint32_t cap = cap_index(blocks, histogram->end), bit = UINT32_C(1) << cap;
        see_block(histogram, blocks, block, 1);
        seen++;
        if (!(histogram->caps & bit)) see_block(histogram, blocks, cap_of(blocks, histogram->end), 1); /* it counts */
        histogram->caps |= bit;
    }
}

static bool touch(struct touched *touched, const struct blocks *blocks, uint32_t index)
{
    for (unsigned i = 0; i < touched->n; i++)
        if (touched->index[i] == index) return true;
    if (touched->n == TOUCHED_MOST) return false;
    touched->index[touched->n] = index;
    touched->was[touched->n++] = blocks->block[index];
    return true;
}

bool histogram_touch(const struct histogram *histogram, const struct blocks *blocks, uint32_t block,
                     struct touched *touched)
{
    const uint32_t cap = cap_index(blocks, block);
    const bool capped = cap < 32 && histogram->caps >> cap & 1;
    return (block >= histogram->end || touch(touched, blocks, block)) &&
           (!capped || touch(touched, blocks, blocks->blocks + cap));
}

bool histogram_again(const struct blocks *blocks, const struct touched *touched, struct histogram *histogram)
{
    if (find_unit(blocks) != histogram->unit) return false;
    for (unsigned i = 0; i < touched->n; i++) {
        const struct block *was = &touched->was[i], *block = &blocks->block[touched->index[i]];
        if (step_lists(block_step(was)) && step_lists(block_step(block))) continue;
        if (step_lists(block_step(was))) return false; /* one more is to be looked at, another no longer */
        see_block(histogram, blocks, was, -1);
        see_block(histogram, blocks, block, 1);
    }
    return true;
}

/* ---- rounding ---------------------------------------------------------------------------------------------------- */

/* Half of the bits of a number, rounded down: its square root is between 2^this and twice that. */
static unsigned half_bits(uint32_t n)
{
    return (31 - (unsigned)__builtin_clz(n | 1)) / 2;
}

static uint32_t round_to(uint32_t n, unsigned bits)
{
    return (n + (UINT32_C(1) << bits) / 2) >> bits << bits;
}

static uint32_t round_number(uint32_t n)
{
    return round_to(n, half_bits(n));
}

/* The mean of a bin's cells, in steps of an eighth of the bin where there is one of them, and finer where there are
 * more. */
static float middle_of(unsigned bin, uint32_t parts, uint32_t number)
{
    enum { BITS = 7, FINE = 1 << (BIN_PARTS_LOG + 4) };
    const float first = bin_first(bin), length = bin_length(bin), part = length / (1 << BIN_PARTS_LOG);
    if (number == 0 || bin < 8) return first + (length - 1) / 2;
    unsigned bits = half_bits(number) < BITS ? BITS - half_bits(number) : 0;
    float mean = (float)round_to((uint32_t)(parts * (uint64_t)(FINE >> BIN_PARTS_LOG) / number), bits);
    float middle = first + length * (mean / FINE) + (part > 1 ? (part - 1) / 2 : 0);
    return fminf(middle, first + (length - 1));
}

static void round_cells(const struct histogram *histogram, struct seen *seen)
{
    for (unsigned b = 0; b < LEARN_BINS; b++) {
        uint32_t number = 0;
        for (unsigned i = 0; i < 2 * LEARN_WIDTHS; i++) {
            uint32_t cells = histogram->cells[i / LEARN_WIDTHS][i % LEARN_WIDTHS][b], rounded = round_number(cells);
            number += cells;
            seen->cells[i / LEARN_WIDTHS][i % LEARN_WIDTHS][b] = rounded;
            seen->number[b] += rounded;
        }
        seen->middle[b] = middle_of(b, histogram->parts[b], number);
        if (b > 0) seen->positive += number;
    }
}

void histogram_round(const struct histogram *histogram, struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->unit = histogram->unit;
    round_cells(histogram, seen);
    seen->positive = seen->positive > histogram->negative ? round_number(seen->positive - histogram->negative) : 0;
    seen->negative = round_number(histogram->negative);
    for (unsigned step = STEP_SHARE; step <= STEP_CAP_LAST; step++)
        for (uint32_t i = 0; i < histogram->steps[step]; i++)
            if (step < STEP_CAP) seen->step[seen->blocks++] = (uint8_t)step;
            else seen->cap_step[seen->caps++] = (uint8_t)step;
}
