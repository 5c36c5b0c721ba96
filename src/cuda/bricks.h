/* bricks: the light part of a sketch of the paper's model, on a GPU. */
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "legosketch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bricks;
struct cuda_bricks; /* bricks on the device */

lego_status cuda_bricks_upload(const struct bricks *host, struct cuda_bricks **made);
void cuda_bricks_free(struct cuda_bricks *);

/* keys, counts (or NULL: 1 each) and estimates are device memory; work goes to the stream; the caller has checked the
 * mass */
lego_status cuda_bricks_add(struct cuda_bricks *, uint64_t seed, const uint64_t *keys, const int64_t *counts, size_t n,
                            cudaStream_t);
lego_status cuda_bricks_query(struct cuda_bricks *, uint64_t seed, const uint64_t *keys, size_t n,
                              lego_estimate *estimates, cudaStream_t);
lego_status cuda_bricks_download(const struct cuda_bricks *, struct bricks *host);

#ifdef __cplusplus
}
#endif
