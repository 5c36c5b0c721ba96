/* kernels: see kernels.h. A batch goes its way in five kinds of kernels: keys become words (a block's number above a
 * whole key), words are sorted, equal ones become one with their sum, each block's first is found, and a group of warps
 * takes what the blocks of a cap get. */
/* First of all: device.cuh gives names of the compiler another meaning. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include "cuda/answer.cuh"

namespace
{

constexpr unsigned THREADS = 256; /* of a group */

unsigned groups_for(size_t n)
{
    size_t groups = (n + THREADS - 1) / THREADS;
    return unsigned(groups < 1 ? 1 : groups > 65536 ? 65536 : groups);
}

/* The number of a thread among all, and how many these are. */
__device__ size_t thread_number()
{
    return blockIdx.x * size_t(blockDim.x) + threadIdx.x;
}

__device__ size_t thread_total()
{
    return size_t(gridDim.x) * blockDim.x;
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

__global__ void hash_keys_to_words(device_blocks blocks, const uint64_t *keys, size_t n, uint64_t *word)
{
    for (size_t i = thread_number(); i < n; i += thread_total())
        word[i] = word_of(blocks, hash_key(blocks.way, keys[i]));
}

/* The first word of each block, among *n; behind the last block, n. */
__global__ void find_firsts(device_blocks blocks, const uint64_t *word, const uint32_t *n, uint32_t *first)
{
    for (size_t b = thread_number(); b <= blocks.blocks; b += thread_total()) {
        uint32_t low = 0, high = *n;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (word[middle] >> blocks.whole < b) low = middle + 1;
            else high = middle;
        }
        first[b] = low;
    }
}

/* A group has the blocks of one cap. */
__global__ void __launch_bounds__(GROUP_WARPS *WARP)
    merge_groups(device_blocks blocks, additions a, const uint32_t *first)
{
    extern __shared__ uint64_t shared[];
    merge_group(blocks, a, first, blockIdx.x, reinterpret_cast<group_room *>(shared), threadIdx.x / WARP);
}

/* ---- the way of a batch ------------------------------------------------------------------------------------------ */

/* Parts of the room, each on 256 bytes. temp is what CUB takes. */
struct batch_room {
    uint64_t *word[2];
    int64_t *count[2];
    uint32_t *first, *n;
    void *temp;
    size_t temp_size, size;
};

unsigned word_bits(const device_blocks *blocks)
{
    unsigned bits = blocks->whole;
    while (blocks->blocks - 1 >> (bits - blocks->whole)) bits++;
    return bits;
}

/* Sorts, or says how many bytes that takes if temp is NULL; then words[0] and counts[0] are sorted. */
cudaError_t sort(const device_blocks *blocks, void *temp, size_t *size, uint64_t *word[2], int64_t *count[2], size_t n,
                 bool counted, cudaStream_t stream)
{
    cub::DoubleBuffer<uint64_t> words(word[0], word[1]);
    cub::DoubleBuffer<int64_t> counts(count[0], count[1]);
    cudaError_t error =
        counted ? cub::DeviceRadixSort::SortPairs(temp, *size, words, counts, uint32_t(n), 0, int(word_bits(blocks)),
                                                  stream)
                : cub::DeviceRadixSort::SortKeys(temp, *size, words, uint32_t(n), 0, int(word_bits(blocks)), stream);
    word[0] = words.Current(), word[1] = words.Alternate();
    count[0] = counts.Current(), count[1] = counts.Alternate();
    return error;
}

/* Sums up equal words: from words[0] and counts[0] to words[1] and counts[1]. */
cudaError_t sum_up(void *temp, size_t *size, uint64_t *const word[2], int64_t *const count[2], uint32_t *sums, size_t n,
                   bool counted, cudaStream_t stream)
{
    if (counted)
        return cub::DeviceReduce::ReduceByKey(temp, *size, word[0], word[1], count[0], count[1], sums,
                                              cuda::std::plus<int64_t>{}, int(n), stream);
    return cub::DeviceRunLengthEncode::Encode(temp, *size, word[0], word[1], count[1], sums, int(n), stream);
}

