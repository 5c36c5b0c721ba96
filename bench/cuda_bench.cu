/* cuda_bench [--json]: how fast a sketch on the GPU stores and answers, and what the device itself can do of that kind.
 *
 * A Zipf(1.0) stream of 2^24 possible keys, and one of distinct keys. Sketches of 1.2, 16 and 134 MB in flat packing;
 * items on the device, in ordinary and in pinned memory. Times are CUDA events around a call, the median of 5 after one
 * that is not counted, and beside it the least and the most. Limits, measured in the same run: random additions to a
 * table of the sketch's size, four of which a distinct key needs, two and two near each other (others are summed up
 * before they get there); random reads; multiply-adds, 1544 of which an estimate needs. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "legosketch_cuda.h"

namespace {

constexpr int RUNS = 5;
constexpr uint32_t DISTINCT = 1u << 24;
constexpr size_t ITEMS = size_t(1) << 26, HOST_ITEMS = size_t(1) << 24;
constexpr double FMA_OF_ITEM = 14 * 40 + 40 * 24 + 24;

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

/* cdf[r]: the share of the ranks up to r. */
__global__ void draw_items(const double *cdf, uint64_t *items, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        double u = double(mix((i + 1) * 0x9e3779b97f4a7c15ull) >> 11) / 9007199254740992.0;
        uint32_t low = 0, high = DISTINCT - 1;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (cdf[middle] > u) high = middle;
            else low = middle + 1;
        }
        items[i] = mix(low + 1);
    }
}

__global__ void count_items(uint64_t *items, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        items[i] = mix(i);
}

uint64_t *make_stream()
{
    std::vector<double> cdf(DISTINCT);
    double sum = 0;
    for (uint32_t r = 0; r < DISTINCT; r++) cdf[r] = sum += 1.0 / (r + 1);
    for (double &c : cdf) c /= sum;
    double *on_device;
    uint64_t *items;
    check(cudaMalloc(&on_device, DISTINCT * sizeof(double)), "memory");
    check(cudaMalloc(&items, ITEMS * sizeof *items), "memory");
    check(cudaMemcpy(on_device, cdf.data(), DISTINCT * sizeof(double), cudaMemcpyHostToDevice), "copy");
    draw_items<<<2048, 256>>>(on_device, items, ITEMS);
    check(cudaDeviceSynchronize(), "the stream");
    cudaFree(on_device);
    return items;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

constexpr unsigned LIMIT_BLOCKS = 2112, LIMIT_THREADS = 256, EACH = 256; /* blocks: 16 a multiprocessor */

__global__ void random_adds(int32_t *table, uint64_t cells, uint64_t start)
{
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint64_t i = 0; i < EACH; i++)
        atomicAdd(&table[__umul64hi(mix(start + thread * EACH + i), cells)], 1);
}

