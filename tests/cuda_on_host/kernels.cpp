/* What runs on a GPU, on the CPU: the kernels of blocks with one thread for a warp (src/cuda/warp.cuh), and as much of
 * CUDA's runtime as src/cuda/ and its test ask for. So cuda_test_sketch runs where there is no GPU, and tells what is
 * wrong with anything but the work of threads side by side. Of bricks there is nothing: a GPU has to show them. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda/answer.cuh"
#include "cuda/bricks_device.h"

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

/* ---- bricks ------------------------------------------------------------------------------------------------------ */

cudaError_t device_add(const struct device_bricks *, struct hash_way, const uint64_t *, const int64_t *, size_t,
                       cudaStream_t)
{
    return cudaErrorNotSupported;
}

cudaError_t device_scan(const struct device_bricks *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

cudaError_t device_query(const struct device_bricks *, struct hash_way, const uint64_t *, size_t, lego_estimate *,
                         cudaStream_t)
{
    return cudaErrorNotSupported;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

size_t kernel_add_bytes(const struct device_blocks *, size_t n, bool counted)
{
    return n * (counted ? 32 : 24);
}

cudaError_t kernel_add(const struct device_blocks *blocks, const uint64_t *keys, const int64_t *counts, size_t n,
                       void *, cudaStream_t)
{
    std::vector<std::pair<uint64_t, int64_t>> all(n);
    for (size_t i = 0; i < n; i++) all[i] = {word_of(*blocks, hash_key(blocks->way, keys[i])), counts ? counts[i] : 1};
    std::sort(all.begin(), all.end());
    std::vector<uint64_t> word;
    std::vector<int64_t> count;
    for (const auto &one : all) {
        if (word.empty() || word.back() != one.first) word.push_back(one.first), count.push_back(0);
        count.back() += one.second;
    }
    std::vector<uint32_t> first(blocks->blocks + 1, uint32_t(word.size()));
    for (size_t i = word.size(); i-- > 0;) first[word[i] >> blocks->whole] = uint32_t(i);
    for (size_t b = blocks->blocks; b-- > 0;) first[b] = std::min(first[b], first[b + 1]);
    static group_room room;
    for (uint32_t cap = 0; cap < blocks->caps; cap++)
        merge_group(*blocks, {word.data(), count.data()}, first.data(), cap, &room, 0);
    return cudaSuccess;
}

void kernel_query(const struct device_blocks *blocks, const struct questions *questions, const struct asked_as *as,
                  const uint64_t *keys, size_t n, lego_estimate *estimates, cudaStream_t)
{
    for (size_t i = 0; i < n; i++) estimates[i] = answer_item(*blocks, questions, *as, hash_key(blocks->way, keys[i]));
}

void kernel_sum(const int64_t *counts, size_t n, struct cuda_sums sums[SUMS_PARTS], cudaStream_t)
{
    std::memset(sums, 0, SUMS_PARTS * sizeof *sums);
    for (size_t i = 0; i < n; i++) {
        cuda_sums &part = sums[i % SUMS_PARTS];
        uint64_t size = part.size + (counts[i] < 0 ? 0 - uint64_t(counts[i]) : uint64_t(counts[i]));
        part.size = std::min<uint64_t>(size, SUMS_MOST);
        part.total += uint64_t(counts[i]);
    }
}
}
