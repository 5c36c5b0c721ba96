/* sketch_kernels: see sketch_kernels.h.
 *
 *     add        keys -> cells       a thread an item: four integer atomics, in any order one sum
 *     sum        counts -> sums
 *     combine    cells -> cells      a warp a block of `into`, which gathers from the blocks that fold to it
 *     show       cells -> shown      a warp a block: down the ladder until it fits 64 bytes
 *     estimate   keys, shown -> h    a thread two items, the weights in shared memory */
#include "cuda/sketch_kernels.h"

namespace
{

constexpr unsigned WARP = 32, ALL = 0xffffffff;

/* ---- add --------------------------------------------------------------------------------------------------------- */

/* Keys that come first are summed up in shared memory, and added once at the end: with a skewed stream half the items
 * are of some thousand keys, for whose cells all would wait. (Zipf 1.0, 134 MB: 12.1 G items a second, without it 3.1;
 * with a quarter of the slots 11.3.) A key that finds its slot taken goes to the cells directly. */
constexpr unsigned ADD_THREADS = 512, SLOT_BITS = 11, SLOTS = 1 << SLOT_BITS, ADD_ITEMS = 4 * ADD_THREADS;
constexpr unsigned long long NO_KEY = ~0ull; /* an item of this key has no slot */

__device__ void add_cell(int32_t *cell, int32_t count)
{
    atomicAdd(cell, count);
}

__device__ void add_cell(int64_t *cell, int64_t count)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(cell), static_cast<unsigned long long>(count));
}

template <class Cell> __device__ void add_item(const cuda_blocks &b, uint64_t key, Cell count)
{
    uint64_t lo, hi;
    item_hash(key, b.places.flip, &lo, &hi);
#pragma unroll
    for (unsigned which = 0; which < 2; which++) {
        item_half half = item_half_of(&b.places, lo, hi, which);
        const uint8_t *columns = b.places.columns[b.is_coarse ? b.step[half.block] : 0];
        Cell *cells = static_cast<Cell *>(b.cells) + (size_t)half.block * ITEM_CELLS;
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            unsigned row = which + 2 * i;
            if (columns[row] == 0) continue;
            add_cell(cells + item_first(columns, row) + (half.column[i] & (columns[row] - 1u)), count);
        }
    }
}

template <class Cell>
__global__ void __launch_bounds__(ADD_THREADS)
    add(const __grid_constant__ cuda_blocks b, const uint64_t *items, const int64_t *counts, size_t n)
{
    __shared__ unsigned long long slot_key[SLOTS];
    __shared__ Cell slot_sum[SLOTS];
    for (unsigned s = threadIdx.x; s < SLOTS; s += ADD_THREADS) {
        slot_key[s] = NO_KEY;
        slot_sum[s] = 0;
    }
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * ADD_THREADS + threadIdx.x; i < n; i += (size_t)gridDim.x * ADD_THREADS) {
        unsigned long long key = items[i];
        Cell count = counts ? (Cell)counts[i] : 1;
        unsigned s = (unsigned)(key * 0x9e3779b97f4a7c15ull >> (64 - SLOT_BITS));
        unsigned long long there = *const_cast<volatile unsigned long long *>(&slot_key[s]);
        if (there == NO_KEY) {
            there = atomicCAS(&slot_key[s], NO_KEY, key);
            if (there == NO_KEY) there = key;
        }
        if (there == key && key != NO_KEY) add_cell(&slot_sum[s], count);
        else add_item(b, key, count);
    }
    __syncthreads();
    for (unsigned s = threadIdx.x; s < SLOTS; s += ADD_THREADS)
        if (slot_sum[s] != 0) add_item(b, slot_key[s], slot_sum[s]);
}

/* ---- sum --------------------------------------------------------------------------------------------------------- */

constexpr unsigned SUM_THREADS = 256;

