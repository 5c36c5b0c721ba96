/* bricks_item: where an item is and which weights it has, for kernels: the library's own source, compiled for a GPU. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

/* Functions of these headers are `static inline`, tables `static`: so both are there on the device. */
#pragma nv_diag_suppress 20014, 20091, 177 /* what then calls the host's code, or the host could call, is not called */
#define static static __device__
#define inline __host__ __forceinline__
#include "core/hash.h"
#include "paper/embed.h"
#undef static
#undef inline

#include "cuda/bricks_device.h"

constexpr unsigned WARP = 32, ALL = 0xffffffff;

/* XXH3 with 128 bits of 8 bytes: kernels_hash.h has the same in vectors. */
__device__ __forceinline__ hash device_hash(uint64_t key, const hash_way &way)
{
    uint64_t x = key ^ way.flip, lo = x * way.prime, hi = __umul64hi(x, way.prime) + 2 * lo;
    lo ^= hi >> 3;
    lo = (lo ^ lo >> 35) * way.low;
    hi = (hi ^ hi >> 37) * way.high;
    return {lo ^ lo >> 28, hi ^ hi >> 32};
}

/* An item's brick, and in each row its column and its weight. */
template <unsigned R> struct item {
    uint32_t brick, column[R], weight[R];

    __device__ __forceinline__ item(const device_bricks &b, const uint32_t table16[], const hash_way &way, uint64_t key)
    {
        place at;
        uint32_t weights[ROWS_MAX];
        hash h = device_hash(key, way);
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
