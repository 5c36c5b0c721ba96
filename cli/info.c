/* legosketch info: what a sketch or a model is. */
#include "json.h"
#include "legosketch_lab.h"
#include "load.h"
#include "options.h"
#include "say.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
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
    {0},
};

/* How much is kept in the top. */
typedef struct kept {
    uint64_t items, exact;
} kept;

static int count_kept(void *context, const lego_top_item *item)
{
    kept *found = context;
    found->items++;
    found->exact += item->exact != 0;
    return 0;
}

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

static const char *const kinds[] = {"none", "bytes", "integers", "mixed"}; /* in the order of lego_kind */

static bool print_sketch_json(const lego_info *info, const lego_model_info *model, const kept *top)
{
    json_line line = json_begin();
    json_text(&line, "kind", "sketch");
    json_text(&line, "model", model->name);
    json_u64(&line, "seed", info->seed);
    json_i64(&line, "total", info->total);
    json_text(&line, "items", kinds[info->items]);
    json_real(&line, "distinct", info->distinct);
    json_bool(&line, "exact", info->exact != 0);
    json_real(&line, "listing", info->listing);
    json_real(&line, "expected_aae", info->expected_aae); /* null where it is not a number */
    json_real(&line, "expected_are", info->expected_are);
    json_u64(&line, "bytes", info->bytes);
    json_u64(&line, "budget", info->budget);
    json_u64(&line, "cache_bytes", info->cache_bytes);
    json_u64(&line, "blocks", info->blocks);
    json_u64(&line, "rows", model->rows);
    json_u64(&line, "columns", info->columns);
    json_u64(&line, "top_bytes", info->top_bytes);
    json_u64(&line, "top_budget", info->top_budget);
    json_i64(&line, "top_total", info->top_total);
    json_u64(&line, "top_items", top->items);
    json_u64(&line, "top_exact", top->exact);
    return json_print(&line);
}

static void print_memory(const lego_info *info)
{
    char size[VALUE_TEXT];
    printf("memory        %" PRIu64 " bytes (%s)", info->bytes, value_print_size(size, info->bytes));
    if (info->budget > info->bytes)
        printf(" of a budget of %" PRIu64 " (%s)", info->budget, value_print_size(size, info->budget));
    if (info->cache_bytes > 0) printf(", and %" PRIu64 " of results, which can be had again", info->cache_bytes);
    printf("\n");
}

/* 99.96 % of the blocks are not all of them. */
static double rounded_down(double share)
{
    return floor(1000 * share) / 10;
}

/* Bricks do not say how exact their answers are. */
static void print_answers(const lego_info *info)
{
    char errors[ERRORS_TEXT];
    if (info->exact) printf("answers       exact: every item is listed\n");
    else if (info->columns == 0)
        printf("answers       estimates: %.1f %% of the blocks list their items\n              %s\n",
               rounded_down(info->listing), say_errors(errors, info));
}

static void print_shape(const lego_info *info, const lego_model_info *model)
{
    if (info->columns == 0) printf("blocks        at most %" PRIu32 ", of 256 bytes\n", info->blocks);
    else
        printf("bricks        %" PRIu32 ", of %" PRIu32 " rows and %" PRIu32 " columns\n", info->blocks, model->rows,
               info->columns);
}

static bool print_sketch_text(const lego_info *info, const lego_model_info *model, const kept *top)
{
    char distinct[SHAPE_TEXT];
    printf("stream        %" PRId64 " items counted, %s\n", info->total, say_distinct(distinct, info));
    if (info->items != LEGO_ITEMS_NONE) printf("items         %s\n", say_kind(info->items));
    print_answers(info);
    print_memory(info);
    printf("model         %s\nseed          %" PRIu64 "\n", model->name, info->seed);
    print_shape(info, model);
    if (info->top_bytes == 0) return true;
    printf("top           %" PRIu64 " bytes: %" PRIu64 " items kept, %" PRIu64 " of them exact\n", info->top_bytes,
           top->items, top->exact);
    printf("              %" PRId64 " of the items counted\n", info->top_total);
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

static bool print_scan(const lego_sketch *sketch, const lego_info *info, const char *path)
{
    if (info->columns == 0)
        return say("%s has blocks, and --scan is of the paper's bricks: build it with --model paper", path);
    for (uint32_t brick = 0; brick < info->blocks; brick++) {
        lego_lab_scan scan;
        lego_status status = lego_lab_scan_brick(sketch, brick, &scan);
        if (!say_status(path, status) || !print_brick(brick, &scan)) return false;
    }
    return true;
}

static bool print_sketch(const lego_sketch *sketch, const char *path)
{
    lego_info info;
    lego_model_info model;
    kept top = {0};
    lego_describe(sketch, &info);
    lego_model_describe(info.model, &model);
    lego_status status = info.top_bytes > 0 ? lego_top(sketch, SIZE_MAX, count_kept, &top) : LEGO_OK;
    if (!say_status(path, status)) return false;
    bool ok = given.json ? print_sketch_json(&info, &model, &top) : print_sketch_text(&info, &model, &top);
    return ok && (!given.scan || print_scan(sketch, &info, path));
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
    .text = "Shows of a sketch the stream's length, about how many distinct items it has, whether\n"
            "every count is exact, else about how far estimates are off, on average over the\n"
            "items; the bytes used and its shape; or the shape and the fingerprint of a\n"
            "model. FILE - reads standard input.",
    .examples = "  legosketch info words.sketch\n"
                "  legosketch info --json words.sketch | jq .total\n",
    .options = options,
    .operands = OPERANDS_ONE,
    .run = run,
};
