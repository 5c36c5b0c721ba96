/* legosketch lab: the experiments, one or all of them, into a folder of results.
 *
 * SPDX-License-Identifier: MIT */
#include "lab.h"

#include "load.h"
#include "options.h"
#include "say.h"
#include "values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const lab_experiment *const experiments[] = {
    &lab_real, &lab_synthetic, &lab_speed, &lab_ablations, &lab_skew, &lab_bound, &lab_scaling, &lab_bytes,
};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments };

static struct {
    const char *folder, *methods, *budgets, *alphas, *checkpoints;
    uint64_t seed;
    uint32_t seeds, threads, distinct;
    double scale;
    int format, policy;
    bool quick, quiet;
} given = {.folder = "lab-results", .format = -1};

static const option_entry options[] = {
    {"output", 'o', OPTION_TEXT, "DIR", &given.folder, "folder of the results, made if it is not there (lab-results)"},
    {"methods", 0, OPTION_TEXT, "LIST", &given.methods,
     "methods of 'legosketch eval', separated by commas; one, the constant 1, is always among them (all but exact)"},
    {"budget", 'b', OPTION_TEXT, "LIST", &given.budgets, "sizes such as 300K,600K, instead of the experiment's own"},
    {"alphas", 0, OPTION_TEXT, "LIST", &given.alphas,
     "skewnesses such as 0.7,1.1, instead of the experiment's own: synthetic, bytes, bound, ablations"},
    {"distinct", 'n', OPTION_U32, "N", &given.distinct,
     "distinct items of synthetic, bytes (100000) and bound (50000)"},
    {"scale", 0, OPTION_REAL, "S", &given.scale,
     "size of the streams of scaling (1, quick 0.01) and speed (0.1, quick 0.02) against the paper's"},
    {"seeds", 0, OPTION_U32, "N", &given.seeds, "the mean of so many hash seeds (3, quick 1)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "the first of them (0)"},
    {"threads", 't', OPTION_U32, "T", &given.threads, "threads to run trials on (as many as there are cores)"},
    {"format", 'f', OPTION_CHOICE, FORMAT_CHOICES, &given.format,
     "of the files of real (by their names: .u32, .u64, .tsv, else lines)"},
    {"on-error", 0, OPTION_CHOICE, ON_ERROR_CHOICES, &given.policy, "at a malformed line: stop, or skip it (stop)"},
    {"checkpoints", 0, OPTION_TEXT, "LIST", &given.checkpoints, "files for the ablations of 'lab all'"},
    {"quick", 0, OPTION_FLAG, NULL, &given.quick, "fewer points, seeds and items: minutes instead of hours"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar, and do not say what was written"},
    {0},
};

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* Takes one word of a list; NULL, or what it should have been. */
typedef const char *take_word(lab_plan *plan, const char *word, size_t length);

static const char *take_kind(lab_plan *plan, const char *word, size_t length)
{
    const estimator_kind *kind = estimator_find(word, length);
    if (kind == NULL)
        return "a method; 'legosketch eval --help' names them";
    plan->kinds[plan->kind_count++] = kind;
    return NULL;
}

static const char *take_budget(lab_plan *plan, const char *word, size_t length)
{
    uint64_t bytes;
    if (!value_size(word, length, &bytes))
        return "a size such as 300K";
    if (bytes < LEGO_BUDGET_MIN)
        return "a budget: the least is 4K";
    if (bytes > LEGO_BUDGET_MAX)
        return "a budget: the largest is 64G";
    plan->budgets[plan->budget_count++] = bytes;
    return NULL;
}

static const char *take_alpha(lab_plan *plan, const char *word, size_t length)
{
    char text[32];
    double value;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : 0), word);
    if (!value_real(text, &value) || value > 10)
        return "a skewness from 0 to 10";
    plan->alphas[plan->alpha_count++] = value;
    return NULL;
}