batch_room lay_out(const device_blocks *blocks, size_t n, bool counted, void *bytes)
{
    batch_room room = {};
    auto take = [&](size_t size) {
        void *at = static_cast<char *>(bytes) + room.size;
        room.size += (size + 255) / 256 * 256;
        return at;
    };
    size_t one = 0, two = 0;
    sort(blocks, nullptr, &one, room.word, room.count, n, counted, 0);
    sum_up(nullptr, &two, room.word, room.count, nullptr, n, counted, 0);
    room.temp_size = one > two ? one : two;
    for (unsigned i = 0; i < 2; i++) room.word[i] = static_cast<uint64_t *>(take(n * sizeof(uint64_t)));
    for (unsigned i = counted ? 0 : 1; i < 2; i++) room.count[i] = static_cast<int64_t *>(take(n * sizeof(int64_t)));
    room.first = static_cast<uint32_t *>(take((size_t(blocks->blocks) + 1) * sizeof(uint32_t)));
    room.n = static_cast<uint32_t *>(take(sizeof(uint32_t)));
    room.temp = take(room.temp_size);
    return room;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

__global__ void __launch_bounds__(THREADS) answer_items(device_blocks blocks, const questions *q, struct asked_as as,
                                                        const uint64_t *keys, size_t n, lego_estimate *estimates)
{
    for (size_t i = thread_number(); i < n; i += thread_total())
        estimates[i] = answer_item(blocks, q, as, hash_key(blocks.way, keys[i]));
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

__device__ void add_sums(cuda_sums *sums, uint64_t size, uint64_t total)
{
    uint64_t sum = sums->size + size; /* at most 2^62 + 2^63 */
    sums->size = sum < SUMS_MOST ? sum : SUMS_MOST;
    sums->total += total;
}

/* A part for each group. */
__global__ void sum_counts(const int64_t *counts, size_t n, cuda_sums *parts)
{
    __shared__ cuda_sums shared[THREADS];
    cuda_sums sums = {0, 0};
    for (size_t i = thread_number(); i < n; i += thread_total())
        add_sums(&sums, counts[i] < 0 ? 0 - uint64_t(counts[i]) : uint64_t(counts[i]), uint64_t(counts[i]));
    shared[threadIdx.x] = sums;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            add_sums(&shared[threadIdx.x], shared[threadIdx.x + half].size, shared[threadIdx.x + half].total);
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}

} // namespace

size_t kernel_add_bytes(const struct device_blocks *blocks, size_t n, bool counted)
{
    return lay_out(blocks, n, counted, nullptr).size;
}

cudaError_t kernel_add(const struct device_blocks *blocks, const uint64_t *keys, const int64_t *counts, size_t n,
                       void *bytes, cudaStream_t stream)
{
    batch_room room = lay_out(blocks, n, counts, bytes);
    hash_keys_to_words<<<groups_for(n), THREADS, 0, stream>>>(*blocks, keys, n, room.word[0]);
    if (counts) cudaMemcpyAsync(room.count[0], counts, n * sizeof *counts, cudaMemcpyDeviceToDevice, stream);
    cudaError_t error = sort(blocks, room.temp, &room.temp_size, room.word, room.count, n, counts, stream);
    if (error == cudaSuccess)
        error = sum_up(room.temp, &room.temp_size, room.word, room.count, room.n, n, counts, stream);
    find_firsts<<<groups_for(blocks->blocks + 1), THREADS, 0, stream>>>(*blocks, room.word[1], room.n, room.first);
    if (error != cudaSuccess) return error;
    error = cudaFuncSetAttribute(merge_groups, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(group_room));
    if (error != cudaSuccess) return error;
    merge_groups<<<blocks->caps, GROUP_WARPS * WARP, sizeof(group_room), stream>>>(
        *blocks, {room.word[1], room.count[1]}, room.first);
    return cudaGetLastError();
}

void kernel_query(const struct device_blocks *blocks, const struct questions *questions, const struct asked_as *as,
                  const uint64_t *keys, size_t n, lego_estimate *estimates, cudaStream_t stream)
{
    answer_items<<<groups_for(n), THREADS, 0, stream>>>(*blocks, questions, *as, keys, n, estimates);
}

void kernel_sum(const int64_t *counts, size_t n, struct cuda_sums sums[SUMS_PARTS], cudaStream_t stream)
{
    sum_counts<<<SUMS_PARTS, THREADS, 0, stream>>>(counts, n, sums);
}
