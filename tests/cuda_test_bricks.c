/* The paper's bricks on a GPU against those on the CPU, as far as cuda_test_sketch does not show it: every shape and
 * number of rows, rows that get wide, and that networks decode where they do on the CPU. The same bytes, bounds and
 * answers of the rule; estimates of the networks differ by as much as cuda/bricks.h allows. Without a GPU it is
 * skipped, and cuda_host_bricks has the CPU for one (cuda_on_host/), with shorter streams. */
#include <math.h>

#include "cuda/bricks.h"
#include "support_bricks.h"

enum { SKIPPED = 77 };

#ifdef LEGO_ON_HOST
enum { SHAPES_ASKED = 4, FULL_ITEMS = 600000, FULL_ASKED = 20000 };
#else
enum { SHAPES_ASKED = 7, FULL_ITEMS = 3000000, FULL_ASKED = 200000 };
#endif

static const struct seed seed = {7, 0};

/* ---- both sides -------------------------------------------------------------------------------------------------- */

static void *to_device(const void *from, size_t size)
{
    void *to;
    assert_int_equal(cudaMalloc(&to, size), cudaSuccess);
    if (from) assert_int_equal(cudaMemcpy(to, from, size, cudaMemcpyHostToDevice), cudaSuccess);
    return to;
}

static struct cuda_bricks *upload(const struct bricks *host)
{
    struct cuda_bricks *made = NULL;
    assert_int_equal(cuda_bricks_upload(host, &made), LEGO_OK);
    return made;
}

static void add_on_device(struct cuda_bricks *bricks, const uint64_t *items, const int64_t *counts, size_t n)
{
    uint64_t *keys = to_device(items, n * sizeof *items);
    int64_t *times = counts ? to_device(counts, n * sizeof *counts) : NULL;
    assert_int_equal(cuda_bricks_add(bricks, seed, keys, times, n, NULL), LEGO_OK);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaFree(keys);
    cudaFree(times);
}

static void add_to_both(struct bricks *host, struct cuda_bricks *device, const uint64_t *items, const int64_t *counts,
                        size_t n)
{
    bricks_add_items(host, &(lego_items){.n = n, .integers = items, .counts = counts}, seed, 1);
    add_on_device(device, items, counts, n);
}

