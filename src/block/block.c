/* block: the functions of block.h by the best kernels of this CPU; the code itself is in kernels_block.h. */
#include "block/block.h"

#include "block/kernels.h"

const uint8_t block_columns[BLOCK_STEPS][BLOCK_ROWS] = {
    {128, 64, 64, 64}, {128, 64, 64, 32}, {128, 64, 64, 0}, {128, 64, 32, 0}, {128, 64, 16, 0}, {128, 64, 0, 0},
    {64, 64, 0, 0},    {64, 32, 0, 0},    {32, 32, 0, 0},   {32, 16, 0, 0},   {16, 16, 0, 0},   {16, 8, 0, 0},
    {8, 8, 0, 0},      {8, 4, 0, 0},      {4, 4, 0, 0},     {4, 2, 0, 0},     {2, 2, 0, 0}};

int64_t block_get(const struct block *block, unsigned cell)
{
    return block_kernels_best()->get(block, cell);
}

void block_add(struct block *block, const unsigned row[2], const uint32_t hash[2], int64_t count)
{
    block_kernels_best()->add(block, row, hash, count);
}

void block_add_all(struct block *into, const struct block *from, int sign)
{
    block_kernels_best()->add_all(into, from, sign);
}

unsigned block_unpack(const struct block *block, int64_t value[BLOCK_CELLS])
{
    return block_kernels_best()->unpack(block, value);
}

struct block block_canonical(const struct block *block)
{
    return block_kernels_best()->canonical(block);
}

bool block_valid(const struct block *block)
{
    return block_kernels_best()->valid(block);
}