__global__ void __launch_bounds__(SUM_THREADS) sum(const int64_t *counts, size_t n, cuda_sums *sums)
{
    __shared__ cuda_sums part[SUM_THREADS];
    cuda_sums own = {0, 0};
    for (size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += (size_t)gridDim.x * SUM_THREADS)
        sums_add_count(&own, counts[i]);
    part[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned t = 1; t < SUM_THREADS; t++) sums_add(&own, part[t].magnitude, part[t].total);
    sums[blockIdx.x] = own;
}

/* ---- combine ----------------------------------------------------------------------------------------------------- */

constexpr unsigned BLOCK_THREADS = 256, WARPS = BLOCK_THREADS / WARP; /* where a warp has a block */

/* Cell c of a row at a step, from cells that are at `own`. */
template <class Cell>
__device__ int64_t folded(const cuda_blocks &b, uint32_t block, unsigned own, unsigned step, unsigned row, unsigned c)
{
    const uint8_t *columns = b.places.columns[own];
    const Cell *cells = static_cast<const Cell *>(b.cells) + (size_t)block * ITEM_CELLS + item_first(columns, row);
    int64_t sum = 0;
    for (; c < columns[row]; c += b.places.columns[step][row]) sum += cells[c];
    return sum;
}

template <class Into, class From>
__global__ void __launch_bounds__(BLOCK_THREADS)
    combine(const __grid_constant__ cuda_blocks into, const __grid_constant__ cuda_blocks from, int sign)
{
    const places &to = into.places, &of = from.places;
    uint32_t j = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (j >= into.blocks) return;
    /* The blocks that fold to block j = r + odd q: where r has the same rest, and the low bits of q are the same. */
    uint32_t r = j % to.odd, q = j / to.odd, rests = of.odd / to.odd, highs = (of.mask + 1) / (to.mask + 1);
    auto source = [&](uint32_t i) { return r + to.odd * (i % rests) + of.odd * (q + (to.mask + 1) * (i / rests)); };
    unsigned own = into.step[j], later = own;
    for (uint32_t i = 0; i < rests * highs; i++) later = max(later, (unsigned)from.step[source(i)]);
    const uint8_t *columns = to.columns[later];
    Into value[ITEM_CELLS / WARP];
#pragma unroll
    for (unsigned t = 0; t < ITEM_CELLS / WARP; t++) {
        unsigned c = lane + t * WARP, row = 0;
        while (row < ITEM_ROWS && c >= columns[row]) c -= columns[row++];
        int64_t v = 0;
        if (row < ITEM_ROWS) {
            v = folded<Into>(into, j, own, later, row, c);
            for (uint32_t i = 0; i < rests * highs; i++)
                v += sign * folded<From>(from, source(i), from.step[source(i)], later, row, c);
        }
        value[t] = (Into)v;
    }
    __syncwarp(); /* all is read, also where both are the same */
#pragma unroll
    for (unsigned t = 0; t < ITEM_CELLS / WARP; t++)
        static_cast<Into *>(into.cells)[(size_t)j * ITEM_CELLS + lane + t * WARP] = value[t];
    if (lane == 0) into.step[j] = (uint8_t)later;
}

/* ---- show -------------------------------------------------------------------------------------------------------- */

/* Whether the cells fit a dense block, with any g. */
template <class Cell> __device__ bool fits(const Cell *value, unsigned cells, unsigned lane)
{
    bool is_signed = false;
    for (unsigned i = lane; i < cells; i += WARP) is_signed |= value[i] < 0;
    is_signed = __any_sync(ALL, is_signed);
    for (unsigned g = 0; g < ITEM_ORDERS && cells * (1 + g) <= ITEM_BITS; g++) {
        unsigned bits = 0;
        for (unsigned i = lane; i < cells; i += WARP) bits += item_digit_bits(item_code(value[i], is_signed) >> g);
        if (__reduce_add_sync(ALL, bits) + cells * (1 + g) <= ITEM_BITS) return true;
    }
    return false;
}

