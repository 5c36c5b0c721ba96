/* fuzz_sketch: any bytes either are a sketch, and then the sketch has exactly these bytes and can be used like any other,
 * or they are refused with nothing allocated and nothing written. */
#include "binary.h"

#include <string.h>

/* A sketch is of the built-in model, or of this one, which has networks. */
static lego_model *trained;
static uint64_t trained_fingerprint;

static const lego_model *model_of(const uint8_t *bytes, size_t size)
{
    if (!trained) {
        uint8_t file[RANDOM_MODEL_MAX];
        lego_status status = lego_model_load(file, random_model(file, 3, 64, 64), NULL, &trained);
        CHECK(status == LEGO_OK);
        lego_model_info info;
        lego_model_describe(trained, &info);
        trained_fingerprint = info.fingerprint;
    }
    return size >= 40 && memcmp(bytes + 32, &trained_fingerprint, 8) == 0 ? trained : NULL;
}

/* The step of a block: its bits 501 to 505. */
static unsigned step_of(const uint8_t *block)
{
    return (unsigned)(block[62] >> 5 | block[63] << 3) & 31;
}

/* Whether the first bytes are the others after a fold and back: another level or p, or, of blocks, some that went further
 * down the ladder, and nothing else. docs/format.md has the offsets. */
static int is_folded(const uint8_t *now, const uint8_t *before, size_t size)
{
    if (before[12] == 0) return memcmp(now + 64, before + 64, 8) != 0;
    if (memcmp(now, before, 88) != 0) return 0;
    for (size_t at = 88; at + 64 < size; at += 64)
        if (memcmp(now + at, before + at, 64) != 0 && step_of(now + at) <= step_of(before + at)) return 0;
    return 1;
}

/* Whether the sketch saves to these bytes; or, at another shape, to others. */
static int has_bytes(const lego_sketch *sketch, const uint8_t *bytes, size_t size, int or_folded)
{
    size_t saved = (size_t)lego_sketch_saved_size(sketch);
    struct paper paper = {malloc(saved), saved, 0};
    lego_status status = lego_sketch_save(sketch, paper_write, &paper);
    CHECK(status == LEGO_OK);
    CHECK(paper.used == saved);
    int good = saved == size && memcmp(paper.bytes, bytes, size) == 0;
    if (!good && or_folded) good = is_folded(paper.bytes, bytes, size);
    free(paper.bytes);
    return good;
}

static void estimate_some(const lego_sketch *sketch)
{
    for (uint64_t item = 0; item < 20; item++) {
        lego_estimate e;
        lego_status status = lego_sketch_estimate_u64(sketch, item, &e);
        CHECK(status == LEGO_OK);
        CHECK(e.lower <= e.upper);
        CHECK(e.value <= (double)e.upper); /* so not NaN either */
    }
}

static lego_sketch *copy_of(const lego_sketch *sketch)
{
    lego_sketch *copy;
    lego_status status = lego_sketch_copy(sketch, &copy);
    CHECK(status == LEGO_OK);
    return copy;
}

/* To flat blocks and back; bricks stay what they are. */
static void convert(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    lego_sketch *copy = copy_of(sketch);
    for (int way = 0; way < 2; way++) {
        lego_status status = lego_sketch_convert(copy, way == 0 ? LEGO_FLAT : LEGO_DENSE);
        CHECK(status == LEGO_OK);
        CHECK(has_bytes(copy, bytes, size, 0));
        for (uint64_t item = 0; item < 20; item++) {
            lego_estimate before, now;
            lego_sketch_estimate_u64(sketch, item, &before);
            lego_sketch_estimate_u64(copy, item, &now);
            CHECK(memcmp(&before, &now, sizeof now) == 0);
        }
    }
    lego_sketch_convert(copy, LEGO_FLAT);
    if (lego_sketch_merge(copy, sketch) == LEGO_OK) estimate_some(copy);
    for (uint64_t item = 0; item < 20; item++) lego_sketch_add_u64(copy, item, INT64_C(1) << 3 * item);
    estimate_some(copy);
    if (lego_sketch_fold(copy, 1) == LEGO_OK) estimate_some(copy);
    lego_sketch_destroy(copy);
}

static void use(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    lego_sketch_info before, after;
    lego_sketch_describe(sketch, &before);
    estimate_some(sketch);

    lego_sketch *copy = copy_of(sketch);
    CHECK(has_bytes(copy, bytes, size, 0));
    if (lego_sketch_merge(copy, sketch) != LEGO_OK) CHECK(has_bytes(copy, bytes, size, 0));
    else {
        estimate_some(copy);
        lego_status status = lego_sketch_subtract(copy, sketch);
        if (status == LEGO_OK) CHECK(has_bytes(copy, bytes, size, 1));
    }
    for (uint64_t item = 0; item < 20; item++) lego_sketch_add_u64(copy, item, INT64_C(1) << 3 * item);
    estimate_some(copy);
    lego_sketch_clear(copy);
    lego_sketch_describe(copy, &after);
    CHECK(after.total == 0 && after.bytes == before.bytes);
    lego_sketch_destroy(copy);

    copy = copy_of(sketch);
    if (lego_sketch_fold(copy, 1) != LEGO_OK) CHECK(has_bytes(copy, bytes, size, 0));
    estimate_some(copy);
    lego_sketch_destroy(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const lego_model *model = model_of(bytes, size);
    struct purse purse = {2 * size + 65536, 0};
    lego_allocator allocator = purse_allocator(&purse);
    lego_sketch *const untouched = (lego_sketch *)&purse, *sketch = untouched;
    if (lego_sketch_load(bytes, size, model, &allocator, &sketch) != LEGO_OK) {
        CHECK(sketch == untouched);
        CHECK(purse.held == 0);
        return 0;
    }
    purse.left = SIZE_MAX;
    CHECK(has_bytes(sketch, bytes, size, 0));
    use(sketch, bytes, size);
    convert(sketch, bytes, size);
    CHECK(has_bytes(sketch, bytes, size, 0));
    lego_sketch_destroy(sketch);
    CHECK(purse.held == 0);
    return 0;
}
