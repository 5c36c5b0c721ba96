/* legosketch top: the most frequent items of a sketch that keeps them. */
#include "answer.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"

static struct {
    const char *model;
    uint32_t items;
    int format;
    bool json;
} given = {.items = 100};

static const option_entry options[] = {
    {"items", 'k', OPTION_U32, "K", &given.items, "so many of them, or all that are kept if these are fewer (100)"},
    {"format", 'f', OPTION_CHOICE, ANSWER_CHOICES, &given.format,
     "u32, u64: show keys of 8 bytes, which such input has, as whole numbers (lines)"},
    {"json", 0, OPTION_FLAG, NULL, &given.json, "print an object a line: item, estimate, lower, upper, exact"},
    {OPTION_MODEL(&given.model)},
    {0},
};

static int print(void *context, const lego_top_item *item)
{
    bool *ok = context;
    *ok = answer_print(item, given.format != 0, given.json);
    return !*ok;
}

static bool list(const lego_sketch *sketch, const char *path)
{
    bool ok = true;
    lego_status status = lego_top(sketch, given.items, print, &ok);
    if (status == LEGO_ERR_ARGUMENT)
        say("%s is a plain sketch, which counts items but does not keep them: build it with --top, or ask it "
            "for items that you know with 'legosketch query'",
            path);
    else say_status(path, status);
    return ok && status == LEGO_OK;
}

static int run(int count, char **operands)
{
    (void)count;
    lego_sketch *sketch;
    if (!load_sketch(operands[0], given.model, &sketch, NULL)) return EXIT_FAILED;
    bool ok = list(sketch, operands[0]);
    lego_destroy(sketch);
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
    .operands = OPERANDS_ONE,
    .run = run,
};
