/* As much of CUDA's runtime as src/cuda/ and its tests ask for. So these run where there is no GPU, and tell what is
 * wrong with anything but the work of threads at the same time. */
#include <cstdlib>
#include <cstring>
#include <map>

#include <cuda_runtime_api.h>

namespace
{

/* Memory that is not ordinary, by its address. */
struct memory {
    size_t size;
    cudaMemoryType type;
};
std::map<const char *, memory> memories;
size_t in_use;
constexpr size_t DEVICE_BYTES = size_t(3) << 30;

cudaError_t give(void **p, size_t size, cudaMemoryType type)
{
    if (type == cudaMemoryTypeDevice && size > DEVICE_BYTES - in_use) return cudaErrorMemoryAllocation;
    *p = std::malloc(size);
    memories[static_cast<char *>(*p)] = {size, type};
    if (type == cudaMemoryTypeDevice) in_use += size;
    return cudaSuccess;
}

cudaError_t take(void *p)
{
    auto found = memories.find(static_cast<char *>(p));
    if (!p) return cudaSuccess;
    if (found == memories.end()) std::abort();
    if (found->second.type == cudaMemoryTypeDevice) in_use -= found->second.size;
    memories.erase(found);
    std::free(p);
    return cudaSuccess;
}

template <class T> cudaError_t make(T *handle)
{
    *handle = static_cast<T>(std::malloc(1));
    return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaMalloc(void **p, size_t size)
{
    return give(p, size, cudaMemoryTypeDevice);
}

cudaError_t cudaMallocHost(void **p, size_t size)
{
    return give(p, size, cudaMemoryTypeHost);
}

cudaError_t cudaFree(void *p)
{
    return take(p);
}

cudaError_t cudaFreeHost(void *p)
{
    return take(p);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *p)
{
    const char *at = static_cast<const char *>(p);
    auto after = memories.upper_bound(at);
    attributes->type = cudaMemoryTypeUnregistered;
    if (after != memories.begin() && at < (--after)->first + after->second.size) attributes->type = after->second.type;
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind)
{
    std::memcpy(to, from, size);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t)
{
    return cudaMemcpy(to, from, size, kind);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return make((void **)stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    std::free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return make((void **)event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    std::free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *devices)
{
    *devices = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr, int)
{
    *value = 2; /* processors */
    return cudaSuccess;
}
}
