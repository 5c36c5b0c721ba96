/* legosketch merge: the sketch of several streams from their sketches.
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
} given;

static const option_entry options[] = {
    OPTION_OUTPUT(&given.output),
    OPTION_MODEL(&given.model),
    {0},
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The bytes that a sketch has after a fold; 0 if there is no memory to try it. */
static uint64_t folded_bytes(const lego_sketch *sketch, uint32_t blocks)
{
    lego_sketch *copy;
    if (lego_copy(sketch, &copy) != LEGO_OK) return 0;
    lego_info info = {.bytes = 0};
    if (lego_fold(copy, blocks) == LEGO_OK) lego_describe(copy, &info);
    lego_destroy(copy);
    return info.bytes;
}

/* What makes two sketches mergeable whose sizes do not nest: a fold of both, where that leaves an eighth of the smaller
 * one or more; else one of them has to be built again, like the other. */
static void say_remedy(const lego_sketch *into, const lego_sketch *from)
{
    lego_info a, b;
    lego_describe(into, &a);
    lego_describe(from, &b);
    uint32_t smaller = a.blocks < b.blocks ? a.blocks : b.blocks;
    uint32_t common = (uint32_t)common_divisor(a.blocks, b.blocks);
    uint64_t top = common_divisor(a.top_bytes, b.top_bytes);
    bool tops_nest = a.top_bytes == 0 || b.top_bytes == 0 || top == a.top_bytes || top == b.top_bytes;
    uint64_t budget = folded_bytes(into, common), same = folded_bytes(from, common);
    char kept[48] = "";
    if (a.top_bytes > 0) snprintf(kept, sizeof kept, " --top=%" PRIu64, a.top_bytes);
    if (!tops_nest || a.columns != b.columns || common < smaller / 8)
        say("build one of them again, like the first: --budget %" PRIu64 "%s", a.bytes, kept);
    else if (budget == same && budget > 0) say("fold both first: legosketch fold --budget %" PRIu64, budget);
    else say("fold both first: legosketch fold --blocks %" PRIu32, common);
}

static bool merge_file(lego_sketch *into, const char *first, const char *path)
{
    lego_sketch *from;
    char into_shape[SHAPE_TEXT], from_shape[SHAPE_TEXT];
    if (!load_sketch(path, given.model, &from, NULL)) return false;
    lego_status status = lego_merge(into, from);
    if (status == LEGO_ERR_SHAPE) {
        say("cannot merge %s (%s) into %s (%s): neither size is a multiple of the other", path,
            say_shape(from_shape, from), first, say_shape(into_shape, into));
        say_remedy(into, from);
    } else if (status != LEGO_OK) {
        say("cannot merge %s into %s:", path, first);
        say_status(path, status);
    }
    lego_destroy(from);
    return status == LEGO_OK;
}

static int run(int count, char **operands)
{
    lego_sketch *into;
    if (!output_check(given.output) || !load_sketch(operands[0], given.model, &into, NULL)) return EXIT_FAILED;
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
            "counted them. They need the same model and seed, and sizes of which one is a\n"
            "multiple of the other; the result has the smaller. If the first was built with\n"
            "--top, so is the result: what is most frequent in all of them stays in its list.",
    .examples = "  legosketch merge -o week.sketch monday.sketch tuesday.sketch wednesday.sketch\n",
    .options = options,
    .output = &given.output,
    .operands = OPERANDS_SOME,
    .run = run,
};
