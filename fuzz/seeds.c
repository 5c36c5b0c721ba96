/* fuzz_seeds sketch|elastic|model|text FOLDER: writes small good inputs for a fuzz target to start from. */
#include "binary.h"

#include <string.h>

static const char *folder;

static void seed(const char *name, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CHECK(file);
    size_t written = fwrite(bytes, 1, size, file);
    int failed = fclose(file);
    CHECK(written == size && !failed);
}

static void seed_sketch(const lego_model *model, uint32_t bricks, uint32_t bits, int64_t count)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.budget = 0;
    options.model = model;
    options.bricks = bricks;
    options.columns = bits ? 64 : 0; /* a compact model has neither */
    options.cell_bits = bits;
    lego_sketch *sketch;
    lego_status status = lego_sketch_create(&options, &sketch);
    CHECK(status == LEGO_OK);
    for (uint64_t item = 0; count && item < 100; item++) {
        status = lego_sketch_add_u64(sketch, item, item % 10 ? (int64_t)item : count); /* a few cells spill */
        CHECK(status == LEGO_OK);
    }
    size_t size = (size_t)lego_sketch_saved_size(sketch);
    struct paper paper = {malloc(size), size, 0};
    status = lego_sketch_save(sketch, paper_write, &paper);
    CHECK(status == LEGO_OK);
    lego_model_info info;
    lego_sketch_info now;
    lego_sketch_describe(sketch, &now);
    lego_model_describe(now.model, &info);
    char name[128];
    snprintf(name, sizeof name, "%s-%u-%u-%lld", info.name, bricks, bits, (long long)count);
    seed(name, paper.bytes, size);
    free(paper.bytes);
    lego_sketch_destroy(sketch);
}

static void seed_sketches(void)
{
    uint8_t file[RANDOM_MODEL_MAX];
    lego_model *trained;
    lego_status status = lego_model_load(file, random_model(file, 3, 64, 64), NULL, &trained); /* as fuzz_sketch.c */
    CHECK(status == LEGO_OK);
    for (int networks = 0; networks < 2; networks++) {
        for (uint32_t bricks = 1; bricks <= 6; bricks++) {
            for (uint32_t bits = 8; bits <= 64; bits *= 2) {
                for (int64_t count = 0; count <= INT64_C(1) << 40; count = count ? count << 10 : 1)
                    seed_sketch(networks ? trained : lego_model_builtin("rule"), bricks, bits, count);
            }
        }
    }
    lego_model_destroy(trained);
    for (uint32_t blocks = 1; blocks <= 6; blocks++) { /* light, deep down the ladder, and with negative cells */
        for (int64_t count = 0; count <= INT64_C(1) << 50; count = count ? count << 5 : 1) {
            seed_sketch(lego_model_builtin("compact"), blocks, 0, count);
            if (count) seed_sketch(lego_model_builtin("compact"), blocks, 0, -count);
        }
    }
}

static void seed_elastic(const char *model, uint64_t heavy, uint64_t items)
{
    lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
    options.light.budget = 0;
    options.light.model = lego_model_builtin(model);
    options.light.bricks = 2;
    options.light.columns = strcmp(model, "compact") ? 64 : 0;
    options.heavy = heavy;
    lego_elastic *elastic;
    lego_status status = lego_elastic_create(&options, &elastic);
    CHECK(status == LEGO_OK);
    for (uint64_t i = 0; i < items; i++) {
        char key[64] = {0};
        snprintf(key, sizeof key, "%0*llx", (int)(i % 40), (unsigned long long)(i % 17));
        status = lego_elastic_add(elastic, key, i % 41, (int64_t)(i % 300));
        CHECK(status == LEGO_OK);
        status = lego_elastic_add_u64(elastic, i * i % 1001, 1);
        CHECK(status == LEGO_OK);
    }
    size_t size = (size_t)lego_elastic_saved_size(elastic);
    struct paper paper = {malloc(size), size, 0};
    status = lego_elastic_save(elastic, paper_write, &paper);
    CHECK(status == LEGO_OK);
    char name[128];
    snprintf(name, sizeof name, "%s-%llu-%llu", model, (unsigned long long)heavy, (unsigned long long)items);
    seed(name, paper.bytes, size);
    free(paper.bytes);
    lego_elastic_destroy(elastic);
}

static void seed_elastics(void)
{
    static const char *const models[] = {"compact", "rule"};
    for (int m = 0; m < 2; m++)
        for (uint64_t heavy = 512; heavy <= 2048; heavy *= 2)
            for (uint64_t items = 0; items <= 1000; items = items ? 10 * items : 1) seed_elastic(models[m], heavy, items);
}

static void seed_builtin(const char *name)
{
    static uint8_t file[1 << 20];
    struct paper paper = {file, sizeof file, 0};
    lego_status status = lego_model_save(lego_model_builtin(name), paper_write, &paper);
    CHECK(status == LEGO_OK);
    seed(name, file, paper.used);
}

static void seed_models(void)
{
    uint8_t file[RANDOM_MODEL_MAX];
    seed_builtin("rule");
    seed_builtin("compact");
    seed("random-1", file, random_model(file, 1, 64, 8));
    seed("random-5", file, random_model(file, 5, 5120, 1024));
    seed("random-8", file, random_model(file, 8, 8192, 4096));
}

static void seed_texts(void)
{
    /* after the two bytes that fuzz_text.c takes off: 0 is lines, 1 tsv, 2 u32, 3 u64 */
    static const char *const texts[] = {"0.apple\npear\n\napple",
                                        "1.apple\t3\npear\t-2\n\t1\n",
                                        "1.a\tb\t9223372036854775807\r\n",
                                        "1.x\t9223372036854775808\ny\t\n",
                                        "1.z\t1x\nno count\n",
                                        "1.\xff\xfe\t+5\n\t\n\n",
                                        "2.123456789",
                                        "3.12345678abcdefgh90"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char name[] = {'t', (char)('0' + i), 0};
        seed(name, texts[i], strlen(texts[i]));
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    folder = argv[2];
    if (strcmp(argv[1], "sketch") == 0) seed_sketches();
    else if (strcmp(argv[1], "elastic") == 0) seed_elastics();
    else if (strcmp(argv[1], "model") == 0) seed_models();
    else seed_texts();
    return 0;
}
