/* legosketch gen: streams to try things on. */
#include "options.h"
#include "output.h"
#include "progress.h"
#include "say.h"
#include "stream.h"
#include "zipf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    uint32_t distinct;
    double alpha;
    uint64_t seed;
    int format;
    bool quiet;
} given = {.distinct = 100000, .alpha = 1};

static const item_format formats[] = {FORMAT_LINES, FORMAT_TSV, FORMAT_U32, FORMAT_U64}; /* in the order of the words */

static const option_entry options[] = {
    {"distinct", 'n', OPTION_U32, "N", &given.distinct, "distinct items (100000)"},
    {"alpha", 'a', OPTION_REAL, "A", &given.alpha, "skewness: 0 is flat, 1.5 steep (1.0)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "seed of the order (0)"},
    {"format", 'f', OPTION_CHOICE, "lines|tsv|u32|u64", &given.format,
     "tsv gives each item once with its count; the others give every occurrence (lines)"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar"},
    {0},
};

enum { FLUSH_EVERY = 1 << 16 }; /* items between two looks at whether anyone still reads */

static bool print_table(void)
{
    for (uint64_t rank = 1; rank <= given.distinct; rank++) {
        printf("%" PRIu64 "\t%" PRIu64 "\n", rank, zipf_count(given.distinct, given.alpha, rank));
        if (rank % FLUSH_EVERY == 0 && !output_flush()) return false;
    }
    return true;
}

static void print_item(uint32_t rank)
{
    if (formats[given.format] == FORMAT_LINES) {
        printf("%" PRIu32 "\n", rank);
        return;
    }
    unsigned char key[8];
    stream_key(rank, key);
    fwrite(key, 1, formats[given.format] == FORMAT_U32 ? 4 : 8, stdout);
}

static bool print_stream(uint64_t total)
{
    uint32_t *ranks = total <= SIZE_MAX / sizeof *ranks ? malloc((size_t)total * sizeof *ranks) : NULL;
    if (ranks == NULL)
        return say("a stream of %" PRIu64 " items does not fit into memory; --format tsv needs none", total);
    zipf_stream(given.distinct, given.alpha, given.seed, ranks);
    progress_begin("gen", total, given.quiet);
    bool ok = true;
    for (uint64_t i = 0; i < total && ok; i++) {
        print_item(ranks[i]);
        if (i % FLUSH_EVERY == 0) {
            ok = output_flush();
            progress_update(i, i);
        }
    }
    progress_end();
    free(ranks);
    return ok;
}

static int run(int count, char **operands)
{
    if (count == 0) return options_wrong(&command_gen, "which kind of stream? There is one: zipf");
    if (count > 1 || strcmp(operands[0], "zipf") != 0)
        return options_wrong(&command_gen, "there is no stream '%s'; there is one kind: zipf",
                             operands[count > 1 ? 1 : 0]);
    uint64_t total;
    bool ok = zipf_total(given.distinct, given.alpha, &total)
                  ? formats[given.format] == FORMAT_TSV ? print_table() : print_stream(total)
                  : say("the counts would leave 63 bits: choose a smaller --alpha or --distinct");
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_gen = {
    .name = "gen",
    .summary = "make a stream to try things on",
    .synopsis = "zipf [OPTION...]",
    .text = "Writes a Zipf stream to standard output: the items are the ranks 1 to N, and rank r\n"
            "occurs round(((N+1)/(r+1))^A) times, as in the synthetic sets of the paper. tsv is\n"
            "in the order of ranks; the other formats are shuffled, by the seed alone.",
    .examples = "  legosketch gen zipf --distinct 100000 --alpha 0.9 --format tsv > zipf.tsv\n"
                "  legosketch gen zipf --alpha 1.1 | legosketch build -o zipf.sketch\n",
    .options = options,
    .run = run,
};
