/* legosketch info: what a sketch or a model is.
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"
#include "load.h"
#include "options.h"
#include "say.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
    const char *model;
    bool json, scan;
} given;

static const option_entry options[] = {
    {"json", 0, OPTION_FLAG, NULL, &given.json, "print an object a line instead of text"},
    {"scan", 0, OPTION_FLAG, NULL, &given.scan,
     "also what the scan network sees in each brick: items and skewness; needs a trained model"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model, "the .lego file the sketch was made with, if not built in"},
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
        json_bool(&line, "trained", info.trained != 0);
        json_text(&line, "fingerprint", fingerprint);
        return json_print(&line);
    }
    printf("model         %s%s\n", info.name, info.trained ? "" : ", untrained: estimates are the rule min(m/w)");
    printf("rows          %" PRIu32 ", of up to %" PRIu32 " columns\n", info.rows, info.columns);
    printf("weights       sum to %" PRIu32 " an item\n", info.quantum);
    printf("fingerprint   %s\n", fingerprint);
    return true;
}

/* What an elastic sketch has beside its light part, which the rest of the output is about. */
static void print_heavy_text(const lego_elastic_info *info)
{
    char size[VALUE_TEXT];
    value_print_size(size, info->bytes);
    printf("stream        %" PRId64 " items counted\n", info->total);
    printf("memory        %" PRIu64 " bytes (%s), with the most frequent items\n", info->bytes, size);
    printf("heavy part    %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64 " in use by %" PRIu64 " items, %" PRIu64
           " of them exact\n", info->heavy_bytes, info->room_used, info->room, info->residents, info->exact);
    printf("              %" PRId64 " of the items counted\n\nlight part\n", info->heavy_total);
}

static void add_heavy(json_line *line, const lego_elastic_info *info)
{
    json_u64(line, "heavy_bytes", info->heavy_bytes);
    json_i64(line, "heavy_total", info->heavy_total);
    json_u64(line, "room", info->room);
    json_u64(line, "room_used", info->room_used);
    json_u64(line, "residents", info->residents);
    json_u64(line, "exact", info->exact);
}

/* heavy: NULL if it is a plain sketch. */
static bool print_sketch_json(const lego_sketch_info *info, const lego_model_info *model,
                              const lego_elastic_info *heavy)
{
    json_line line = json_begin();
    json_text(&line, "kind", heavy != NULL ? "elastic" : "sketch");
    json_text(&line, "model", model->name);
    json_bool(&line, "trained", model->trained != 0);
    json_u64(&line, "seed", info->seed);
    json_i64(&line, "total", heavy != NULL ? heavy->total : info->total);
    json_u64(&line, "bytes", heavy != NULL ? heavy->bytes : info->bytes);
    json_u64(&line, "cache_bytes", info->cache_bytes);
    json_u64(&line, "bricks", info->bricks);
    json_u64(&line, "bricks_now", info->bricks_now);
    json_u64(&line, "cells", info->cells);
    json_u64(&line, "rows", info->rows);
    json_u64(&line, "columns", info->columns);
    json_u64(&line, "cell_bits", info->cell_bits);
    json_u64(&line, "cell_bits_most", info->cell_bits_most);
    json_u64(&line, "spill_used", info->spill_used);
    json_u64(&line, "spill_limit", info->spill_limit);
    if (heavy != NULL)
        add_heavy(&line, heavy);
    return json_print(&line);
}

static void print_sketch_text(const lego_sketch_info *info, const lego_model_info *model)
{
    char size[VALUE_TEXT];
    value_print_size(size, info->bytes);
    printf("stream        %" PRId64 " items counted\n", info->total);
    printf("memory        %" PRIu64 " bytes (%s)", info->bytes, size);
    if (info->cache_bytes > 0)
        printf(", and %" PRIu64 " of scan results, which can be had again", info->cache_bytes);
    printf("\nmodel         %s%s\n", model->name, model->trained ? "" : ", untrained: estimates are the rule min(m/w)");
    printf("seed          %" PRIu64 "\n", info->seed);
    if (info->cell_bits == 0) {
        printf("blocks        %" PRIu32 ", of 64 bytes\n", info->bricks);
        printf("cells         %" PRIu64 ", %.2f a byte\n", info->cells, (double)info->cells / (double)info->bytes);
        return;
    }
    printf("bricks        %" PRIu32, info->bricks_now);
    if (info->bricks_now != info->bricks)
        printf(", folded from %" PRIu32, info->bricks);
    printf("\nbrick         %" PRIu32 " rows of %" PRIu32 " columns\n", info->rows, info->columns);
    printf("cells         %" PRIu32 " bits", info->cell_bits);
    if (info->cell_bits_most != info->cell_bits)
        printf(", some %" PRIu32, info->cell_bits_most);
    printf("\nspill         %" PRIu64 " of %" PRIu64 " entries before the next fold\n", info->spill_used,
           info->spill_limit);
}

static bool print_scan(const lego_sketch *sketch, uint32_t bricks, const char *path)
{
    for (uint32_t brick = 0; brick < bricks; brick++) {
        lego_scan scan;
        lego_status status = lego_sketch_scan(sketch, brick, &scan);
        if (status != LEGO_OK) {
            say_status(path, status);
            return false;
        }
        if (!given.json) {
            if (brick == 0)
                printf("\n%8s %16s %14s %8s\n", "brick", "items counted", "distinct", "skew");
            printf("%8" PRIu32 " %16" PRId64 " %14.0f %8.3f\n", brick, scan.total, scan.distinct, scan.skew);
            continue;
        }
        json_line line = json_begin();
        json_u64(&line, "brick", brick);
        json_i64(&line, "total", scan.total);
        json_real(&line, "distinct", scan.distinct);
        json_real(&line, "skew", scan.skew);
        if (!json_print(&line))
            return false;
    }
    return true;
}

static bool print_sketch(const any_sketch *any, const char *path)
{
    const lego_sketch *sketch = any_light(any);
    lego_sketch_info info;
    lego_model_info model;
    lego_elastic_info heavy;
    if (any->elastic != NULL)
        lego_elastic_describe(any->elastic, &heavy);
    lego_sketch_describe(sketch, &info);
    lego_model_describe(info.model, &model);
    bool ok = true;
    if (given.json)
        ok = print_sketch_json(&info, &model, any->elastic != NULL ? &heavy : NULL);
    if (!given.json && any->elastic != NULL)
        print_heavy_text(&heavy);
    if (!given.json)
        print_sketch_text(&info, &model);
    return ok && (!given.scan || print_scan(sketch, info.bricks_now, path));
}

static int run(int count, char **operands)
{
    if (count != 1)
        return options_wrong(&command_info, "one file is shown at a time, and %d are named", count);
    const lego_model *model, *found;
    any_sketch any;
    if (!load_model(given.model, &model) || !load_either(operands[0], model, &any, &found))
        return EXIT_FAILED;
    bool ok = found != NULL ? print_model(found) : print_sketch(&any, operands[0]);
    any_destroy(&any);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_info = {
    .name = "info",
    .summary = "show what a sketch or a model is",
    .synopsis = "[OPTION...] FILE",
    .text = "Shows the stream's length, the bytes used, the model and the shape of a sketch, or\n"
            "the shape and the fingerprint of a model. FILE - reads standard input.",
    .examples = "  legosketch info words.sketch\n"
                "  legosketch info --json words.sketch | jq .total\n",
    .options = options,
    .run = run,
};
