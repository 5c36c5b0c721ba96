/* kernels: what runs on the GPU for blocks, as functions that start it in a stream and return at once. What goes wrong
 * there is told by the next function that waits. All pointers are of the device, but for those to structs. */
#pragma once

#include <cuda_runtime_api.h>

#include "model/learn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The blocks of a sketch that has all of them. */
struct device_blocks {
    struct block *block; /* caps are behind them */
    uint32_t blocks, caps;
    unsigned whole;
    struct hash_way way;
};

/* Of a reading of a list: the bits of its print; and whether a cap counts, and how wide its cell is. */
enum { LIST_CAPS = 1 + LEARN_WIDTHS };

static inline unsigned list_widths(const struct reading *reading)
{
    unsigned cap = reading->values > 1 ? 1 + (unsigned)__builtin_ctz(reading->width[1]) - LEARN_NARROWEST : 0;
    return (unsigned)__builtin_ctz(reading->width[0]) * LIST_CAPS + cap;
}

/* What is asked with, the same for all items of a sketch while it does not change: made on the CPU. */
struct questions {
    struct learnt learnt;
    double slack_shared[LEARN_WIDTHS * LEARN_WIDTHS * LEARN_WIDTHS]; /* by width_triple() (sketch/answer_shared.h) */
    double slack_listed[(BLOCK_PRINT + 1) * LIST_CAPS];              /* by list_widths() */
};

/* How many bytes kernel_add() needs for n items, of which it may take less; and what it does. counts may be NULL: each
 * once. */
size_t kernel_add_bytes(const struct device_blocks *blocks, size_t n, bool counted);
cudaError_t kernel_add(const struct device_blocks *blocks, const uint64_t *keys, const int64_t *counts, size_t n,
                       void *room, cudaStream_t stream);

struct asked_as;
void kernel_query(const struct device_blocks *blocks, const struct questions *questions, const struct asked_as *as,
                  const uint64_t *keys, size_t n, lego_estimate *estimates, cudaStream_t stream);

/* What is added: sums of |count|, at most SUMS_MOST, and of the counts, modulo 2^64. */
struct cuda_sums {
    uint64_t size, total;
};
#define SUMS_MOST (UINT64_C(1) << 62)
enum { SUMS_PARTS = 256 };

/* Sums of parts of the counts. */
void kernel_sum(const int64_t *counts, size_t n, struct cuda_sums sums[SUMS_PARTS], cudaStream_t stream);

#ifdef __cplusplus
}
#endif
