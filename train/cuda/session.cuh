/* session: a training run on the GPU, of any net. A net's own part draws tasks and gives the gradient of a step; the
 * update, runs of steps and the way to and from the host are the same for all (session.cu).
 *
 * The state of a run stays on the GPU, and a step is one graph of kernels, so nothing but losses comes back. Every sum
 * has a fixed order or is of integers, so the same seed gives the same weights, bit for bit. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

extern "C" {
#include "backend.h"
}

/* What all nets have on the GPU. A net adds its own, and its kernels get the whole by value. */
struct learnt {
    struct recipe recipe;
    uint32_t count, losses_count; /* parameters; losses of a step */
    uint64_t *step;               /* the next to do */
    int *broken;                  /* set by a step whose loss or gradient is not finite: no update after it */
    float *parameters, *first, *second, *average;
    double *statistics;
    double *gradient; /* what Adam gets, before it is clipped */
    double *clip;     /* what it is multiplied by then */
    double *losses;   /* of this step */
    double *history;  /* [HISTORY][losses_count], by step modulo HISTORY */
};
constexpr int HISTORY = 4096;

struct session {
    cudaStream_t stream = NULL;
    cudaGraphExec_t graph = NULL; /* a whole step: one call instead of dozens */
    cudaError_t failure = cudaSuccess;
    void *memory[40] = {};
    int taken = 0;
    char description[300] = "";

    virtual ~session();
    virtual learnt &common() = 0;
    virtual void prepare(const cudaDeviceProp &card) = 0; /* takes memory */
    virtual void enqueue_gradient() = 0;                  /* step and parameters -> gradient and losses */
    virtual void enqueue_constrain() = 0;                 /* after Adam */
    virtual void enqueue_derived()
    {
    } /* what parameters that were loaded need beside them */

    /* The first failure stays; what follows it does nothing. */
    bool must(cudaError_t error)
    {
        if (failure == cudaSuccess) failure = error;
        return failure == cudaSuccess;
    }

    /* An array of zeros. */
    template <class T> void take(T **at, size_t count)
    {
        if (failure != cudaSuccess || !must(cudaMalloc(&memory[taken], count * sizeof(T)))) return;
        *at = static_cast<T *>(memory[taken]);
        must(cudaMemset(memory[taken++], 0, count * sizeof(T)));
    }

    /* More shared memory than kernels may have unasked. */
    template <class Kernel> void ask(Kernel kernel, size_t size)
    {
        must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size));
    }
};

session *paper_session();
session *ms_session();

/* ---- for kernels ------------------------------------------------------------------------------------------------- */

namespace
{

/* A warp's sum, as a tree: every lane gets it. */
template <class T> __device__ T warp_sum(T x)
{
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffff, x, d);
    return x;
}

__host__ __device__ constexpr int round4(int n)
{
    return (n + 3) / 4 * 4;
}

} // namespace
