/* legosketch merge: the sketch of several streams from their sketches. */
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "secret.h"

#include <inttypes.h>
#include <stdio.h>

static struct {
    const char *output, *model;
} given;

enum { REMEDY_TEXT = 128 };

static const option_entry options[] = {
    {OPTION_OUTPUT(&given.output)},
    {OPTION_MODEL(&given.model)},
    {OPTION_SEED_FILE_READ},
    {0},
};

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Whether both, folded to so many blocks, merge. */
static bool merges_at(const lego_sketch *into, const lego_sketch *from, uint32_t blocks)
{
    lego_sketch *a = NULL, *b = NULL;
    bool ok = lego_copy(into, &a) == LEGO_OK && lego_copy(from, &b) == LEGO_OK && lego_fold(a, blocks) == LEGO_OK &&
              lego_fold(b, blocks) == LEGO_OK && lego_merge(a, b) == LEGO_OK;
    lego_destroy(a);
    lego_destroy(b);
    return ok;
}

/* Whether they merge the other way round, as where only the first is exact and has the smaller budget. */
static bool merges_turned(const lego_sketch *into, const lego_sketch *from)
{
    lego_sketch *copy = NULL;
    bool ok = lego_copy(from, &copy) == LEGO_OK && lego_merge(copy, into) == LEGO_OK;
    lego_destroy(copy);
    return ok;
}

/* What to do about sketches whose sizes do not nest: turn them round, where that will do; fold both, where that leaves
 * an eighth of the smaller one or more; else build one of them again, like the first. */
static void find_remedy(char text[REMEDY_TEXT], const lego_sketch *into, const lego_sketch *from)
{
    lego_info a, b;
    lego_describe(into, &a);
    lego_describe(from, &b);
    uint32_t common = common_divisor(a.blocks, b.blocks), smaller = a.blocks < b.blocks ? a.blocks : b.blocks;
    if (merges_turned(into, from)) {
        snprintf(text, REMEDY_TEXT, "Name them the other way round");
    } else if (common >= smaller / 8 && merges_at(into, from, common)) {
        snprintf(text, REMEDY_TEXT, "Fold both first: legosketch fold --blocks %" PRIu32, common);
    } else {
        int length = snprintf(text, REMEDY_TEXT, "Build one of them again with --budget %" PRIu64, a.budget);
        if (a.top_budget > 0) snprintf(text + length, REMEDY_TEXT - (size_t)length, " --top=%" PRIu64, a.top_budget);
    }
}

static bool merge_file(lego_sketch *into, const char *first, const char *path)
{
    lego_sketch *from;
    if (!load_sketch(path, given.model, &from, NULL)) return false;
    lego_info a, b;
    lego_measure(into, &a);
    lego_measure(from, &b);
    bool alike = say_mixed(first, a.items, path, b.items);
    lego_status status = alike ? lego_merge(into, from) : LEGO_OK;
    if (status == LEGO_ERR_SHAPE) {
        char from_shape[SHAPE_TEXT], into_shape[SHAPE_TEXT], remedy[REMEDY_TEXT];
        find_remedy(remedy, into, from);
        say("cannot merge %s (%s) into %s (%s): neither folds to the other's size. %s", path,
            say_shape(from_shape, from), first, say_shape(into_shape, into), remedy);
    } else if (status != LEGO_OK) {
        say("cannot merge %s into %s:", path, first);
        say_status(path, status);
    }
    lego_destroy(from);
    return alike && status == LEGO_OK;
}

static int run(int count, char **operands)
{
    lego_sketch *into;
    if (!output_check(given.output, given.model) || !load_sketch(operands[0], given.model, &into, NULL))
        return EXIT_FAILED;
    bool ok = true;
    for (int i = 1; i < count && ok; i++) ok = merge_file(into, operands[0], operands[i]);
    ok = ok && output_sketch(given.output, into);
    lego_destroy(into);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_merge = {
    .name = "merge",
    .summary = "add sketches up",
    .synopsis = "-o FILE [OPTION...] SKETCH...",
    .text = "Writes the sketch of all the streams together, byte for byte as if one sketch had\n"
            "counted them. They need the same model and seed. As long as every count is exact\n"
            "('legosketch info' tells), budgets may be any; after that, one number of blocks has\n"
            "to be a multiple of the other, and the result has the smaller. If the first was\n"
            "built with --top, so is the result: what is most frequent in all stays in its list.",
    .examples = "  legosketch merge -o week.sketch monday.sketch tuesday.sketch wednesday.sketch\n",
    .options = options,
    .output = &given.output,
    .operands = OPERANDS_SOME,
    .run = run,
};
