/* legosketch build: count a stream into a sketch.
 *
 * SPDX-License-Identifier: MIT */
#include "any.h"
#include "load.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "stream.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static struct {
    const char *output, *model;
    uint64_t budget, heavy, seed;
    uint32_t threads, bricks, columns, cell_bits;
    int format, policy, packing;
    bool top, quiet;
} given = {.budget = UINT64_MAX /* not given */, .threads = 1};

static const option_entry options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", &given.output, "write the sketch here; - is standard output"},
    {"budget", 'b', OPTION_SIZE, "SIZE", &given.budget, "bytes of the sketch in memory, such as 300K or 1.5M (1M)"},
    {"top", 0, OPTION_FLAG, NULL, &given.top,
     "keep the most frequent items with exact counts, in an eighth of the budget, for 'legosketch top' to list"},
    {"heavy", 0, OPTION_SIZE, "SIZE", &given.heavy, "the same, with so many bytes of the budget for them"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model, "a built-in model or a .lego file (the default model)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "seed of the hash; only sketches of one seed merge (0)"},
    {"format", 'f', OPTION_CHOICE, FORMAT_CHOICES, &given.format,
     "lines: an item a line; tsv: item TAB count, the count signed; u32, u64: raw little-endian keys (lines)"},
    {"on-error", 0, OPTION_CHOICE, ON_ERROR_CHOICES, &given.policy,
     "at a malformed line: stop and write nothing, or skip it (stop)"},
    {"threads", 't', OPTION_U32, "T", &given.threads,
     "threads that count, besides one that reads; the sketch does not depend on it (1)"},
    {"packing", 0, OPTION_CHOICE, PACKING_CHOICES, &given.packing,
     "of the blocks while counting: dense, or flat, which is faster but has a 20th of the blocks in the same budget; "
     "the file is the same for equal blocks (dense)"},
    {"bricks", 0, OPTION_U32, "K", &given.bricks, "for research: so many bricks, instead of what fills the budget"},
    {"columns", 0, OPTION_U32, "C", &given.columns, "for research: so many columns a brick, a multiple of 16"},
    {"cell-bits", 0, OPTION_U32, "B", &given.cell_bits, "for research: start with cells of 8, 16, 32 or 64 bits (8)"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar and no summary"},
    {0},
};

/* A batch that the sketch refuses because of its counts is added item by item, so that the line can be named. */
static bool add_singly(const any_sketch *sketch, stream *from, const item_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        unsigned char key[8];
        size_t size;
        const void *item = stream_item(batch, i, key, &size);
        lego_status status = any_add(sketch, item, size, batch->counts[i]);
        if (status == LEGO_ERR_RANGE && stream_malformed(from, batch->lines[i], lego_status_message(status)))
            continue;
        if (status == LEGO_ERR_MEMORY)
            say_status(from->file, status);
        if (status != LEGO_OK)
            return false;
    }
    return true;
}

/* Where the stream goes. */
typedef struct target {
    any_sketch sketch;
    bool is_expanded;   /* flat until all is counted */
    lego_status status; /* of the latest batch */
} target;

static void add_batch(void *context, const item_batch *batch)
{
    target *into = context;
    into->status = any_add_batch(&into->sketch, batch);
}

static bool check_batch(void *context, stream *from, const item_batch *batch)
{
    const target *into = context;
    if (into->status == LEGO_ERR_RANGE && batch->counts != NULL)
        return add_singly(&into->sketch, from, batch);
    if (into->status != LEGO_OK)
        say_status(from->file, into->status);
    return into->status == LEGO_OK;
}

static void summarise(const any_sketch *sketch, uint64_t items)
{
    lego_sketch_info info;
    lego_sketch_describe(any_light(sketch), &info);
    char size[VALUE_TEXT];
    value_print_size(size, sketch->elastic != NULL ? lego_elastic_bytes(sketch->elastic) : info.bytes);
    const char *what = given.format == FORMAT_TSV ? "lines" : "items";
    if (sketch->elastic != NULL) {
        lego_elastic_info heavy;
        lego_elastic_describe(sketch->elastic, &heavy);
        say("%" PRIu64 " %s counted into %s: %" PRIu64 " items kept, %" PRIu64 " of them exact", items, what, size,
            heavy.residents, heavy.exact);
    } else if (info.columns == 0)
        say("%" PRIu64 " %s counted into %s: %" PRIu32 " %s blocks", items, what, size, info.bricks_now,
            info.packing == LEGO_FLAT ? "flat" : "dense");
    else
        say("%" PRIu64 " %s counted into %s: %" PRIu32 " bricks, cells of %" PRIu32 " bits", items, what, size,
            info.bricks_now, info.cell_bits);
}

