/* embed: model files as C, for the library to carry without parsing or allocating. The build runs it.
 *
 *     lego_embed FILE.lego ... > models.c           each model as a constant model_NAME, read by the library's own loader
 *     lego_embed --words NAME FILE > name.c         any file as a table of 32-bit words NAME, and NAME_size in bytes */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

/* What the library has and this program does not: the model, before it has made it. */
const lego_model model_paper = {.name = ""};

enum { FILE_MOST = 1 << 20 };
static unsigned char file[FILE_MOST];

static bool read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) return false;
    *size = fread(file, 1, sizeof file, f);
    bool whole = *size < sizeof file && !ferror(f);
    fclose(f);
    return whole;
}

static void print_floats(const char *before, const float *x, size_t n, const char *after)
{
    printf("%s{", before);
    for (size_t i = 0; i < n; i++) printf("%s%aF,", i % 8 ? " " : "\n", (double)x[i]); /* hexadecimal: every bit */
    printf("}%s\n", after);
}

static void print_model(const lego_model *m)
{
    printf("static const float weights_%s[] = ", m->name);
    print_floats("", m->weights, MODEL_WEIGHTS, ";");
    printf("const lego_model model_%s = {\n.name = \"%s\", .kind = %u,\n", m->name, m->name, m->kind);
    printf(".rows = %u, .columns = %u, .quantum = %u,\n", m->rows, m->columns, m->quantum);
    printf(".distinct_min = %aF, .skew_max = %aF,\n", (double)m->distinct_min, (double)m->skew_max);
    printf(".fingerprint = UINT64_C(%#llx), .mean_weight = %a,\n", (unsigned long long)m->fingerprint, m->mean_weight);
    printf(".weights = weights_%s,\n.table_size = %u,\n", m->name, m->table_size);
    print_floats(".table = ", m->table, m->table_size, ",");
    printf(".table16 = {");
    for (uint32_t i = 0; i < m->table_size; i++) printf("%u, ", m->table16[i]);
    printf("}};\n");
}

static bool embed_model(const char *path)
{
    size_t size;
    lego_model *model;
    if (!read_file(path, &size)) return false;
    lego_status status = lego_model_load(file, size, NULL, &model);
    if (status != LEGO_OK) fprintf(stderr, "lego_embed: %s: %s\n", path, lego_status_message(status));
    if (status != LEGO_OK) return false;
    print_model(model);
    lego_model_destroy(model);
    return true;
}

static bool embed_words(const char *name, const char *path)
{
    size_t size;
    if (!read_file(path, &size) || size % 4 != 0) return false;
    printf("#include <stddef.h>\n#include <stdint.h>\nextern const uint32_t %s[];\nextern const size_t %s_size;\n",
           name, name);
    printf("const uint32_t %s[] = {", name);
    for (size_t i = 0; i < size; i += 4) {
        uint32_t word;
        memcpy(&word, file + i, sizeof word);
        printf("%s%#x,", i % 32 ? " " : "\n", word);
    }
    printf("};\nconst size_t %s_size = sizeof %s;\n", name, name);
    return true;
}

int main(int argc, char **argv)
{
    bool done = true, words = argc == 4 && strcmp(argv[1], "--words") == 0;
    if (words) done = embed_words(argv[2], argv[3]);
    else printf("#include \"model/model.h\"\n");
    for (int i = 1; i < argc && !words && done; i++) done = embed_model(argv[i]);
    if (!done || fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "lego_embed: can not make C of %s\n", argv[argc - 1]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
