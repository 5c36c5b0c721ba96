/* fuzz_load: any bytes either are a sketch, and then it has exactly these bytes, or others if they are of format 4, or
 * they are refused with nothing allocated and nothing written; also where there is no memory for it, or none to write
 * to. Nothing else is done with it (fuzz_sketch.c does), so there are many thousand a second. */
#include "binary.h"

#include <stdbool.h>
#include <string.h>

/* The first bytes of a file tell its length and its model, if it is one. */
static void check_heads(const uint8_t *bytes, size_t size, bool good)
{
    uint64_t length;
    char name[16];
    lego_status status = lego_saved_length(bytes, size < 24 ? size : 24, &length);
    CHECK(!good || (status == LEGO_OK && length == size));
    status = lego_saved_model(bytes, size < 56 ? size : 56, name);
    CHECK(!good || status == LEGO_OK);
    CHECK(status != LEGO_OK || memchr(name, 0, sizeof name));
    uint64_t seed;
    int secret;
    status = lego_saved_seed(bytes, size < 56 ? size : 56, &seed, &secret);
    CHECK(!good || (status == LEGO_OK && (!secret || seed == lego_secret_fingerprint(secret_seed))));
    if (good && secret) { /* which nobody loads without it */
        lego_options without = options_of(bytes, size, NULL);
        without.secret = NULL;
        lego_sketch *sketch;
        status = lego_load(bytes, size, &without, &sketch);
        CHECK(status == LEGO_ERR_SECRET);
    }
}

static void check_bytes(const lego_sketch *sketch, const uint8_t *bytes, size_t size)
{
    static uint8_t again[1 << 16];
    struct paper paper = {again, sizeof again, 0}, none = {again, 0, 0};
    const bool today = bytes[VERSION_AT] != 4;
    CHECK(!today || lego_saved_size(sketch) == size);
    lego_status status = lego_save(sketch, paper_write, &paper);
    CHECK(status == LEGO_OK && paper.used == lego_saved_size(sketch));
    CHECK(!today || memcmp(again, bytes, size) == 0);
    status = lego_save(sketch, paper_write, &none);
    CHECK(status == LEGO_ERR_WRITE);
    if (!today) LLVMFuzzerTestOneInput(again, paper.used);
}

/* A good file, and no memory from the n-th time on that it is asked for. */
static void check_no_memory(const uint8_t *bytes, size_t size)
{
    lego_status status = LEGO_ERR_MEMORY;
    for (int calls = 0; status == LEGO_ERR_MEMORY; calls++) {
        struct purse purse = {SIZE_MAX, 0, calls};
        lego_allocator allocator = purse_allocator(&purse);
        lego_sketch *sketch = NULL;
        const lego_options options = options_of(bytes, size, &allocator);
        status = lego_load(bytes, size, &options, &sketch);
        CHECK(status == LEGO_OK || (status == LEGO_ERR_MEMORY && !sketch));
        lego_destroy(sketch);
        CHECK(purse.held == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* An empty block has 5 bytes in a file; of format 4 there may be twice as many, beside those that there were. */
    const size_t most = size > VERSION_AT && bytes[VERSION_AT] == 4 ? 156 : 52;
    struct purse purse = {most * size + 65536, 0, -1};
    lego_allocator allocator = purse_allocator(&purse);
    lego_sketch *const untouched = (lego_sketch *)&purse, *sketch = untouched;
    const lego_options options = options_of(bytes, size, &allocator);
    bool good = lego_load(bytes, size, &options, &sketch) == LEGO_OK;
    check_heads(bytes, size, good);
    if (good) {
        check_bytes(sketch, bytes, size);
        lego_destroy(sketch);
        if (bytes[size - 1] % 8 == 0) check_no_memory(bytes, size); /* of the checksum: one of eight */
    } else CHECK(sketch == untouched);
    CHECK(purse.held == 0);
    return 0;
}
