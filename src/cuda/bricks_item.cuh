/* bricks_item: an item's cells and weights, and wide rows, for kernels. */
#pragma once

#include "cuda/device.cuh" /* first, or what it compiles for the device would be the host's alone */

#include "cuda/bricks_device.h"

/* An item's brick, and in each row its column and its weight. */
template <unsigned R> struct item {
    uint32_t brick, column[R], weight[R];

    __device__ __forceinline__ item(const device_bricks &b, const uint32_t table16[], const hash_way &way, uint64_t key)
    {
        place at;
        uint32_t weights[ROWS_MAX];
        hash h = hash_key(way, key);
        hash_place(h, R, b.table_size, &at);
        embed_with(table16, b.quantum, R, at.index, weights);
        brick = divisor_mod(b.bricks, at.brick);
#pragma unroll
        for (unsigned k = 0; k < R; k++) {
            column[k] = divisor_mod(b.columns, at.column[k]);
            weight[k] = weights[k];
        }
    }
};

/* Where row k of a brick starts in the cells. */
__device__ __forceinline__ size_t row_start(const device_bricks &b, uint32_t brick, unsigned rows, unsigned k)
{
    return ((size_t)brick * rows + k) * b.columns.d;
}

/* ---- wide rows (paper/row.h), as a reader sees them -------------------------------------------------------------- */

/* Cell i of a wide row, were it in no pair: its own column's sum and that of the column of the tail that joins it. */
__device__ inline int64_t wide_sum(const device_bricks &b, const int64_t *row, uint32_t i)
{
    return row[i] + (i < b.tail ? row[b.columns.d - b.tail + i] : 0);
}

/* Cell i of row k of a brick, a wide row. */
__device__ inline int64_t wide_cell(const device_bricks &b, uint32_t brick, unsigned k, uint32_t i)
{
    const int64_t *row = b.content.cells + row_start(b, brick, b.rows, k);
    const uint32_t *pairs = b.content.pairs + ((size_t)brick * b.rows + k) * b.words;
    bool is_pair = pairs[i / 64] >> (i / 2 % 32) & 1;
    return is_pair ? wide_sum(b, row, i & ~1u) + wide_sum(b, row, i | 1u) : wide_sum(b, row, i);
}

/* ---- starting ---------------------------------------------------------------------------------------------------- */

/* As many blocks as the device has room for at once, or fewer where each would have less than so many items. */
template <class Kernel> unsigned grid_for(Kernel kernel, unsigned threads, size_t shared, size_t n, unsigned items)
{
    int device = 0, processors = 0, resident = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)threads, shared);
    size_t most = (size_t)processors * (unsigned)resident, wanted = (n + items - 1) / items;
    return (unsigned)(wanted < most ? wanted : most ? most : 1);
}
