/* legosketch info: what a sketch or a model is. */
#include "describe.h"
#include "json.h"
#include "legosketch_lab.h"
#include "load.h"
#include "options.h"
#include "say.h"
#include "secret.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
    const char *model;
    bool json, scan;
} given;

static const option_entry options[] = {
    {"json", 0, OPTION_FLAG, NULL, &given.json, "print an object a line instead of text"},
    {"scan", 0, OPTION_FLAG, NULL, &given.scan,
     "also what the paper's scan network sees in each brick: items and skewness"},
    {OPTION_MODEL(&given.model)},
    {OPTION_SEED_FILE_READ},
    {0},
};

static bool print_model(const lego_model *model)
{
    lego_model_info info;
    lego_model_describe(model, &info);
    char fingerprint[20];
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, info.fingerprint);
    if (given.json) {
        json_line line = json_begin();
        json_text(&line, "kind", "model");
        json_text(&line, "name", info.name);
        json_u64(&line, "rows", info.rows);
        json_u64(&line, "columns", info.columns);
        json_u64(&line, "quantum", info.quantum);
        json_text(&line, "fingerprint", fingerprint);
        return json_print(&line);
    }
    printf("model         %s\nrows          %" PRIu32, info.name, info.rows);
    if (info.columns > 0) printf(", of about %" PRIu32 " columns", info.columns);
    printf("\nweights       sum to %" PRIu32 " an item\n", info.quantum);
    printf("fingerprint   %s\n", fingerprint);
    return true;
}

static bool print_brick(uint32_t brick, const lego_lab_scan *scan)
{
    if (!given.json) {
        if (brick == 0) printf("\n%8s %16s %14s %8s\n", "brick", "items counted", "distinct", "skew");
        printf("%8" PRIu32 " %16" PRId64 " %14.0f %8.3f\n", brick, scan->total, scan->distinct, scan->skew);
        return true;
    }
    json_line line = json_begin();
    json_u64(&line, "brick", brick);
    json_i64(&line, "total", scan->total);
    json_real(&line, "distinct", scan->distinct);
    json_real(&line, "skew", scan->skew);
    return json_print(&line);
}

static bool print_scan(const lego_sketch *sketch, const char *path)
{
    lego_info info;
    lego_measure(sketch, &info);
    if (info.columns == 0)
        return say("%s has blocks, and --scan is of the paper's bricks: build it with --model paper", path);
    for (uint32_t brick = 0; brick < info.blocks; brick++) {
        lego_lab_scan scan;
        lego_status status = lego_lab_scan_brick(sketch, brick, &scan);
        if (!say_status(path, status) || !print_brick(brick, &scan)) return false;
    }
    return true;
}

static bool print_sketch(const lego_sketch *sketch, const char *path)
{
    return describe_sketch(sketch, path, given.json) && (!given.scan || print_scan(sketch, path));
}

static int run(int count, char **operands)
{
    (void)count;
    const lego_model *model;
    lego_sketch *sketch;
    if (!load_sketch(operands[0], given.model, &sketch, &model)) return EXIT_FAILED;
    bool ok = model != NULL ? print_model(model) : print_sketch(sketch, operands[0]);
    lego_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_info = {
    .name = "info",
    .summary = "show what a sketch or a model is",
    .synopsis = "[OPTION...] FILE",
    .text = "Shows of a sketch the stream's length, about how many distinct items it has, the\n"
            "bytes used and its shape; which share of its blocks keep only their heaviest items;\n"
            "whether every count is exact, else about how far estimates are off, on average over\n"
            "the items; and how many items come once, twice, 3 to 4 times, and so on. What is\n"
            "estimated has its standard error behind +-. Of a model it shows the shape and the\n"
            "fingerprint. FILE - reads standard input.",
    .examples = "  legosketch info words.sketch\n"
                "  legosketch info --json words.sketch | jq .total\n",
    .options = options,
    .operands = OPERANDS_ONE,
    .run = run,
};
