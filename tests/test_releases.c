/* Files of every release are loaded for ever, from format 5 on: tests/golden/format-N-*.sketch are as the release with
 * format N wrote them, and are never written again. What they are of is known, so that answers are judged by the truth;
 * and all bits of all answers are the same on every machine: tests/golden/answers.txt has the XXH3 of them.
 *
 * Of format 4, which was never released, what lists its items without a top is loaded, and the rest refused by name.
 * (commit 26cd5e2 wrote its files.)
 *
 * `build/test_releases write` writes the files of today's format that are not there, and all answers anew: a new format
 * gets its number in `formats`, and answers may change with what is decoded, and with nothing else. */
#include "support.h"

enum { MOST = 4000 };
static const unsigned formats[] = {4, 5};

struct release {
    const char *name, *model;
    uint64_t budget, top;
    int items; /* text, every third one an integer; half as many more are asked for */
    bool both_signs, exact;
    bool in_4, loads_4; /* there is a file of format 4, and it is loaded */
};

static const struct release cases[] = {
    {"empty", "compact", 1 << 20, 0, 0, false, true, true, true},
    {"young", "compact", 1 << 20, 0, 20, false, true, true, true},
    {"listed", "compact", 8192, 0, 400, false, true, true, true},
    {"secret-listed", "compact", 8192, 0, 400, false, true, true, true},
    {"shortened", "compact", 4096, 0, 1300, false, false, true, true},
    {"kept", "compact", 4096, 0, 1500, false, false, true, true},
    {"kept-signed", "compact", 4096, 0, 1400, true, false, true, true},
    {"full", "compact", 4096, 0, MOST, false, false, true, false},
    {"fuller", "compact", 4096, 0, 10 * MOST, false, false, false, false},
    {"signed", "compact", 4096, 0, 300, true, true, true, true},
    {"signed-full", "compact", 4096, 0, MOST, true, false, true, false},
    {"top", "compact", 8192, 2048, MOST, false, false, true, false},
    {"top-young", "compact", 1 << 20, 4096, 20, false, true, true, false},
    {"paper", "paper", 4096, 0, 100, false, false, true, true},
    {"paper-top", "paper", 8192, 2048, 300, false, false, true, false},
    {"secret", "compact", 8192, 2048, MOST, false, false, true, false},
    {"secret-paper", "paper", 4096, 0, 100, false, false, true, true},
};
enum { CASES = sizeof cases / sizeof *cases, FORMATS = sizeof formats / sizeof *formats };

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
    put_number(p + 16, (uint64_t)e.likely, 8);
    put_number(p + 24, (uint64_t)e.upper, 8);
}

