/* row: the cells of one row of a brick, exact integers of 32 bits, but for pairs of neighbours that became one of 64.
 *
 * Before a sum would leave 32 bits, its cell and the neighbour become a pair: one cell of 64 bits, in the same bytes,
 * for the items of both. Which cells are pairs says a map of a bit for each two cells. A row has none until it needs
 * one; then its last columns, a 65th of them, join the first ones, and the map takes their bytes:
 *
 *     narrow   C cells of 32 bits
 *     wide     n cells, of which 2j and 2j + 1 are one of 64 bits where bit j is set; then the map. Column n + c is
 *              in cell c.
 *
 * So a giant costs its own neighbour and a 65th of the columns, no byte more is needed, and sums stay exact. As long as
 * nothing is deleted, what a row looks like follows from its content, in whatever order that came: it is wide if one of
 * its C sums is 2^31 or more, and two cells are a pair if one of their n sums is.
 *
 * Cells are little-endian in memory too: a file has the same bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ROW_COLUMNS_MIN = 16, ROW_COLUMNS_MAX = 16384 }; /* C, which is even */

struct cells {
    unsigned char *bytes;
    uint32_t n; /* of cells: C of a narrow row */
    bool wide;
};

/* How many of so many columns give their bytes to the map, of n / 2 bits: an even number. */
static inline uint32_t row_tail(uint32_t columns)
{
    return (columns + 129) / 130 * 2;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ROW_ORDER32(x) (x)
#define ROW_ORDER64(x) (x)
#else
#define ROW_ORDER32(x) __builtin_bswap32(x)
#define ROW_ORDER64(x) __builtin_bswap64(x)
#endif

static inline int32_t row_get32(const unsigned char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return (int32_t)ROW_ORDER32(x);
}

static inline int64_t row_get64(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return (int64_t)ROW_ORDER64(x);
}

static inline void row_set32(unsigned char *p, int32_t value)
{
    uint32_t x = ROW_ORDER32((uint32_t)value);
    memcpy(p, &x, sizeof x);
}

static inline void row_set64(unsigned char *p, int64_t value)
{
    uint64_t x = ROW_ORDER64((uint64_t)value);
    memcpy(p, &x, sizeof x);
}

/* The cell of a column below C. */
static inline uint32_t row_cell(const struct cells *cells, uint32_t column)
{
    return column < cells->n ? column : column - cells->n;
}

/* Whether cell i is one of a pair. */
static inline bool row_is_pair(const struct cells *cells, uint32_t i)
{
    return cells->wide && cells->bytes[4 * (size_t)cells->n + i / 16] >> (i / 2 % 8) & 1;
}

static inline int64_t row_get(const struct cells *cells, uint32_t i)
{
    return row_is_pair(cells, i) ? row_get64(cells->bytes + 8 * (size_t)(i / 2))
                                 : row_get32(cells->bytes + 4 * (size_t)i);
}

/* Makes a narrow row wide, without pairs that are not needed; and cell i of a wide row one of a pair. */
void row_widen(struct cells *cells);
void row_pair(struct cells *cells, uint32_t i);

/* row_add() where the cell is one of a pair, or has to become one. */
void row_add_wide(struct cells *cells, uint32_t column, int64_t value);

/* Adds to the cell of a column below C; the row may be wide after that. The caller sees to it that 64 bits are
 * enough. */
static inline void row_add(struct cells *cells, uint32_t column, int64_t value)
{
    uint32_t i = row_cell(cells, column);
    unsigned char *p = cells->bytes + 4 * (size_t)i;
    int32_t sum;
    if (!row_is_pair(cells, i) && !__builtin_add_overflow(row_get32(p), value, &sum)) row_set32(p, sum);
    else row_add_wide(cells, column, value);
}