static bool take_list(lab_plan *plan, const char *list, take_word *take)
{
    for (int words = 0; list != NULL; words++) {
        size_t length = strcspn(list, ",");
        const char *wrong = words < LAB_LIST_MAX ? take(plan, list, length) : "needed: the list is too long";
        if (wrong != NULL) {
            options_wrong(&command_lab, "'%.*s' is not %s", (int)length, list, wrong);
            return false;
        }
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return true;
}

/* Every method but the hash table, whose error is 0 at whatever bytes it takes. */
static void default_kinds(lab_plan *plan)
{
    for (const estimator_kind *const *kind = estimator_kinds; *kind != NULL && plan->kind_count < LAB_LIST_MAX; kind++)
        if (*kind != &estimator_exact)
            plan->kinds[plan->kind_count++] = *kind;
}

static void ensure_one(lab_plan *plan)
{
    for (size_t i = 0; i < plan->kind_count; i++)
        if (plan->kinds[i] == &estimator_one)
            return;
    plan->kinds[plan->kind_count++] = &estimator_one;
}

/* The words of --checkpoints, cut apart in a copy that lives as long as the program. */
static bool split_checkpoints(lab_plan *plan)
{
    static char *words[LAB_LIST_MAX];
    if (given.checkpoints == NULL)
        return true;
    char *text = strdup(given.checkpoints), *rest = NULL;
    if (text == NULL) {
        say_no_memory();
        return false;
    }
    for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest))
        if (plan->checkpoint_count < LAB_LIST_MAX)
            words[plan->checkpoint_count++] = word;
    plan->checkpoints = words;
    return true;
}

static bool make_plan(lab_plan *plan)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *plan = (lab_plan){.seed = given.seed,
                       .seeds = given.seeds,
                       .distinct = given.distinct,
                       .scale = given.scale,
                       .threads = given.threads > 0 ? given.threads
                                  : cores > 0       ? (unsigned)cores
                                                    : 1,
                       .format = given.format,
                       .policy = (on_error)given.policy,
                       .quick = given.quick,
                       .quiet = given.quiet};
    if (!take_list(plan, given.methods, take_kind) || !take_list(plan, given.budgets, take_budget) ||
        !take_list(plan, given.alphas, take_alpha) || !split_checkpoints(plan))
        return false;
    if (given.methods == NULL)
        default_kinds(plan);
    ensure_one(plan);
    return true;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Before the work starts: a folder that cannot be written would waste it. */
