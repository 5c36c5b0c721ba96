/* bench: how fast the sketch is, against a plain Count-Min and against what the machine can do. */
#include "bench.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 1 << 23, LENGTH_QUICK = 1 << 17 };
enum { LENGTH_LEAST = 1 << 16, LENGTH_MOST = 1 << 30, BUDGET_LEAST = 100 << 10 };

static struct plan plan;
static const char *sizes, *json;

static const option_entry options[] = {
    {"sizes", 's', OPTION_TEXT, "SIZES", &sizes,
     "bytes of a sketch; 1.2M,16M,134M, or 1.2M,16M if quick; asked takes two, 1.2M,134M"},
    {"filter", 'f', OPTION_TEXT, "WORDS", &plan.filter,
     "only paths that have all these words, a|b meaning one of them; what they are compared with stays"},
    {"repeat", 'r', OPTION_U32, "N", &plan.repeats, "time everything so often; 5, or 2 if quick"},
    {"threads", 't', OPTION_U32, "N", &plan.threads, "the threads to use beside one; as many as there are cores"},
    {"length", 'n', OPTION_U64, "N", &plan.length, "items of the stream; 8388608, or 131072 if quick"},
    {"distinct", 'd', OPTION_U32, "N", &plan.distinct,
     "items that the stream is drawn from; one for two bytes of a sketch, at most 8 million"},
    {"batch", 'b', OPTION_U32, "N", &plan.batch,
     "items of a batch call; all that are stored, and 65536 that are asked for"},
    {"json", 'j', OPTION_TEXT, "FILE", &json, "write everything there; - prints it instead of the tables"},
    {"quick", 0, OPTION_FLAG, NULL, &plan.quick, "less of everything, for a look of seconds"},
    {"quiet", 'q', OPTION_FLAG, NULL, &plan.quiet, "no progress bar"},
    {0},
};

static int run(int count, char **operands);

static const command command_bench = {
    .name = "bench",
    .synopsis = "[OPTION...] [asked|growth]",
    .text =
        "Times the Lego sketch (the default model, alone, with its top, with a secret seed, and the paper's) beside\n"
        "a plain Count-Min that is as fast as we know how to make one, on the same\n"
        "Zipf-distributed keys, in turns: store, query, pairs of both; single, batch; u64, text.\n\n"
        "asked:  the figures that docs/performance.md has, as one table beside what was asked for\n"
        "growth: how speed and errors grow with the length of a stream, its distinct items, the\n"
        "        bytes of a sketch and threads, as TSV; 'legosketch report' plots what --json writes.\n"
        "        Neither takes --filter or --batch; growth takes no --sizes and no --distinct.",
    .examples = "  bench\n"
                "  bench asked\n"
                "  bench --quick\n"
                "  bench --sizes 1.2M --repeat 9 --filter 'compact|paper store batch u64 threads=1'\n"
                "  bench --json bench.json\n",
    .options = options,
    .run = run,
    .alone = true,
};

static bool parse_sizes(const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        uint64_t bytes;
        if (plan.size_count == SIZES_MOST || !value_size(text, length, &bytes) || bytes < BUDGET_LEAST ||
            bytes > UINT32_MAX)
            return false;
        plan.sizes[plan.size_count++] = bytes;
        text += length + (text[length] == ',');
    }
    return plan.size_count > 0;
}

static void show_for_people(const struct path_list *list, const struct limits *limits, double small)
{
    if (plan.kind == PLAN_GROWTH) growth_show(list);
    else show_machine(list, limits);
    if (plan.kind == PLAN_ALL) show_tables(list, limits);
    if (plan.kind == PLAN_ASKED) asked_show(list, &plan, small);
}

static bool show(record *results, const struct path_list *list, const struct limits *limits)
{
    double small = plan.kind == PLAN_ASKED ? small_sketches(plan.quick ? 10000 : 1000000) : 0;
    if (json == NULL || strcmp(json, "-") != 0) show_for_people(list, limits, small);
    if (json == NULL) return true;
    if (plan.kind == PLAN_ASKED) json_real(&results->top, "small_sketch_microseconds_an_item", small);
    show_results(results, &plan, list, limits);
    return record_write_file(results, json, plan.quiet);
}

