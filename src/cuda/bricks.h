/* bricks: the paper's bricks (paper/bricks.h) on an NVIDIA GPU.
 *
 * Cells are plain sums of 64 bits there, one a column, to which a store adds by atomics; no row is ever changed in its
 * layout. That a row is wide, or two cells are a pair (paper/row.h), only says which sums a reader adds up. It is found
 * out by the scan, which the first question after a store takes, and when rows are written out as bytes.
 *
 * What comes out is what the CPU has, where nothing was deleted since the upload:
 *
 *     bytes          equal
 *     upper, lower   equal, but that a lower bound which f' has lowered (decode_lower()) is the whole part of f'
 *     choice         equal: what the scan sees of a brick is the same to the bit
 *     value          equal where it is the rule's; f' itself is computed in float with fused operations, and within
 *                    1e-4 of its size of the CPU's, or 1e-3 if that is more
 *
 * The slack of a lower bound takes CUDA's pow(), which differs from the C library's in the last bit or two: a bound
 * could differ by 1 where the slack is whole to 15 digits. Deleted counts are the same too, but a row that was wide on
 * the way may be narrow here, since a batch is summed up in any order.
 *
 * All pointers to keys, counts and estimates are device memory. Work goes to the stream; whoever uses several orders
 * them. */
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bricks;
struct cuda_bricks; /* bricks on the device */

/* A copy on the current device. */
lego_status cuda_bricks_upload(const struct bricks *host, struct cuda_bricks **made);
void cuda_bricks_free(struct cuda_bricks *self); /* NULL is fine */

/* n > 0. counts NULL: 1 each. As with bricks_add(), the caller sees to it that the sum of all |count| * Q fits 63 bits.
 * No memory is needed for it. */
lego_status cuda_bricks_add(struct cuda_bricks *self, struct seed seed, const uint64_t *keys, const int64_t *counts,
                            size_t n, cudaStream_t stream);
lego_status cuda_bricks_query(struct cuda_bricks *self, struct seed seed, const uint64_t *keys, size_t n,
                              lego_estimate *estimates, cudaStream_t stream);

/* Into bricks of the same model and shape, which are changed only if all goes well. Waits for the device. */
lego_status cuda_bricks_download(const struct cuda_bricks *self, struct bricks *host);

#ifdef __cplusplus
}
#endif
