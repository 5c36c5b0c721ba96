/* row: the cells of one row of a brick, exact integers of 32 bits, or half as many of 64 in the same bytes.
 *
 * A row starts narrow. Before a sum would leave 32 bits, the row becomes wide: column c of C/2 is the sum of columns c and
 * c + C/2 of C. A column is a hash modulo their number, so items are found in both. No byte more is needed, sums stay
 * exact, and which of the two a row is follows from its content, in whatever order that came, as long as nothing is
 * deleted: it is wide if one of its C sums is 2^31 or more.
 *
 * Cells are little-endian in memory too: a file has the same bytes. */
#ifndef LEGO_ROW_H
#define LEGO_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    ROW_COLUMNS_MIN = 16,
    ROW_COLUMNS_MAX = 16384
}; /* even; half a row is kept on the stack while it widens: 32 KB */

struct cells {
    unsigned char *bytes;
    uint32_t n; /* of cells, as wide as they are now */
    bool wide;
};

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

static inline int64_t row_get(const struct cells *cells, uint32_t i)
{
    return cells->wide ? row_get64(cells->bytes + 8 * (size_t)i) : row_get32(cells->bytes + 4 * (size_t)i);
}

/* Makes a narrow row wide. */
void row_widen(struct cells *cells);

/* Adds to the cell of a column below C; the row may be wide after that. The caller sees to it that 64 bits are enough. */
static inline void row_add(struct cells *cells, uint32_t column, int64_t value)
{
    if (!cells->wide) {
        unsigned char *p = cells->bytes + 4 * (size_t)column;
        int32_t sum;
        if (!__builtin_add_overflow(row_get32(p), value, &sum)) {
            row_set32(p, sum);
            return;
        }
        row_widen(cells);
    }
    unsigned char *p = cells->bytes + 8 * (size_t)row_cell(cells, column);
    row_set64(p, row_get64(p) + value);
}

#endif
