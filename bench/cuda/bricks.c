/* cuda_bench_bricks: how fast the paper's bricks on the GPU store and answer, beside what the device can do.
 *
 * Zipf 1.0 keys (bench/keys.h) and distinct ones, on the device. Times are CUDA events around a call, the median of 5
 * after one that is not counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda/bricks.h"
#include "keys.h"
#include "limits.h"
#include "paper/bricks.h"

enum { RUNS = 5, SMALL = 65536 };
#define ITEMS ((size_t)1 << 25)
#define ADDS_OF_ITEM 5
#define FMAS_OF_ITEM 3233.0

struct bench {
    uint64_t *keys;
    size_t n;
    lego_estimate *estimates;
    struct cuda_bricks *bricks;
    int64_t *table;
    uint64_t cells, start;
};

static void check(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "cuda_bench_bricks: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

static void *device_memory(size_t size)
{
    void *p;
    check(cudaMalloc(&p, size) == cudaSuccess, "memory");
    check(cudaMemset(p, 0, size) == cudaSuccess, "memory");
    return p;
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

static void store(struct bench *b)
{
    check(cuda_bricks_add(b->bricks, 0, b->keys, NULL, b->n, NULL) == LEGO_OK, "store");
}

static void ask(struct bench *b)
{
    check(cuda_bricks_query(b->bricks, 0, b->keys, b->n, b->estimates, NULL) == LEGO_OK, "query");
}

static void store_and_ask(struct bench *b)
{
    store(b);
    ask(b);
}

static void add_anywhere(struct bench *b)
{
    limit_adds(b->table, b->cells, b->start += (uint64_t)LIMIT_ADDS);
}

static void multiply_add(struct bench *b)
{
    limit_fmas((float *)(void *)b->estimates);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Milliseconds, the median. */
static double time_of(struct bench *b, void (*work)(struct bench *))
{
    float ms[RUNS + 1];
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess, "event");
    for (int i = 0; i <= RUNS; i++) {
        check(cudaEventRecord(start, NULL) == cudaSuccess, "event");
        work(b);
        check(cudaEventRecord(stop, NULL) == cudaSuccess, "event");
        check(cudaEventSynchronize(stop) == cudaSuccess, "a run");
        check(cudaEventElapsedTime(&ms[i], start, stop) == cudaSuccess, "event");
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    qsort(ms + 1, RUNS, sizeof *ms, by_size);
    return (double)ms[1 + RUNS / 2];
}

static double rate(struct bench *b, double units, void (*work)(struct bench *))
{
    return units / time_of(b, work) * 1e3;
}

static void show(const char *what, double per_second, const char *of, double limit)
{
    printf("  %-44s %8.3f G/s", what, per_second / 1e9);
    if (limit > 0) printf("  %3.0f %% of %s", 100 * limit, of);
    printf("\n");
    fflush(stdout);
}

/* ---- one size ---------------------------------------------------------------------------------------------------- */

/* Which share of the answers is not the rule's. */
static double decoded(struct bench *b)
{
    size_t n = b->n < 1000000 ? b->n : 1000000, found = 0;
    lego_estimate *got = malloc(n * sizeof *got);
    check(got != NULL, "memory");
    check(cudaMemcpy(got, b->estimates, n * sizeof *got, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
    for (size_t i = 0; i < n; i++) found += got[i].value < (double)got[i].upper;
    free(got);
    return (double)found / (double)n;
}

static void begin(struct bench *b, const struct bricks *empty, const uint64_t *keys, size_t n)
{
    if (keys) check(cudaMemcpy(b->keys, keys, n * sizeof *keys, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
    b->n = n;
    cuda_bricks_free(b->bricks);
    check(cuda_bricks_upload(empty, &b->bricks) == LEGO_OK, "upload");
}

static void measure_stream(struct bench *b, const char *name, double adds, double fmas)
{
    char line[80];
    double n = (double)b->n, r = rate(b, n, store);
    snprintf(line, sizeof line, "store, %s", name);
    show(line, r, "the limit, random additions", ADDS_OF_ITEM * r / adds);
    r = rate(b, n, ask);
    double share = decoded(b);
    snprintf(line, sizeof line, "query, %s (%.0f %% by networks)", name, 100 * share);
    show(line, r, "the limit, multiply-adds", share > 0 ? FMAS_OF_ITEM * r / fmas : 0);
    b->n = SMALL;
    show("  store, 65,536 a call", rate(b, SMALL, store), "", 0);
    show("  query, 65,536 a call", rate(b, SMALL, ask), "", 0);
    b->n = 1;
    printf("  %-44s %8.1f us\n", "  store and query of 1, with its scan", 1e3 * time_of(b, store_and_ask));
}

static void measure(struct bench *b, uint64_t bytes, double fmas, uint64_t *distinct)
{
    const lego_model *model = lego_model_builtin("paper");
    uint32_t bricks, columns;
    check(bricks_fit(model, bytes, &bricks, &columns), "shape");
    struct bricks empty;
    void *memory = malloc(bricks_bytes(model, bricks, columns) + bricks_cache_bytes(model, bricks));
    struct keys zipf;
    check(memory && keys_make(&zipf, keys_for_budget(bytes), ITEMS, false), "memory");
    bricks_init(&empty, model, bricks, columns, memory);
    b->cells = (uint64_t)bricks * model->rows * columns;
    b->table = device_memory(b->cells * sizeof *b->table);
    double adds = rate(b, LIMIT_ADDS, add_anywhere);
    cudaFree(b->table);
    printf("%.4g MB: %u bricks of %u columns\n", (double)bytes / 1e6, bricks, columns);
    show("limit, random additions of 64 bits", adds, "", 0);
    begin(b, &empty, zipf.numbers, ITEMS);
    measure_stream(b, "Zipf 1.0", adds, fmas);
    begin(b, &empty, distinct, ITEMS);
    measure_stream(b, "distinct keys", adds, fmas);
    for (size_t i = 0; i < ITEMS; i++) zipf.numbers[i] = 42;
    begin(b, &empty, zipf.numbers, ITEMS);
    show("store, one key only", rate(b, (double)ITEMS, store), "", 0);
    keys_free(&zipf);
    free(memory);
}

int main(void)
{
    struct cudaDeviceProp card;
    check(cudaGetDeviceProperties(&card, 0) == cudaSuccess, "no GPU");
    printf("%s, %d multiprocessors, L2 %.0f MB\n", card.name, card.multiProcessorCount, card.l2CacheSize / 1e6);
    struct bench b = {.keys = device_memory(ITEMS * 8), .estimates = device_memory(ITEMS * sizeof(lego_estimate))};
    uint64_t *distinct = malloc(ITEMS * sizeof *distinct);
    check(distinct != NULL, "memory");
    for (size_t i = 0; i < ITEMS; i++) distinct[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    double fmas = rate(&b, LIMIT_FMAS, multiply_add);
    show("limit, multiply-adds", fmas, "", 0);
    measure(&b, 1200000, fmas, distinct);
    measure(&b, 134000000, fmas, distinct);
    cuda_bricks_free(b.bricks);
    cudaFree(b.keys);
    cudaFree(b.estimates);
    free(distinct);
    return 0;
}
