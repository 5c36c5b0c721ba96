/* legosketch fold: a smaller sketch of the same stream. */
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "secret.h"

static struct {
    const char *output, *model;
    uint64_t budget;
    uint32_t blocks;
} given;

static const option_entry options[] = {
    {OPTION_OUTPUT(&given.output)},
    {"budget", 'b', OPTION_SIZE, "SIZE", &given.budget, "leave as many blocks as fit into so many bytes, full"},
    {"blocks", 'k', OPTION_U32, "K", &given.blocks, "leave so many blocks or bricks: a divisor of what it has"},
    {OPTION_MODEL(&given.model)},
    {OPTION_SEED_FILE_READ},
    {0},
};

static bool fold(lego_sketch *sketch, const char *path)
{
    lego_status status = given.blocks > 0 ? lego_fold(sketch, given.blocks) : lego_fold_within(sketch, given.budget);
    char shape[SHAPE_TEXT];
    if (status == LEGO_ERR_SHAPE)
        say("%s has %s, and can not be folded to that: --blocks takes a divisor, --budget finds one that fits", path,
            say_shape(shape, sketch));
    else say_status(path, status);
    return status == LEGO_OK;
}

static int run(int count, char **operands)
{
    (void)count;
    if ((given.blocks > 0) == (given.budget > 0))
        return options_wrong(&command_fold, "give --budget SIZE or --blocks K: how much should be left?");
    lego_sketch *sketch;
    if (!output_check(given.output, given.model) || !load_sketch(operands[0], given.model, &sketch, NULL))
        return EXIT_FAILED;
    bool ok = fold(sketch, operands[0]) && output_sketch(given.output, sketch);
    lego_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_fold = {
    .name = "fold",
    .summary = "make a sketch smaller",
    .synopsis = "-o FILE --budget SIZE [OPTION...] SKETCH",
    .text = "Adds blocks onto each other until what is left fits, full: the sketch becomes the\n"
            "one that would have been built with so many, or, where blocks keep only their\n"
            "heaviest items, one like it. Its total is what it was. What build --top kept has its\n"
            "share of the new budget; with --blocks, its bytes.",
    .examples = "  legosketch fold -o small.sketch --budget 64K week.sketch\n",
    .options = options,
    .output = &given.output,
    .operands = OPERANDS_ONE,
    .run = run,
};