/* To the next step, in place. Cells of a row go where cells of it or of rows before it were: these are done. */
template <class Cell> __device__ void fold(Cell *value, const uint8_t *from, const uint8_t *to, unsigned lane)
{
    const Cell *in = value;
    for (unsigned row = 0; row < ITEM_ROWS; in += from[row], value += to[row], row++) {
        Cell sum[4]; /* a row has 128 cells at most */
#pragma unroll
        for (unsigned t = 0; t < 4; t++) {
            unsigned c = lane + t * WARP;
            sum[t] = c < to[row] ? in[c] : 0;
            if (c < to[row] && to[row] < from[row]) sum[t] += in[c + to[row]];
        }
        __syncwarp();
#pragma unroll
        for (unsigned t = 0; t < 4; t++)
            if (lane + t * WARP < to[row]) value[lane + t * WARP] = sum[t];
        __syncwarp();
    }
}

template <class Cell> __global__ void __launch_bounds__(BLOCK_THREADS) show(const __grid_constant__ cuda_blocks b)
{
    __shared__ Cell values[WARPS][ITEM_CELLS];
    uint32_t block = blockIdx.x * WARPS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (block >= b.blocks) return;
    Cell *value = values[threadIdx.x / WARP];
    size_t at = (size_t)block * ITEM_CELLS;
    for (unsigned i = lane; i < ITEM_CELLS; i += WARP) value[i] = static_cast<const Cell *>(b.cells)[at + i];
    __syncwarp();
    unsigned step = b.step[block];
    const uint8_t(*columns)[ITEM_ROWS] = b.places.columns;
    for (; !fits(value, item_first(columns[step], ITEM_ROWS), lane); step++)
        fold(value, columns[step], columns[step + 1], lane);
    for (unsigned i = lane; i < item_first(columns[step], ITEM_ROWS); i += WARP)
        static_cast<Cell *>(b.shown)[at + i] = value[i];
    if (lane == 0) b.packed[block] = (uint8_t)step;
}

/* ---- estimate ---------------------------------------------------------------------------------------------------- */

constexpr unsigned ASK_THREADS = 128, ASK_ITEMS = ASK_THREADS * ITEM_TOGETHER;

template <class Cell>
__device__ item_reads read_item(const cuda_blocks &b, const decoder &d, uint64_t key, unsigned step[2])
{
    uint64_t lo, hi;
    int64_t value[ITEM_ROWS];
    item_hash(key, b.places.flip, &lo, &hi);
#pragma unroll
    for (unsigned which = 0; which < 2; which++) {
        item_half half = item_half_of(&b.places, lo, hi, which);
        unsigned s = step[which] = b.packed[half.block];
        const Cell *cells = static_cast<const Cell *>(b.shown) + (size_t)half.block * ITEM_CELLS;
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            unsigned row = which + 2 * i, cell = d.first[s][row] + (half.column[i] & d.mask[s][row]);
            value[row] = cell < ITEM_CELLS ? cells[cell] : 0;
        }
    }
    return item_reads_of(&d, step[0], step[1], value);
}

