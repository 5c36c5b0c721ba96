/* fuzz_elastic: any bytes either are an elastic sketch, and then it has exactly these bytes and can be used like any
 * other, or they are refused with nothing allocated and nothing written. */
#include "binary.h"

#include <string.h>

static int has_bytes(const lego_elastic *elastic, const uint8_t *bytes, size_t size)
{
    size_t saved = (size_t)lego_elastic_saved_size(elastic);
    struct paper paper = {malloc(saved), saved, 0};
    lego_status status = lego_elastic_save(elastic, paper_write, &paper);
    CHECK(status == LEGO_OK);
    CHECK(paper.used == saved);
    int same = saved == size && memcmp(paper.bytes, bytes, size) == 0;
    free(paper.bytes);
    return same;
}

struct seen {
    const lego_elastic *elastic;
    size_t n;
    double before;
};

static int see(void *context, const lego_top *top)
{
    struct seen *seen = context;
    lego_estimate e;
    lego_status status = lego_elastic_estimate(seen->elastic, top->item, top->size, &e);
    CHECK(status == LEGO_OK);
    CHECK(memcmp(&e, &top->estimate, sizeof e) == 0);
    CHECK(e.lower <= e.upper);
    CHECK(e.value <= (double)e.upper);
    CHECK(seen->n == 0 || e.value <= seen->before);
    seen->before = e.value;
    seen->n++;
    return 0;
}

static void look(const lego_elastic *elastic)
{
    lego_elastic_info info;
    lego_sketch_info light;
    struct seen seen = {elastic, 0, 0};
    lego_elastic_describe(elastic, &info);
    lego_sketch_describe(lego_elastic_light(elastic), &light);
    CHECK(info.total == light.total + info.heavy_total);
    lego_status status = lego_elastic_top(elastic, SIZE_MAX, see, &seen);
    CHECK(status == LEGO_OK);
    CHECK(seen.n == info.residents);
}

/* Whatever it is, it loads again. */
static void reload(const lego_elastic *elastic)
{
    size_t size = (size_t)lego_elastic_saved_size(elastic);
    struct paper paper = {malloc(size), size, 0};
    lego_elastic *again;
    lego_status status = lego_elastic_save(elastic, paper_write, &paper);
    CHECK(status == LEGO_OK);
    status = lego_elastic_load(paper.bytes, size, NULL, NULL, &again);
    CHECK(status == LEGO_OK);
    lego_elastic_destroy(again);
    free(paper.bytes);
}

static void use(const lego_elastic *elastic, const uint8_t *bytes, size_t size)
{
    lego_elastic *copy;
    lego_status status = lego_elastic_copy(elastic, &copy);
    CHECK(status == LEGO_OK);
    CHECK(has_bytes(copy, bytes, size));
    look(copy);
    for (uint64_t i = 0; i < 60; i++) { /* keys out of the file, other keys, deletions */
        size_t at = (size_t)(i * 37) % size, length = i * i % 250;
        if (length > size - at) length = size - at;
        lego_elastic_add(copy, bytes + at, length, INT64_C(1) << i % 50);
        lego_elastic_add_u64(copy, i, i % 3 ? 1 : -1);
    }
    look(copy);
    reload(copy);
    if (lego_elastic_merge(copy, elastic) == LEGO_OK) {
        look(copy);
        reload(copy);
    }
    lego_elastic_clear(copy);
    look(copy);
    lego_elastic_destroy(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct purse purse = {2 * size + 65536, 0};
    lego_allocator allocator = purse_allocator(&purse);
    lego_elastic *const untouched = (lego_elastic *)&purse, *elastic = untouched;
    if (lego_elastic_load(bytes, size, NULL, &allocator, &elastic) != LEGO_OK) {
        CHECK(elastic == untouched);
        CHECK(purse.held == 0);
        return 0;
    }
    purse.left = SIZE_MAX;
    CHECK(has_bytes(elastic, bytes, size));
    use(elastic, bytes, size);
    CHECK(has_bytes(elastic, bytes, size));
    lego_elastic_destroy(elastic);
    CHECK(purse.held == 0);
    return 0;
}
