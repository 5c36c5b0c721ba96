/* legosketch count: the most frequent items of a stream, by one command. */
#include "fill.h"
#include "listing.h"
#include "say.h"
#include "secret.h"

/* Counts are exact up to about five million distinct items, of which the top keeps some ten thousand. */
enum { ITEMS = 20, TOP = 1 << 20 };

static struct {
    uint64_t budget;
    reading how;
    listing list;
    bool quiet;
} given = {.budget = 64 << 20, .how = READING_INIT};

static const option_entry options[] = {
    {"items", 'k', OPTION_U32, "K", &given.list.items, "so many of them (20; with --above all that are found)"},
    OPTIONS_LISTING(given.list),
    OPTIONS_READING(given.how),
    {"budget", 'b', OPTION_SIZE, "SIZE", &given.budget, "the most bytes to count in (64M)"},
    {OPTION_SEED_FILE("a secret seed to hash with, 32 hex digits (what LEGOSKETCH_SEED says)")},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar"},
    {0},
};

static int run(int count, char **operands)
{
    if (!reading_check(&command_count, &given.how) || !listing_check(&command_count, &given.list))
        return EXIT_WRONG_USAGE;
    if (given.budget < 2 * LEGO_BUDGET_MIN || given.budget > LEGO_BUDGET_MAX)
        return options_wrong(&command_count, "--budget has to be from 8K to 64G");
    lego_options wanted = LEGO_OPTIONS_INIT;
    wanted.budget = given.budget;
    wanted.top = given.budget / 8 < TOP ? given.budget / 8 : TOP;
    lego_sketch *sketch;
    if (!secret_find(&wanted.secret)) return EXIT_FAILED;
    if (!say_status("nothing can be counted", lego_create(&wanted, &sketch))) return EXIT_FAILED;
    stream from = {.how = &given.how, .quiet = given.quiet, .label = "count"};
    bool ok =
        fill_sketch(sketch, &from, operands, count) && listing_print(sketch, "nothing is listed", &given.list, ITEMS);
    lego_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_count = {
    .name = "count",
    .summary = "list the most frequent items of a stream",
    .synopsis = "[OPTION...] [INPUT...]",
    .text = "Counts the INPUT, which is read as by 'legosketch build', in one pass and a fixed\n"
            "memory, and prints what 'legosketch top' would: item, estimate, lower, upper,\n"
            "likely, share and whether it is exact, separated by tabs, or aligned on a terminal,\n"
            "in falling order. Nothing is written: 'legosketch build --top' makes a sketch to\n"
            "keep. Items of more than 238 bytes are counted, but not listed.",
    .examples = "  legosketch count words.txt.xz\n"
                "  legosketch count -k 5 --column city orders-*.csv.gz\n"
                "  legosketch count --above 1% --json clicks.u64 | jq .item\n"
                "  cut -d' ' -f1 access.log | legosketch count --csv --header > clients.csv\n",
    .options = options,
    .run = run,
};
