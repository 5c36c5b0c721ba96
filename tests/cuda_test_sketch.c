/* Sketches on the GPU against those of the CPU: the same bytes and the same estimates, whatever is added to both, and
 * wherever the items are. (Estimates of the networks may differ a little: cuda/bricks.h.) Built with LEGO_CUDA; without
 * a GPU it is skipped, and cuda_host_sketch, with fewer and shorter streams, has the CPU for one (cuda_on_host/). */
#include <math.h>

#include <cuda_runtime_api.h>

#include "legosketch_cuda.h"
#include "support.h"

enum { SKIPPED = 77 };

#ifdef LEGO_ON_HOST
enum { LARGE = 4 << 20, MILLION = 10000, QUESTIONS = 600, BUDGETS = 7, TIMES = 1 };
#else
enum { LARGE = 128 << 20, MILLION = 1000000, QUESTIONS = 3000, BUDGETS = 9, TIMES = 3 };
#endif

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

static struct pair pair_of(lego_sketch *cpu)
{
    struct pair p = {cpu, NULL};
    assert_int_equal(lego_cuda_upload(cpu, &p.gpu), LEGO_OK);
    return p;
}

static struct pair pair_within(uint64_t budget)
{
    return pair_of(make_within("paper", budget, 0));
}

static struct pair secret_pair(uint64_t budget)
{
    const lego_options options = {.budget = budget, .model = lego_model_builtin("paper"), .secret = "sixteen bytes of"};
    lego_sketch *cpu;
    assert_int_equal(lego_create(&options, &cpu), LEGO_OK);
    return pair_of(cpu);
}

static void free_pair(struct pair *p)
{
    lego_destroy(p->cpu);
    lego_cuda_destroy(p->gpu);
}

static void add_to_pair(struct pair *p, const struct stream_of *s, bool with_counts, enum kind items_in,
                        enum kind counts_in)
{
    uint64_t *items = memory_of(items_in, s->items, (s->n + 1) * sizeof *items);
    int64_t *counts = with_counts ? memory_of(counts_in, s->counts, (s->n + 1) * sizeof *counts) : NULL;
    assert_int_equal(add_u64s(p->cpu, s->items, with_counts ? s->counts : NULL, s->n), LEGO_OK);
    assert_int_equal(lego_cuda_add_u64s(p->gpu, items, counts, s->n), LEGO_OK);
    release(items_in, items);
    if (with_counts) release(counts_in, counts);
}

static bool same_estimates(const lego_estimate *got, const lego_estimate *want)
{
    double value = fabs(got->value - want->value);
    bool lowered = got->lower == (int64_t)got->value && want->lower == (int64_t)want->value;
    return got->upper == want->upper && got->likely == want->likely && value <= fmax(1e-3, 1e-4 * want->value) &&
           (lowered || llabs(got->lower - want->lower) <= 1);
}

/* What the device answers is what this sketch does. */
static void assert_estimates(const lego_sketch *cpu, lego_cuda_sketch *gpu, size_t n, enum kind items_in,
                             enum kind estimates_in)
{
    uint64_t *keys = malloc(n * sizeof *keys);
    lego_estimate *want = malloc(n * sizeof *want), *got = malloc(n * sizeof *got);
    assert_true(keys && want && got);
    for (size_t i = 0; i < n; i++) keys[i] = i % 2 ? i * 7 : i; /* what is in the streams, and what is not */
    uint64_t *items = memory_of(items_in, keys, n * sizeof *keys);
    lego_estimate *estimates = memory_of(estimates_in, NULL, n * sizeof *estimates);
    const lego_items all = {.n = n, .integers = keys};
    assert_int_equal(lego_query_items(cpu, &all, NULL, want), LEGO_OK);
    assert_int_equal(lego_cuda_query_u64s(gpu, items, n, NULL, estimates), LEGO_OK);
    assert_int_equal(cudaMemcpy(got, estimates, n * sizeof *got, cudaMemcpyDefault), cudaSuccess);
    for (size_t i = 0; i < n; i++)
        if (!same_estimates(&got[i], &want[i]))
            fail_msg("item %llu, number %zu of %zu: %a, %lld to %lld on the GPU, %a, %lld to %lld on the CPU",
                     (unsigned long long)keys[i], i, n, got[i].value, (long long)got[i].lower, (long long)got[i].upper,
                     want[i].value, (long long)want[i].lower, (long long)want[i].upper);
    release(items_in, items);
    release(estimates_in, estimates);
    free(keys);
    free(want);
    free(got);
}

