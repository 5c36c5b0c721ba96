/* The kernels of src/cuda/, compiled for the CPU. */
#include <cstdint>

namespace
{
thread_local uint32_t total_sum[2 * 1536]; /* which bricks_add has as much of as it asks for when it starts */
}

#include "cuda/bricks_add.cu"
#include "cuda/bricks_query.cu"
#include "cuda/bricks_scan.cu"
#include "cuda/counts.cu"
