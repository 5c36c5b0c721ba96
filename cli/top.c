/* legosketch top: the most frequent items of a sketch that keeps them. */
#include "listing.h"
#include "load.h"
#include "say.h"
#include "secret.h"

enum { ITEMS = 100 };

static struct {
    const char *model;
    listing list;
} given;

static const option_entry options[] = {
    {"items", 'k', OPTION_U32, "K", &given.list.items,
     "so many of them, or all that are kept if these are fewer (100; with --above all)"},
    OPTIONS_LISTING(given.list),
    {OPTION_MODEL(&given.model)},
    {OPTION_SEED_FILE_READ},
    {0},
};

static bool keeps_items(const lego_sketch *sketch, const char *path)
{
    lego_info info;
    lego_measure(sketch, &info);
    return info.top_bytes > 0 || say("%s is a plain sketch, which counts items but does not keep them: build it with "
                                     "--top, or ask it for items that you know with 'legosketch query'",
                                     path);
}

static int run(int count, char **operands)
{
    (void)count;
    if (!listing_check(&command_top, &given.list)) return EXIT_WRONG_USAGE;
    lego_sketch *sketch;
    if (!load_sketch(operands[0], given.model, &sketch, NULL)) return EXIT_FAILED;
    bool ok = keeps_items(sketch, operands[0]) && listing_print(sketch, operands[0], &given.list, ITEMS);
    lego_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_top = {
    .name = "top",
    .summary = "list the most frequent items",
    .synopsis = "[OPTION...] SKETCH",
    .text = "Prints item, estimate, lower, upper, likely, share and whether it is exact,\n"
            "separated by tabs, or aligned on a terminal, for the most frequent items of a sketch\n"
            "that was built with --top, in falling order. Tabs, line ends, backslashes and other\n"
            "control bytes of items are printed as \\t, \\n, \\r, \\\\ and \\x1b. SKETCH - reads\n"
            "standard input.",
    .examples = "  legosketch build --top -o words.sketch --budget 100K words.txt\n"
                "  legosketch top -k 20 words.sketch\n"
                "  legosketch top --above 0.1% --csv --header words.sketch > frequent.csv\n"
                "  legosketch top --json words.sketch | jq 'select(.exact)'\n",
    .options = options,
    .operands = OPERANDS_ONE,
    .run = run,
};
