/* blocks: the light part of a sketch of the model compact, on a GPU. It always has all of its blocks and caps. */
#pragma once

#include <cuda_runtime_api.h>

#include "block/blocks.h"

struct cuda_blocks; /* blocks on the device */

/* Items that are sorted and added at once, at most. It takes 24 bytes each, 32 with counts, and 4 a block: a gigabyte.
 * More would be fewer looks at each block: with half as many, 134 MB are filled at 3.7 instead of 5.8 G items a
 * second. */
enum { CUDA_BLOCKS_AT_ONCE = 1 << 25 };

/* host has grown. */
lego_status cuda_blocks_upload(const struct blocks *host, struct cuda_blocks **made);
void cuda_blocks_free(struct cuda_blocks *);

/* keys, counts (or NULL: 1 each) and estimates are device memory; work goes to the stream; the caller has checked the
 * mass. LEGO_ERR_MEMORY, and nothing has changed, if there is no room for so many at once. */
lego_status cuda_blocks_add(struct cuda_blocks *, struct seed seed, const uint64_t *keys, const int64_t *counts,
                            size_t n, cudaStream_t);

/* total: N. Where something was added since the last question, all that has to be learnt is learnt first. */
lego_status cuda_blocks_query(struct cuda_blocks *, struct seed seed, int64_t total, const lego_asking *asking,
                              const uint64_t *keys, size_t n, lego_estimate *estimates, cudaStream_t);

/* host has room for all blocks. */
lego_status cuda_blocks_download(const struct cuda_blocks *, struct blocks *host);
