/* fuzz_seeds sketch|model|text FOLDER: writes small good inputs for a fuzz target to start from. */
#include "binary.h"
#include "legosketch_lab.h"

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

static void save_sketch(const lego_sketch *sketch, int64_t count)
{
    size_t size = (size_t)lego_saved_size(sketch);
    struct paper paper = {malloc(size), size, 0};
    lego_status status = lego_save(sketch, paper_write, &paper);
    CHECK(status == LEGO_OK);
    lego_model_info model;
    lego_info info;
    lego_describe(sketch, &info);
    lego_model_describe(info.model, &model);
    char name[128];
    snprintf(name, sizeof name, "%s-%u-%u-%lld", model.name, info.blocks, (unsigned)info.top_bytes, (long long)count);
    seed(name, paper.bytes, size);
    free(paper.bytes);
}

/* Numbers, a few of which come `count` times, and strings of many lengths. */
static void seed_sketch(const lego_model *model, uint32_t blocks, uint64_t top, int64_t count)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.model = model;
    options.top = top;
    lego_model_info info;
    lego_model_describe(model, &info);
    lego_sketch *sketch;
    lego_status status = lego_lab_create(&options, blocks, info.columns > 0 ? 64 : 0, &sketch);
    CHECK(status == LEGO_OK);
    for (uint64_t item = 0; count && item < 100; item++) {
        char key[64] = {0};
        snprintf(key, sizeof key, "%0*llx", (int)(item % 40), (unsigned long long)(item % 17));
        status = lego_add(sketch, key, item % 41, (int64_t)(item % 30));
        CHECK(status == LEGO_OK);
        status = lego_add_u64(sketch, item, item % 10 ? (int64_t)item : count);
        CHECK(status == LEGO_OK);
    }
    save_sketch(sketch, count);
    lego_destroy(sketch);
}

/* Light and heavily loaded ones, with negative counts too. */
static void seed_model_sketches(const lego_model *model)
{
    static const uint32_t numbers[] = {1, 2, 3, 6, 40}; /* blocks that share, list prints or whole keys, or grow */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (uint64_t top = 0; top <= 2048; top = top ? 2 * top : LEGO_TOP_MIN)
            for (int64_t count = 0; count <= INT64_C(1) << 40; count = count ? count << 10 : 1) {
                seed_sketch(model, numbers[i], top, count);
                if (count) seed_sketch(model, numbers[i], top, -count);
            }
}

static void seed_sketches(void)
{
    uint8_t file[RANDOM_MODEL_MAX];
    lego_model *trained;
    lego_status status = lego_model_load(file, random_model(file, 3, 64, 64), NULL, &trained); /* as fuzz_sketch.c */
    CHECK(status == LEGO_OK);
    seed_model_sketches(trained);
    lego_model_destroy(trained);
    seed_model_sketches(lego_model_builtin("compact"));
}

static void seed_models(void)
{
    uint8_t file[RANDOM_MODEL_MAX];
    seed("random-1", file, random_model(file, 1, 64, 8));
    seed("random-5", file, random_model(file, 5, 5120, 1024));
    seed("random-8", file, random_model(file, 8, 8192, 4096));
}

static void seed_texts(void)
{
    /* after the two bytes that fuzz_text.c takes off: 0 is lines, 1 tsv, 2 u32, 3 u64, 5 uniq, 6 and 7 csv */
    static const char *const texts[] = {"0.apple\npear\n\napple",
                                        "1.apple\t3\npear\t-2\n\t1\n",
                                        "1.a\tb\t9223372036854775807\r\n",
                                        "1.x\t9223372036854775808\ny\t\n",
                                        "1.z\t1x\nno count\n",
                                        "1.\xff\xfe\t+5\n\t\n\n",
                                        "2.123456789",
                                        "3.12345678abcdefgh90",
                                        "5.      3 apple\n  12 a b\r\n7\n",
                                        "6.id,city\n1,\"a \"\"b\"\"\nc\"\r\n\n2\n3,\"d\"e\n4,\"f\n"};
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
    else if (strcmp(argv[1], "model") == 0) seed_models();
    else seed_texts();
    return 0;
}
