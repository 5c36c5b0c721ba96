/* cuda_bench: how fast sketches on the GPU store and answer, and what the device itself can do of that kind.
 *
 * The stream is that of bench/keys.c, Zipf's law of exponent 1 with a key for every two bytes, 8 million at most, drawn
 * on the device. Items and estimates are on the device, in pinned and in ordinary memory. There is also a stream of
 * distinct keys, where at 134 MB the networks answer instead of the rule. Times are CUDA events around a
 * call, the median of RUNS after one that is not counted, and beside it the least and the most. Limits, measured in the
 * same run: the bus both ways, reading memory in order, additions at random places among as many cells as the sketch
 * has bytes for, multiply-adds. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "legosketch_cuda.h"

namespace
{

constexpr int RUNS = 5;
constexpr size_t ITEMS = size_t(1) << 26, HOST_ITEMS = size_t(1) << 25;
constexpr uint32_t RANKS_MOST = 8000000;
constexpr uint64_t BUDGETS[] = {1258291, 134217728};         /* 1.2 MB and 134 MB, as the bench of the CPU has them */
constexpr unsigned GROUPS = 2112, THREADS = 256, EACH = 256; /* groups: 16 a multiprocessor */

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

template <class T> T *device_memory(size_t n)
{
    T *p;
    check(cudaMalloc(&p, n * sizeof(T)), "memory");
    check(cudaMemset(p, 0, n * sizeof(T)), "memory");
    return p;
}

__host__ __device__ uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

__global__ void draw_items(uint64_t *items, size_t n, uint32_t ranks)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        double uniform = double(mix((i + 1) * 0x9e3779b97f4a7c15ull) >> 11) * 0x1p-53;
        uint32_t rank = uint32_t(exp(uniform * log(ranks + 1.0)));
        items[i] = rank < 1 ? 1 : rank > ranks ? ranks : rank;
    }
}

__global__ void draw_distinct(uint64_t *items, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        items[i] = i * 0x9e3779b97f4a7c15ull;
}

__global__ void random_adds(unsigned long long *table, uint64_t cells, uint64_t start)
{
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = 0; i < EACH; i++) atomicAdd(&table[__umul64hi(mix(start + thread * EACH + i), cells)], 1ull);
}

__global__ void multiply_add(float *sum, float factor)
{
    float x[16];
#pragma unroll
    for (int j = 0; j < 16; j++) x[j] = float(threadIdx.x + j);
    for (unsigned i = 0; i < 16 * EACH; i++)
#pragma unroll
        for (int j = 0; j < 16; j++) x[j] = fmaf(x[j], factor, 1.0f);
#pragma unroll
    for (int j = 1; j < 16; j++) x[0] += x[j];
    if (x[0] == 1.0f) *sum = x[0];
}

