/* Sketches on the GPU against those of the CPU: the same bytes and the same estimates, whatever is done to both, and
 * wherever the items are. Built with LEGO_CUDA only; without a GPU it is skipped. */
#include <cuda_runtime_api.h>

#include "legosketch_cuda.h"
#include "support.h"

enum { SKIPPED = 77, QUESTIONS = 3000 };

/* ---- memory of each kind ----------------------------------------------------------------------------------------- */

enum kind { ORDINARY, PINNED, DEVICE, KINDS };

static void *memory_of(enum kind kind, const void *content, size_t size)
{
    void *p = NULL;
    if (kind == ORDINARY) assert_non_null(p = malloc(size));
    else if (kind == PINNED) assert_int_equal(cudaMallocHost(&p, size), cudaSuccess);
    else assert_int_equal(cudaMalloc(&p, size), cudaSuccess);
    if (content) assert_int_equal(cudaMemcpy(p, content, size, cudaMemcpyDefault), cudaSuccess);
    return p;
}

static void release(enum kind kind, void *p)
{
    if (kind == ORDINARY) free(p);
    else if (kind == PINNED) cudaFreeHost(p);
    else cudaFree(p);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

/* The same sketch twice. */
struct pair {
    lego_sketch *cpu;
    lego_cuda_sketch *gpu;
};

/* The library has no shapes by hand; but a sketch that the budget makes larger folds to them. */
static lego_sketch *blocks_of(uint32_t blocks, uint64_t seed)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.seed = seed;
    lego_sketch *sketch;
    for (options.budget = LEGO_BUDGET_MIN;; options.budget += options.budget / 64) {
        assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
        uint32_t made = info_of(sketch).blocks;
        if (made >= blocks && made % blocks == 0) break;
        lego_destroy(sketch);
    }
    assert_int_equal(lego_fold(sketch, blocks), LEGO_OK);
    return sketch;
}

static struct pair pair_of(lego_sketch *cpu)
{
    struct pair p = {cpu, NULL};
    assert_int_equal(lego_cuda_sketch_upload(cpu, &p.gpu), LEGO_OK);
    return p;
}

static void free_pair(struct pair *p)
{
    lego_destroy(p->cpu);
    lego_cuda_sketch_destroy(p->gpu);
}

static void add_to_pair(struct pair *p, const struct stream_of *s, bool with_counts, enum kind items_in,
                        enum kind counts_in)
{
    uint64_t *items = memory_of(items_in, s->items, (s->n + 1) * sizeof *items);
    int64_t *counts = with_counts ? memory_of(counts_in, s->counts, (s->n + 1) * sizeof *counts) : NULL;
    assert_int_equal(add_u64s(p->cpu, s->items, with_counts ? s->counts : NULL, s->n), LEGO_OK);
    assert_int_equal(lego_cuda_sketch_add_u64s(p->gpu, items, counts, s->n), LEGO_OK);
    release(items_in, items);
    if (with_counts) release(counts_in, counts);
}

/* cpu: what the device answers is this sketch's. */
static void assert_estimates(const lego_sketch *cpu, const lego_cuda_sketch *gpu, size_t n, enum kind items_in,
                             enum kind estimates_in)
{
    uint64_t *keys = malloc(n * sizeof *keys);
    lego_estimate *want = malloc(n * sizeof *want), *got = malloc(n * sizeof *got);
    assert_true(keys && want && got);
    for (size_t i = 0; i < n; i++) keys[i] = i % 2 ? i * 7 : i; /* what is in the streams, and what is not */
    uint64_t *items = memory_of(items_in, keys, n * sizeof *keys);
    lego_estimate *estimates = memory_of(estimates_in, NULL, n * sizeof *estimates);
    assert_int_equal(query_u64s(cpu, keys, n, want), LEGO_OK);
    assert_int_equal(lego_cuda_sketch_estimate_u64s((lego_cuda_sketch *)gpu, items, n, estimates), LEGO_OK);
    assert_int_equal(cudaMemcpy(got, estimates, n * sizeof *got, cudaMemcpyDefault), cudaSuccess);
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("item %llu, number %zu of %zu: %a, %lld to %lld on the GPU, %a, %lld to %lld on the CPU",
                     (unsigned long long)keys[i], i, n, got[i].value, (long long)got[i].lower, (long long)got[i].upper,
                     want[i].value, (long long)want[i].lower, (long long)want[i].upper);
    release(items_in, items);
    release(estimates_in, estimates);
    free(keys);
    free(want);
    free(got);
}