template <class Cell>
__global__ void __launch_bounds__(ASK_THREADS) estimate(const __grid_constant__ cuda_blocks b, const decoder *from,
                                                        const uint64_t *items, size_t n, lego_estimate *estimates)
{
    __shared__ decoder d;
    static_assert(sizeof d % sizeof(uint4) == 0, "copied in pieces of 16 bytes");
    for (unsigned i = threadIdx.x; i < sizeof d / sizeof(uint4); i += ASK_THREADS)
        reinterpret_cast<uint4 *>(&d)[i] = reinterpret_cast<const uint4 *>(from)[i];
    __syncthreads();
    for (size_t first = (size_t)blockIdx.x * ASK_ITEMS; first < n; first += (size_t)gridDim.x * ASK_ITEMS) {
        float x[ITEM_TOGETHER][ITEM_READS], h[ITEM_TOGETHER];
        int64_t upper[ITEM_TOGETHER];
        double slack[ITEM_TOGETHER];
#pragma unroll
        for (unsigned t = 0; t < ITEM_TOGETHER; t++) { /* past the end it is the last item again */
            size_t i = first + t * ASK_THREADS + threadIdx.x;
            unsigned step[2];
            item_reads reads = read_item<Cell>(b, d, items[i < n ? i : n - 1], step);
            item_see(&d, &reads, x[t]);
            upper[t] = reads.key[0] >> 2;
            slack[t] = d.slack[step[0]][step[1]];
        }
        item_decode(&d, x, h);
#pragma unroll
        for (unsigned t = 0; t < ITEM_TOGETHER; t++) {
            size_t i = first + t * ASK_THREADS + threadIdx.x;
            if (i < n) estimates[i] = item_answer(upper[t], slack[t], h[t]);
        }
    }
}

/* As many blocks as the device has room for at once, or fewer where each would have less than so many items. */
template <class Kernel> unsigned grid_for(Kernel kernel, unsigned threads, size_t n, unsigned items)
{
    int device = 0, processors = 0, resident = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)threads, 0);
    size_t most = (size_t)processors * (unsigned)resident, wanted = (n + items - 1) / items;
    return (unsigned)(wanted < most ? wanted : most ? most : 1);
}

template <class Into, class From>
void start_combine(const cuda_blocks *into, const cuda_blocks *from, int sign, cudaStream_t s)
{
    combine<Into, From><<<(into->blocks + WARPS - 1) / WARPS, BLOCK_THREADS, 0, s>>>(*into, *from, sign);
}

} // namespace

/* Starts a kernel for cells of either width. */
#define START(kernel, threads, items, stream, wide, ...)                                                               \
    do {                                                                                                               \
        if (wide) kernel<int64_t><<<grid_for(kernel<int64_t>, threads, n, items), threads, 0, stream>>>(__VA_ARGS__);  \
        else kernel<int32_t><<<grid_for(kernel<int32_t>, threads, n, items), threads, 0, stream>>>(__VA_ARGS__);       \
    } while (0)

void kernel_add(const cuda_blocks *blocks, const uint64_t *items, const int64_t *counts, size_t n, cudaStream_t stream)
{
    START(add, ADD_THREADS, ADD_ITEMS, stream, blocks->is_wide, *blocks, items, counts, n);
}

void kernel_sum(const int64_t *counts, size_t n, cuda_sums sums[KERNEL_SUMS], cudaStream_t stream)
{
    sum<<<KERNEL_SUMS, SUM_THREADS, 0, stream>>>(counts, n, sums);
}

void kernel_combine(const cuda_blocks *into, const cuda_blocks *from, int sign, cudaStream_t stream)
{
    if (into->is_wide && from->is_wide) start_combine<int64_t, int64_t>(into, from, sign, stream);
    else if (into->is_wide) start_combine<int64_t, int32_t>(into, from, sign, stream);
    else if (from->is_wide) start_combine<int32_t, int64_t>(into, from, sign, stream);
    else start_combine<int32_t, int32_t>(into, from, sign, stream);
}

void kernel_show(const cuda_blocks *blocks, cudaStream_t stream)
{
    unsigned grid = (blocks->blocks + WARPS - 1) / WARPS;
    if (blocks->is_wide) show<int64_t><<<grid, BLOCK_THREADS, 0, stream>>>(*blocks);
    else show<int32_t><<<grid, BLOCK_THREADS, 0, stream>>>(*blocks);
}

void kernel_estimate(const cuda_blocks *blocks, const decoder *decoder, const uint64_t *items, size_t n,
                     lego_estimate *estimates, cudaStream_t stream)
{
    START(estimate, ASK_THREADS, ASK_ITEMS, stream, blocks->is_wide, *blocks, decoder, items, n, estimates);
}
