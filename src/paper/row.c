/* row: how a row becomes wide. The rest is in row.h, to be inlined. */
#include "paper/row.h"

void row_widen(struct cells *cells)
{
    int32_t moved[(ROW_COLUMNS_MAX + 129) / 130 * 2];
    uint32_t tail = row_tail(cells->n);
    cells->n -= tail;
    cells->wide = true;
    unsigned char *map = cells->bytes + 4 * (size_t)cells->n;
    for (uint32_t c = 0; c < tail; c++) moved[c] = row_get32(map + 4 * (size_t)c);
    memset(map, 0, 4 * (size_t)tail);
    for (uint32_t c = 0; c < tail; c++) row_add(cells, cells->n + c, moved[c]);
}

void row_pair(struct cells *cells, uint32_t i)
{
    if (row_is_pair(cells, i)) return;
    unsigned char *p = cells->bytes + 8 * (size_t)(i / 2);
    row_set64(p, (int64_t)row_get32(p) + row_get32(p + 4));
    cells->bytes[4 * (size_t)cells->n + i / 16] |= (unsigned char)(1u << i / 2 % 8);
}

void row_add_wide(struct cells *cells, uint32_t column, int64_t value)
{
    if (!cells->wide) {
        row_widen(cells);
        row_add(cells, column, value); /* to other cells, where it may fit */
        return;
    }
    uint32_t i = row_cell(cells, column);
    row_pair(cells, i);
    unsigned char *p = cells->bytes + 8 * (size_t)(i / 2);
    row_set64(p, row_get64(p) + value);
}