/* What the GPU has comes back, answers alike there and here, and is what the CPU's sketch holds. */
static void assert_pair(const struct pair *p)
{
    lego_sketch *back;
    assert_int_equal(lego_cuda_download(p->gpu, &back), LEGO_OK);
    assert_int_equal(p->cpu->mass, back->mass);
    assert_int_equal(lego_total(p->cpu), lego_total(back));
    assert_estimates(back, p->gpu, QUESTIONS, ORDINARY, ORDINARY);
    assert_same(p->cpu, back);
    lego_destroy(back);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const uint64_t budgets[] = {4096, 5000, 8192, 20000, 65536, 100000, 300000, 1200000, 9000000};

/* A stream in which small items are frequent, or one is nearly all, or all are. Where cells get more than 32 bits on
 * the way, and less in the end, the CPU remembers that; so counts that are deleted are small. */
static struct stream_of skewed_stream(uint64_t *state, size_t n, bool deletions)
{
    unsigned digits = deletions ? 3 : 12;
    uint64_t domain = 1 + draw_below(state, draw_below(state, 2) ? 100000 : 1000), mode = draw_below(state, 4);
    struct stream_of s = make_stream(state, n, domain, (unsigned)draw_below(state, digits), deletions);
    for (size_t i = 0; i < n; i++) {
        if (mode == 1) s.items[i] = draw_below(state, s.items[i] + 1);
        if (mode == 2 && draw_below(state, 10)) s.items[i] = 7;
        if (mode == 3) s.items[i] = domain;
    }
    return s;
}

static void stores_are_those_of_the_cpu(void **unused)
{
    (void)unused;
    static const size_t lengths[] = {0, 1, 2, 31, 255, 257, 5000, MILLION / 10, 2 * MILLION / 5, MILLION};
    uint64_t state = 1;
    for (unsigned i = 0; i < 18 * TIMES; i++) {
        struct pair p = i % 5 == 2 ? secret_pair(budgets[i % BUDGETS]) : pair_within(budgets[i % BUDGETS]);
        const bool deletions = i % 4 == 3;
        for (unsigned part = 0; part < 3; part++) { /* what was asked between them must not outlive the next */
            struct stream_of s = skewed_stream(&state, lengths[draw_below(&state, 10)], deletions);
            add_to_pair(&p, &s, deletions || draw_below(&state, 2), (enum kind)(i % KINDS),
                        (enum kind)(i / KINDS % KINDS));
            assert_pair(&p);
            free_stream(&s);
        }
        free_pair(&p);
    }
}

/* What was counted before goes over with it. */
static void sketches_go_over_and_back(void **unused)
{
    (void)unused;
    uint64_t state = 3;
    for (unsigned i = 0; i < 12 * TIMES; i++) {
        const bool deletions = i % 5 == 4;
        const size_t most = draw_below(&state, 2) ? 100 : MILLION / 10;
        lego_sketch *cpu = make_within("paper", budgets[draw_below(&state, BUDGETS - 1)], 0);
        struct stream_of s = skewed_stream(&state, draw_below(&state, most), deletions);
        assert_int_equal(add_u64s(cpu, s.items, s.counts, s.n), LEGO_OK);
        struct pair p = pair_of(cpu);
        assert_pair(&p);
        add_to_pair(&p, &s, true, DEVICE, ORDINARY);
        assert_pair(&p);
        free_stream(&s);
        free_pair(&p);
    }
}

/* What items are goes over and back, too; counts of 0 tell nothing. */
static void kinds_of_items_are_kept(void **unused)
{
    (void)unused;
    const uint64_t items[] = {1, 2};
    for (unsigned i = 0; i < 4; i++) {
        lego_sketch *cpu = make_within("paper", 65536, 0), *back;
        const bool text = i % 2, counted = i / 2;
        if (text) assert_int_equal(lego_add(cpu, "one", 3, 1), LEGO_OK);
        struct pair p = pair_of(cpu);
        assert_int_equal(lego_cuda_add_u64s(p.gpu, items, (int64_t[]){0, counted}, 2), LEGO_OK);
        assert_int_equal(lego_cuda_download(p.gpu, &back), LEGO_OK);
        assert_int_equal(info_of(back).items,
                         (text ? LEGO_ITEMS_BYTES : 0) | (counted ? LEGO_ITEMS_INTEGERS : LEGO_ITEMS_NONE));
        lego_destroy(back);
        free_pair(&p);
    }
}

/* Negative counts only: as positive ones, mirrored. */
static void all_counts_may_be_negative(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    for (unsigned i = 0; i < 2 * TIMES; i++) {
        struct pair p = pair_within(budgets[i % 6]);
        struct stream_of s = skewed_stream(&state, MILLION / 2, false);
        for (size_t k = 0; k < s.n; k++) s.counts[k] = -s.counts[k];
        add_to_pair(&p, &s, true, PINNED, PINNED);
        assert_pair(&p);
        free_stream(&s);
        free_pair(&p);
    }
}

/* 134 MB, several threads that copy, and more items than go over at once. */
static void a_large_sketch(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    lego_sketch *cpu = make_within("paper", LARGE, 0);
    lego_set_threads(cpu, 4);
    struct pair p = pair_of(cpu);
    for (enum kind kind = ORDINARY; kind < KINDS; kind++) {
        struct stream_of s = make_stream(&state, (kind == DEVICE ? 40 : 20) * MILLION, 30 * MILLION, 1, false);
        for (size_t j = 0; j < s.n; j++) s.items[j] >>= draw_below(&state, 20); /* small ones are frequent */
        add_to_pair(&p, &s, kind == PINNED, kind, kind);
        assert_estimates(p.cpu, p.gpu, 5 * MILLION / 2, kind, kind);
        free_stream(&s);
    }
    assert_pair(&p);
    free_pair(&p);
}

static void questions_may_be_anywhere(void **unused)
{
    (void)unused;
    static const size_t lengths[] = {1, 2, 127, 129, 256, 257, MILLION, MILLION + 200001};
    uint64_t state = 2;
    struct pair p = pair_within(20000);
    struct stream_of s = make_stream(&state, 100000, 30000, 3, false);
    add_to_pair(&p, &s, true, ORDINARY, ORDINARY);
    for (unsigned i = 0; i < 8; i++)
        for (enum kind a = ORDINARY; a < KINDS; a++)
            for (enum kind b = ORDINARY; b < KINDS; b++)
                if (a == b || lengths[i] < MILLION) assert_estimates(p.cpu, p.gpu, lengths[i], a, b);
    assert_int_equal(lego_cuda_query_u64s(p.gpu, s.items, 0, NULL, NULL), LEGO_OK);
    free_stream(&s);
    free_pair(&p);
}

static void counts_of_any_size(void **unused)
{
    (void)unused;
    for (enum kind kind = ORDINARY; kind < KINDS; kind++) {
        const int64_t most = INT64_MAX / lego_model_builtin("paper")->quantum;
        int64_t large[] = {most, -most, INT32_MAX, 1, INT64_MIN, INT64_MAX};
        uint64_t keys[] = {1, 2, 3, 4, 5, 6};
        int64_t *counts = memory_of(kind, large, sizeof large);
        uint64_t *items = memory_of(kind, keys, sizeof keys);
        for (unsigned k = 0; k < 6; k++) { /* each alone */
            struct pair one = pair_within(8192);
            lego_status want = add_u64s(one.cpu, keys + k, large + k, 1);
            assert_int_equal(lego_cuda_add_u64s(one.gpu, items + k, counts + k, 1), want);
            assert_int_equal(want, k < 4 ? LEGO_OK : LEGO_ERR_RANGE);
            assert_pair(&one);
            free_pair(&one);
        }
        struct pair p = pair_within(8192);
        assert_int_equal(lego_cuda_add_u64s(p.gpu, items, counts, 6), LEGO_ERR_RANGE);
        assert_int_equal(lego_cuda_add_u64s(p.gpu, items, counts, 2), LEGO_ERR_RANGE);
        assert_pair(&p); /* still empty */
        assert_int_equal(add_u64s(p.cpu, keys, large, 1), LEGO_OK);
        assert_int_equal(lego_cuda_add_u64s(p.gpu, items, counts, 1), LEGO_OK);
        assert_int_equal(lego_cuda_add_u64s(p.gpu, items + 2, counts + 2, 2), LEGO_ERR_RANGE);
        assert_pair(&p);
        free_pair(&p);
        release(kind, counts);
        release(kind, items);
    }
}

static void assert_refused(lego_sketch *cpu, lego_status why)
{
    lego_cuda_sketch *none = NULL;
    assert_int_equal(lego_cuda_upload(cpu, &none), why);
    assert_null(none);
    lego_destroy(cpu);
}

/* Only the paper's model has kernels: not the default one, nor an ablation of the paper's. */
static void sketches_of_other_models_are_refused(void **unused)
{
    (void)unused;
    lego_model plain = *lego_model_builtin("paper");
    lego_options options = LEGO_OPTIONS_INIT;
    lego_sketch *cpu;
    assert_int_equal(lego_create(&options, &cpu), LEGO_OK);
    assert_refused(cpu, LEGO_ERR_MODEL);
    assert_refused(make_within("compact", 65536, 8192), LEGO_ERR_MODEL);
    plain.kind = MODEL_PLAIN;
    model_derive(&plain);
    options.model = &plain;
    assert_int_equal(lego_create(&options, &cpu), LEGO_OK);
    assert_refused(cpu, LEGO_ERR_MODEL);
}

static void what_can_not_be_is_refused(void **unused)
{
    (void)unused;
    static const lego_asking wrong[] = {{-0.1}, {1}, {NAN}};
    uint64_t item = 1;
    lego_estimate estimate;
    assert_refused(make_within("paper", 65536, 8192), LEGO_ERR_TOP);
    struct pair p = pair_within(4096);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(lego_cuda_query_u64s(p.gpu, &item, 1, &wrong[i], &estimate), LEGO_ERR_ARGUMENT);
    assert_int_equal(lego_cuda_query_u64s(p.gpu, &item, 1, &(lego_asking){LEGO_ABSENT}, &estimate), LEGO_ERR_MODEL);
    assert_pair(&p);
    free_pair(&p);
    lego_cuda_destroy(NULL);
}

/* All that a host gives is given back, also where it gives nothing. */
static void failing_allocations_change_nothing(void **unused)
{
    (void)unused;
    bool failed = true;
    for (long fail_at = 1; failed; fail_at++) {
        struct books books;
        lego_allocator allocator = books_allocator(&books);
        lego_options options = LEGO_OPTIONS_INIT;
        options.allocator = &allocator;
        options.model = lego_model_builtin("paper");
        lego_sketch *sketch, *back = NULL;
        lego_cuda_sketch *gpu = NULL;
        assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
        size_t before = books.now;
        books.calls = 0;
        books.fail_at = fail_at;
        lego_status status = lego_cuda_upload(sketch, &gpu);
        if (status == LEGO_OK) status = lego_cuda_download(gpu, &back);
        failed = books.calls >= fail_at;
        assert_int_equal(status, failed ? LEGO_ERR_MEMORY : LEGO_OK);
        lego_cuda_destroy(gpu);
        lego_destroy(back);
        assert_int_equal(books.now, before);
        lego_destroy(sketch);
    }
}

/* The same where the device has no memory left: for another sketch, for items on their way. */
static void a_full_device_changes_nothing(void **unused)
{
    (void)unused;
    struct pair p = pair_within(LARGE);
    uint64_t state = 8;
    struct stream_of s = make_stream(&state, 60 * MILLION, 3000, 1, false);
    void *rest[64];
    unsigned parts = 0;
    for (size_t size = (size_t)1 << 37; size >= (size_t)1 << 21; size /= 2)
        while (parts < 64 && cudaMalloc(&rest[parts], size) == cudaSuccess) parts++;
    lego_cuda_sketch *none = NULL;
    assert_int_equal(lego_cuda_upload(p.cpu, &none), LEGO_ERR_MEMORY);
    assert_null(none);
    assert_int_equal(lego_cuda_add_u64s(p.gpu, s.items, NULL, s.n), LEGO_ERR_MEMORY);
    while (parts > 0) cudaFree(rest[--parts]);
    assert_pair(&p);
    add_to_pair(&p, &s, true, ORDINARY, ORDINARY);
    assert_pair(&p);
    free_stream(&s);
    free_pair(&p);
}

/* With an argument only the tests it names, as in 'stores*': under a sanitizer all take long. */
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    lego_sketch *sketch = make_within("paper", 4096, 0);
    lego_cuda_sketch *gpu;
    lego_status status = lego_cuda_upload(sketch, &gpu);
    lego_destroy(sketch);
    if (status == LEGO_ERR_DEVICE) {
        printf("skipped: %s\n", lego_status_message(status));
        return SKIPPED;
    }
    if (status == LEGO_OK) lego_cuda_destroy(gpu);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_are_those_of_the_cpu),
        cmocka_unit_test(sketches_go_over_and_back),
        cmocka_unit_test(kinds_of_items_are_kept),
        cmocka_unit_test(all_counts_may_be_negative),
        cmocka_unit_test(questions_may_be_anywhere),
        cmocka_unit_test(counts_of_any_size),
        cmocka_unit_test(sketches_of_other_models_are_refused),
        cmocka_unit_test(what_can_not_be_is_refused),
        cmocka_unit_test(a_large_sketch),
        cmocka_unit_test(failing_allocations_change_nothing),
        cmocka_unit_test(a_full_device_changes_nothing),
    };
    return cmocka_run_group_tests_name("cuda_sketch", tests, NULL, NULL);
}
