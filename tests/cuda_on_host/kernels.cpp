/* The kernels of src/cuda/, compiled for the CPU. */
#include "cuda_runtime.h"

__shared__ uint32_t total_sum[2 * 1536]; /* the most that bricks_add starts with */

#include "cuda/bricks_add.cu"
#include "cuda/bricks_query.cu"
#include "cuda/bricks_scan.cu"
#include "cuda/counts.cu"
