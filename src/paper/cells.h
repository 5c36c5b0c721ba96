/* cells: exact integers packed into bytes, the flat packing.
 *
 * A cell of 8, 16 or 32 bits holds the low part of its value; the rest, if there is any, is in the spill:
 * value = low + high * 2^bits. Example, 8 bits: 250 + 10 leaves low 4 in the cell and adds 1 to its entry in the spill.
 * Cells of 64 bits hold everything. Low parts are unsigned in 8 bits, where counts want every bit they can get, and
 * signed in more: so a sketch of negative sums (a difference) folds once and then has room, instead of to the end.
 *
 * A cell is named by its position in the memory, counted in cells as narrow as they started. That number stays right
 * while other bricks fold around it. */
#ifndef LEGO_SRC_CELLS_H
#define LEGO_SRC_CELLS_H

#include <string.h>

#include "paper/spill.h"

/* A row of cells of one width. */
struct row {
    unsigned char *bytes;
    uint64_t first; /* number of its first cell */
    uint32_t bits;  /* of a cell: 8, 16, 32 or 64 */
    uint32_t step;  /* of the number from a cell to the next: its bits / those of a cell as made */
};

static inline int64_t cells_low(const struct row *row, uint32_t i)
{
    switch (row->bits) {
    case 8: return row->bytes[i];
    case 16: { int16_t x; memcpy(&x, row->bytes + 2 * (size_t)i, 2); return x; }
    case 32: { int32_t x; memcpy(&x, row->bytes + 4 * (size_t)i, 4); return x; }
    default: { int64_t x; memcpy(&x, row->bytes + 8 * (size_t)i, 8); return x; }
    }
}

/* Keeps the bits of the value that the cell has room for. */
static inline void cells_set_low(const struct row *row, uint32_t i, uint64_t value)
{
    switch (row->bits) {
    case 8: row->bytes[i] = (unsigned char)value; break;
    case 16: { uint16_t x = (uint16_t)value; memcpy(row->bytes + 2 * (size_t)i, &x, 2); break; }
    case 32: { uint32_t x = (uint32_t)value; memcpy(row->bytes + 4 * (size_t)i, &x, 4); break; }
    default: memcpy(row->bytes + 8 * (size_t)i, &value, 8);
    }
}

/* The key of cell i in the spill. A fold moves a row's entries to cells twice as wide; the parity of the width keeps
 * old and new apart while it does. */
static inline uint64_t cells_key(const struct row *row, uint32_t i)
{
    uint64_t wide = row->bits == 16 || row->bits == 64;
    return (row->first + (uint64_t)i * row->step) * 2 + wide;
}

/* Adds to the low part and returns what must be added to the high part. */
static inline int64_t cells_add_low(const struct row *row, uint32_t i, int64_t delta)
{
    int64_t low = cells_low(row, i);
    if (row->bits == 64) {
        cells_set_low(row, i, (uint64_t)low + (uint64_t)delta);
        return 0;
    }
    int64_t sum = low + (delta & ((INT64_C(1) << row->bits) - 1)); /* the rest of delta is high already */
    cells_set_low(row, i, (uint64_t)sum);
    return (delta >> row->bits) + ((sum - cells_low(row, i)) >> row->bits);
}

static inline int64_t cells_high(const struct row *row, const struct spill *spill, uint32_t i)
{
    return row->bits == 64 || spill->used == 0 ? 0 : spill_get(spill, cells_key(row, i));
}

static inline int64_t cells_value(const struct row *row, const struct spill *spill, uint32_t i)
{
    uint64_t high = (uint64_t)cells_high(row, spill, i); /* 0 where the cell has all 64 bits */
    return (int64_t)((uint64_t)cells_low(row, i) + (high << (row->bits & 63)));
}

/* Folds 2n neighbouring cells into n of twice the width in the same bytes: new cell i = cell i + cell n + i.
 * Takes no more of the spill than it gives back. */
void cells_fold(const struct row *row, uint32_t n, struct spill *spill);

#endif