static bool make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        say("cannot make the folder %s: %s", path, strerror(errno));
        return false;
    }
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
        say("%s is not a folder", path);
        return false;
    }
    if (access(path, W_OK | X_OK) != 0) {
        say("cannot write into the folder %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static lab_result run_one(const lab_plan *plan, const lab_experiment *experiment)
{
    record into = record_begin(experiment->name, experiment->title, experiment->figure, plan->seed, lab_seeds(plan));
    lab_result result = experiment->run(plan, &into);
    if (!into.ok || !into.top.ok) {
        say_no_memory();
        result = LAB_FAILED;
    }
    if (result <= LAB_PARTIAL && record_rows(&into) == 0)
        result = LAB_FAILED;
    if (result <= LAB_PARTIAL && !record_write(&into, given.folder, given.quiet))
        result = LAB_FAILED;
    record_free(&into);
    if (result == LAB_PARTIAL)
        say("%s: some of it failed; the rest is kept", experiment->name);
    if (result == LAB_FAILED)
        say("%s: failed, nothing is written", experiment->name);
    return result;
}

/* Whatever fails, the others still run, and what they found is kept. */
static int run_all(lab_plan *plan)
{
    int failed = 0;
    for (int i = 0; i < EXPERIMENTS; i++) {
        lab_result result = run_one(plan, experiments[i]);
        if (result == LAB_LEFT_OUT)
            say("%s: left out, %s", experiments[i]->name,
                experiments[i] == &lab_real ? "since no file is given" : "since no --checkpoints are given");
        else
            failed += result != LAB_DONE;
    }
    if (failed > 0)
        say("%d of %d experiments failed, in part or as a whole", failed, EXPERIMENTS);
    return failed > 0 ? EXIT_FAILED : EXIT_DONE;
}

static const lab_experiment *find_experiment(const char *name)
{
    const char *names[EXPERIMENTS + 2];
    for (int i = 0; i < EXPERIMENTS; i++) {
        if (strcmp(experiments[i]->name, name) == 0)
            return experiments[i];
        names[i] = experiments[i]->name;
    }
    names[EXPERIMENTS] = "all";
    names[EXPERIMENTS + 1] = NULL;
    const char *closest = options_closest(name, names);
    if (closest != NULL)
        options_wrong(&command_lab, "there is no experiment '%s'; did you mean '%s'?", name, closest);
    else
        options_wrong(&command_lab, "there is no experiment '%s'", name);
    return NULL;
}

static int run(int count, char **operands)
{
    if (count == 0)
        return options_wrong(&command_lab, "which experiment? real, synthetic, speed, ablations, skew, bound, scaling, "
                                           "bytes or all");
    bool all = strcmp(operands[0], "all") == 0;
    const lab_experiment *one = all ? NULL : find_experiment(operands[0]);
    if (!all && one == NULL)
        return EXIT_WRONG_USAGE;
    static lab_plan plan;
    if (!make_plan(&plan))
        return EXIT_WRONG_USAGE;
    if (all || one == &lab_real) {
        plan.files = operands + 1;
        plan.file_count = count - 1;
    } else if (one == &lab_ablations && count > 1) {
        plan.checkpoints = operands + 1;
        plan.checkpoint_count = count - 1;
    } else if (count > 1) {
        return options_wrong(&command_lab, "'%s': %s takes no files", operands[1], one->name);
    }
    if (one == &lab_real && count == 1)
        return options_wrong(&command_lab, "real: name the files to measure on");
    if (one == &lab_ablations && plan.checkpoint_count == 0)
        return options_wrong(&command_lab, "ablations: name checkpoints, which 'legosketch train --checkpoint' keeps");
    if (!make_folder(given.folder))
        return EXIT_FAILED;
    if (all)
        return run_all(&plan);
    return run_one(&plan, one) == LAB_DONE ? EXIT_DONE : EXIT_FAILED;
}

const command command_lab = {
    .name = "lab",
    .summary = "measure what the paper claims",
    .synopsis = "EXPERIMENT [OPTION...] [FILE...]",
    .text = "Runs an experiment and writes DIR/EXPERIMENT.json: what was measured, and the\n"
            "command line, version, commit, machine, date and seeds. Errors are the mean absolute\n"
            "(aae) and the mean relative one (are) over all distinct items, at equal total bytes,\n"
            "with the constant 1 beside. 'legosketch report' makes a page of the results.\n\n"
            "Experiments:\n"
            "  real FILE...      errors on your streams by budget (Figure 4 of the paper)\n"
            "  synthetic         errors on Zipf streams by skewness and budget (Figures 5, 9)\n"
            "  speed             items stored and asked for a second (Figure 6)\n"
            "  ablations FILE... networks trained without a part, by load (Figure 7); FILEs are\n"
            "                    checkpoints of 'legosketch train'\n"
            "  skew              sub-skewness by rank and bricks: theorem, simulation (Figure 3)\n"
            "  bound             how often the bound of Theorem 4.3 is exceeded\n"
            "  scaling           from one brick of 100 KB to 140 MB, on streams as large as the\n"
            "                    paper's two largest\n"
            "  bytes             errors by bytes a distinct item, 0.25 to 8\n"
            "  all [FILE...]     all of them; one that fails does not lose the others' results",
    .examples = "  legosketch lab real --budget 300K,600K words.txt.xz clicks.u32.xz\n"
                "  legosketch lab synthetic --alphas 0.9 --methods lego,cms --seeds 5\n"
                "  legosketch lab scaling --scale 0.1\n"
                "  legosketch lab all --quick -o results words.txt.xz\n"
                "  legosketch report -o report.html results\n",
    .options = options,
    .run = run,
};