static uint64_t check_answers(const struct release *r, const lego_sketch *sketch)
{
    static unsigned char bytes[(15 * MOST + 1) * 32];
    int asked = r->items + r->items / 2 + 1;
    int64_t total = 0;
    for (int i = 0; i < asked; i++) {
        const int64_t count = count_of(r, i);
        lego_estimate e = ask(sketch, i);
        total += count;
        put_answer(bytes + 32 * i, e);
        assert_true((double)e.lower <= e.value && e.value <= (double)e.likely && e.likely <= e.upper);
        if (r->exact) assert_true(e.lower == count && e.upper == count);
        if (!r->both_signs) assert_true(e.upper >= count);
    }
    assert_int_equal(lego_total(sketch), total);
    assert_int_equal(info_of(sketch).exact, r->exact);
    return XXH3_64bits(bytes, 32 * (size_t)asked);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const char *path_of(const struct release *r, unsigned format)
{
    static char path[64];
    snprintf(path, sizeof path, "tests/golden/format-%u-%s.sketch", format, r->name);
    return path;
}

static bool is_there(const struct release *r, unsigned format)
{
    return format > 4 || r->in_4;
}

static lego_status load(const struct release *r, unsigned format, struct bytes *file, lego_sketch **loaded)
{
    *file = read_file(path_of(r, format));
    return lego_load(file->p, file->size, &(lego_options){.secret = secret_of(r)}, loaded);
}

static lego_sketch *saved_and_loaded(const struct release *r, const lego_sketch *sketch)
{
    struct bytes saved = sketch_to_bytes(sketch);
    lego_sketch *loaded = NULL;
    assert_int_equal(lego_load(saved.p, saved.size, &(lego_options){.secret = secret_of(r)}, &loaded), LEGO_OK);
    free(saved.p);
    return loaded;
}

/* One line each, in the order of the cases. */
static uint64_t next_answer(FILE *f, const struct release *r, unsigned format)
{
    char name[32];
    unsigned found;
    unsigned long long answers;
    assert_int_equal(fscanf(f, "%u %31s %llx", &found, name, &answers), 3);
    assert_int_equal(found, format);
    assert_string_equal(name, r->name);
    return answers;
}

static void check_file(const struct release *r, unsigned format, FILE *answers)
{
    struct bytes file;
    lego_sketch *loaded = NULL, *again;
    char name[16];
    uint64_t length;
    lego_status status = load(r, format, &file, &loaded);
    assert_int_equal(status, format > 4 || r->loads_4 ? LEGO_OK : LEGO_ERR_VERSION);
    assert_int_equal(lego_saved_length(file.p, file.size, &length), LEGO_OK); /* heads tell what it is all the same */
    assert_int_equal(length, file.size);
    assert_int_equal(lego_saved_model(file.p, file.size, name), LEGO_OK);
    assert_string_equal(name, r->model);
    if (status == LEGO_OK) {
        uint64_t now = check_answers(r, loaded), then = next_answer(answers, r, format);
        if (now != then) fail_msg("%s: the answers are 0x%016llx now", path_of(r, format), (unsigned long long)now);
        again = saved_and_loaded(r, loaded);
        assert_same(again, loaded);
        assert_int_equal(check_answers(r, again), now);
        lego_destroy(again);
    } else assert_null(loaded);
    lego_destroy(loaded);
    free(file.p);
}

static void files_of_all_formats(void **unused)
{
    (void)unused;
    FILE *answers = fopen("tests/golden/answers.txt", "r");
    assert_non_null(answers);
    for (int f = 0; f < FORMATS; f++)
        for (int i = 0; i < CASES; i++)
            if (is_there(&cases[i], formats[f])) check_file(&cases[i], formats[f], answers);
    fclose(answers);
}

/* What is made today has the bytes of the file, as long as its format is the one that is written. Of format 4 too, what
 * is exact is the same sketch. */
static void files_are_what_is_made_today(void **unused)
{
    (void)unused;
    for (int f = 0; f < FORMATS; f++)
        for (int i = 0; i < CASES; i++) {
            const struct release *r = &cases[i];
            struct bytes file;
            lego_sketch *loaded;
            if (formats[f] < SKETCH_VERSION && !(r->exact && r->loads_4)) continue;
            assert_int_equal(load(r, formats[f], &file, &loaded), LEGO_OK);
            lego_sketch *made = sketch_of(r);
            if (formats[f] == SKETCH_VERSION || sketch_shape(made).blocks == sketch_shape(loaded).blocks)
                assert_same(loaded, made); /* of format 4 not all: its budgets gave room to caps */
            lego_destroy(loaded);
            lego_destroy(made);
            free(file.p);
        }
}

/* Every byte of a file of format 4, changed in many ways: it is refused, or is a sketch that is saved and loaded. */
static void damaged_files_of_format_4_are_safe(void **unused)
{
    (void)unused;
    static const unsigned char changes[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
    for (int i = 0; i < CASES; i++) {
        const struct release *r = &cases[i];
        struct bytes file;
        lego_sketch *loaded = NULL;
        if (!r->in_4 || r->top > 0) continue;
        load(r, 4, &file, &loaded);
        lego_destroy(loaded);
        for (size_t at = 12; at < file.size - 8; at += FULL || file.size < 700 ? 1 : 7)
            for (size_t k = 0; k < sizeof changes; k++) {
                unsigned char *bytes = malloc(file.size); /* so that a sanitizer sees any byte read beyond */
                struct bytes damaged = {bytes, file.size};
                memcpy(bytes, file.p, file.size);
                bytes[at] ^= changes[k];
                seal(&damaged);
                if (lego_load(bytes, file.size, &(lego_options){.secret = secret_of(r)}, &loaded) == LEGO_OK) {
                    lego_sketch *again = saved_and_loaded(r, loaded);
                    assert_same(again, loaded);
                    lego_destroy(again);
                    lego_destroy(loaded);
                }
                free(bytes);
            }
        free(file.p);
    }
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_files(void)
{
    FILE *answers = fopen("tests/golden/answers.txt", "w");
    assert_non_null(answers);
    for (int f = 0; f < FORMATS; f++)
        for (int i = 0; i < CASES; i++) {
            const struct release *r = &cases[i];
            lego_sketch *sketch = sketch_of(r);
            struct bytes bytes = sketch_to_bytes(sketch), file;
            const bool today = formats[f] == SKETCH_VERSION;
            FILE *new = today ? fopen(path_of(r, formats[f]), "wbx") : NULL; /* x: one that is there stays as it is */
            if (new) fwrite(bytes.p, 1, bytes.size, new);
            if (new) fclose(new);
            free(bytes.p);
            lego_destroy(sketch);
            if (!is_there(r, formats[f])) continue;
            if (load(r, formats[f], &file, &sketch) == LEGO_OK) {
                fprintf(answers, "%u %s %016llx\n", formats[f], r->name, (unsigned long long)check_answers(r, sketch));
                lego_destroy(sketch);
            }
            free(file.p);
        }
    fclose(answers);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_all_formats),
        cmocka_unit_test(files_are_what_is_made_today),
        cmocka_unit_test(damaged_files_of_format_4_are_safe),
    };
    if (argc == 2 && strcmp(argv[1], "write") == 0) write_files();
    return cmocka_run_group_tests_name("releases", tests, NULL, NULL);
}
