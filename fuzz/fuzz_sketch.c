/* fuzz_sketch: any bytes either are a sketch, with or without top, and then it has exactly these bytes and can be used
 * like any other, or they are refused with nothing allocated and nothing written. */
#include "binary.h"

#include <math.h>
#include <string.h>

static struct paper saved(const lego_sketch *sketch)
{
    size_t size = (size_t)lego_saved_size(sketch);
    struct paper paper = {malloc(size), size, 0};
    lego_status status = lego_save(sketch, paper_write, &paper);
    CHECK(status == LEGO_OK);
    CHECK(paper.used == size);
    return paper;
}

static int has_bytes(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    struct paper paper = saved(sketch);
    int same = paper.size == size && memcmp(paper.bytes, bytes, size) == 0;
    free(paper.bytes);
    return same;
}

/* Whatever it is, it loads again. */
static void reload(const lego_sketch *sketch)
{
    struct paper paper = saved(sketch);
    lego_sketch *again;
    const lego_options options = options_of(paper.bytes, paper.size, NULL);
    lego_status status = lego_load(paper.bytes, paper.size, &options, &again);
    CHECK(status == LEGO_OK);
    CHECK(has_bytes(again, paper.bytes, paper.size));
    lego_destroy(again);
    free(paper.bytes);
}

static void check_estimate(const lego_estimate *e)
{
    CHECK((double)e->lower <= e->value && e->value <= (double)e->likely); /* so not NaN either */
    CHECK(e->likely <= e->upper);
}

struct seen {
    const lego_sketch *sketch;
    size_t n;
    double before;
};

static int see(void *context, const lego_top_item *top)
{
    struct seen *seen = context;
    lego_estimate e;
    lego_status status = lego_query(seen->sketch, top->item, top->size, &e);
    CHECK(status == LEGO_OK);
    CHECK(memcmp(&e, &top->estimate, sizeof e) == 0);
    check_estimate(&e);
    CHECK(seen->n == 0 || e.value <= seen->before);
    CHECK(!top->exact || (e.lower == e.upper && e.value == (double)e.upper));
    seen->before = e.value;
    seen->n++;
    return 0;
}

static void look(const lego_sketch *sketch)
{
    lego_info info;
    struct seen seen = {sketch, 0, 0};
    lego_describe(sketch, &info);
    CHECK(info.distinct >= 0 && info.keeping >= 0 && info.keeping <= 1);
    CHECK(!info.exact || info.keeping == 0);
    CHECK(isnan(info.expected_aae) == isnan(info.expected_are)); /* bricks do not tell */
    CHECK(isnan(info.expected_aae) || (info.expected_aae >= 0 && info.expected_are >= 0));
    CHECK(!(info.distinct_error < 0) && !(info.expected_aae_error < 0) && !(info.expected_are_error < 0));
    for (unsigned k = 0; k < LEGO_CLASSES; k++) {
        CHECK(isnan(info.classes[k]) == isnan(info.classes[0])); /* all of them, or none */
        CHECK(!(info.classes[k] < 0) && !(info.class_errors[k] < 0));
    }
    lego_status status = lego_top(sketch, SIZE_MAX, see, &seen);
    CHECK(status == (info.top_bytes > 0 ? LEGO_OK : LEGO_ERR_ARGUMENT));
    for (uint64_t item = 0; item < 20; item++) {
        lego_estimate e;
        status = lego_query_u64(sketch, item, &e);
        CHECK(status == LEGO_OK);
        check_estimate(&e);
    }
}

/* Answers of a batch are those of single questions, bit for bit: integers, and bytes out of the file. */
static void ask_many(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    enum { MANY = 40 };
    uint64_t integers[MANY], offsets[MANY + 1];
    lego_estimate many[MANY], one;
    for (uint64_t i = 0; i <= MANY; i++) offsets[i] = size * i / MANY;
    for (uint64_t i = 0; i < MANY; i++) integers[i] = 25 * i;
    lego_items numbers = {.n = MANY, .integers = integers}, texts = {.n = MANY, .bytes = bytes, .offsets = offsets};
    lego_status status = lego_query_items(sketch, &numbers, NULL, many);
    CHECK(status == LEGO_OK);
    for (size_t i = 0; i < MANY; i++) {
        lego_query_u64(sketch, integers[i], &one);
        CHECK(memcmp(&one, &many[i], sizeof one) == 0);
    }
    status = lego_query_items(sketch, &texts, NULL, many);
    CHECK(status == LEGO_OK);
    for (size_t i = 0; i < MANY; i++) {
        lego_query(sketch, bytes + offsets[i], offsets[i + 1] - offsets[i], &one);
        CHECK(memcmp(&one, &many[i], sizeof one) == 0);
        check_estimate(&one);
    }
}

static lego_sketch *copy_of(const lego_sketch *sketch)
{
    lego_sketch *copy;
    lego_status status = lego_copy(sketch, &copy);
    CHECK(status == LEGO_OK);
    return copy;
}

/* With itself, and back. */
static void merge(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    lego_info before, after;
    lego_describe(sketch, &before);
    lego_sketch *copy = copy_of(sketch);
    if (lego_merge(copy, sketch) != LEGO_OK) CHECK(has_bytes(copy, bytes, size));
    else {
        look(copy);
        reload(copy);
        lego_status status = lego_subtract(copy, sketch);
        CHECK(before.top_bytes == 0 || status == LEGO_ERR_TOP);
        lego_describe(copy, &after);
        CHECK(status != LEGO_OK || after.total == before.total);
        if (status == LEGO_OK) reload(copy);
    }
    lego_destroy(copy);
}

