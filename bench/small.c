/* Many small sketches: what it takes to make one, fill it and save it. */
#include "bench.h"

enum { ITEMS = 20, BUDGET = 300 << 10 };

static int count_bytes(void *context, const void *bytes, size_t size)
{
    (void)bytes;
    *(uint64_t *)context += size;
    return 0;
}

static lego_status make_one(uint64_t number, uint64_t *saved)
{
    lego_options wanted = LEGO_OPTIONS_INIT;
    lego_sketch *sketch;
    wanted.budget = BUDGET;
    lego_status status = lego_create(&wanted, &sketch);
    if (status != LEGO_OK) return status;
    for (uint64_t i = 0; i < ITEMS && status == LEGO_OK; i++)
        status = lego_add_u64(sketch, number * ITEMS + i, 1 + (int64_t)i % 3);
    if (status == LEGO_OK) status = lego_save(sketch, count_bytes, saved);
    lego_destroy(sketch);
    return status;
}

double small_sketches(uint32_t count)
{
    uint64_t saved = 0;
    double before = clocks().cpu;
    for (uint32_t i = 0; i < count; i++)
        if (make_one(i, &saved) != LEGO_OK) return 0;
    return saved > 0 ? (clocks().cpu - before) * 1e6 / ((double)count * ITEMS) : 0;
}