static void assert_same_bytes(const struct bricks *host, const struct cuda_bricks *device)
{
    struct bricks back = make_bricks(host->model, host->bricks.d, host->columns.d);
    assert_int_equal(cuda_bricks_download(device, &back), LEGO_OK);
    assert_int_equal(back.total, host->total);
    assert_memory_equal(back.cells, host->cells, bricks_saved_size(host->model, host->bricks.d, host->columns.d));
    free_bricks(&back);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static bool decodes(const struct bricks *bricks, struct hash hash)
{
    struct stream stream;
    bricks_scan(bricks, divisor_mod(bricks->bricks, hash_brick(hash)), &stream);
    return stream.distinct > bricks->model->distinct_min && stream.skew < bricks->model->skew_max;
}

/* Returns whether the networks have decoded. */
static bool assert_same_answer(const struct bricks *host, uint64_t item, const lego_estimate *got)
{
    struct hash hash = hash_u64(item, seed);
    lego_estimate asked = bricks_query(host, hash);
    assert_int_equal(got->upper, asked.upper);
    if (!decodes(host, hash)) {
        assert_int_equal(got->lower, asked.lower);
        assert_true(got->value == asked.value);
        return false;
    }
    assert_true(fabs(got->value - asked.value) <= fmax(1e-3, 1e-4 * asked.value));
    bool both_lowered = asked.lower == (int64_t)asked.value && got->lower == (int64_t)got->value;
    assert_true(got->lower == asked.lower || both_lowered);
    return got->value < (double)got->upper;
}

/* How many answers the networks have given. */
static size_t assert_same_answers(const struct bricks *host, struct cuda_bricks *device, const uint64_t *items,
                                  size_t n)
{
    size_t decoded = 0, size = n * sizeof(lego_estimate);
    uint64_t *keys = to_device(items, n * sizeof *items);
    lego_estimate *estimates = to_device(NULL, size), *got = malloc(size);
    assert_non_null(got);
    assert_int_equal(cuda_bricks_query(device, seed, keys, n, estimates, NULL), LEGO_OK);
    assert_int_equal(cudaMemcpy(got, estimates, size, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t i = 0; i < n; i++) decoded += assert_same_answer(host, items[i], &got[i]);
    cudaFree(keys);
    cudaFree(estimates);
    free(got);
    return decoded;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void the_same_bytes_in_every_shape(void **unused)
{
    (void)unused;
    static const uint32_t shapes[][2] = {{1, 16}, {1, 5120}, {3, 130}, {12, 4992}, {1536, 16}, {1537, 16}, {3000, 48}};
    uint64_t state = 1;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct bricks host = make_bricks(lego_model_builtin("paper"), shapes[s][0], shapes[s][1]);
        struct cuda_bricks *device = upload(&host);
        struct drawn drawn = draw_items(&state, 50000, 20000, 3);
        add_to_both(&host, device, drawn.items, NULL, drawn.n);
        assert_same_bytes(&host, device);
        add_to_both(&host, device, drawn.items, drawn.counts, drawn.n / 2);
        assert_same_bytes(&host, device);
        if (s < SHAPES_ASKED) assert_same_answers(&host, device, drawn.items, 1001);
        cuda_bricks_free(device);
        free_drawn(&drawn);
        free_bricks(&host);
    }
}

static void every_number_of_rows(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    for (uint32_t rows = 1; rows <= ROWS_MAX; rows++) {
        lego_model model = *lego_model_builtin("paper");
        model.rows = rows;
        model.distinct_min = -INFINITY; /* decode wherever the scan makes sense of it or not */
        model.skew_max = INFINITY;
        model_derive(&model);
        struct bricks host = make_bricks(&model, 3, 600);
        struct cuda_bricks *device = upload(&host);
        struct drawn drawn = draw_items(&state, 20000, 5000, 2);
        add_to_both(&host, device, drawn.items, drawn.counts, drawn.n);
        assert_same_bytes(&host, device);
        assert_same_answers(&host, device, drawn.items, drawn.n);
        cuda_bricks_free(device);
        free_drawn(&drawn);
        free_bricks(&host);
    }
}

static void keys_that_could_be_taken_for_empty_slots(void **unused)
{
    (void)unused;
    struct bricks host = make_bricks(lego_model_builtin("paper"), 2, 64);
    struct cuda_bricks *device = upload(&host);
    uint64_t items[10000];
    for (size_t i = 0; i < 10000; i++) items[i] = i % 7 == 0 ? UINT64_MAX : i % 3 - 1;
    add_to_both(&host, device, items, NULL, 10000);
    assert_same_bytes(&host, device);
    cuda_bricks_free(device);
    free_bricks(&host);
}

/* Giants make rows wide on the device, between two questions and before an upload. */
static void wide_rows_are_the_same(void **unused)
{
    (void)unused;
    uint64_t state = 4;
    struct bricks host = make_bricks(lego_model_builtin("paper"), 40, 516);
    struct cuda_bricks *device = upload(&host);
    struct drawn drawn = draw_items(&state, 20000, 6000, 3);
    unsigned wide = 0;
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < 9; i++) drawn.counts[draw_below(&state, drawn.n)] = INT64_C(1) << (25 + 7 * round);
        add_to_both(&host, device, drawn.items, drawn.counts, drawn.n);
        assert_same_answers(&host, device, drawn.items, drawn.n);
        assert_same_bytes(&host, device);
        assert_true(wide_rows(&host) > wide && wide_rows(&host) < 40 * 5);
        wide = wide_rows(&host);
        if (round != 1) continue;
        cuda_bricks_free(device);
        device = upload(&host);
        assert_same_answers(&host, device, drawn.items, drawn.n);
    }
    cuda_bricks_free(device);
    free_drawn(&drawn);
    free_bricks(&host);
}

/* A sketch so full that its bricks are decoded by the networks. */
static void networks_decode_alike(void **unused)
{
    (void)unused;
    uint64_t state = 5, *items = malloc(FULL_ITEMS * sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < FULL_ITEMS; i++)
        items[i] = (uint64_t)exp((double)draw_below(&state, 1u << 30) * 0x1p-30 * log(600000));
    struct bricks host = make_bricks(lego_model_builtin("paper"), 12, 4992);
    struct cuda_bricks *device = upload(&host);
    add_to_both(&host, device, items, NULL, FULL_ITEMS);
    assert_same_bytes(&host, device);
    assert_true(assert_same_answers(&host, device, items, FULL_ASKED) > FULL_ASKED / 4);
    cuda_bricks_free(device);
    free_bricks(&host);
    free(items);
}

int main(void)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("skipped: no GPU\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_in_every_shape),
        cmocka_unit_test(every_number_of_rows),
        cmocka_unit_test(keys_that_could_be_taken_for_empty_slots),
        cmocka_unit_test(wide_rows_are_the_same),
        cmocka_unit_test(networks_decode_alike),
    };
    return cmocka_run_group_tests_name("cuda bricks", tests, NULL, NULL);
}
