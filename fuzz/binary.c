#include "binary.h"

#include <stdbool.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint8_t *put(uint8_t *at, const void *value, size_t size) /* on the little-endian machines that we fuzz on */
{
    memcpy(at, value, size);
    return at + size;
}

void reseal(uint8_t *bytes, size_t size)
{
    if (size < 32) return;
    uint64_t length = size;
    put(bytes + 16, &length, 8);
    uint64_t checksum = XXH3_64bits(bytes, size - 8);
    put(bytes + size - 8, &checksum, 8);
}

uint32_t drawn(uint32_t *random, uint32_t most)
{
    *random = *random * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*random * most >> 32);
}

static void *purse_alloc(void *context, size_t size)
{
    struct purse *purse = context;
    CHECK(size <= purse->left);
    if (purse->calls == 0) return NULL;
    if (purse->calls > 0) purse->calls--;
    purse->left -= size;
    purse->held += size;
    return malloc(size);
}

static void purse_free(void *context, void *memory, size_t size)
{
    struct purse *purse = context;
    CHECK(size <= purse->held);
    purse->held -= size;
    free(memory);
}

lego_allocator purse_allocator(struct purse *purse)
{
    return (lego_allocator){purse_alloc, purse_free, purse};
}

int paper_write(void *context, const void *bytes, size_t size)
{
    struct paper *paper = context;
    if (size > paper->size - paper->used) return 1;
    memcpy(paper->bytes + paper->used, bytes, size);
    paper->used += size;
    return 0;
}

size_t random_model(uint8_t *bytes, uint32_t rows, uint32_t columns, uint32_t quantum)
{
    static const uint32_t layers[][2] = {/* docs/format.md: in, out */
                                         {1, 8},   {8, 16},  {16, 32}, {32, 16}, {16, 8}, {8, 4}, {32, 16}, {16, 16},
                                         {16, 8},  {8, 1},   {32, 16}, {16, 16}, {16, 8}, {8, 1}, {2, 8},   {8, 16},
                                         {16, 16}, {24, 32}, {32, 16}, {20, 8},  {8, 4},  {4, 1}};
    enum { entries = 16 };
    const uint32_t head[] = {1, 1, 0, 0, rows, columns, quantum, entries};
    const float thresholds[] = {10, 2};
    uint32_t random = 1;
    uint8_t *at = put(bytes, "LEGOMODL", 8);
    at = put(at, head, sizeof head);
    at = put(at, thresholds, sizeof thresholds);
    at = put(at, "fuzz\0\0\0\0\0\0\0\0\0\0\0", 16);
    size_t floats = entries;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) floats += (layers[i][0] + 1) * layers[i][1];
    for (size_t i = 0; i < floats; i++) {
        random = random * 1664525 + 1013904223;
        float x = (float)(random >> 8) / (1 << 24);
        if (i < entries) x = 0.001f + 0.9f * x; /* V; else a weight from -0.5 to 0.5 */
        else x -= 0.5f;
        at = put(at, &x, 4);
    }
    size_t size = (size_t)(at - bytes) + 8;
    reseal(bytes, size);
    return size;
}

const lego_model *trained_model(void)
{
    static lego_model *trained;
    if (!trained) {
        uint8_t file[RANDOM_MODEL_MAX];
        lego_status status = lego_model_load(file, random_model(file, 3, 64, 64), NULL, &trained);
        CHECK(status == LEGO_OK);
    }
    return trained;
}

const uint8_t secret_seed[LEGO_SECRET_SIZE] = "fuzzers know it";

lego_options options_of(const uint8_t *bytes, size_t size, const lego_allocator *allocator)
{
    char name[16];
    bool trained = lego_saved_model(bytes, size, name) == LEGO_OK && strcmp(name, "fuzz") == 0;
    return (lego_options){.model = trained ? trained_model() : NULL, .secret = secret_seed, .allocator = allocator};
}
