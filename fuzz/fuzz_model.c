/* fuzz_model: any bytes either are a model, and then the model has exactly these bytes and its answers are numbers, or
 * they are refused with nothing allocated and nothing written. */
#include "binary.h"
#include "legosketch_lab.h"

#include <string.h>

static void use(const lego_model *model)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.model = model;
    lego_sketch *sketch;
    lego_status status = lego_lab_create(&options, 2, 64, &sketch);
    CHECK(status == LEGO_OK);
    for (uint64_t i = 0; i < 200; i++) {
        status = lego_add_u64(sketch, i, (int64_t)(1 + i * i));
        CHECK(status == LEGO_OK);
    }
    for (uint64_t i = 0; i < 200; i += 40) {
        lego_estimate e;
        status = lego_query_u64(sketch, i, &e);
        CHECK(status == LEGO_OK);
        CHECK(e.upper >= (int64_t)(1 + i * i));
        CHECK(e.lower <= e.upper);
        CHECK(e.value <= (double)e.upper); /* so not NaN either */
    }
    lego_destroy(sketch);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct purse purse = {2 * size + 65536, 0, -1};
    lego_allocator allocator = purse_allocator(&purse);
    lego_model *const untouched = (lego_model *)&purse, *model = untouched;
    if (lego_model_load(bytes, size, &allocator, &model) != LEGO_OK) {
        CHECK(model == untouched);
        CHECK(purse.held == 0);
        return 0;
    }
    purse.left = SIZE_MAX;
    struct paper paper = {malloc(size), size, 0};
    lego_status status = lego_model_save(model, paper_write, &paper);
    CHECK(status == LEGO_OK);
    CHECK(paper.used == size && memcmp(paper.bytes, bytes, size) == 0);
    free(paper.bytes);
    use(model);
    lego_model_destroy(model);
    CHECK(purse.held == 0);
    return 0;
}
