/* status: what CUDA says, in our words. */
#pragma once

#include <cuda_runtime_api.h>

#include "legosketch.h"

static inline lego_status cuda_status(cudaError_t error)
{
    if (error == cudaSuccess) return LEGO_OK;
    cudaGetLastError(); /* or who asks next is told of it */
    return error == cudaErrorMemoryAllocation ? LEGO_ERR_MEMORY : LEGO_ERR_DEVICE;
}
