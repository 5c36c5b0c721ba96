/* legosketch build: count a stream into a sketch. */
#include "advice.h"
#include "describe.h"
#include "fill.h"
#include "legosketch_lab.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "secret.h"
#include "values.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *output, *model;
    uint64_t budget, top, seed;
    uint32_t threads, blocks, columns;
    reading how;
    bool append, json, quiet;
} given = {.budget = 1 << 20, .threads = 1, .how = READING_INIT};

static const option_entry options[] = {
    {OPTION_OUTPUT(&given.output)},
    {"budget", 'b', OPTION_SIZE, "SIZE", &given.budget,
     "the most bytes the sketch may take in memory, such as 300K or 1.5M (1M)"},
    {"top", 0, OPTION_SIZE_IF_ANY, "SIZE", &given.top,
     "keep the most frequent items with their counts, in so many bytes of the budget or an eighth of it, for "
     "'legosketch top' to list"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model, "a built-in model or a .lego file (the default model)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "seed of the hash; only sketches of one seed merge (0)"},
    {OPTION_SEED_FILE("hash with the secret seed in FILE, 32 hex digits, which is made if it is not there, and which "
                      "the sketch is read with (what LEGOSKETCH_SEED says)")},
    OPTIONS_READING(given.how),
    {"append", 'a', OPTION_FLAG, NULL, &given.append,
     "add to the sketch that is there, if there is one, which keeps its budget, top, model and seed"},
    {"threads", 't', OPTION_U32, "T", &given.threads,
     "threads that count, besides one that reads; the sketch does not depend on it (1)"},
    {"blocks", 0, OPTION_U32, "K", &given.blocks, "for research: so many blocks or bricks, whatever the budget"},
    {"columns", 0, OPTION_U32, "C", &given.columns, "for research, with --blocks: columns of a brick, an even number"},
    {"json", 0, OPTION_FLAG, NULL, &given.json, "print what 'legosketch info --json' would of the sketch"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar and no summary"},
    {0},
};

/* Bricks are as wide as their model was trained for, unless --columns tells otherwise. */
static lego_status create_by_hand(const lego_options *wanted, lego_sketch **sketch)
{
    lego_model_info model;
    lego_model_describe(wanted->model != NULL ? wanted->model : lego_model_builtin(NULL), &model);
    return lego_lab_create(wanted, given.blocks, given.columns > 0 ? given.columns : model.columns, sketch);
}

static bool create(lego_sketch **sketch)
{
    lego_options wanted = {.budget = given.budget, .top = given.top, .seed = given.seed};
    if (given.top == OPTION_NO_SIZE) wanted.top = given.budget / 8;
    if (!load_model(given.model, &wanted.model)) return false;
    const bool there = given.append && access(given.output, F_OK) == 0; /* what is added to has its seed already */
    if (!options_given(&command_build, "seed") && !(there ? secret_find : secret_find_or_make)(&wanted.secret))
        return false;
    if (!output_check(given.output, secret_file)) return false; /* which may be there only now */
    lego_status status = given.blocks > 0 ? create_by_hand(&wanted, sketch) : lego_create(&wanted, sketch);
    if (status == LEGO_ERR_BUDGET && wanted.top > 0)
        say("no sketch of that shape: the most frequent items take 512 bytes or more, and all else another 4K");
    else say_status("no sketch of that shape", status);
    if (status == LEGO_OK) lego_set_threads(*sketch, given.threads);
    return status == LEGO_OK;
}

/* Options that say what a sketch is must say of one that is there what it is. */
static bool check_appended(const lego_sketch *there, const lego_sketch *wanted)
{
    lego_info a, b;
    lego_measure(there, &a);
    lego_measure(wanted, &b);
    const struct {
        const char *option;
        bool same;
    } pairs[] = {{"seed", a.seed == b.seed && a.secret == b.secret},
                 {"seed-file", a.seed == b.seed && a.secret == b.secret},
                 {"model", a.model == b.model},
                 {"budget", a.budget == b.budget},
                 {"top", a.top_budget == b.top_budget},
                 {"blocks", a.blocks == b.blocks},
                 {"columns", a.columns == b.columns}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!pairs[i].same && options_given(&command_build, pairs[i].option))
            return say("%s was built with another --%s: leave that out, or write another file", given.output,
                       pairs[i].option);
    return true;
}

/* With --append the sketch that is there, if there is one. */
static bool create_or_load(lego_sketch **sketch)
{
    if (!create(sketch)) return false;
    if (!given.append || (access(given.output, F_OK) != 0 && errno == ENOENT)) return true;
    lego_sketch *there = NULL;
    bool ok = load_sketch(given.output, given.model, &there, NULL) && check_appended(there, *sketch);
    lego_destroy(*sketch);
    *sketch = there;
    if (ok) lego_set_threads(there, given.threads);
    else lego_destroy(there);
    return ok;
}

/* On a terminal, how much it is and how good. */
static void say_made(const lego_sketch *sketch, uint64_t items)
{
    lego_info info;
    char distinct[DISTINCT_TEXT], each[VALUE_TEXT], errors[ERRORS_TEXT], words[ADVICE_TEXT];
    lego_describe(sketch, &info);
    say("%" PRIu64 " items counted, %s, in %" PRIu64 " bytes, %s a distinct item; %s", items,
        say_distinct(distinct, &info), info.bytes,
        value_print_rough(each, info.distinct > 0 ? (double)info.bytes / info.distinct : 0), say_errors(errors, &info));
    if (advice_say(words, &info) != NULL) say("%s", words);
}

static int run(int count, char **operands)
{
    if (given.budget < LEGO_BUDGET_MIN || given.budget > LEGO_BUDGET_MAX)
        return options_wrong(&command_build, "--budget has to be from 4K to 64G");
    if (given.columns > 0 && given.blocks == 0)
        return options_wrong(&command_build, "--columns needs --blocks K: how many bricks?");
    if (!reading_check(&command_build, &given.how)) return EXIT_WRONG_USAGE;
    if (options_given(&command_build, "seed") && secret_file != NULL)
        return options_wrong(&command_build, "--seed and --seed-file: a seed is public or secret");
    if (strcmp(given.output, "-") == 0 && given.append)
        return options_wrong(&command_build, "--append needs a file: standard output has no sketch to add to");
    if (strcmp(given.output, "-") == 0 && given.json)
        return options_wrong(&command_build, "--json needs a file for the sketch: both cannot be standard output");
    lego_sketch *sketch;
    if (!output_check(given.output, given.model) || !create_or_load(&sketch)) return EXIT_FAILED;
    lego_info before;
    lego_measure(sketch, &before);
    stream from = {.how = &given.how,
                   .output = given.output,
                   .into = given.output,
                   .kind = before.items,
                   .quiet = given.quiet,
                   .label = "build"};
    bool ok = fill_sketch(sketch, &from, operands, count) && output_sketch(given.output, sketch);
    if (ok && given.json) ok = describe_sketch(sketch, given.output, true) && output_flush();
    else if (ok && !given.quiet && isatty(STDERR_FILENO)) say_made(sketch, from.items);
    lego_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_build = {
    .name = "build",
    .summary = "count a stream into a sketch",
    .synopsis = "-o FILE [OPTION...] [INPUT...]",
    .text = "Counts the items of the INPUT files, or of standard input if there are none or\n"
            "one is \"-\", into a sketch, which grows as it must, up to its budget. What is\n"
            "compressed (gzip, xz, zstd, bzip2) is decompressed, whatever its name. A line ends\n"
            "in LF or CR LF and may have up to 16 MiB; an empty line is the empty item. FILE is\n"
            "replaced in one step at the end, or not at all, with --append too. Which items --top\n"
            "keeps depends on the order in which they come.",
    .examples = "  legosketch build -o words.sketch --budget 300K words.txt\n"
                "  legosketch build -o day.sketch clicks-*.u64.xz\n"
                "  legosketch build -o cities.sketch --column city orders.csv.gz\n"
                "  legosketch build --top -o words.sketch words.txt && legosketch top words.sketch\n"
                "  legosketch build --append -o week.sketch monday.txt\n"
                "  zcat access.log.gz | cut -d' ' -f1 | legosketch build -o ips.sketch\n"
                "  sort words.txt | uniq -c | legosketch build -o words.sketch -f uniq\n"
                "  printf 'apple\\t3\\npear\\t-1\\n' | legosketch build -o fruit.sketch --format tsv\n",
    .options = options,
    .output = &given.output,
    .run = run,
};
