/* dense: the memory of a compact model, blocks of one cache line (block.h).
 *
 * An item has two blocks, picked by two hashes: rows 0 and 2 of the one, rows 1 and 3 of the other. So it costs two
 * cache lines, and where one of its blocks is heavy the other is most likely not. (All rows in one block: errors on
 * Zipf streams of skewness 0.9 are 1.5 times as large; four blocks: 0.9 times.)
 *
 * The number of blocks is odd * 2^e, and block r + odd * q has r = hash mod odd and q the low e bits of another hash.
 * Nothing else depends on that number, so the blocks of any divisor of it are sums of these. */
#pragma once

#include "core/hash.h"
#include "block/kernels.h"

struct dense {
    uint32_t blocks;
    struct divisor odd;
    uint32_t mask;       /* 2^e - 1 */
    int64_t total;       /* N */
    struct block *block; /* on a cache line */
    const struct block_kernels *kernels;
    const struct decode_kernels *decoder;
};

enum { DENSE_LINE = 64 };

/* Bytes of memory for so many blocks: what the caller allocates may start anywhere in a line. */
static inline uint64_t dense_bytes(uint32_t blocks)
{
    return ((uint64_t)blocks + 1) * sizeof(struct block);
}

/* The numbers of so many blocks, without the blocks. */
void dense_place(struct dense *dense, uint32_t blocks);

/* Empty blocks in dense_bytes() of memory. */
void dense_init(struct dense *dense, uint32_t blocks, void *bytes);
void dense_clear(struct dense *dense);

static inline uint32_t dense_index(const struct dense *dense, uint64_t hash)
{
    return index_of_block(hash, dense->odd, dense->mask);
}

static inline struct half dense_half(const struct dense *dense, struct hash h, unsigned half)
{
    return half_of(h, half, dense->odd, dense->mask);
}

static inline void dense_add_half(struct dense *dense, const struct half *half, unsigned which, int64_t count)
{
    const unsigned row[2] = {which, which + 2};
    dense->kernels->add(&dense->block[half->block], row, half->column, count);
}

/* Reads an item's cells; returns in how many rows it has one: 2 to 4. columns: how many cells there are in the row of a
 * value, in its block. */
unsigned dense_read(const struct dense *dense, struct hash hash, int64_t value[BLOCK_ROWS],
                    uint32_t columns[BLOCK_ROWS]);

/* Has the blocks of an item fetched, for a dense_read() or an addition that comes soon. */
static inline void dense_prefetch(const struct dense *dense, struct hash hash)
{
    for (unsigned which = 0; which < 2; which++)
        __builtin_prefetch(&dense->block[dense_index(dense, hash_row_bits(hash, BLOCK_ROWS + which))]);
}

/* Which block of `into` takes block i of `from`, whose blocks are a multiple of its. */
static inline uint32_t dense_folded(const struct dense *into, const struct dense *from, uint32_t i)
{
    uint32_t q = divisor_div(from->odd, i), r = i - q * from->odd.d;
    return divisor_mod(into->odd, r) + into->odd.d * (q & into->mask);
}

/* Adds all of `from`, whose blocks are a multiple of those of `into`, times sign. */
void dense_add_all(struct dense *into, const struct dense *from, int sign);

/* Whether a cell anywhere is negative, or has been since its block was packed. */
bool dense_signed(const struct dense *dense);
