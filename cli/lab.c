/* legosketch lab: the experiments, one or all of them, into a folder of results. */
#include "lab.h"

#include "say.h"
#include "values.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const lab_experiment lab_all = {.name = "all", .files = LAB_STREAMS};
static const lab_experiment *const experiments[] = {
    &lab_real, &lab_space, &lab_synthetic, &lab_speed, &lab_ablations,
    &lab_skew, &lab_bound, &lab_scaling,   &lab_bytes, &lab_all,
};
enum { EXPERIMENTS = sizeof experiments / sizeof *experiments - 1 }; /* without `all` */

static const char *folder = "lab-results", *methods, *budgets, *alphas, *models;
static lab_plan given = {.how = READING_INIT};

static const option_entry options[] = {
    {"output", 'o', OPTION_TEXT, "DIR", &folder, "folder of the results, made if it is not there (lab-results)"},
    {"methods", 0, OPTION_TEXT, "LIST", &methods,
     "methods of 'legosketch eval', separated by commas; one, the constant 1, is always among them (all but exact, "
     "rule-paper and the quarters; of space those of the paper, d-lego, lego and cqf)"},
    {"budget", 'b', OPTION_TEXT, "LIST", &budgets, "sizes such as 300K,600K, instead of the experiment's own"},
    {"alphas", 0, OPTION_TEXT, "LIST", &alphas,
     "skewnesses such as 0.7,1.1, instead of the experiment's own: synthetic, ablations, bound, bytes"},
    {"distinct", 'n', OPTION_U32, "N", &given.distinct,
     "distinct items of synthetic, ablations, bytes (100000) and bound (50000)"},
    {"scale", 0, OPTION_REAL, "S", &given.scale,
     "size of the streams of scaling (1, quick 0.01) and speed (0.1, quick 0.02) against the paper's"},
    {"seeds", 0, OPTION_U32, "N", &given.seeds, "the mean of so many hash seeds (3, scaling and quick 1)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "the first of them (0)"},
    {"threads", 't', OPTION_U32, "T", &given.threads, "threads to run trials on (as many as there are cores)"},
    OPTIONS_READING(given.how),
    {"models", 0, OPTION_TEXT, "LIST", &models, "files for the ablations of 'lab all'"},
    {"quick", 0, OPTION_FLAG, NULL, &given.quick, "fewer points, seeds and items: minutes instead of hours"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress bar, and do not say what was written"},
    {0},
};

/* ---- lists in options -------------------------------------------------------------------------------------------- */

const char *lab_take_kind(lab_plan *plan, const char *word, size_t length)
{
    const estimator_kind *kind = estimator_find(word, length);
    if (kind == NULL) return "a method; 'legosketch help eval' names them";
    plan->kinds[plan->kind_count++] = kind;
    return NULL;
}

const char *lab_take_size(lab_plan *plan, const char *word, size_t length)
{
    if (!value_size(word, length, &plan->budgets[plan->budget_count])) return "a size such as 300K";
    plan->budget_count++;
    return NULL;
}

static const char *take_budget(lab_plan *plan, const char *word, size_t length)
{
    const char *wrong = lab_take_size(plan, word, length);
    if (wrong != NULL) return wrong;
    uint64_t bytes = plan->budgets[plan->budget_count - 1];
    return bytes < LEGO_BUDGET_MIN   ? "a budget: the least is 4K"
           : bytes > LEGO_BUDGET_MAX ? "a budget: the largest is 64G"
                                     : NULL;
}

static const char *take_alpha(lab_plan *plan, const char *word, size_t length)
{
    char text[32];
    double *value = &plan->alphas[plan->alpha_count];
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : 0), word);
    if (!value_real(text, value) || *value > 10) return "a skewness from 0 to 10";
    plan->alpha_count++;
    return NULL;
}

/* Their names live as long as the program. */
static const char *take_model(lab_plan *plan, const char *word, size_t length)
{
    char *copy = strndup(word, length);
    if (copy == NULL) return "kept: memory ran out";
    plan->models[plan->model_count++] = copy;
    return NULL;
}

