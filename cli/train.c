/* legosketch train: the networks of a model from nothing but a seed. */
#include "ms_train.h"
#include "options.h"
#include "output.h"
#include "paper.h"
#include "say.h"
#include "train_score.h"
#include "training.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A recipe in which nothing was asked for. */
#define NOTHING_ASKED                                                                                                  \
    {                                                                                                                  \
        .tasks = UINT64_MAX, .batch = UINT32_MAX, .n_min = UINT32_MAX, .scouts = UINT64_MAX, .fall = UINT32_MAX,       \
        .rate = -1, .alpha_max = -1, .scale_min = -1, .scale_max = -1, .rate_table = -1, .scout_alpha_max = -1,        \
        .rate_end = -1                                                                                                 \
    }

static struct {
    int preset, backend;
    uint64_t every;
    const char *output, *name, *checkpoint, *log, *score;
    uint32_t threads;
    bool resume, quiet;
    struct recipe recipe; /* what is asked for instead of the preset's */
} given = {.recipe = NOTHING_ASKED};

enum { BACKEND_CPU, BACKEND_CUDA };

static const struct {
    const char *name; /* of the model unless another is given */
    struct recipe (*recipe)(void);
} presets[] = {{"paper", recipe_ours},  {"paper", recipe_published}, {"paper", recipe_authors},
               {"paper", recipe_quick}, {"ms", ms_recipe_ours},      {"ms", ms_recipe_published}};

