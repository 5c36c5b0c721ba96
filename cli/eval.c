/* legosketch eval: how far estimates are from exact counts, method by method.
 *
 * SPDX-License-Identifier: MIT */
#include "content.h"
#include "json.h"
#include "load.h"
#include "metrics.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "say.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIST_MAX = 64 }; /* methods or budgets on one command line */

static struct {
    const char *methods, *budgets, *model;
    uint64_t seed;
    uint32_t seeds;
    int format, policy, packing;
    bool json, quiet;
} given = {.methods = "lego,rule,lego-paper,cms,one,exact", .budgets = "1M", .seeds = 1};

static const option_entry options[] = {
    {"methods", 0, OPTION_TEXT, "LIST", &given.methods,
     "of lego (the sketch), rule (its upper bound), lego-paper (as the paper has it), d-lego (behind the paper's "
     "filter), cms (Count-Min), cs (Count sketch), cs-clipped (at least 1), lcs (learned C-sketch), d-cms (Count-Min "
     "behind the filter), cu (conservative update), cmm (Count-Mean-Min), tower-cm, tower-cu, salsa-cu, elastic, "
     "fingerprint, ms (the meta-sketch), one (the constant 1), exact (a hash table) "
     "(lego,rule,lego-paper,cms,one,exact)"},
    {"budget", 'b', OPTION_TEXT, "LIST", &given.budgets, "bytes of each method, such as 300K,600K (1M)"},
    {"seeds", 0, OPTION_U32, "N", &given.seeds, "the mean error of so many hash seeds (1)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "the first of them (0)"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &given.model,
     "model of lego, rule, d-lego (the default model) and lego-paper (paper)"},
    {"packing", 0, OPTION_CHOICE, PACKING_CHOICES, &given.packing,
     "of the blocks of lego and rule: dense, or flat, which stores faster but has a 20th of the blocks (dense)"},
    {"format", 'f', OPTION_CHOICE, FORMAT_CHOICES, &given.format,
     "lines: an item a line; tsv: item TAB count; u32, u64: raw little-endian keys (lines)"},
    {"on-error", 0, OPTION_CHOICE, ON_ERROR_CHOICES, &given.policy, "at a malformed line: stop, or skip it (stop)"},
    {"json", 0, OPTION_FLAG, NULL, &given.json,
     "print an object a line: method, model, budget, bytes, n, N, aae, are"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar, and do not say that the model is untrained"},
    {0},
};

/* What is asked for, out of the lists. */
typedef struct plan {
    const estimator_kind *kinds[LIST_MAX];
    uint64_t budgets[LIST_MAX];
    size_t kind_count, budget_count;
    bool default_model; /* a method has the default model if none is given */
    bool in_order;      /* a method wants the stream as it came */
} plan;

static bool add_kind(plan *wanted, const char *word, size_t length)
{
    const estimator_kind *kind = estimator_find(word, length);
    if (kind == NULL)
        return false;
    wanted->kinds[wanted->kind_count++] = kind;
    wanted->in_order = wanted->in_order || kind->in_order;
    wanted->default_model = wanted->default_model || (kind->uses_model && kind->model == NULL);
    return true;
}

static bool add_budget(plan *wanted, const char *word, size_t length)
{
    return value_size(word, length, &wanted->budgets[wanted->budget_count]) && ++wanted->budget_count > 0;
}

/* Gives every word between commas to `add`; says which one it refuses. */
static bool read_list(plan *wanted, const char *list, const char *what, bool (*add)(plan *, const char *, size_t))
{
    for (int words = 0;; words++) {
        size_t length = strcspn(list, ",");
        if (words == LIST_MAX || !add(wanted, list, length)) {
            options_wrong(&command_eval, "'%.*s' is not %s", (int)length, list, words == LIST_MAX ? "needed" : what);
            return false;
        }
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

/* One line of the table, or one object. */
static bool print_result(const exact_table *truth, const trial *spec, const metrics *result, uint64_t bytes)
{
    lego_model_info model = {.name = NULL};
    if (spec->kind->uses_model)
        lego_model_describe(spec->model, &model);
    if (given.json) {
        json_line line = json_begin();
        json_text(&line, "method", spec->kind->name);
        json_text(&line, "model", model.name);
        json_u64(&line, "budget", spec->budget);
        json_u64(&line, "bytes", bytes);
        json_u64(&line, "n", result->n);
        json_i64(&line, "N", exact_total(truth));
        json_real(&line, "aae", result->aae);
        json_real(&line, "are", result->are);
        return json_print(&line);
    }
    char budget[VALUE_TEXT];
    value_print_size(budget, spec->budget);
    printf("%-11s %-10s %8s %12" PRIu64 " %12.4f %12.4f\n", spec->kind->name, model.name != NULL ? model.name : "-",
           budget, bytes, result->aae, result->are);
    return true;
}

static bool run_trials(const content *read, const plan *wanted, const lego_model *model)
{
    const exact_table *truth = read->truth;
    size_t trials = wanted->kind_count * wanted->budget_count;
    progress_begin("eval", trials, given.quiet);
    for (size_t i = 0; i < trials; i++) {
        const estimator_kind *kind = wanted->kinds[i % wanted->kind_count];
        trial spec = {kind, model != NULL ? model : lego_model_builtin(kind->model),
                      wanted->budgets[i / wanted->kind_count], given.seed, given.seeds, (lego_packing)given.packing,
                      read->keep_order ? &read->order : NULL};
        metrics result;
        uint64_t bytes;
        lego_status status = metrics_run(truth, &spec, &result, &bytes);
        if (status != LEGO_OK) {
            char what[64], budget[VALUE_TEXT];
            value_print_size(budget, spec.budget);
            snprintf(what, sizeof what, "%s at %s", spec.kind->name, budget);
            say_status(what, status);
            return false;
        }
        progress_hide();
        if (!print_result(truth, &spec, &result, bytes) || !output_flush())
            return false;
        progress_update(i + 1, (i + 1) * exact_size(truth));
    }
    progress_end();
    return true;
}

static int run(int count, char **operands)
{
    plan wanted = {.kind_count = 0};
    if (!read_list(&wanted, given.methods, "a method; 'legosketch help eval' lists them", add_kind) ||
        !read_list(&wanted, given.budgets, "a size such as 300K", add_budget))
        return EXIT_WRONG_USAGE;
    const lego_model *model;
    content read;
    if (!load_model(given.model, &model))
        return EXIT_FAILED;
    if (!content_start(&read))
        return EXIT_FAILED;
    read.keep_order = wanted.in_order && given.format != FORMAT_TSV;
    stream from = {.format = (item_format)given.format, .policy = (on_error)given.policy, .quiet = given.quiet,
                   .label = "count", .sink = content_batch, .context = &read};
    bool ok = stream_read(&from, operands, count);
    for (size_t i = 0; ok && i < wanted.kind_count; i++)
        ok = content_suits(&read, wanted.kinds[i]);
    if (ok && wanted.default_model && !given.quiet)
        say_if_untrained(model != NULL ? model : lego_model_builtin(NULL));
    if (ok && !given.json) {
        printf("N = %" PRId64 " items counted, %zu distinct; mean of %" PRIu32 " hash seed%s\n\n",
               exact_total(read.truth), exact_size(read.truth), given.seeds, given.seeds == 1 ? "" : "s");
        printf("%-11s %-10s %8s %12s %12s %12s\n", "method", "model", "budget", "bytes", "AAE", "ARE");
    }
    ok = ok && run_trials(&read, &wanted, model);
    content_free(&read);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_eval = {
    .name = "eval",
    .summary = "measure estimates against exact counts",
    .synopsis = "[OPTION...] [INPUT...]",
    .text = "Counts the INPUT exactly in memory, gives it to each method at each budget, asks\n"
            "each for every distinct item once, and prints the mean absolute error (AAE) and\n"
            "the mean relative error (ARE) over the items that occur. bytes are those really\n"
            "used. INPUT is read as by 'legosketch build'. Methods whose answers depend on\n"
            "the order (d-lego, d-cms, cu, tower-cu, salsa-cu, elastic, fingerprint) get the\n"
            "stream as it comes, which is kept, 4 bytes an item; from tsv, it is shuffled.",
    .examples = "  legosketch eval --budget 300K,600K --methods lego,cms,one words.txt.xz\n"
                "  legosketch gen zipf --alpha 0.9 --format tsv | legosketch eval --format tsv --json\n",
    .options = options,
    .run = run,
};
