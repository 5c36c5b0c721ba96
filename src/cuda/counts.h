/* counts: how much is added, where the counts are on the device. */
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COUNTS_MOST (UINT64_C(1) << 62)
enum { COUNTS_PARTS = 256 };

/* The sums of |count| over parts of n counts, each at most COUNTS_MOST. All is device memory; work goes to the
 * stream. */
cudaError_t device_sum(const int64_t *counts, size_t n, uint64_t sums[COUNTS_PARTS], cudaStream_t stream);

#ifdef __cplusplus
}
#endif
