/* The code of block.h, a level at a time. Included by one file for each kind of CPU, which says:
 *
 *     KERNELS, KERNELS_NAME   what the table of functions is called, for the linker and for people
 *     SUPPORTED               whether this CPU can run them
 *
 *     kernels_bits.h          windows of 64 bits, and the numbers of the code
 *     kernels_cells.h         cells read where they are
 *     kernels_read.h          and those of many items (kernels_gather.h, kernels_item.h)
 *     kernels_add.h           cells added to where they are
 *     kernels_open.h          a block opened, changed and closed
 *     kernels_pack.h          all values of a block at once, and the ladder
 *     kernels_place.h         keys to hashes to places
 *     kernels_notes.h         many additions to one block
 *     kernels_sum.h           adding, in whatever way it takes
 *     here                    checking bytes, and what others call
 *
 * Each of them compiles alone. */
#pragma once

#include "block/kernels_notes.h"
#include "block/kernels_place.h"

#ifndef KERNELS /* alone, to see that it compiles: as kernels_plain.c */
#define KERNELS block_kernels_plain
#define KERNELS_NAME "plain"
#define SUPPORTED true
#endif

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static struct block canonical(const struct block *b)
{
    if (2 * cells_at[block_step(b)] > BITS && !block_signed(b)) return *b; /* there is one way only */
    int64_t value[BLOCK_CELLS];
    struct block made;
    unpack(b, value);
    pack_values(&made, value, block_step(b));
    return made;
}

/* Whether all levels end within the block. */
static bool levels_end(const struct block *b)
{
    unsigned n = cells_at[block_step(b)], at = 0;
    for (unsigned l = 0; n > 0; l++) {
        unsigned size = n * (1 + (l == 0 ? block_g(b) : width[l]));
        if (at + size > BITS) return false;
        n = ones_from(b->word, at, n);
        at += size;
        if (l == LEVELS && n > 0) return false;
    }
    return true;
}

static bool valid(const struct block *b)
{
    if (block_step(b) >= BLOCK_STEPS || !levels_end(b)) return false;
    int64_t value[BLOCK_CELLS];
    uint64_t code[BLOCK_CELLS];
    unsigned cells = unpack(b, value), length;
    bool is_signed = to_codes(value, cells, code);
    unsigned g = choose_order(code, cells, &length);
    if (is_signed != block_signed(b) || g != block_g(b) || length > BITS) return false;
    struct block same;
    pack(&same, code, block_step(b), g, is_signed);
    return memcmp(&same, b, sizeof same) == 0;
}

static bool supported(void)
{
    return SUPPORTED;
}

const struct block_kernels KERNELS = {.name = KERNELS_NAME,
                                      .supported = supported,
                                      .get = get,
                                      .add = add,
                                      .add_all = add_all,
                                      .add_values = add_values,
                                      .unpack = unpack,
                                      .canonical = canonical,
                                      .pack = pack_values,
                                      .valid = valid,
                                      .hash_keys = hash_keys,
                                      .place = place,
                                      .read = read_half,
                                      .read_items = read_items,
                                      .add_notes = add_notes};
