/* legosketch merge: the sketch of several streams from their sketches. */
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "secret.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Merged one after the other, some file is the first that does not go into those before it: it is named. */
static void say_refused(lego_sketch *const *sketches, char **paths, int count, lego_status status)
{
    lego_sketch *into = NULL;
    lego_status found = lego_copy(sketches[0], &into);
    int at = 0;
    while (found == LEGO_OK && ++at < count) found = lego_merge(into, sketches[at]);
    if (found == LEGO_ERR_SHAPE) {
        char from_shape[SHAPE_TEXT], into_shape[SHAPE_TEXT], remedy[REMEDY_TEXT];
        find_remedy(remedy, into, sketches[at]);
        say("cannot merge %s (%s) into %s (%s): neither folds to the other's size. %s", paths[at],
            say_shape(from_shape, sketches[at]), paths[0], say_shape(into_shape, into), remedy);
    } else {
        bool named = found != LEGO_OK && at > 0;
        say("cannot merge %s into %s:", named ? paths[at] : "all the others", paths[0]);
        say_status(named ? paths[at] : paths[0], named ? found : status);
    }
    lego_destroy(into);
}

/* All of them into the first, at once. */
static bool merge(lego_sketch *const *sketches, char **paths, int count)
{
    const lego_sketch *const *others = (const lego_sketch *const *)sketches + 1;
    lego_status status = lego_merge_many(sketches[0], others, NULL, (size_t)count - 1);
    if (status != LEGO_OK) say_refused(sketches, paths, count, status);
    return status == LEGO_OK;
}

static bool load(lego_sketch **sketches, char **paths, int count)
{
    lego_info info;
    lego_kind before = LEGO_ITEMS_NONE;
    for (int i = 0; i < count; i++) {
        if (!load_sketch(paths[i], given.model, &sketches[i], NULL)) return false;
        lego_measure(sketches[i], &info);
        if (!say_mixed(paths[0], before, paths[i], info.items)) return false;
        before |= info.items;
    }
    return true;
}

static int run(int count, char **operands)
{
    if (!output_check(given.output, given.model)) return EXIT_FAILED;
    lego_sketch **sketches = calloc((size_t)count, sizeof *sketches);
    bool ok = (sketches != NULL || say_no_memory()) && load(sketches, operands, count) &&
              merge(sketches, operands, count) && output_sketch(given.output, sketches[0]);
    for (int i = 0; sketches != NULL && i < count; i++) lego_destroy(sketches[i]);
    free(sketches);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_merge = {
    .name = "merge",
    .summary = "add sketches up",
    .synopsis = "-o FILE [OPTION...] SKETCH...",
    .text = "Writes the sketch of all the streams together. While no block keeps only its\n"
            "heaviest items ('legosketch info' tells), it is byte for byte as if one sketch had\n"
            "counted them; from then on, all that the sketches list of a block is joined, and its\n"
            "heaviest stay. So it is better to merge many at once than one after the other; they\n"
            "are in memory together. They need the same model and seed. As long as every count is\n"
            "exact, budgets may be any; after that, one number of blocks has to be a multiple of\n"
            "the other, and the result has the smaller. If the first was built with --top, so is\n"
            "the result: what is most frequent in all stays in its list.",
    .examples = "  legosketch merge -o week.sketch monday.sketch tuesday.sketch wednesday.sketch\n",
    .options = options,
    .output = &given.output,
    .operands = OPERANDS_SOME,
    .run = run,
};