/* Takes every block to the step that it has in `other`, if it is not there yet. */
static void go_down(lego_sketch *sketch, const lego_sketch *other)
{
    lego_sketch *empty;
    assert_int_equal(lego_copy(other, &empty), LEGO_OK);
    lego_clear(empty);
    for (uint32_t i = 0; i < other->dense.blocks; i++)
        empty->dense.block[i].word[7] = (uint64_t)block_step(&other->dense.block[i]) << 53;
    assert_int_equal(lego_merge(sketch, empty), LEGO_OK);
    lego_destroy(empty);
}

/* What the GPU has comes back, answers alike there and here, and is what the CPU's sketch holds: byte for byte, where
 * nothing was deleted (a block of the CPU's keeps the step that it once needed, one of the device's does not). */
static void assert_pair(const struct pair *p, bool deletions)
{
    lego_sketch *back, *copy;
    assert_int_equal(lego_cuda_sketch_download(p->gpu, &back), LEGO_OK);
    assert_int_equal(p->cpu->mass, back->mass);
    assert_int_equal(info_of(p->cpu).total, info_of(back).total);
    assert_int_equal(info_of(p->cpu).bytes, info_of(back).bytes);
    assert_estimates(back, p->gpu, QUESTIONS, ORDINARY, ORDINARY);
    assert_int_equal(lego_copy(p->cpu, &copy), LEGO_OK);
    if (deletions) {
        go_down(copy, back);
        go_down(back, copy);
    }
    assert_same(copy, back);
    lego_destroy(copy);
    lego_destroy(back);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const uint32_t sizes[] = {1, 2, 3, 5, 12, 64, 56, 208, 1536, 10240};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void stores_are_those_of_the_cpu(void **unused)
{
    (void)unused;
    static const size_t lengths[] = {0, 1, 2, 255, 257, 5000, 100000, (1 << 19) - 1, (1 << 19) + 1, 1000000};
    uint64_t state = 1;
    for (unsigned i = 0; i < 60; i++) {
        struct pair p = pair_of(blocks_of(sizes[i % SIZES], i % 3 ? draw(&state) : 0));
        for (unsigned part = 0; part < 2; part++) { /* what was asked between them must not outlive the second */
            struct stream_of s = make_stream(&state, lengths[draw_below(&state, 10)], 1 + draw_below(&state, 100000),
                                             (unsigned)draw_below(&state, 12), i % 2);
            uint64_t one = i % 8 ? 7 : UINT64_MAX; /* is nearly all; of the latter the kernel makes no sums */
            if (draw_below(&state, 4) == 0)
                for (size_t j = 0; j < s.n; j++) s.items[j] = draw_below(&state, 10) ? one : s.items[j];
            add_to_pair(&p, &s, draw_below(&state, 2), (enum kind)(i % KINDS), (enum kind)(i / KINDS % KINDS));
            assert_pair(&p, i % 2);
            free_stream(&s);
        }
        free_pair(&p);
    }
}

/* 134 MB of blocks, and several threads that copy. */
static void a_large_sketch(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    lego_sketch *cpu = blocks_of(106496, 0);
    lego_set_threads(cpu, 4);
    struct pair p = pair_of(cpu);
    for (enum kind kind = ORDINARY; kind < KINDS; kind++) {
        struct stream_of s = make_stream(&state, 3000000, 1000000, 1, false);
        for (size_t j = 0; j < s.n; j++) s.items[j] >>= draw_below(&state, 20); /* small ones are frequent */
        add_to_pair(&p, &s, kind == DEVICE, kind, kind);
        assert_estimates(p.cpu, p.gpu, 2000000, kind, kind);
        free_stream(&s);
    }
    assert_pair(&p, false);
    free_pair(&p);
}

static void questions_may_be_anywhere(void **unused)
{
    (void)unused;
    static const size_t lengths[] = {1, 2, 127, 129, 256, 257, 1 << 19, 1200001};
    uint64_t state = 2;
    struct pair p = pair_of(blocks_of(56, 5));
    struct stream_of s = make_stream(&state, 20000, 3000, 3, false);
    add_to_pair(&p, &s, true, ORDINARY, ORDINARY);
    for (unsigned i = 0; i < 8; i++)
        for (enum kind a = ORDINARY; a < KINDS; a++)
            for (enum kind b = ORDINARY; b < KINDS; b++) assert_estimates(p.cpu, p.gpu, lengths[i], a, b);
    assert_int_equal(lego_cuda_sketch_estimate_u64s(p.gpu, s.items, 0, NULL), LEGO_OK);
    free_stream(&s);
    free_pair(&p);
}

/* Blocks of all steps, some of which were once fuller than they are. */
static lego_sketch *blocks_of_anything(uint64_t *state, uint32_t blocks)
{
    lego_sketch *a = blocks_of(blocks, 0), *b = blocks_of(blocks, 0);
    struct stream_of s = make_stream(state, 1 + draw_below(state, 3000), 2000, (unsigned)draw_below(state, 13), false);
    assert_int_equal(add_u64s(a, s.items, s.counts, s.n), LEGO_OK);
    assert_int_equal(add_u64s(b, s.items, s.counts, s.n / 2), LEGO_OK);
    if (draw_below(state, 3)) assert_int_equal(lego_subtract(a, b), LEGO_OK);
    lego_destroy(b);
    free_stream(&s);
    return a;
}

static struct pair pair_of_anything(uint64_t *state)
{
    struct pair p = pair_of(blocks_of_anything(state, sizes[draw_below(state, SIZES - 1)]));
    if (draw_below(state, 2)) return p;
    struct stream_of s = make_stream(state, 2000, 2000, (unsigned)draw_below(state, 4), true);
    add_to_pair(&p, &s, true, DEVICE, ORDINARY);
    free_stream(&s);
    return p;
}

static void coarse_blocks_go_over_and_back(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (unsigned i = 0; i < 60; i++) {
        struct pair p = pair_of_anything(&state);
        assert_pair(&p, true);
        free_pair(&p);
    }
}

/* Where numbers of blocks do not nest both refuse, and nothing has changed. */
static void merges_are_those_of_the_cpu(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    unsigned refused = 0;
    for (unsigned i = 0; i < 80; i++) {
        struct pair a = pair_of_anything(&state), b = pair_of_anything(&state);
        struct pair *from = i % 8 ? &b : &a; /* to itself too */
        lego_status status = i % 2 ? lego_merge(a.cpu, from->cpu) : lego_subtract(a.cpu, from->cpu);
        assert_int_equal(i % 2 ? lego_cuda_sketch_merge(a.gpu, from->gpu) : lego_cuda_sketch_subtract(a.gpu, from->gpu),
                         status);
        assert_true(status == LEGO_OK || status == LEGO_ERR_SHAPE);
        refused += status != LEGO_OK;
        assert_pair(&a, true);
        assert_pair(&b, true);
        free_pair(&a);
        free_pair(&b);
    }
    assert_in_range(refused, 5, 60);
}

static void folds_are_those_of_the_cpu(void **unused)
{
    (void)unused;
    static const uint32_t divisors[] = {208, 104, 52, 26, 13, 1};
    uint64_t state = 5;
    for (unsigned i = 0; i < 8; i++) {
        struct pair p = pair_of(blocks_of(208, i));
        struct stream_of s = make_stream(&state, 10000, 3000, 2 * i, i % 2);
        add_to_pair(&p, &s, true, ORDINARY, ORDINARY);
        assert_int_equal(lego_cuda_sketch_fold(p.gpu, 3), LEGO_ERR_SHAPE);
        assert_int_equal(lego_cuda_sketch_fold(p.gpu, 0), LEGO_ERR_SHAPE);
        for (unsigned d = i % 3; d < 6; d++) {
            assert_int_equal(lego_fold(p.cpu, divisors[d]), LEGO_OK);
            assert_int_equal(lego_cuda_sketch_fold(p.gpu, divisors[d]), LEGO_OK);
            assert_pair(&p, i % 2);
        }
        free_stream(&s);
        free_pair(&p);
    }
}

static void counts_of_any_size(void **unused)
{
    (void)unused;
    const int64_t most = INT64_MAX / 4;
    for (enum kind kind = ORDINARY; kind < KINDS; kind++) {
        int64_t large[] = {most, -most, INT32_MAX / 4, 1, INT64_MIN, INT64_MAX};
        uint64_t keys[] = {1, 2, 3, 4, 5, 6};
        int64_t *counts = memory_of(kind, large, sizeof large);
        uint64_t *items = memory_of(kind, keys, sizeof keys);
        struct pair p = pair_of(blocks_of(56, 0));
        for (unsigned i = 0; i < 6; i++) { /* each alone, from an empty sketch: narrow, wide or refused */
            struct pair one = pair_of(blocks_of(12, 0));
            lego_status want = add_u64s(one.cpu, keys + i, large + i, 1);
            assert_int_equal(lego_cuda_sketch_add_u64s(one.gpu, items + i, counts + i, 1), want);
            assert_int_equal(want, i < 4 ? LEGO_OK : LEGO_ERR_RANGE);
            assert_pair(&one, false);
            free_pair(&one);
        }
        assert_int_equal(lego_cuda_sketch_add_u64s(p.gpu, items, counts, 6), LEGO_ERR_RANGE);
        assert_int_equal(lego_cuda_sketch_add_u64s(p.gpu, items, counts, 2), LEGO_ERR_RANGE);
        assert_pair(&p, false);            /* still empty */
        for (unsigned i = 2; i < 4; i++) { /* to the edge of 32 bits, and over it */
            assert_int_equal(add_u64s(p.cpu, keys + i, large + i, 1), LEGO_OK);
            assert_int_equal(lego_cuda_sketch_add_u64s(p.gpu, items + i, counts + i, 1), LEGO_OK);
            assert_pair(&p, false);
        }
        struct pair full = pair_of(blocks_of(56, 0));
        assert_int_equal(add_u64s(full.cpu, keys, large, 1), LEGO_OK);
        assert_int_equal(lego_cuda_sketch_add_u64s(full.gpu, items, counts, 1), LEGO_OK);
        assert_int_equal(lego_cuda_sketch_merge(p.gpu, full.gpu), LEGO_ERR_RANGE);
        assert_pair(&p, false);
        assert_pair(&full, false);
        free_pair(&full);
        free_pair(&p);
        release(kind, counts);
        release(kind, items);
    }
}

static void what_does_not_go_together_is_refused(void **unused)
{
    (void)unused;
    lego_sketch *bricks = make_within("paper", 65536, 0), *top = make_within("compact", 65536, 8192);
    lego_cuda_sketch *none = NULL;
    assert_int_equal(lego_cuda_sketch_upload(bricks, &none), LEGO_ERR_MODEL);
    assert_int_equal(lego_cuda_sketch_upload(top, &none), LEGO_ERR_TOP);
    assert_null(none);
    lego_destroy(bricks);
    lego_destroy(top);
    struct pair a = pair_of(blocks_of(12, 1)), b = pair_of(blocks_of(12, 2));
    assert_int_equal(lego_cuda_sketch_merge(a.gpu, b.gpu), LEGO_ERR_SEED);
    assert_int_equal(lego_cuda_sketch_fold(a.gpu, 12), LEGO_OK);
    assert_pair(&a, false);
    free_pair(&a);
    free_pair(&b);
    lego_cuda_sketch_destroy(NULL);
}

/* All that a host gives is given back, also where it gives nothing. */
static void failing_allocations_change_nothing(void **unused)
{
    (void)unused;
    for (long fail_at = 0; fail_at < 8; fail_at++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_options options = LEGO_OPTIONS_INIT;
        options.allocator = &allocator;
        lego_sketch *sketch, *back = NULL;
        lego_cuda_sketch *gpu = NULL;
        assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
        size_t before = books.now;
        books.calls = 0;
        books.fail_at = fail_at;
        lego_status status = lego_cuda_sketch_upload(sketch, &gpu);
        if (status == LEGO_OK) status = lego_cuda_sketch_download(gpu, &back);
        assert_int_equal(status, fail_at == 0 || fail_at > 5 ? LEGO_OK : LEGO_ERR_MEMORY);
        lego_cuda_sketch_destroy(gpu);
        lego_destroy(back);
        assert_int_equal(books.now, before);
        lego_destroy(sketch);
    }
}

/* The same where the device has no memory left: for wider cells, for a fold, for a copy. */
static void a_full_device_changes_nothing(void **unused)
{
    (void)unused;
    struct pair p = pair_of(blocks_of(106496, 0));
    uint64_t state = 8, item = 7;
    int64_t count = INT32_MAX;
    struct stream_of s = make_stream(&state, 10000, 3000, 1, false);
    add_to_pair(&p, &s, true, ORDINARY, ORDINARY);
    void *rest[64];
    unsigned parts = 0;
    for (size_t size = (size_t)1 << 37; size >= (size_t)1 << 25; size /= 2)
        while (parts < 64 && cudaMalloc(&rest[parts], size) == cudaSuccess) parts++;
    lego_cuda_sketch *none = NULL;
    assert_int_equal(lego_cuda_sketch_upload(p.cpu, &none), LEGO_ERR_MEMORY);
    assert_null(none);
    assert_int_equal(lego_cuda_sketch_add_u64s(p.gpu, &item, &count, 1), LEGO_ERR_MEMORY);
    assert_int_equal(lego_cuda_sketch_fold(p.gpu, 53248), LEGO_ERR_MEMORY);
    while (parts > 0) cudaFree(rest[--parts]);
    assert_pair(&p, false);
    assert_int_equal(lego_add_u64(p.cpu, item, count), LEGO_OK);
    assert_int_equal(lego_cuda_sketch_add_u64s(p.gpu, &item, &count, 1), LEGO_OK);
    assert_pair(&p, false);
    free_stream(&s);
    free_pair(&p);
}

/* With an argument only the tests it names, as in 'merges*': under a sanitizer all take long. */
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    lego_sketch *sketch = blocks_of(1, 0);
    lego_cuda_sketch *gpu;
    lego_status status = lego_cuda_sketch_upload(sketch, &gpu);
    lego_destroy(sketch);
    if (status != LEGO_OK) {
        printf("skipped: %s\n", lego_status_message(status));
        return SKIPPED;
    }
    lego_cuda_sketch_destroy(gpu);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_are_those_of_the_cpu),
        cmocka_unit_test(a_large_sketch),
        cmocka_unit_test(questions_may_be_anywhere),
        cmocka_unit_test(coarse_blocks_go_over_and_back),
        cmocka_unit_test(merges_are_those_of_the_cpu),
        cmocka_unit_test(folds_are_those_of_the_cpu),
        cmocka_unit_test(counts_of_any_size),
        cmocka_unit_test(what_does_not_go_together_is_refused),
        cmocka_unit_test(failing_allocations_change_nothing),
        cmocka_unit_test(a_full_device_changes_nothing),
    };
    return cmocka_run_group_tests_name("cuda_sketch", tests, NULL, NULL);
}
