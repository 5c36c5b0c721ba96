/* memory: what a session has on the GPU is one allocation, cut into arrays; and copies between the two sides. */
#ifndef LEGO_CUDA_MEMORY_CUH
#define LEGO_CUDA_MEMORY_CUH

#include <cuda_runtime.h>
#include <stddef.h>

namespace {

struct part {
    void **at;
    size_t size;
};

/* All of it is 0. */
template <int N>
cudaError_t allocate(const part (&parts)[N], void **memory)
{
    size_t total = 0;
    for (const part &p : parts) total += (p.size + 255) / 256 * 256;
    cudaError_t error = cudaMalloc(memory, total);
    if (error != cudaSuccess) return error;
    char *at = static_cast<char *>(*memory);
    for (const part &p : parts) {
        *p.at = at;
        at += (p.size + 255) / 256 * 256;
    }
    return cudaMemset(*memory, 0, total);
}

bool put(void *to, const void *from, size_t size)
{
    return cudaMemcpy(to, from, size, cudaMemcpyHostToDevice) == cudaSuccess;
}

bool get(void *to, const void *from, size_t size)
{
    return cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost) == cudaSuccess;
}

} // namespace

#endif
