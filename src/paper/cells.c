/* cells: folding. Adding and reading are in cells.h, to be inlined. */
#include "paper/cells.h"

#include "core/sizes.h"

/* Sums low parts into the wide cells. They grow from the end down: new cell i covers old cells 2i and 2i + 1, which for
 * the first half are summed already, and the second half is read from a copy. */
#define FOLD_LOW(narrow, wide)                                                                                         \
    do {                                                                                                               \
        narrow b[COLUMNS_MAX];                                                                                         \
        memcpy(b, bytes + n * sizeof(narrow), n * sizeof(narrow));                                                     \
        for (size_t i = n; i-- > 0;) {                                                                                 \
            narrow a;                                                                                                  \
            memcpy(&a, bytes + i * sizeof(narrow), sizeof a);                                                          \
            wide sum = (wide)((wide)a + b[i]);                                                                         \
            memcpy(bytes + i * sizeof(wide), &sum, sizeof sum);                                                        \
        }                                                                                                              \
    } while (0)

static void fold_low_8(unsigned char *bytes, size_t n)
{
    FOLD_LOW(uint8_t, int16_t);
}

static void fold_low_16(unsigned char *bytes, size_t n)
{
    FOLD_LOW(int16_t, int32_t);
}

static void fold_low_32(unsigned char *bytes, size_t n)
{
    FOLD_LOW(int32_t, int64_t);
}

void cells_fold(const struct row *row, uint32_t n, struct spill *spill)
{
    if (row->bits == 8) fold_low_8(row->bytes, n);
    else if (row->bits == 16) fold_low_16(row->bytes, n);
    else fold_low_32(row->bytes, n);

    struct row wide = {row->bytes, row->first, 2 * row->bits, 2 * row->step};
    for (uint32_t i = 0; i < n && spill->used > 0; i++) {
        int64_t high = spill_take(spill, cells_key(row, i)) + spill_take(spill, cells_key(row, n + i));
        if (high == 0) continue;
        /* Never over the limit: a wide cell overflows only if one of the two did, and then has no more digits. */
        int64_t carry = cells_add_low(&wide, i, (int64_t)((uint64_t)high << row->bits));
        if (carry != 0) (void)spill_add(spill, cells_key(&wide, i), carry);
    }
}
