/* dense: see dense.h for where an item's blocks are. */
#include "block/dense.h"

#include <string.h>

void dense_place(struct dense *dense, uint32_t blocks)
{
    uint32_t even = blocks & -blocks;
    *dense = (struct dense){.blocks = blocks,
                            .odd = divisor_of(blocks / even),
                            .mask = even - 1,
                            .kernels = block_kernels_best(),
                            .decoder = decode_kernels_best()};
}

void dense_init(struct dense *dense, uint32_t blocks, void *bytes)
{
    uintptr_t at = ((uintptr_t)bytes + DENSE_LINE - 1) / DENSE_LINE * DENSE_LINE;
    dense_place(dense, blocks);
    dense->block = (struct block *)(void *)((unsigned char *)bytes + (at - (uintptr_t)bytes));
    dense_clear(dense);
}

void dense_clear(struct dense *dense)
{
    memset(dense->block, 0, dense->blocks * sizeof *dense->block);
    dense->total = 0;
}

unsigned dense_read(const struct dense *dense, struct hash hash, int64_t value[BLOCK_ROWS],
                    uint32_t columns[BLOCK_ROWS])
{
    unsigned n = 0;
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(dense, hash, which);
        n += dense->kernels->read(&dense->block[half.block], which, half.column, value + n, columns + n);
    }
    return n;
}

void dense_add_all(struct dense *into, const struct dense *from, int sign)
{
    for (uint32_t i = 0; i < from->blocks; i++)
        into->kernels->add_all(&into->block[dense_folded(into, from, i)], &from->block[i], sign);
    into->total += sign * from->total;
}

bool dense_signed(const struct dense *dense)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < dense->blocks; i++) any |= dense->block[i].word[7];
    return any >> 63;
}