__global__ void read_all(const uint4 *words, size_t n, uint32_t *sum)
{
    uint32_t all = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        all += words[i].x ^ words[i].y ^ words[i].z ^ words[i].w;
    if (all == 0x12345678) *sum = all;
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

void report(const char *subject, const char *what, const char *where, const rate &r)
{
    std::printf("%-18s %-8s %-28s %9.3f G/s  (%.3f to %.3f)\n", subject, what, where, r.median / 1e9, r.least / 1e9,
                r.most / 1e9);
    std::fflush(stdout);
}

/* ---- sketches ---------------------------------------------------------------------------------------------------- */

/* Where items come from and estimates go. */
struct source {
    const char *name;
    uint64_t *items;
    size_t n;
    lego_estimate *estimates;
    unsigned threads;
};

void measure_source(const char *subject, lego_sketch *empty, const source &from)
{
    lego_cuda_sketch *sketch = nullptr;
    lego_set_threads(empty, from.threads);
    check(lego_cuda_upload(empty, &sketch) == LEGO_OK, "upload");
    auto store = [&] { check(lego_cuda_add_u64s(sketch, from.items, nullptr, from.n) == LEGO_OK, "store"); };
    auto ask = [&] {
        check(lego_cuda_query_u64s(sketch, from.items, from.n, nullptr, from.estimates) == LEGO_OK, "ask");
    };
    report(subject, "store", from.name, rate_of(double(from.n), store));
    report(subject, "query", from.name, rate_of(double(from.n), ask));
    lego_cuda_destroy(sketch);
}

/* Which share of the answers, which are on the device, is not the rule's. */
double by_networks(const lego_estimate *estimates)
{
    std::vector<lego_estimate> some(size_t(1) << 20);
    check(cudaMemcpy(some.data(), estimates, some.size() * sizeof some[0], cudaMemcpyDeviceToHost), "copy");
    return double(std::count_if(some.begin(), some.end(),
                                [](const lego_estimate &e) { return e.value < double(e.upper); })) /
           double(some.size());
}

void measure(uint64_t budget, const std::vector<source> &sources)
{
    lego_options options = LEGO_OPTIONS_INIT;
    lego_sketch *empty;
    char subject[32];
    options.budget = budget;
    options.model = lego_model_builtin("paper");
    std::snprintf(subject, sizeof subject, "paper %.1f MB", double(budget) / 1e6);
    check(lego_create(&options, &empty) == LEGO_OK, "create");
    for (const source &from : sources) measure_source(subject, empty, from);
    std::printf("%-18s %.0f %% of the answers by networks\n", subject, 100 * by_networks(sources[0].estimates));
    lego_destroy(empty);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

void measure_limits(const source &device, const source &pinned)
{
    const size_t bytes = pinned.n * sizeof *pinned.items, all = device.n * sizeof *device.items;
    uint32_t *sum = device_memory<uint32_t>(1);
    report("limit", "bytes", "to the device",
           rate_of(double(bytes), [&] { cudaMemcpyAsync(device.items, pinned.items, bytes, cudaMemcpyHostToDevice); }));
    report("limit", "bytes", "from the device",
           rate_of(double(bytes), [&] { cudaMemcpyAsync(pinned.items, device.items, bytes, cudaMemcpyDeviceToHost); }));
    report("limit", "bytes", "read on the device", rate_of(double(all), [&] {
               read_all<<<GROUPS, THREADS>>>(reinterpret_cast<uint4 *>(device.items), all / sizeof(uint4), sum);
           }));
    for (uint64_t budget : BUDGETS) {
        const double additions = double(GROUPS) * THREADS * EACH;
        const uint64_t cells = budget / sizeof(int32_t);
        auto *table = device_memory<unsigned long long>(cells);
        uint64_t start = 0;
        char where[32];
        std::snprintf(where, sizeof where, "of 64 bits, %.1f M cells", double(cells) / 1e6);
        report("limit", "adds", where, rate_of(additions, [&] {
                   random_adds<<<GROUPS, THREADS>>>(table, cells, start += uint64_t(additions));
               }));
        cudaFree(table);
    }
    report("limit", "multiply", "and add, floats", rate_of(double(GROUPS) * THREADS * EACH * 16 * 16, [&] {
               multiply_add<<<GROUPS, THREADS>>>(reinterpret_cast<float *>(sum), 0.5f);
           }));
    cudaFree(sum);
}

} // namespace

int main()
{
    cudaDeviceProp card;
    check(cudaGetDeviceProperties(&card, 0), "no GPU");
    std::printf("%s, L2 %.0f MB\n", card.name, card.l2CacheSize / 1e6);
    uint64_t *items = device_memory<uint64_t>(ITEMS), *pinned;
    lego_estimate *estimates = device_memory<lego_estimate>(ITEMS), *pinned_estimates;
    check(cudaMallocHost(&pinned, HOST_ITEMS * sizeof *pinned), "memory");
    check(cudaMallocHost(&pinned_estimates, HOST_ITEMS * sizeof *pinned_estimates), "memory");
    std::vector<uint64_t> ordinary(HOST_ITEMS);
    std::vector<lego_estimate> ordinary_estimates(HOST_ITEMS);
    const std::vector<source> sources = {
        {"the device", items, ITEMS, estimates, 1},
        {"pinned memory", pinned, HOST_ITEMS, pinned_estimates, 1},
        {"ordinary memory, 8 threads", ordinary.data(), HOST_ITEMS, ordinary_estimates.data(), 8}};
    std::memset(pinned, 0, HOST_ITEMS * sizeof *pinned);
    measure_limits(sources[0], sources[1]);
    for (uint64_t budget : BUDGETS) {
        draw_items<<<GROUPS, THREADS>>>(items, ITEMS, uint32_t(std::min<uint64_t>(budget / 2, RANKS_MOST)));
        check(cudaMemcpy(pinned, items, HOST_ITEMS * sizeof *pinned, cudaMemcpyDeviceToHost), "copy");
        std::copy(pinned, pinned + HOST_ITEMS, ordinary.begin());
        measure(budget, sources);
        draw_distinct<<<GROUPS, THREADS>>>(items, ITEMS);
        measure(budget, {{"the device, distinct keys", items, ITEMS, estimates, 1}});
    }
    return 0;
}
