/* sketch_kernels: what runs on the GPU for a sketch, as functions that start it in a stream and return at once. */
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/item.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The blocks of a sketch, on the device. */
struct cuda_blocks {
    struct places places;
    uint32_t blocks;
    bool is_wide;   /* cells have 64 bits, else 32 */
    bool is_coarse; /* there may be a step above 0 */
    void *cells;    /* BLOCK_CELLS a block, of its step */
    uint8_t *step;
    void *shown; /* the cells at the packed step, which questions look at; after kernel_show() */
    uint8_t *packed;
};

/* What is added: sums of |count|, at most KERNEL_SUM_MOST, and of the counts, modulo 2^64. */
struct cuda_sums {
    uint64_t magnitude, total;
};
#define KERNEL_SUM_MOST (UINT64_C(1) << 62)
enum { KERNEL_SUMS = 256 };

ITEM_FUNCTION void sums_add(struct cuda_sums *sums, uint64_t magnitude, uint64_t total)
{
    uint64_t sum = sums->magnitude + magnitude; /* at most 2^62 + 2^63 */
    sums->magnitude = sum < KERNEL_SUM_MOST ? sum : KERNEL_SUM_MOST;
    sums->total += total;
}

ITEM_FUNCTION void sums_add_count(struct cuda_sums *sums, int64_t count)
{
    sums_add(sums, count < 0 ? 0 - (uint64_t)count : (uint64_t)count, (uint64_t)count);
}

/* counts may be NULL: each once. All pointers are of the device. */
void kernel_add(const struct cuda_blocks *blocks, const uint64_t *items, const int64_t *counts, size_t n,
                cudaStream_t stream);

/* Sums of parts of the counts. */
void kernel_sum(const int64_t *counts, size_t n, struct cuda_sums sums[KERNEL_SUMS], cudaStream_t stream);

/* Adds all of `from`, whose blocks are a multiple of those of `into`, times sign. They may be the same. */
void kernel_combine(const struct cuda_blocks *into, const struct cuda_blocks *from, int sign, cudaStream_t stream);

/* Finds packed steps, and folds to them. */
void kernel_show(const struct cuda_blocks *blocks, cudaStream_t stream);

void kernel_estimate(const struct cuda_blocks *blocks, const struct decoder *decoder, const uint64_t *items, size_t n,
                     lego_estimate *estimates, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
