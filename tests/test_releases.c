/* Files of every release are loaded for ever: tests/golden/format-N-*.sketch are as the release with format N wrote
 * them, and are never written again. What they are of is known, so that answers are judged by the truth; and all bits
 * of all answers are the same on every machine.
 *
 * A new format: `build/test_releases write` writes files of it once, below a new name in `cases`. */
#include "support.h"

enum { FORMAT = 4, MOST = 4000 };

struct release {
    const char *name, *model;
    uint64_t budget, top;
    int items; /* text, every third one an integer; half as many more are asked for */
    bool both_signs, exact;
    uint64_t answers; /* XXH3 of all answers; it changes with what is decoded, and with nothing else */
};

static const struct release cases[] = {
    {"empty", "compact", 1 << 20, 0, 0, false, true, UINT64_C(0x743df94ee4c78a2a)},
    {"young", "compact", 1 << 20, 0, 20, false, true, UINT64_C(0xb2b8890d5305d8c2)},
    {"listed", "compact", 8192, 0, 400, false, true, UINT64_C(0x79a3956e986d344b)},
    {"shortened", "compact", 4096, 0, 1300, false, false, UINT64_C(0x73adce0efef753bc)},
    {"full", "compact", 4096, 0, MOST, false, false, UINT64_C(0xebad57b005724440)},
    {"signed", "compact", 4096, 0, 300, true, true, UINT64_C(0x1d6aa6364db1c807)},
    {"signed-full", "compact", 4096, 0, MOST, true, false, UINT64_C(0xe063144b93f6b0e6)},
    {"top", "compact", 8192, 2048, MOST, false, false, UINT64_C(0xf8183c7356091ed5)},
    {"top-young", "compact", 1 << 20, 4096, 20, false, true, UINT64_C(0xb2b8890d5305d8c2)},
    {"paper", "paper", 4096, 0, 100, false, false, UINT64_C(0x97017052d7f7beb2)},
    {"paper-top", "paper", 8192, 2048, 300, false, false, UINT64_C(0xb1ebcf60b74a49fc)},
    {"secret", "compact", 8192, 2048, MOST, false, false, UINT64_C(0x1bd93a6003b1542f)},
    {"secret-paper", "paper", 4096, 0, 100, false, false, UINT64_C(0xb4fc8e6428dadbd5)},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Zipf, or from -9 to 13. */
static int64_t count_of(const struct release *r, int i)
{
    if (i >= r->items) return 0;
    return r->both_signs ? i * 37 % 23 - 9 : 1 + r->items / (i + 1);
}

static const char *secret_of(const struct release *r)
{
    return strncmp(r->name, "secret", 6) == 0 ? "sixteen bytes of" : NULL;
}

static lego_sketch *sketch_of(const struct release *r)
{
    const uint64_t seed = secret_of(r) ? 0 : 42;
    lego_options options = {r->budget, r->top, lego_model_builtin(r->model), seed, NULL, secret_of(r)};
    lego_sketch *sketch;
    assert_int_equal(lego_create(&options, &sketch), LEGO_OK);
    for (int i = 0; i < r->items; i++) {
        char text[32];
        size_t size = (size_t)snprintf(text, sizeof text, "item %d", i);
        if (i % 3) assert_int_equal(lego_add(sketch, text, size, count_of(r, i)), LEGO_OK);
        else assert_int_equal(lego_add_u64(sketch, (uint64_t)i, count_of(r, i)), LEGO_OK);
    }
    return sketch;
}

static lego_estimate ask(const lego_sketch *sketch, int i)
{
    char text[32];
    size_t size = (size_t)snprintf(text, sizeof text, "item %d", i);
    lego_estimate e;
    if (i % 3) assert_int_equal(lego_query(sketch, text, size, &e), LEGO_OK);
    else assert_int_equal(lego_query_u64(sketch, (uint64_t)i, &e), LEGO_OK);
    return e;
}

static void put_answer(unsigned char *p, lego_estimate e)
{
    uint64_t bits;
    memcpy(&bits, &e.value, sizeof bits);
    put_number(p, bits, 8);
    put_number(p + 8, (uint64_t)e.lower, 8);
    put_number(p + 16, (uint64_t)e.upper, 8);
}

static void check_answers(const struct release *r, const lego_sketch *sketch)
{
    static unsigned char bytes[(MOST + MOST / 2 + 1) * 24];
    int asked = r->items + r->items / 2 + 1;
    int64_t total = 0;
    for (int i = 0; i < asked; i++) {
        lego_estimate e = ask(sketch, i);
        total += count_of(r, i);
        put_answer(bytes + 24 * i, e);
        if (r->exact) assert_true(e.lower == count_of(r, i) && e.upper == count_of(r, i));
        if (!r->both_signs) assert_true(e.upper >= count_of(r, i));
    }
    assert_int_equal(lego_total(sketch), total);
    assert_int_equal(info_of(sketch).exact, r->exact);
    uint64_t answers = XXH3_64bits(bytes, 24 * (size_t)asked);
    if (answers != r->answers) fail_msg("%s: the answers are 0x%016llx now", r->name, (unsigned long long)answers);
}

static void path_of(const struct release *r, char path[64])
{
    snprintf(path, 64, "tests/golden/format-%d-%s.sketch", FORMAT, r->name);
}

static void files_of_format_4(void **unused)
{
    (void)unused;
    for (int i = 0; i < CASES; i++) {
        char path[64];
        path_of(&cases[i], path);
        struct bytes file = read_file(path);
        lego_sketch *loaded, *made = sketch_of(&cases[i]);
        assert_int_equal(lego_load(file.p, file.size, &(lego_options){.secret = secret_of(&cases[i])}, &loaded),
                         LEGO_OK);
        check_answers(&cases[i], loaded);
        assert_same(loaded, made);
        struct bytes again = sketch_to_bytes(loaded); /* as long as this is the format that is written */
        assert_int_equal(again.size, file.size);
        assert_memory_equal(again.p, file.p, file.size);
        lego_destroy(loaded);
        lego_destroy(made);
        free(again.p);
        free(file.p);
    }
}

static void write_files(void)
{
    for (int i = 0; i < CASES; i++) {
        char path[64];
        path_of(&cases[i], path);
        lego_sketch *made = sketch_of(&cases[i]);
        struct bytes bytes = sketch_to_bytes(made);
        FILE *f = fopen(path, "wbx"); /* x: one that is there stays as it is */
        if (f) fwrite(bytes.p, 1, bytes.size, f);
        if (f) fclose(f);
        free(bytes.p);
        lego_destroy(made);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_of_format_4)};
    if (argc == 2 && strcmp(argv[1], "write") == 0) write_files();
    return cmocka_run_group_tests_name("releases", tests, NULL, NULL);
}
