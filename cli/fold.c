/* legosketch fold: a smaller sketch of the same stream.
 *
 * SPDX-License-Identifier: MIT */
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
    const char *output, *model;
    uint32_t bricks;
} given;

static const option_entry options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", &given.output, "write the sketch here; - is standard output"},
    {"bricks", 'k', OPTION_U32, "K", &given.bricks, "how many bricks to leave: a divisor of those it was made with"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model, "the .lego file the sketch was made with, if not built in"},
    {0},
};

/* "24 bricks fold to 1, 2, 3, ...": the answer to the next question. */
static void say_divisors(const char *path, uint32_t bricks)
{
    char list[160];
    size_t length = 0;
    list[0] = '\0';
    for (uint32_t k = 1; k <= bricks / 2 && length + 20 < sizeof list; k++) {
        if (bricks % k == 0)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s%" PRIu32, length > 0 ? ", " : "", k);
    }
    if (bricks > 1)
        say("%s has %" PRIu32 " bricks, which fold to %s", path, bricks, list);
    else
        say("%s has one brick, which is as small as it gets", path);
}

static bool fold(lego_sketch *sketch, const char *path)
{
    lego_sketch_info info;
    lego_sketch_describe(sketch, &info);
    lego_status status = lego_sketch_fold(sketch, given.bricks);
    if (status == LEGO_OK)
        return true;
    if (info.bricks % given.bricks != 0)
        say_divisors(path, info.bricks);
    else
        say_status(path, status);
    return false;
}

static int run(int count, char **operands)
{
    if (given.output == NULL)
        return options_wrong(&command_fold, "-o FILE is missing: where should the sketch go?");
    if (given.bricks == 0)
        return options_wrong(&command_fold, "--bricks K is missing: how many should be left?");
    if (count != 1)
        return options_wrong(&command_fold, "one sketch is folded at a time, and %d are named", count);
    const lego_model *model;
    lego_sketch *sketch;
    if (!output_check(given.output) || !load_model(given.model, &model) || !load_sketch(operands[0], model, &sketch))
        return EXIT_FAILED;
    bool ok = fold(sketch, operands[0]) && output_sketch(given.output, sketch);
    lego_sketch_destroy(sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_fold = {
    .name = "fold",
    .summary = "make a sketch smaller",
    .synopsis = "-o FILE --bricks K [OPTION...] SKETCH",
    .text = "Adds bricks onto each other until K are left: the sketch becomes the one that would\n"
            "have been built with K bricks. Nothing that was counted is lost.",
    .examples = "  legosketch fold -o small.sketch --bricks 4 week.sketch\n",
    .options = options,
    .run = run,
};
