/* legosketch top: the most frequent items of an elastic sketch.
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
    const char *model;
    uint32_t items;
    int format;
    bool json;
} given = {.items = 100};

/* As query has them, by position: how an item is shown. */
#define TOP_CHOICES "lines|u32|u64"

static const option_entry options[] = {
    {"items", 'k', OPTION_U32, "K", &given.items, "so many of them, or all that are kept if these are fewer (100)"},
    {"format", 'f', OPTION_CHOICE, TOP_CHOICES, &given.format,
     "u32, u64: show keys of 8 bytes, which such input has, as whole numbers (lines)"},
    {"json", 0, OPTION_FLAG, NULL, &given.json, "print an object a line: item, estimate, lower, upper, exact"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model, "the .lego file the sketch was made with, if not built in"},
    {0},
};

static uint64_t as_number(const unsigned char *bytes)
{
    uint64_t number = 0;
    for (int i = 8; i > 0; i--)
        number = number << 8 | bytes[i - 1];
    return number;
}

static int print_top(void *context, const lego_top *top)
{
    bool *ok = context, is_number = given.format != 0 && top->size == 8;
    const lego_estimate *answer = &top->estimate;
    if (given.json) {
        json_line line = json_begin();
        if (is_number)
            json_u64(&line, "item", as_number(top->item));
        else
            json_item(&line, top->item, top->size);
        json_real(&line, "estimate", answer->value);
        json_i64(&line, "lower", answer->lower);
        json_i64(&line, "upper", answer->upper);
        json_bool(&line, "exact", top->exact != 0);
        *ok = json_print(&line);
        return !*ok;
    }
    char value[VALUE_TEXT];
    value_print_estimate(value, answer->value);
    if (is_number)
        printf("%" PRIu64, as_number(top->item));
    else
        fwrite(top->item, 1, top->size, stdout);
    printf("\t%s\t%" PRId64 "\t%" PRId64 "\n", value, answer->lower, answer->upper);
    return 0;
}

static int run(int count, char **operands)
{
    if (count != 1)
        return options_wrong(&command_top, "one sketch is listed at a time, and %d are named", count);
    const lego_model *model;
    any_sketch any;
    if (!load_model(given.model, &model) || !load_any(operands[0], model, &any))
        return EXIT_FAILED;
    bool ok = any.elastic != NULL;
    if (!ok) {
        say("%s is a plain sketch, which counts items but does not keep them: build it with --top, or ask it "
            "for items that you know with 'legosketch query'", operands[0]);
    } else {
        lego_status status = lego_elastic_top(any.elastic, given.items, print_top, &ok);
        if (status != LEGO_OK)
            say_status(operands[0], status);
        ok = ok && status == LEGO_OK;
    }
    any_destroy(&any);
    return ok && output_flush() ? EXIT_DONE : EXIT_FAILED;
}

const command command_top = {
    .name = "top",
    .summary = "list the most frequent items",
    .synopsis = "[OPTION...] SKETCH",
    .text = "Prints item, estimate, lower and upper, separated by tabs, for the most frequent\n"
            "items of a sketch that was built with --top, in falling order. Where lower and\n"
            "upper are the same the count is exact. SKETCH - reads standard input.",
    .examples = "  legosketch build --top -o words.sketch --budget 100K words.txt\n"
                "  legosketch top -k 20 words.sketch\n"
                "  legosketch top --json --format u64 day.sketch | jq 'select(.exact)'\n",
    .options = options,
    .run = run,
};
