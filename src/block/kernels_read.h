/* The cells of many items, by whichever way this CPU has. Part of the body that kernels_block.h is. */
#pragma once

#include "block/kernels_cells.h"
#include "block/kernels_gather.h"
#include "block/kernels_item.h"

/* What was read of item c, put in its place. */
static inline void put_values(const struct block block[], const struct decode_places *place, unsigned c,
                              uint64_t value[2][2], struct decode_items *items)
{
    unsigned widths[2];
    for (unsigned which = 0; which < 2; which++) {
        unsigned step = block_step(&block[place->block[which][c]]);
        widths[which] = widths_at[which][step];
        items->step[which][c] = (uint8_t)step;
    }
    /* What there is comes first. */
    bool two = widths[0] > 15, more = widths[1] > 15;
    int64_t none = INT64_MAX;
    items->key[0][c] = read_key(value[0][0], 0);
    items->key[1][c] = read_key(two ? value[0][1] : value[1][0], 1);
    items->key[2][c] = (two | more) ? read_key(value[1][!two], 2) : none;
    items->key[3][c] = (two & more) ? read_key(value[1][1], 3) : none;
    items->widths[c] = widths[0] | widths[1] << (two ? 8 : 4);
}

static void read_items(const struct block block[], const struct decode_places *place, unsigned n,
                       struct decode_items *items)
{
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)
    if (n >= 4) { /* fewer are faster one by one */
        gather_items(block, place, n, items);
        return;
    }
    uint64_t alone[2][2];
    if (n == 1 && item_read(block, place, 0, alone)) {
        put_values(block, place, 0, alone, items);
        return;
    }
#endif
    struct reading r;
    r.n = 0;
    for (unsigned c = 0; c < n; c++)
        for (unsigned which = 0; which < 2; which++) {
            const uint32_t hash[2] = {place->column[which][0][c], place->column[which][1][c]};
            read_flat(&block[place->block[which][c]], which, hash, c, &r);
        }
    for (unsigned l = FLAT + 1, shift = FLAT; r.n > 0; shift += width[l++]) read_level(&r, l, shift);
    for (unsigned c = 0; c < n; c++) {
        uint64_t value[2][2];
        for (unsigned which = 0; which < 2; which++) {
            const struct block *b = &block[place->block[which][c]];
            for (unsigned j = 0; j < 2; j++) {
                unsigned i = 2 * which + j;
                value[which][j] = (uint64_t)from_code(r.t[i][c] << block_g(b) | r.low[i][c], block_signed(b));
            }
        }
        put_values(block, place, c, value, items);
    }
}
