/* bench: how fast the sketch is, against a plain Count-Min and against what the machine can do.
 *
 * SPDX-License-Identifier: MIT */
#include "measure.h"
#include "options.h"
#include "output.h"
#include "path.h"
#include "record.h"
#include "say.h"
#include "table.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *sizes, *filter;
    uint32_t repeats, threads, batch;
    uint64_t length;
    bool quick, quiet;
} given = {.batch = 1 << 16};

static const option_entry options[] = {
    {"sizes", 's', OPTION_TEXT, "SIZES", &given.sizes, "bytes of a sketch, as 1.2M,16M,134M, which is the default"},
    {"filter", 'f', OPTION_TEXT, "WORDS", &given.filter,
     "only paths that have all the words, as 'dense|flat store batch u64 1.2M threads=1'; the yardstick stays"},
    {"repeat", 'r', OPTION_U32, "N", &given.repeats, "time everything so often; 5, or 2 if quick"},
    {"threads", 't', OPTION_U32, "N", &given.threads, "threads beside one; as many as there are cores"},
    {"length", 'n', OPTION_U64, "N", &given.length, "items of the stream; 8388608, or 262144 if quick"},
    {"batch", 'b', OPTION_U32, "N", &given.batch, "items of a batch call; 65536"},
    {"quick", 0, OPTION_FLAG, NULL, &given.quick, "a short look: less of everything, sizes 1.2M and 16M"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar"},
    {0},
};

static void *take(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void give(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

static bool parse_sizes(const char *text, struct plan *plan)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        uint64_t bytes;
        if (plan->size_count == SIZES_MOST || !value_size(text, length, &bytes) || bytes < 102400 || bytes > UINT32_MAX)
            return false;
        plan->sizes[plan->size_count++] = bytes;
        text += length + (text[length] == ',');
    }
    return plan->size_count > 0;
}

static int run(int count, char **operands);

static const command command_bench = {
    .name = "build/bench",
    .synopsis = "[OPTION...]",
    .text = "Times the Lego sketch beside a plain Count-Min that was made as fast as we know how,\n"
            "CU and the Elastic sketch, on the same stream of Zipf-distributed keys, in turns.",
    .examples = "  build/bench\n"
                "  build/bench --quick\n"
                "  build/bench --sizes 1.2M --filter 'dense|flat store batch u64 threads=1' --repeat 9\n",
    .options = options,
    .run = run,
};

static int run(int count, char **operands)
{
    if (count > 0)
        return options_wrong(&command_bench, "'%s' is not an option, and nothing else is taken", operands[0]);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct plan plan = {.batch = given.batch, .filter = given.filter, .allocator = {take, give, NULL}};
    plan.length = given.length > 0 ? (size_t)given.length : given.quick ? 1u << 18 : 1u << 23;
    plan.asked = plan.length / 8;
    plan.pairs = plan.length / 64;
    plan.repeats = given.repeats > 0 ? given.repeats : given.quick ? 2 : 5;
    plan.threads = given.threads > 0 ? given.threads : cores > 1 ? (unsigned)cores : 1;
    if (plan.repeats > REPEATS_MOST || plan.length < 64)
        return options_wrong(&command_bench, "--repeat is at most %d, --length at least 64", REPEATS_MOST);
    if (!parse_sizes(given.sizes != NULL ? given.sizes : given.quick ? "1.2M,16M" : "1.2M,16M,134M", &plan))
        return options_wrong(&command_bench, "--sizes '%s' is no list of at most %d sizes from 100K to 4G", given.sizes,
                             SIZES_MOST);
    struct path_list list = path_list_make(&plan);
    if (list.paths == NULL || !measure(&plan, &list, given.quiet)) return EXIT_FAILED;
    table_paths(&list);
    path_list_free(&list);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    output_prepare();
    record_command(argc, argv);
    int first, status = EXIT_WRONG_USAGE;
    switch (options_parse(&command_bench, argc, argv, &first)) {
    case PARSE_RUN: status = run(argc - first, argv + first); break;
    case PARSE_HELP:
        options_help(&command_bench);
        status = EXIT_DONE;
        break;
    case PARSE_WRONG: break;
    }
    return output_flush() ? status : EXIT_FAILED;
}
