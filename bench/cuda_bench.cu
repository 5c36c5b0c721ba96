/* cuda_bench: how fast a sketch on the GPU stores and answers, and what the device itself can do of that kind.
 *
 * A Zipf(1.0) stream of 2^24 possible keys, and one of distinct keys. Sketches whose cells take 1.2, 16 and 136 MB on
 * the device, 20 times the bytes of their blocks; items on the device, in ordinary and in pinned memory. Times are CUDA
 * events around a call, the median of 5 after one that is not counted, and beside it the least and the most. Limits,
 * measured in the same run: random additions to a table of the sketch's size, four of which a distinct key needs, two
 * and two near each other (others are summed up before they get there); multiply-adds, 1544 of which a query needs. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include "legosketch_cuda.h"

namespace
{

constexpr int RUNS = 5;
constexpr uint32_t DISTINCT = 1u << 24;
constexpr size_t ITEMS = size_t(1) << 26, HOST_ITEMS = size_t(1) << 24;
constexpr double FMA_OF_ITEM = 14 * 40 + 40 * 24 + 24;
constexpr uint64_t CELLS_OF_BLOCK = 320;                 /* on the device, of 4 bytes */
constexpr uint64_t BUDGETS[] = {63360, 811008, 7028736}; /* 960, 12288 and 106496 blocks */

void check(bool fine, const char *what)
{
    if (fine) return;
    std::fprintf(stderr, "cuda_bench: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    std::exit(1);
}

void check(cudaError_t error, const char *what)
{
    check(error == cudaSuccess, what);
}

__host__ __device__ uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

/* Keys drawn from Zipf's law as in bench/keys.h, or all different. */
__global__ void draw_items(uint64_t *items, size_t n, bool zipf)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        double uniform = double(mix((i + 1) * 0x9e3779b97f4a7c15ull) >> 11) * 0x1p-53;
        items[i] = mix(zipf ? uint64_t(exp(uniform * log(DISTINCT + 1.0))) : i);
    }
}

uint64_t *make_stream(bool zipf)
{
    uint64_t *items;
    check(cudaMalloc(&items, ITEMS * sizeof *items), "memory");
    draw_items<<<2048, 256>>>(items, ITEMS, zipf);
    check(cudaDeviceSynchronize(), "the stream");
    return items;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

constexpr unsigned LIMIT_BLOCKS = 2112, LIMIT_THREADS = 256, EACH = 256; /* blocks: 16 a multiprocessor */

__global__ void random_adds(int32_t *table, uint64_t cells, uint64_t start)
{
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = 0; i < EACH; i++) atomicAdd(&table[__umul64hi(mix(start + thread * EACH + i), cells)], 1);
}

__global__ void multiply_adds(float *sum, float factor)
{
    float x[16];
#pragma unroll
    for (int j = 0; j < 16; j++) x[j] = float(threadIdx.x + j);
    for (int i = 0; i < 4096; i++)
#pragma unroll
        for (int j = 0; j < 16; j++) x[j] = fmaf(x[j], factor, 1.0f);
#pragma unroll
    for (int j = 1; j < 16; j++) x[0] += x[j];
    if (x[0] == 1.0f) *sum = x[0];
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

struct rate {
    double median, least, most; /* a second */
};

template <class Work> rate rate_of(double units, Work work)
{
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "event");
    check(cudaEventCreate(&stop), "event");
    std::vector<double> rates;
    for (int i = 0; i <= RUNS; i++) {
        float ms;
        check(cudaEventRecord(start), "event"); /* in the legacy default stream, which waits for all others */
        work();
        check(cudaEventRecord(stop), "event");
        check(cudaEventSynchronize(stop), "a run");
        check(cudaEventElapsedTime(&ms, start, stop), "event");
        if (i > 0) rates.push_back(units / (ms / 1000));
    }
    std::sort(rates.begin(), rates.end());
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return {rates[RUNS / 2], rates.front(), rates.back()};
}

void report(double megabytes, const char *what, const char *where, const rate &r, double of_limit = 0)
{
    std::printf("%6.3g MB  %-6s  %-32s %9.3f G/s", megabytes, what, where, r.median / 1e9);
    std::printf("  (%.3f to %.3f)", r.least / 1e9, r.most / 1e9);
    if (of_limit > 0) std::printf("  %3.0f %% of the limit", 100 * of_limit);
    std::printf("\n");
    std::fflush(stdout);
}

/* ---- sketches ---------------------------------------------------------------------------------------------------- */

/* Where items come from and estimates go. */
struct source {
    const char *name;
    const uint64_t *items;
    size_t n;
    lego_estimate *estimates;
    unsigned threads;
};