bool lab_list(const command *self, lab_plan *plan, const char *list, lab_take *take)
{
    for (int words = 0; list != NULL; words++) {
        size_t length = strcspn(list, ",");
        const char *wrong = words < LAB_LIST_MAX ? take(plan, list, length) : "needed: the list is too long";
        if (wrong != NULL) {
            options_wrong(self, "'%.*s' is not %s", (int)length, list, wrong);
            return false;
        }
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return true;
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

/* What the options say, as far as it holds for every experiment. */
static bool read_plan(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (given.threads == 0) given.threads = cores > 0 ? (uint32_t)cores : 1;
    return reading_check(&command_lab, &given.how) && lab_list(&command_lab, &given, methods, lab_take_kind) &&
           lab_list(&command_lab, &given, budgets, take_budget) && lab_list(&command_lab, &given, alphas, take_alpha) &&
           lab_list(&command_lab, &given, models, take_model);
}

/* Every method but the hash table, whose error is 0 at whatever bytes it takes, and what is a variant of another. */
static void add_every_kind(lab_plan *plan)
{
    for (const estimator_kind *const *kind = estimator_kinds; *kind != NULL && plan->kind_count < LAB_LIST_MAX; kind++)
        if (!(*kind)->by_name_only) plan->kinds[plan->kind_count++] = *kind;
}

static void add_own_kinds(lab_plan *plan, const lab_experiment *experiment)
{
    while (experiment->kinds[plan->kind_count] != NULL) {
        plan->kinds[plan->kind_count] = experiment->kinds[plan->kind_count];
        plan->kind_count++;
    }
    if (plan->kind_count == 0) add_every_kind(plan);
}

static void ensure_one(lab_plan *plan)
{
    for (size_t i = 0; i < plan->kind_count; i++)
        if (plan->kinds[i] == &estimator_one) return;
    plan->kinds[plan->kind_count++] = &estimator_one;
}

static uint32_t own_seeds(const lab_plan *plan, const lab_experiment *experiment)
{
    if (plan->quick) return 1;
    return experiment->seeds > 0 ? experiment->seeds : 3;
}

/* The same with what the experiment has of its own. */
static lab_plan plan_for(const lab_experiment *experiment)
{
    lab_plan plan = given;
    if (plan.kind_count == 0) add_own_kinds(&plan, experiment);
    ensure_one(&plan);
    if (plan.seeds == 0) plan.seeds = own_seeds(&plan, experiment);
    if (plan.distinct == 0) plan.distinct = experiment->distinct;
    if (!(plan.scale > 0)) plan.scale = plan.quick ? experiment->quick_scale : experiment->scale;
    for (size_t i = 0; given.alpha_count == 0 && experiment->alphas[i] > 0; i++)
        plan.alphas[plan.alpha_count++] = experiment->alphas[i];
    return plan;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Before the work starts: a folder that cannot be written would waste it. */
static bool make_folder(const char *path)
{
    char inside[PATH_MAX];
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    snprintf(inside, sizeof inside, "%.4000s/.", path); /* which only a folder has */
    if (made && access(inside, W_OK | X_OK) == 0) return true;
    return say("cannot %s the folder %s: %s", made ? "write into" : "make", path, strerror(errno));
}

static lab_result run_one(const lab_experiment *experiment)
{
    lab_plan plan = plan_for(experiment);
    record into = record_begin(experiment->name, experiment->title, experiment->figure, plan.seed, plan.seeds);
    lab_result result = experiment->run(&plan, &into);
    char path[PATH_MAX + 32]; /* the folder is there, so its name is not longer than names may be */
    snprintf(path, sizeof path, "%s/%s.json", folder, experiment->name);
    bool empty = into.top.ok && record_rows(&into) == 0; /* else it is memory that is missing, which is said */
    if (result <= LAB_PARTIAL && (empty || !record_write_file(&into, path, given.quiet))) result = LAB_FAILED;
    record_free(&into);
    if (result == LAB_PARTIAL) say("%s: some of it failed; the rest is kept", experiment->name);
    if (result == LAB_FAILED) say("%s: failed, nothing is written", experiment->name);
    return result;
}

/* Whatever fails, the others still run, and what they found is kept. */
static int run_all(void)
{
    int failed = 0;
    for (int i = 0; i < EXPERIMENTS; i++) {
        lab_result result = run_one(experiments[i]);
        if (result == LAB_LEFT_OUT)
            say("%s: left out, %s", experiments[i]->name,
                experiments[i]->files == LAB_STREAMS ? "since no file is given" : "since no --models are given");
        else failed += result != LAB_DONE;
    }
    if (failed > 0) say("%d of %d experiments failed, in part or as a whole", failed, EXPERIMENTS);
    return failed > 0 ? EXIT_FAILED : EXIT_DONE;
}

static const lab_experiment *find_experiment(const char *name)
{
    const char *names[EXPERIMENTS + 2];
    for (int i = 0; i <= EXPERIMENTS; i++) {
        if (strcmp(experiments[i]->name, name) == 0) return experiments[i];
        names[i] = experiments[i]->name;
    }
    names[EXPERIMENTS + 1] = NULL;
    const char *closest = options_closest(name, names);
    options_wrong(&command_lab, "there is no experiment '%s'%s%s%s", name, closest != NULL ? "; did you mean '" : "",
                  closest != NULL ? closest : "", closest != NULL ? "'?" : "");
    return NULL;
}

/* The files behind an experiment's name; false if they are not for it, which is said. */
static bool take_files(const lab_experiment *one, int count, char **files)
{
    if (one->files == LAB_STREAMS) {
        given.files = files;
        given.file_count = count;
    } else if (one->files == LAB_MODELS && count > 0) { /* instead of those of the option */
        given.model_count = 0;
        for (int i = 0; i < count && i < LAB_LIST_MAX; i++) given.models[given.model_count++] = files[i];
    } else if (count > 0) {
        options_wrong(&command_lab, "'%s': %s takes no files", files[0], one->name);
        return false;
    }
    if (one->files == LAB_STREAMS && one != &lab_all && count == 0)
        options_wrong(&command_lab, "%s: name the files to measure on", one->name);
    else if (one->files == LAB_MODELS && given.model_count == 0)
        options_wrong(&command_lab, "%s: name models, which 'legosketch train' makes", one->name);
    else return true;
    return false;
}

static int run(int count, char **operands)
{
    if (count == 0)
        return options_wrong(&command_lab, "which experiment? real, space, synthetic, speed, ablations, skew, bound, "
                                           "scaling, bytes or all");
    const lab_experiment *one = find_experiment(operands[0]);
    if (one == NULL || !read_plan() || !take_files(one, count - 1, operands + 1)) return EXIT_WRONG_USAGE;
    if (!make_folder(folder)) return EXIT_FAILED;
    if (one == &lab_all) return run_all();
    return run_one(one) == LAB_DONE ? EXIT_DONE : EXIT_FAILED;
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
            "  real FILE...      errors on your streams by budget (Figure 6 of the paper)\n"
            "  space FILE...     the same from 0.125 to 15 bytes a distinct item (Figure 2)\n"
            "  synthetic         errors on Zipf streams by skewness and budget (Figures 7, 10)\n"
            "  speed             items stored and asked for a second (Figure 8)\n"
            "  ablations FILE... errors of models trained without a part, by skewness and budget,\n"
            "                    with the rule of the first FILE beside (Figure 9); FILEs are\n"
            "                    models of 'legosketch train'\n"
            "  skew              sub-skewness by rank and bricks: theorem, simulation (Figure 5)\n"
            "  bound             how often the bound of Theorem 4.3 is exceeded\n"
            "  scaling           from one brick of 100 KB to 140 MB, on streams as large as the\n"
            "                    paper's two largest (Figure 6, Wiki and Webdocs), with one seed,\n"
            "                    since three would take hours\n"
            "  bytes             errors by bytes a distinct item, 0.25 to 8\n"
            "  all [FILE...]     all of them; one that fails does not lose the others' results",
    .examples = "  legosketch lab real --budget 300K,600K words.txt.xz clicks.u32.xz\n"
                "  legosketch lab synthetic --alphas 0.9 --methods lego,cms --seeds 5\n"
                "  legosketch lab ablations complete.lego no-scan.lego\n"
                "  legosketch lab scaling --scale 0.1\n"
                "  legosketch lab all --quick -o results words.txt.xz\n"
                "  legosketch report -o report.html results\n",
    .options = options,
    .run = run,
};