static bool all_right(const struct path_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct path *path = &list->paths[i];
        if (!path->wrong && path->status == LEGO_OK) continue;
        say("%s, %s, %s: %s", path->method->name, operation_names[path->operation], calls_names[path->calls],
            path->wrong ? "the answers are wrong" : lego_status_message(path->status));
        return false;
    }
    return true;
}

static bool fill(struct path_list *list)
{
    if (plan.kind == PLAN_ASKED) return asked_fill(list, &plan);
    return plan.kind == PLAN_GROWTH ? growth_fill(list, &plan) : path_list_fill(list, &plan);
}

static bool bench(void)
{
    record results = plan.kind == PLAN_GROWTH
                         ? record_begin("growth", "How speed and errors grow", NULL, 0, 1)
                         : record_begin("bench", "Items stored and asked for a second", NULL, 0, 1);
    struct path_list list = {0};
    struct limits limits = {0};
    /* Limits are measured before and after: the machine may get quieter. */
    bool ok = (fill(&list) && limits_measure(&limits, plan.quick)) || say_no_memory();
    ok = ok && measure(&plan, &list) && limits_measure(&limits, plan.quick) && show(&results, &list, &limits) &&
         all_right(&list);
    free(list.paths);
    record_free(&results);
    return ok;
}

static void choose_defaults(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (plan.length == 0) plan.length = plan.quick ? LENGTH_QUICK : LENGTH;
    if (plan.repeats == 0) plan.repeats = plan.quick || plan.kind == PLAN_GROWTH ? 2 : 5;
    if (plan.threads == 0) plan.threads = cores > 1 ? (uint32_t)cores : 1;
    if (sizes == NULL) sizes = plan.quick ? "1.2M,16M" : plan.kind == PLAN_ASKED ? "1.2M,134M" : "1.2M,16M,134M";
}

static bool choose_kind(int count, char **operands)
{
    static const char *const kinds[] = {[PLAN_ASKED] = "asked", [PLAN_GROWTH] = "growth"};
    for (enum plan_kind kind = PLAN_ASKED; kind <= PLAN_GROWTH && count == 1; kind++)
        if (strcmp(operands[0], kinds[kind]) == 0) plan.kind = kind;
    return count == (plan.kind != PLAN_ALL);
}

/* Whether an option was given that means nothing to this kind. */
static bool has_strangers(void)
{
    bool fixed = plan.kind != PLAN_ALL && (plan.filter != NULL || plan.batch > 0);
    return fixed || (plan.kind == PLAN_GROWTH && (sizes != NULL || plan.distinct > 0));
}

static int run(int count, char **operands)
{
    if (!choose_kind(count, operands)) return options_wrong(&command_bench, "'%s' is no option", operands[count - 1]);
    if (has_strangers()) return options_wrong(&command_bench, "'%s' does not take all of these options", operands[0]);
    choose_defaults();
    if (plan.length < LENGTH_LEAST || plan.length > LENGTH_MOST || plan.repeats > REPEATS_MOST)
        return options_wrong(&command_bench, "--length is from %d to %d, --repeat at most %d", LENGTH_LEAST,
                             LENGTH_MOST, REPEATS_MOST);
    if (!parse_sizes(sizes))
        return options_wrong(&command_bench, "--sizes '%s' is no list of up to %d sizes from 100K to 4G", sizes,
                             SIZES_MOST);
    if (plan.kind == PLAN_ASKED && plan.size_count > ASKED_SIZES)
        return options_wrong(&command_bench, "asked takes at most %d sizes", ASKED_SIZES);
    if (json != NULL && !output_check(json, NULL)) return EXIT_FAILED;
    return bench() ? EXIT_DONE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    output_prepare();
    record_command(argc, argv);
    int status = options_run(&command_bench, argc, argv);
    return output_flush() ? status : EXIT_FAILED;
}
