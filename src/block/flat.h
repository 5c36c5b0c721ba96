/* flat: the memory of a compact model as plain integers, for speed where there is plenty of memory.
 *
 * The blocks are those of dense.h, as many and found in the same way. But each holds the cells of step 0, 320 of them,
 * as integers of 32 bits: to count an item is four additions. What a block answers, and what is saved of it, is what
 * the dense block of this content would; so its *packed step*, the first one at which the content fits 64 bytes, has to
 * be known where it is read. That is found by packing it, and kept. A store to a block whose packed step is known, and
 * which holds nothing negative, follows the length of the packed code: while that fits, the step is the same. As long
 * as nothing is deleted it is the step of the dense block itself; a dense block that was once fuller than it is now
 * stays at a later one.
 *
 * What comes from a dense block has the resolution of its step. So a block has a step of its own, the latest of those
 * that it took content from, and its cells are those of that step. In most sketches this is 0 throughout.
 *
 * Cells have 32 bits while no sum can pass them, which the sketch's mass tells; before it does, all become 64 bits
 * wide. So there is nothing to check when adding. */
#ifndef LEGO_SRC_FLAT_H
#define LEGO_SRC_FLAT_H

#include <stdatomic.h>

#include "block/dense.h"

struct flat {
    struct dense dense;       /* where blocks are, how many there are, and N; without the dense blocks themselves */
    void *cells;              /* BLOCK_CELLS a block, on a cache line: int32_t, or int64_t if wide */
    uint8_t *step;            /* of the cells of a block */
    _Atomic uint32_t *packed; /* what is known of it packed, as below; readers may fill it in at the same time */
    bool is_wide;
    bool is_coarse;           /* whether there may be a step above 0 */
};

/* What is known of a block packed, in bits from the lowest on:
 *
 *      5   its step, or one that it is not before; 0 says nothing
 *      1   whether it is its step
 *      5   the g of its code
 *      9   the length of its code without the head; 0 if there is something negative, and stores can not be followed
 *      8   stores that were followed since its step was asked for */
enum { FLAT_STEP = 31, FLAT_KNOWN = 32, FLAT_G_AT = 6, FLAT_LENGTH_AT = 11, FLAT_FOLLOWED_AT = 20,
       FLAT_FOLLOWED_MOST = 255, /* by then it would have been as cheap to pack it once more */
       FLAT_NARROW = 32, FLAT_WIDE = 64,
       FLAT_STEPS = sizeof(uint8_t) + sizeof(uint32_t), /* bytes of a block's steps, its own and what is known */
       FLAT_BLOCK = BLOCK_CELLS * FLAT_NARROW / 8 + FLAT_STEPS };

/* Bytes of memory for so many blocks with cells of so many bits, FLAT_NARROW or FLAT_WIDE. */
static inline uint64_t flat_bytes(uint32_t blocks, uint32_t bits)
{
    uint64_t lines = (FLAT_STEPS * (uint64_t)blocks + DENSE_LINE - 1) / DENSE_LINE; /* of the steps */
    return (uint64_t)blocks * BLOCK_CELLS * (bits / 8) + (lines + 1) * DENSE_LINE; /* and where the memory may start */
}

/* Empty blocks in flat_bytes() of memory. */
void flat_init(struct flat *flat, uint32_t blocks, uint32_t bits, void *bytes);
void flat_clear(struct flat *flat);

/* Into one of the same number of blocks and bits. */
void flat_copy(struct flat *into, const struct flat *from);

static inline void flat_add_cell(struct flat *flat, uint32_t block, unsigned cell, int64_t count)
{
    size_t at = (size_t)block * BLOCK_CELLS + cell;
    if (flat->is_wide) ((int64_t *)flat->cells)[at] += count;
    else ((int32_t *)flat->cells)[at] += (int32_t)count;
}

/* Without a word about the packed step. */
static inline void flat_add_columns(struct flat *flat, uint32_t block, unsigned which, const uint32_t column[2],
                                    int64_t count)
{
    if (!flat->is_coarse) { /* the same, with constants */
        for (unsigned i = 0; i < 2; i++) flat_add_cell(flat, block, block_place(0, which + 2 * i, column[i]), count);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        unsigned cell = block_place(flat->step[block], which + 2 * i, column[i]);
        if (cell < BLOCK_CELLS) flat_add_cell(flat, block, cell, count);
    }
}

/* The block has changed. */
static inline void flat_forget(struct flat *flat, uint32_t block)
{
    atomic_store_explicit(&flat->packed[block], 0, memory_order_relaxed);
}

void flat_forget_all(struct flat *flat);

/* What is known of a block packed follows a store, which comes after this. */
void flat_follow(struct flat *flat, const struct half *half, unsigned which, int64_t count);

static inline void flat_add_half(struct flat *flat, const struct half *half, unsigned which, int64_t count)
{
    if (atomic_load_explicit(&flat->packed[half->block], memory_order_relaxed)) flat_follow(flat, half, which, count);
    flat_add_columns(flat, half->block, which, half->column, count);
}

/* The packed step of a block, if it is known; else BLOCK_STEPS. */
static inline unsigned flat_known_step(const struct flat *flat, uint32_t block)
{
    uint32_t packed = atomic_load_explicit(&flat->packed[block], memory_order_relaxed);
    return packed & FLAT_KNOWN ? packed & FLAT_STEP : BLOCK_STEPS;
}

/* Known or not. */
unsigned flat_packed_step(const struct flat *flat, uint32_t block);

/* A cell of a row of a block, as it is at a step. */
int64_t flat_get(const struct flat *flat, uint32_t block, unsigned step, unsigned row, uint32_t column);

/* Items whose cells are on their way, while those before them are added. */
struct flat_ahead {
    struct flat_items {
        struct decode_places places;
        int64_t counts[DECODE_MOST];
        unsigned n;
    } items[2];
    unsigned turn; /* those that may be filled */
};

/* Has the cells of items[turn] fetched, adds the others, and turns; so it is called once more in the end, with none.
 * Neither N nor packed steps are changed: see flat_forget_all(). */
void flat_add_ahead(struct flat *flat, struct flat_ahead *ahead);

/* n notes of blocks that are counted from `first`, each once, or with `counted` each followed by its count; likewise. */
void flat_add_notes(struct flat *flat, uint32_t first, const uint32_t note[], size_t n, bool counted);

/* Adds values of a step to a block, which they are folded to, or which is folded to them. */
void flat_add_values(struct flat *flat, uint32_t block, int64_t value[BLOCK_CELLS], unsigned step, int sign);

/* As dense_read() and read_items() of kernels.h, of the dense blocks of this content. */
unsigned flat_read(const struct flat *flat, struct hash hash, int64_t value[BLOCK_ROWS]);
void flat_read_items(const struct flat *flat, const struct decode_places *place, unsigned n,
                     struct decode_items *items);

void flat_prefetch(const struct flat *flat, struct hash hash);
void flat_prefetch_half(const struct flat *flat, const struct half *half, unsigned which);

/* A block, packed; canonical. */
struct block flat_block(const struct flat *flat, uint32_t block);

/* As dense_add_all(), where one of them is flat, or both. */
void flat_add_flat(struct flat *into, const struct flat *from, int sign);
void flat_add_dense(struct flat *into, const struct dense *from, int sign);
void dense_add_flat(struct dense *into, const struct flat *from, int sign);

#endif