/* One at once is a merge, and several are a sketch like any other, or nothing has changed. */
static void merge_many(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    const lego_sketch *const both[] = {sketch, sketch};
    const int64_t weights[] = {3, 2};
    lego_sketch *one = copy_of(sketch), *many = copy_of(sketch);
    lego_status status = lego_merge(one, sketch);
    CHECK(lego_merge_many(many, both, NULL, 1) == status);
    struct paper paper = saved(one);
    CHECK(has_bytes(many, paper.bytes, paper.size));
    if (lego_merge_many(one, both, weights, 2) != LEGO_OK) CHECK(has_bytes(one, paper.bytes, paper.size));
    CHECK(status == LEGO_OK || has_bytes(many, bytes, size));
    look(one);
    reload(one);
    free(paper.bytes);
    lego_destroy(many);
    lego_destroy(one);
}

static void add(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    lego_info before, after;
    lego_describe(sketch, &before);
    lego_sketch *copy = copy_of(sketch);
    for (uint64_t i = 0; i < 60; i++) { /* keys out of the file, other keys, deletions */
        size_t at = (size_t)(i * 37) % size, length = i * i % 250;
        if (length > size - at) length = size - at;
        lego_add(copy, bytes + at, length, INT64_C(1) << i % 50);
        lego_add_u64(copy, i, i % 3 ? 1 : -1);
    }
    look(copy);
    reload(copy);
    lego_clear(copy);
    look(copy);
    lego_describe(copy, &after);
    CHECK(after.total == 0 && after.bytes <= before.bytes && after.distinct == 0);
    lego_destroy(copy);
}

/* In a call, large enough to be taken together: without a top, the bytes are those of one by one. */
static void add_many(lego_sketch *copy, const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    enum { MANY = 300 };
    uint64_t integers[MANY];
    lego_info info;
    lego_sketch *slowly = copy_of(sketch);
    lego_status status = LEGO_OK;
    for (uint64_t i = 0; i < MANY; i++) integers[i] = i * i % 7 + bytes[i % size];
    for (size_t i = 0; i < MANY && status == LEGO_OK; i++) status = lego_add_u64(slowly, integers[i], 1);
    lego_items items = {.n = MANY, .integers = integers};
    CHECK(lego_add_items(copy, &items) == status);
    if (status != LEGO_OK) CHECK(has_bytes(copy, bytes, size));
    lego_measure(copy, &info);
    struct paper paper = saved(slowly);
    CHECK(status != LEGO_OK || info.top_bytes > 0 || has_bytes(copy, paper.bytes, paper.size));
    free(paper.bytes);
    lego_destroy(slowly);
}

/* With another that has a single item: each into the other. */
static void mix(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    lego_sketch *copy = copy_of(sketch), *other = copy_of(sketch);
    add_many(copy, sketch, bytes, size);
    lego_clear(other);
    lego_status status = lego_add(other, bytes, size / 2, 3);
    CHECK(status == LEGO_OK);
    if (lego_merge(other, copy) == LEGO_OK) look(other);
    if (lego_merge(copy, other) == LEGO_OK) ask_many(copy, bytes, size);
    reload(other);
    reload(copy);
    lego_destroy(other);
    lego_destroy(copy);
}

static void fold(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    lego_sketch *copy = copy_of(sketch);
    CHECK(has_bytes(copy, bytes, size));
    if (lego_fold(copy, 1) != LEGO_OK) CHECK(has_bytes(copy, bytes, size));
    look(copy);
    reload(copy);
    lego_destroy(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* An empty block has 5 bytes in a file; of format 4 there may be twice as many, beside those that there were. */
    const size_t most = size > VERSION_AT && bytes[VERSION_AT] == 4 ? 156 : 52;
    struct purse purse = {most * size + 65536, 0, -1};
    lego_allocator allocator = purse_allocator(&purse);
    lego_sketch *const untouched = (lego_sketch *)&purse, *sketch = untouched;
    const lego_options options = options_of(bytes, size, &allocator);
    if (lego_load(bytes, size, &options, &sketch) != LEGO_OK) {
        CHECK(sketch == untouched);
        CHECK(purse.held == 0);
        return 0;
    }
    if (bytes[VERSION_AT] == 4) { /* it has other bytes today */
        struct paper today = saved(sketch);
        lego_destroy(sketch);
        CHECK(purse.held == 0);
        LLVMFuzzerTestOneInput(today.bytes, today.size);
        free(today.bytes);
        return 0;
    }
    purse.left = SIZE_MAX;
    CHECK(has_bytes(sketch, bytes, size));
    look(sketch);
    ask_many(sketch, bytes, size);
    lego_info info;
    lego_describe(sketch, &info);
    if (info.budget <= 1 << 24) { /* a budget of gigabytes may be used, too, once something leaves a top */
        merge(sketch, bytes, size);
        merge_many(sketch, bytes, size);
        add(sketch, bytes, size);
        mix(sketch, bytes, size);
        fold(sketch, bytes, size);
    }
    CHECK(has_bytes(sketch, bytes, size));
    lego_destroy(sketch);
    CHECK(purse.held == 0);
    return 0;
}
