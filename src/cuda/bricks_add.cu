/* bricks_add: keys to cells, a thread an item, a 64-bit atomic a row: in any order one sum.
 *
 * Keys that come first to a block of threads are summed up in shared memory and added once at the end: with a skewed
 * stream half the items are of some thousand keys, for whose cells all would wait. A key that finds its slot taken goes
 * to the cells directly. The totals of bricks are few places for many items, so they are summed up there too. */
#include "cuda/bricks_item.cuh"

extern __shared__ uint32_t total_sum[]; /* of bricks: as much as launch() is told */

namespace
{

constexpr unsigned ADD_THREADS = 512, SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS, ADD_ITEMS = 4 * ADD_THREADS;
constexpr unsigned TOTALS_MOST = 1536; /* bricks; more are places enough to add to them directly */
static_assert(16 * SLOTS + 4 * TABLE_MAX + 8 * TOTALS_MOST <= 48 * 1024, "shared memory that needs no asking for");

/* A sum of 64 bits in two halves: shared memory adds 32 bits at once, but not 64. */
struct halves {
    uint32_t *low, *high;

    __device__ void add(unsigned i, uint64_t value) const
    {
        uint32_t before = atomicAdd(&low[i], (uint32_t)value);
        uint32_t up = (uint32_t)(value >> 32) + (before + (uint32_t)value < before);
        if (up) atomicAdd(&high[i], up);
    }
    __device__ uint64_t get(unsigned i) const
    {
        return (uint64_t)high[i] << 32 | low[i];
    }
};

__device__ void add_global(int64_t *to, uint64_t value)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(to), (unsigned long long)value);
}

template <unsigned R>
__device__ __forceinline__ void add_item(const device_bricks &b, const uint32_t table16[], const hash_way &way,
                                         const halves &totals, uint64_t key, uint64_t count)
{
    item<R> it(b, table16, way, key);
#pragma unroll
    for (unsigned k = 0; k < R; k++)
        add_global(b.content.cells + row_start(b, it.brick, R, k) + it.column[k], count * it.weight[k]);
    if (b.bricks.d <= TOTALS_MOST) totals.add(it.brick, count);
    else add_global(b.content.totals + it.brick, count);
}

/* The slot of a key. That of key 0 is 0, that of key 1 is not: an empty slot has the one of them that can not come. */
__device__ unsigned slot_of(unsigned long long key)
{
    return (unsigned)(key * 0x9e3779b97f4a7c15ull >> (64 - SLOT_BITS));
}

__device__ unsigned long long empty_key(unsigned slot)
{
    return slot == 0;
}

/* Whether the slot is the key's, now or already. */
__device__ bool take_slot(unsigned long long *slot_key, unsigned slot, unsigned long long key)
{
    unsigned long long there = *const_cast<volatile unsigned long long *>(&slot_key[slot]);
    if (there == empty_key(slot)) there = atomicCAS(&slot_key[slot], there, key);
    return there == key || there == empty_key(slot);
}

template <unsigned R>
__global__ void __launch_bounds__(ADD_THREADS)
    add(const __grid_constant__ device_bricks b, const __grid_constant__ hash_way way, const uint64_t *keys,
        const int64_t *counts, size_t n)
{
    __shared__ unsigned long long slot_key[SLOTS];
    __shared__ uint32_t slot_sum[2][SLOTS], table16[TABLE_MAX];
    const halves slots = {slot_sum[0], slot_sum[1]};
    const unsigned own_totals = b.bricks.d <= TOTALS_MOST ? b.bricks.d : 0;
    const halves totals = {total_sum, total_sum + own_totals};
    for (unsigned s = threadIdx.x; s < SLOTS; s += ADD_THREADS) {
        slot_key[s] = empty_key(s);
        slot_sum[0][s] = slot_sum[1][s] = 0;
    }
    for (unsigned i = threadIdx.x; i < 2 * own_totals; i += ADD_THREADS) total_sum[i] = 0;
    for (unsigned i = threadIdx.x; i < b.table_size; i += ADD_THREADS) table16[i] = b.decoder->table16[i];
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * ADD_THREADS + threadIdx.x; i < n; i += (size_t)gridDim.x * ADD_THREADS) {
        uint64_t key = keys[i], count = counts ? (uint64_t)counts[i] : 1;
        unsigned slot = slot_of(key);
        if (take_slot(slot_key, slot, key)) slots.add(slot, count);
        else add_item<R>(b, table16, way, totals, key, count);
    }
    __syncthreads();
    for (unsigned s = threadIdx.x; s < SLOTS; s += ADD_THREADS)
        if (uint64_t sum = slots.get(s)) add_item<R>(b, table16, way, totals, slot_key[s], sum);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < own_totals; i += ADD_THREADS)
        if (uint64_t sum = totals.get(i)) add_global(b.content.totals + i, sum);
}

template <unsigned R>
cudaError_t start(const device_bricks &b, const hash_way &way, const uint64_t *keys, const int64_t *counts, size_t n,
                  cudaStream_t stream)
{
    size_t shared = b.bricks.d <= TOTALS_MOST ? 2 * b.bricks.d * sizeof(uint32_t) : 0;
    unsigned grid = grid_for(add<R>, ADD_THREADS, shared, n, ADD_ITEMS);
    return launch(add<R>, grid, ADD_THREADS, shared, stream, b, way, keys, counts, n);
}

} // namespace

cudaError_t device_add(const device_bricks *bricks, hash_way way, const uint64_t *keys, const int64_t *counts, size_t n,
                       cudaStream_t stream)
{
    switch (bricks->rows) {
    case 1: return start<1>(*bricks, way, keys, counts, n, stream);
    case 2: return start<2>(*bricks, way, keys, counts, n, stream);
    case 3: return start<3>(*bricks, way, keys, counts, n, stream);
    case 4: return start<4>(*bricks, way, keys, counts, n, stream);
    case 5: return start<5>(*bricks, way, keys, counts, n, stream);
    case 6: return start<6>(*bricks, way, keys, counts, n, stream);
    case 7: return start<7>(*bricks, way, keys, counts, n, stream);
    default: return start<8>(*bricks, way, keys, counts, n, stream);
    }
}
