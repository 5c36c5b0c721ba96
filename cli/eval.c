/* legosketch eval: how far estimates are from exact counts, method by method. */
#include "lab.h"
#include "load.h"
#include "output.h"
#include "progress.h"
#include "say.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>

static const char *methods = "lego,rule,lego-paper,cms,one,exact", *budgets = "1M", *model;
static lab_plan given = {.seeds = 1, .how = READING_INIT};
static bool json;

static const option_entry options[] = {
    {"methods", 0, OPTION_TEXT, "LIST", &methods,
     "of lego (the sketch), rule (its upper bound), lego-paper and rule-paper (the same with the paper's model), "
     "d-lego "
     "(with an eighth for the most frequent items), d-lego-paper (lego-paper behind the paper's filter), "
     "d-lego-quarter (the same, with a quarter for the filter), cms (Count-Min), cs (Count sketch), cs-clipped (at "
     "least 1), lcs (learned C-sketch), d-cms (Count-Min behind the paper's filter), d-cms-quarter (as above), cu "
     "(conservative update), cmm (Count-Mean-Min), tower-cm, tower-cu, salsa-cu, elastic, heavy-keeper, space-saving, "
     "misra-gries, fingerprint (a cuckoo table of the best widths in hindsight), cqf (a counting quotient filter of "
     "the best remainder in hindsight), ideal-top (the heaviest in hindsight, in the fewest bits), ms (the "
     "meta-sketch), one (the constant 1), exact (a hash table) (lego,rule,lego-paper,cms,one,exact)"},
    {"budget", 'b', OPTION_TEXT, "LIST", &budgets, "bytes of each method, such as 300K,600K (1M)"},
    {"seeds", 0, OPTION_U32, "N", &given.seeds, "the mean error of so many hash seeds (1)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "the first of them (0)"},
    {"model", 'm', OPTION_TEXT, "NAME|FILE", &model,
     "model of lego, rule, d-lego (the default model), lego-paper, d-lego-paper and d-lego-quarter (paper)"},
    OPTIONS_READING(given.how),
    {"json", 0, OPTION_FLAG, NULL, &json, "print an object a line: method, model, budget, bytes, n, N, aae, are"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar"},
    {0},
};

/* One line of the table, or one object. Without a result the stream does not fit. */
static bool print_result(const exact_table *truth, const trial *spec, const metrics *result)
{
    if (json) {
        json_line line = json_begin();
        lab_fields(&line, spec, result, exact_total(truth));
        if (result == NULL) json_text(&line, "error", lab_reason(spec, LEGO_ERR_BUDGET));
        return json_print(&line);
    }
    char budget[VALUE_TEXT];
    const char *name = lab_model_name(spec);
    printf("%-14s %-10s %8s ", spec->kind->name, name != NULL ? name : "-", value_print_size(budget, spec->budget));
    if (result == NULL) printf("%12s %12s %12s\n", "-", "-", "-");
    else printf("%12" PRIu64 " %12.4f %12.4f\n", result->bytes, result->aae, result->are);
    return true;
}

static bool run_trials(const content *read)
{
    size_t trials = given.kind_count * given.budget_count;
    progress_begin("eval", trials, given.quiet);
    for (size_t i = 0; i < trials; i++) {
        const estimator_kind *kind = given.kinds[i % given.kind_count];
        trial spec = lab_trial(&given, read, kind, given.budgets[i / given.kind_count]);
        metrics result;
        lego_status status = metrics_run(read->truth, &spec, &result);
        bool full = lab_full(&spec, status);
        if (!full && !lab_say(&spec, NULL, status)) return false;
        progress_hide();
        if (!print_result(read->truth, &spec, full ? NULL : &result) || !output_flush()) return false;
        progress_update(i + 1, (i + 1) * exact_size(read->truth));
    }
    progress_end();
    return true;
}

static int run(int count, char **operands)
{
    if (!reading_check(&command_eval, &given.how) || !lab_list(&command_eval, &given, methods, lab_take_kind) ||
        !lab_list(&command_eval, &given, budgets, lab_take_size))
        return EXIT_WRONG_USAGE;
    content read;
    if (!load_model(model, &given.model)) return EXIT_FAILED;
    if (!lab_read(&read, &given, operands, count)) return EXIT_FAILED;
    if (!json) {
        printf("N = %" PRId64 " items counted, %zu distinct; mean of %" PRIu32 " hash seed%s\n\n",
               exact_total(read.truth), exact_size(read.truth), given.seeds, given.seeds == 1 ? "" : "s");
        printf("%-14s %-10s %8s %12s %12s %12s\n", "method", "model", "budget", "bytes", "AAE", "ARE");
    }
    bool ok = run_trials(&read);
    content_free(&read);
    return ok ? EXIT_DONE : EXIT_FAILED;
}

const command command_eval = {
    .name = "eval",
    .summary = "measure estimates against exact counts",
    .synopsis = "[OPTION...] [INPUT...]",
    .text = "Counts the INPUT exactly in memory, gives it to each method at each budget, asks\n"
            "each for every distinct item once, and prints the mean absolute error (AAE) and\n"
            "the mean relative error (ARE) over the items whose count is not 0. bytes are\n"
            "those really used. INPUT is read as by 'legosketch build'. Methods whose answers\n"
            "depend on the order (lego, rule, d-..., cu, tower-cu, salsa-cu, elastic,\n"
            "heavy-keeper, space-saving, misra-gries, fingerprint) get the stream as it\n"
            "comes, which is kept, 4 bytes an item; from tsv, it is shuffled.\n"
            "Where the stream does not fit into cqf there is - instead of errors, or with\n"
            "--json an error.",
    .examples = "  legosketch eval --budget 300K,600K --methods lego,cms,one words.txt.xz\n"
                "  legosketch gen zipf --alpha 0.9 --format tsv | legosketch eval --format tsv --json\n",
    .options = options,
    .run = run,
};
