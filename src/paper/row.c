/* row: how a row becomes wide. The rest is in row.h, to be inlined. */
#include "paper/row.h"

void row_widen(struct cells *cells)
{
    unsigned char upper[ROW_COLUMNS_MAX / 2 * 4], *bytes = cells->bytes;
    size_t half = cells->n / 2;
    memcpy(upper, bytes + 4 * half, 4 * half);
    for (size_t i = half;
         i-- > 0;) /* from the end: cell i is written over 2i and 2i + 1, of which none is read after it */
        row_set64(bytes + 8 * i, (int64_t)row_get32(bytes + 4 * i) + row_get32(upper + 4 * i));
    cells->n = (uint32_t)half;
    cells->wide = true;
}