void store(lego_cuda_sketch *sketch, const uint64_t *items, size_t n)
{
    check(lego_cuda_sketch_add_u64s(sketch, items, nullptr, n) == LEGO_OK, "store");
}

void ask(lego_cuda_sketch *sketch, const uint64_t *items, size_t n, lego_estimate *estimates)
{
    check(lego_cuda_sketch_estimate_u64s(sketch, items, n, estimates) == LEGO_OK, "ask");
}

lego_cuda_sketch *upload(const lego_sketch *sketch)
{
    lego_cuda_sketch *made = nullptr;
    check(lego_cuda_sketch_upload(sketch, &made) == LEGO_OK, "upload");
    return made;
}

rate measure_additions(uint64_t cells)
{
    double additions = double(LIMIT_BLOCKS) * LIMIT_THREADS * EACH;
    uint64_t start = 0;
    int32_t *table;
    check(cudaMalloc(&table, cells * sizeof *table), "memory");
    check(cudaMemset(table, 0, cells * sizeof *table), "memory");
    rate adds = rate_of(
        additions, [&] { random_adds<<<LIMIT_BLOCKS, LIMIT_THREADS>>>(table, cells, start += uint64_t(additions)); });
    cudaFree(table);
    return adds;
}

void measure_source(double megabytes, lego_sketch *empty, const source &from, const rate &fma)
{
    lego_set_threads(empty, from.threads);
    lego_cuda_sketch *sketch = upload(empty);
    report(megabytes, "store", from.name, rate_of(double(from.n), [&] { store(sketch, from.items, from.n); }));
    rate r = rate_of(double(from.n), [&] { ask(sketch, from.items, from.n, from.estimates); });
    report(megabytes, "query", from.name, r, FMA_OF_ITEM * r.median / fma.median);
    lego_cuda_sketch_destroy(sketch);
}

void measure(uint64_t budget, const uint64_t *distinct, const std::vector<source> &sources, const rate &fma)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = budget;
    lego_sketch *empty;
    lego_info info;
    check(lego_create(&options, &empty) == LEGO_OK, "create");
    lego_describe(empty, &info);
    uint64_t cells = CELLS_OF_BLOCK * info.blocks;
    double megabytes = double(cells * sizeof(int32_t)) / 1e6;

    rate adds = measure_additions(cells);
    report(megabytes, "limit", "random additions", adds);
    lego_cuda_sketch *sketch = upload(empty);
    rate r = rate_of(double(ITEMS), [&] { store(sketch, distinct, ITEMS); });
    report(megabytes, "store", "distinct keys on the device", r, 4 * r.median / adds.median);
    r = rate_of(double(info.blocks), [&] {
        store(sketch, distinct, 1);
        ask(sketch, distinct, 1, sources[0].estimates);
    });
    report(megabytes, "blocks", "in the first query after a store", r);
    lego_cuda_sketch_destroy(sketch);
    for (const source &from : sources) measure_source(megabytes, empty, from, fma);
    lego_destroy(empty);
}

} // namespace

int main()
{
    cudaDeviceProp card;
    check(cudaGetDeviceProperties(&card, 0), "no GPU");
    std::printf("%s, L2 %.0f MB\n", card.name, card.l2CacheSize / 1e6);
    uint64_t *items = make_stream(true), *distinct = make_stream(false), *pinned;
    lego_estimate *estimates, *pinned_estimates;
    check(cudaMalloc(&estimates, ITEMS * sizeof *estimates), "memory");
    check(cudaMallocHost(&pinned, HOST_ITEMS * sizeof *pinned), "memory");
    check(cudaMallocHost(&pinned_estimates, HOST_ITEMS * sizeof *pinned_estimates), "memory");
    check(cudaMemcpy(pinned, items, HOST_ITEMS * sizeof *pinned, cudaMemcpyDeviceToHost), "copy");
    std::vector<uint64_t> ordinary(pinned, pinned + HOST_ITEMS);
    std::vector<lego_estimate> ordinary_estimates(HOST_ITEMS);
    const std::vector<source> sources = {
        {"the device", items, ITEMS, estimates, 1},
        {"pinned memory", pinned, HOST_ITEMS, pinned_estimates, 1},
        {"ordinary memory, 8 threads", ordinary.data(), HOST_ITEMS, ordinary_estimates.data(), 8}};

    float *sum = reinterpret_cast<float *>(estimates);
    rate fma = rate_of(LIMIT_BLOCKS * 256.0 * 4096 * 16, [&] { multiply_adds<<<LIMIT_BLOCKS, 256>>>(sum, 0.5f); });
    report(0, "limit", "multiply-adds", fma);
    for (uint64_t budget : BUDGETS) measure(budget, distinct, sources, fma);
    return 0;
}