__global__ void random_reads(const int32_t *table, uint64_t cells, uint64_t start, int32_t *sum)
{
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    int32_t s = 0;
#pragma unroll 8
    for (uint64_t i = 0; i < EACH; i++) s += __ldcg(&table[__umul64hi(mix(start + thread * EACH + i), cells)]);
    if (s == 1) *sum = s;
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

bool json, has_reported;

void report(double mb, const char *what, const rate &r, const char *unit, double of_limit)
{
    if (json) {
        std::printf("%s\n {\"megabytes\": %g, \"what\": \"%s\", ", has_reported ? "," : "[", mb, what);
        std::printf("\"per_second\": %.4g, \"least\": %.4g, \"most\": %.4g", r.median, r.least, r.most);
        if (of_limit > 0) std::printf(", \"of_limit\": %.3f", of_limit);
        std::printf("}");
    } else {
        std::printf("%6g MB  %-46s %9.3f G %s/s", mb, what, r.median / 1e9, unit);
        std::printf("  (%.3f to %.3f)", r.least / 1e9, r.most / 1e9);
        if (of_limit > 0) std::printf("  %3.0f %% of the limit", 100 * of_limit);
        std::printf("\n");
    }
    has_reported = true;
    std::fflush(stdout);
}

/* ---- sketches ---------------------------------------------------------------------------------------------------- */

/* What is not on the device. */
struct memory {
    uint64_t *items;
    lego_estimate *estimates;
    unsigned threads;
    const char *name;
};

void store(lego_cuda_sketch *sketch, const uint64_t *items, size_t n)
{
    check(lego_cuda_sketch_add_u64s(sketch, items, nullptr, n) == LEGO_OK, "store");
}

void ask(lego_cuda_sketch *sketch, const uint64_t *items, size_t n, lego_estimate *estimates)
{
    check(lego_cuda_sketch_estimate_u64s(sketch, items, n, estimates) == LEGO_OK, "ask");
}

void measure_host(double megabytes, lego_sketch *empty, const memory &m)
{
    char what[64];
    lego_cuda_sketch *sketch;
    lego_sketch_set_threads(empty, m.threads);
    check(lego_cuda_sketch_upload(empty, &sketch) == LEGO_OK, "upload");
    std::snprintf(what, sizeof what, "store, items in %s", m.name);
    report(megabytes, what, rate_of(double(HOST_ITEMS), [&] { store(sketch, m.items, HOST_ITEMS); }), "items", 0);
    std::snprintf(what, sizeof what, "estimate, items in %s", m.name);
    rate r = rate_of(double(HOST_ITEMS), [&] { ask(sketch, m.items, HOST_ITEMS, m.estimates); });
    report(megabytes, what, r, "items", 0);
    lego_cuda_sketch_destroy(sketch);
}

void measure(double megabytes, const uint64_t *items, const uint64_t *distinct, lego_estimate *estimates,
             const rate &fma, const std::vector<memory> &hosts)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = uint64_t(megabytes * 1e6);
    options.packing = LEGO_FLAT;
    lego_sketch *empty;
    lego_cuda_sketch *sketch, *other;
    check(lego_sketch_create(&options, &empty) == LEGO_OK, "create");
    check(lego_cuda_sketch_upload(empty, &sketch) == LEGO_OK, "upload");
    check(lego_cuda_sketch_upload(empty, &other) == LEGO_OK, "upload");

    lego_sketch_info info;
    lego_sketch_describe(empty, &info);
    uint64_t cells = info.cells, start = 0;
    double accesses = double(LIMIT_BLOCKS) * LIMIT_THREADS * EACH;
    int32_t *table;
    check(cudaMalloc(&table, cells * sizeof *table + 4), "memory");
    check(cudaMemset(table, 0, cells * sizeof *table + 4), "memory");
    auto next = [&] { return start += uint64_t(accesses); };
    rate adds = rate_of(accesses, [&] { random_adds<<<LIMIT_BLOCKS, LIMIT_THREADS>>>(table, cells, next()); });
    rate reads = rate_of(accesses, [&] {
        random_reads<<<LIMIT_BLOCKS, LIMIT_THREADS>>>(table, cells, next(), table + cells);
    });
    cudaFree(table);
    report(megabytes, "limit: random additions", adds, "additions", 0);
    report(megabytes, "limit: random reads", reads, "reads", 0);

    rate r = rate_of(double(ITEMS), [&] { store(other, distinct, ITEMS); });
    report(megabytes, "store, distinct keys on the device", r, "items", 4 * r.median / adds.median);
    r = rate_of(double(ITEMS), [&] { store(sketch, items, ITEMS); });
    report(megabytes, "store, items on the device", r, "items", 0);
    r = rate_of(double(info.bricks), [&] {
        store(sketch, items, 1);
        ask(sketch, items, 1, estimates);
    });
    report(megabytes, "the first question after a store", r, "blocks", 0);
    r = rate_of(double(ITEMS), [&] { ask(sketch, items, ITEMS, estimates); });
    report(megabytes, "estimate, items on the device", r, "items", FMA_OF_ITEM * r.median / fma.median);
    for (const memory &m : hosts) measure_host(megabytes, empty, m);
    lego_cuda_sketch_destroy(sketch);
    lego_cuda_sketch_destroy(other);
    lego_sketch_destroy(empty);
}

} // namespace

int main(int argc, char **argv)
{
    json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
    if (argc > 1 && !json) {
        std::fprintf(stderr, "usage: cuda_bench [--json]\n");
        return 2;
    }
    cudaDeviceProp card;
    check(cudaGetDeviceProperties(&card, 0), "no GPU");
    if (!json) std::printf("%s, L2 %.0f MB\n", card.name, card.l2CacheSize / 1e6);
    uint64_t *items = make_stream(), *distinct, *pinned;
    lego_estimate *estimates, *pinned_estimates;
    check(cudaMalloc(&distinct, ITEMS * sizeof *distinct), "memory");
    count_items<<<2048, 256>>>(distinct, ITEMS);
    check(cudaMalloc(&estimates, ITEMS * sizeof *estimates), "memory");
    check(cudaMallocHost(&pinned, HOST_ITEMS * sizeof *pinned), "memory");
    check(cudaMallocHost(&pinned_estimates, HOST_ITEMS * sizeof *pinned_estimates), "memory");
    check(cudaMemcpy(pinned, items, HOST_ITEMS * sizeof *pinned, cudaMemcpyDeviceToHost), "copy");
    std::vector<uint64_t> ordinary(pinned, pinned + HOST_ITEMS);
    std::vector<lego_estimate> ordinary_estimates(HOST_ITEMS);
    const std::vector<memory> hosts = {{ordinary.data(), ordinary_estimates.data(), 1, "ordinary memory, 1 thread"},
                                       {ordinary.data(), ordinary_estimates.data(), 8, "ordinary memory, 8 threads"},
                                       {pinned, pinned_estimates, 1, "pinned memory"}};

    float *sum = reinterpret_cast<float *>(estimates);
    rate fma = rate_of(LIMIT_BLOCKS * 256.0 * 4096 * 16, [&] { multiply_adds<<<LIMIT_BLOCKS, 256>>>(sum, 0.5f); });
    report(0, "limit: multiply-adds", fma, "multiply-adds", 0);
    for (double megabytes : {1.2, 16.0, 134.0}) measure(megabytes, items, distinct, estimates, fma, hosts);
    if (json) std::printf("\n]\n");
    return 0;
}
