/* legosketch merge: the sketch of several streams from their sketches.
 *
 * SPDX-License-Identifier: MIT */
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"

static struct {
    const char *output, *model;
} given;

static const option_entry options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", &given.output, "write the sketch here; - is standard output"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model, "the .lego file they were made with, if not built in"},
    {0},
};

static bool merge_file(const any_sketch *into, const char *path, const lego_model *model, const char *first)
{
    any_sketch from;
    if (!load_any(path, model, &from))
        return false;
    bool same_kind = (into->elastic != NULL) == (from.elastic != NULL);
    lego_status status = any_merge(into, &from);
    any_destroy(&from);
    if (status != LEGO_OK)
        say("cannot merge %s into %s:", path, first);
    if (!same_kind)
        say("only one of them was built with --top, and both or none have to be");
    else if (status == LEGO_ERR_SHAPE && into->elastic != NULL)
        say("%s: their heavy parts differ in size; build them with the same --budget and --heavy", path);
    else if (status != LEGO_OK)
        say_status(path, status);
    return status == LEGO_OK;
}

static int run(int count, char **operands)
{
    if (given.output == NULL)
        return options_wrong(&command_merge, "-o FILE is missing: where should the sketch go?");
    if (count == 0)
        return options_wrong(&command_merge, "there is no sketch to merge");
    const lego_model *model;
    any_sketch into;
    if (!output_check(given.output) || !load_model(given.model, &model) || !load_any(operands[0], model, &into))
        return EXIT_FAILED;
    bool ok = true;
    for (int i = 1; i < count && ok; i++)
        ok = merge_file(&into, operands[i], model, operands[0]);
    ok = ok && any_output(given.output, &into);
    any_destroy(&into);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_merge = {
    .name = "merge",
    .summary = "add sketches up",
    .synopsis = "-o FILE [OPTION...] SKETCH...",
    .text = "Writes the sketch of all the streams together, byte for byte as if one sketch had\n"
            "counted them. They need the same model and seed. Where the bricks differ, the\n"
            "result has the greatest common divisor of them. Sketches built with --top merge\n"
            "too, with each other: what is most frequent in all of them stays in the list.",
    .examples = "  legosketch merge -o week.sketch monday.sketch tuesday.sketch wednesday.sketch\n",
    .options = options,
    .run = run,
};