static const option_entry options[] = {
    {"out", 'o', OPTION_TEXT, "FILE", &given.output, "write the model here; - is standard output"},
    {"preset", 'p', OPTION_CHOICE, "ours|published|authors|quick|ms-ours|ms-published", &given.preset,
     "ours: as models/paper.lego; published: as the paper's text says; authors: as their code does; each 4000000 "
     "tasks; quick: 72000; ms-ours, ms-published: the meta-sketch, a competitor, 5000000 (ours)"},
    {"tasks", 0, OPTION_U64, "N", &given.recipe.tasks,
     "so many instead: a multiple of a step's, which are 8; of ms any number"},
    {"batch", 0, OPTION_U32, "N", &given.recipe.batch, "of ms: tasks of a step, 1 to 8 (8; published 1)"},
    {"scale-min", 0, OPTION_REAL, "S", &given.recipe.scale_min,
     "the least frequency of a task is from here (0.5; published 1) to 10; of ms its mean, less 1 (1)"},
    {"scale-max", 0, OPTION_REAL, "S", &given.recipe.scale_max,
     "of ms: mean frequencies of tasks up to 1 + S, their logarithms alike (600; published 2 to 11, alike themselves)"},
    {"seed", 's', OPTION_U64, "S", &given.recipe.seed, "of tasks and first weights (0)"},
    {"backend", 0, OPTION_CHOICE, "cpu|cuda", &given.backend, "what computes (cpu)"},
    {"threads", 't', OPTION_U32, "T", &given.threads, "threads of the CPU (as many as there are cores)"},
    {"name", 0, OPTION_TEXT, "NAME", &given.name, "name of the model: 1 to 15 of a-z 0-9 - and dot (paper)"},
    {"checkpoint", 'c', OPTION_TEXT, "FILE", &given.checkpoint,
     "keep a checkpoint here; else there is one at the output's name with .checkpoint until the model is written"},
    {"every", 0, OPTION_U64, "N", &given.every, "steps between two checkpoints (a hundredth of them)"},
    {"resume", 'r', OPTION_FLAG, NULL, &given.resume, "go on from the checkpoint"},
    {"log", 'l', OPTION_TEXT, "FILE", &given.log, "write losses and errors here, a JSON object a line"},
    {"from-rule", 0, OPTION_FLAG, NULL, &given.recipe.from_rule,
     "for research: start with a decoder that answers as the rule does, like quick"},
    {"fixed-v", 0, OPTION_FLAG, NULL, &given.recipe.fixed_table, "for research: V stays as it starts"},
    {"no-normalisation", 0, OPTION_FLAG, NULL, &given.recipe.no_norm, "for research: embeddings are V itself"},
    {"no-scan", 0, OPTION_FLAG, NULL, &given.recipe.no_scan, "for research: without memory scanning"},
    {"plain-loss", 0, OPTION_FLAG, NULL, &given.recipe.plain_loss,
     "for research: errors without the rule as their guide"},
    {"n-min", 0, OPTION_U32, "N", &given.recipe.n_min,
     "for research: no task has fewer items (8000; published and authors 1000; quick 10000)"},
    {"alpha-max", 0, OPTION_REAL, "A", &given.recipe.alpha_max, "for research: no task is of more skewness (1)"},
    {"scouts", 0, OPTION_U64, "N", &given.recipe.scouts,
     "for research: so many of a step's 8 tasks, of 1000 items or more, are for the scan alone (1; other presets 0)"},
    {"scout-alpha", 0, OPTION_REAL, "A", &given.recipe.scout_alpha_max,
     "for research: the --alpha-max of scouts (1.4)"},
    {"rate", 0, OPTION_REAL, "R", &given.recipe.rate,
     "for research: learning rate of the networks (0.001; published ms 0.0001)"},
    {"rate-end", 0, OPTION_REAL, "R", &given.recipe.rate_end,
     "of ms: the rate falls to this in the second half (0.00001, or as --rate)"},
    {"rate-v", 0, OPTION_REAL, "R", &given.recipe.rate_table,
     "for research: learning rate of V (0.00005; published 0.001; authors 0.0001; quick 0.0003)"},
    {"fall", 0, OPTION_CHOICE, "stages|late|linear", &given.recipe.fall,
     "for research: how learning rates fall (stages, to 0.126; authors late, to 0.158; published linear, to 0.1)"},
    {"last-step", 0, OPTION_FLAG, NULL, &given.recipe.last_step,
     "for research: the model is the last step, not the average of the last fiftieth; as published and authors"},
    {"score", 0, OPTION_TEXT, "FILE", &given.score,
     "print the errors of a checkpoint's networks by the number of items in a brick, and train nothing"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress"},
    {0},
};

static const struct backend *chosen_backend(void)
{
    if (given.backend == BACKEND_CPU) return &backend_cpu;
#ifdef HAVE_CUDA
    return &backend_cuda;
#else
    say("this build has no CUDA: 'make gpu' makes one that has, where the CUDA toolkit (nvcc) is installed");
    return NULL;
#endif
}

/* ---- what the options add up to --------------------------------------------------------------------------------- */

static bool asked_for(const struct recipe_field *field)
{
    static const struct recipe nothing = NOTHING_ASKED;
    return recipe_bits(&given.recipe, field) != recipe_bits(&nothing, field);
}

/* What follows from options for other fields. */
static void settle(struct recipe *recipe)
{
    const struct recipe *asked = &given.recipe;
    bool scouts_asked = asked->scouts != UINT64_MAX;
    if (recipe->net == NET_PAPER) {
        if (scouts_asked) recipe_scout(recipe, asked->scouts);
        else if (recipe->no_scan) recipe_scout(recipe, 0);
        if (asked->scout_alpha_max >= 0 && recipe->scouts > 0) recipe->scout_alpha_max = (float)asked->scout_alpha_max;
        if (asked->alpha_max >= 0) recipe->alpha_max = (float)asked->alpha_max; /* as all of the paper's numbers */
        if (asked->rate >= 0) recipe->rate = (float)asked->rate;
        if (asked->rate_table >= 0) recipe->rate_table = (float)asked->rate_table;
    } else if (recipe->net == NET_MS) {
        if (asked->scale_max >= 0) recipe->log_scale = true;
        if (asked->rate >= 0 && asked->rate_end < 0) recipe->rate_end = recipe->rate;
    }
}

/* The preset's recipe with all that is asked for; says what is wrong. 0 if nothing is. */
static int choose_recipe(struct recipe *recipe)
{
    *recipe = presets[given.preset].recipe();
    for (const struct recipe_field *f = recipe_fields; f < recipe_fields + RECIPE_FIELDS; f++) {
        if (!asked_for(f)) continue;
        if ((f->nets >> recipe->net & 1) == 0)
            return options_wrong(&command_train, "%s means nothing to the net %s", f->option, net_of(recipe)->name);
        recipe_set_bits(recipe, f, recipe_bits(&given.recipe, f));
    }
    settle(recipe);
    if (given.recipe.scout_alpha_max >= 0 && recipe->scouts == 0)
        return options_wrong(&command_train, "--scout-alpha is of scouts, and without --scouts there are none");
    const char *problem = recipe_problem(recipe);
    return problem != NULL ? options_wrong(&command_train, "%s", problem) : 0;
}

static int keep(void *context, const void *bytes, size_t size)
{
    unsigned char **at = context;
    memcpy(*at, bytes, size);
    *at += size;
    return 0;
}

/* Whether a model of that name can be read back: the library knows what a name is. */
static bool name_works(const struct run *run)
{
    static unsigned char bytes[4 * NET_PARAMETERS];
    unsigned char *at = bytes;
    lego_model *model = NULL;
    bool ok = net_of(&run->recipe)->save(&run->recipe, &run->state, given.name, keep, &at) == LEGO_OK &&
              lego_model_load(bytes, (size_t)(at - bytes), NULL, &model) == LEGO_OK;
    lego_model_destroy(model);
    return ok;
}

/* Says which option is missing or impossible; 0 if none is. */
static int check_options(const struct run *run)
{
    const char *checkpoint = given.checkpoint;
    if (given.output == NULL) return options_wrong(&command_train, "--out FILE is missing: where should the model go?");
    if (run->recipe.net == NET_MS && given.name != NULL)
        return options_wrong(&command_train, "a model of the net ms has no --name");
    if (given.name == NULL) given.name = presets[given.preset].name;
    if (run->recipe.net != NET_MS && !name_works(run))
        return options_wrong(&command_train, "a model cannot be called '%s': 1 to 15 of a-z 0-9 - and dot", given.name);
    if (strcmp(given.output, "-") == 0 && given.resume && checkpoint == NULL)
        return options_wrong(&command_train, "--resume needs --checkpoint FILE if the model goes to standard output");
    if ((checkpoint != NULL && strcmp(checkpoint, given.output) == 0) ||
        (given.log != NULL && strcmp(given.log, given.output) == 0) ||
        (given.log != NULL && checkpoint != NULL && strcmp(given.log, checkpoint) == 0))
        return options_wrong(&command_train, "--out, --checkpoint and --log must be different files");
    return 0;
}

/* FILE.checkpoint; NULL if there is no memory. */
static char *default_checkpoint(void)
{
    size_t size = strlen(given.output) + sizeof ".checkpoint";
    char *path = malloc(size);
    if (path == NULL) say_no_memory();
    else snprintf(path, size, "%s.checkpoint", given.output);
    return path;
}

/* Whether files can be written, and those of an earlier run are not overwritten. */
static bool check_files(const training_files *files)
{
    if (!output_check(files->output, files->log)) return false;
    if (files->checkpoint != NULL &&
        (!output_check(files->checkpoint, files->log) || !output_check(files->checkpoint, files->output)))
        return false;
    bool there = files->checkpoint != NULL && (access(files->checkpoint, F_OK) == 0 || errno != ENOENT);
    if (files->resume && !there)
        say("there is no checkpoint %s to go on from; without --resume the run starts at the beginning",
            files->checkpoint);
    else if (!files->resume && there)
        say("%s is there already: --resume goes on with it; to start afresh, remove it or name another --checkpoint",
            files->checkpoint);
    return files->resume == there;
}

static bool train(struct run *run)
{
    const struct backend *backend = chosen_backend();
    uint64_t steps = recipe_steps(&run->recipe);
    training_files files = {.output = given.output,
                            .name = given.name,
                            .checkpoint = given.checkpoint,
                            .log = given.log,
                            .every = given.every,
                            .resume = given.resume,
                            .quiet = given.quiet,
                            .keep_checkpoint = given.checkpoint != NULL};
    if (files.every == 0) files.every = steps > 100 ? steps / 100 : 1;
    char *path = NULL;
    if (backend == NULL) return false;
    if (given.checkpoint == NULL && strcmp(given.output, "-") != 0) {
        path = default_checkpoint();
        if (path == NULL) return false;
        files.checkpoint = path;
    }
    bool ok = check_files(&files) && (!files.resume || training_load(files.checkpoint, run)) &&
              training_run(backend, given.threads, run, &files);
    free(path);
    return ok;
}

/* ----------------------------------------------------------------------------------------------------------------- */

static bool score_checkpoint(void)
{
    const struct backend *backend = chosen_backend();
    return backend != NULL && train_score(backend, given.threads, given.score);
}

static int run(int count, char **operands)
{
    static struct run run;
    if (count > 0)
        return options_wrong(&command_train, "'%s': it takes no argument, tasks are drawn from the seed", operands[0]);
    if (given.score != NULL) return score_checkpoint() ? EXIT_DONE : EXIT_FAILED;
    int wrong = choose_recipe(&run.recipe);
    if (wrong != 0) return wrong;
    state_start(&run.recipe, &run.state);
    wrong = check_options(&run);
    if (wrong != 0) return wrong;
    return train(&run) ? EXIT_DONE : EXIT_FAILED;
}

const command command_train = {
    .name = "train",
    .summary = "train the networks of a model",
    .synopsis = "-o FILE [OPTION...]",
    .text = "Trains networks on synthetic streams drawn from the seed, and writes\n"
            "the model. The same seed gives the same model on the same kind of machine. A run\n"
            "that was stopped, by a signal or worse, goes on with --resume to the identical\n"
            "result.",
    .examples = "  legosketch train --preset quick -o quick.lego --name quick --log quick.jsonl\n"
                "  legosketch train --preset ours --backend cuda -o paper.lego\n"
                "  legosketch train --preset ms-ours --backend cuda -o models/ms.lego\n"
                "  legosketch train --score quick.checkpoint\n",
    .options = options,
    .run = run,
};