static bool make_sketch(any_sketch *sketch)
{
    lego_options wanted = LEGO_OPTIONS_INIT;
    if (given.budget != UINT64_MAX)
        wanted.budget = given.budget;
    else if (given.bricks != 0)
        wanted.budget = 0; /* just what the bricks need */
    wanted.seed = given.seed;
    wanted.bricks = given.bricks;
    wanted.columns = given.columns;
    wanted.cell_bits = given.cell_bits;
    wanted.packing = (lego_packing)given.packing;
    if (!load_model(given.model, &wanted.model))
        return false;
    *sketch = (any_sketch){NULL, NULL};
    lego_elastic_options elastic = {wanted, given.heavy};
    bool is_elastic = given.top || given.heavy > 0;
    lego_status status = is_elastic ? lego_elastic_create(&elastic, &sketch->elastic)
                                    : lego_sketch_create(&wanted, &sketch->plain);
    if (status == LEGO_ERR_BUDGET && is_elastic && wanted.bricks == 0)
        say("no sketch of that shape: the most frequent items take 512 bytes or more, and all else another 4K");
    else if (status != LEGO_OK)
        say_status("no sketch of that shape", status);
    if (status == LEGO_OK && !is_elastic)
        lego_sketch_set_threads(sketch->plain, given.threads);
    return status == LEGO_OK;
}

enum { EXPANDED_MOST = 64 << 20, FLAT_BLOCK = 1285 }; /* bytes, the second those of a block as legosketch.h has it */

/* A sketch of dense blocks is flat while it is counted into, if it is small: that is several times as fast. Where
 * nothing is deleted the result is the same to the byte. Without memory for it the sketch stays as it is. */
static void expand(target *into)
{
    lego_sketch_info info;
    into->is_expanded = false;
    if (into->sketch.plain == NULL || given.format == FORMAT_TSV)
        return;
    lego_sketch_describe(into->sketch.plain, &info);
    if (info.packing == LEGO_DENSE && (uint64_t)info.bricks * FLAT_BLOCK <= EXPANDED_MOST)
        into->is_expanded = lego_sketch_convert(into->sketch.plain, LEGO_FLAT) == LEGO_OK;
}

static bool contract(target *into)
{
    lego_status status = into->is_expanded ? lego_sketch_convert(into->sketch.plain, LEGO_DENSE) : LEGO_OK;
    if (status != LEGO_OK)
        say_status("the sketch cannot be packed", status);
    return status == LEGO_OK;
}

static int run(int count, char **operands)
{
    if (given.output == NULL)
        return options_wrong(&command_build, "-o FILE is missing: where should the sketch go?");
    if (given.budget < LEGO_BUDGET_MIN || (given.budget > LEGO_BUDGET_MAX && given.budget != UINT64_MAX))
        return options_wrong(&command_build, "--budget has to be from 4K to 64G");
    target into;
    if (!output_check(given.output) || !make_sketch(&into.sketch))
        return EXIT_FAILED;
    expand(&into);
    stream from = {.format = (item_format)given.format, .policy = (on_error)given.policy, .quiet = given.quiet,
                   .label = "build", .work = add_batch, .sink = check_batch, .context = &into};
    bool ok = stream_read(&from, operands, count) && contract(&into) && any_output(given.output, &into.sketch);
    if (ok && !given.quiet && isatty(STDERR_FILENO))
        summarise(&into.sketch, from.items);
    any_destroy(&into.sketch);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_build = {
    .name = "build",
    .summary = "count a stream into a sketch",
    .synopsis = "-o FILE [OPTION...] [INPUT...]",
    .text = "Counts the items of the INPUT files, or of standard input if there are none or\n"
            "one is \"-\", into a sketch of a fixed size. Files named .gz, .xz or .zst are\n"
            "decompressed. A line may have up to 16 MiB; an empty line is the empty item.\n"
            "While it counts, a sketch of up to 3 MB takes 20 times its budget, to be fast.\n"
            "FILE is replaced in one step at the end, or not at all. With --top one thread\n"
            "counts, and which items are kept depends on the order in which they come.",
    .examples = "  legosketch build -o words.sketch --budget 300K words.txt\n"
                "  legosketch build -o day.sketch --format u64 clicks-*.u64.xz\n"
                "  legosketch build --top -o words.sketch words.txt && legosketch top words.sketch\n"
                "  zcat access.log.gz | cut -d' ' -f1 | legosketch build -o ips.sketch\n"
                "  printf 'apple\\t3\\npear\\t-1\\n' | legosketch build -o fruit.sketch --format tsv\n",
    .options = options,
    .run = run,
};
