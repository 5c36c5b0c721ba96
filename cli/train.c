/* legosketch train: the paper's networks from nothing but a seed.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "options.h"
#include "output.h"
#include "say.h"
#include "train_compact.h"
#include "train_ms.h"
#include "train_score.h"
#include "training.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    int preset, backend;
    uint64_t tasks, seed, every;
    const char *output, *name, *checkpoint, *log, *score;
    uint32_t threads, n_min, batch;
    uint64_t scouts; /* UINT64_MAX: not given */
    double alpha_max, scout_alpha, rate, rate_v, rate_end, scale_max; /* negative: not given */
    bool resume, from_rule, fixed_v, no_normalisation, no_scan, plain_loss, bench, quiet;
} given = {.scouts = UINT64_MAX, .alpha_max = -1, .scout_alpha = -1, .rate = -1, .rate_v = -1, .rate_end = -1, .scale_max = -1};

enum { PRESET_PAPER, PRESET_PUBLISHED, PRESET_QUICK, PRESET_COMPACT, PRESET_MS, PRESET_MS_PUBLISHED };
enum { BACKEND_CPU, BACKEND_CUDA };

static const option_entry options[] = {
    {"out", 'o', OPTION_TEXT, "FILE", &given.output, "write the model here; - is standard output"},
    {"preset", 'p', OPTION_CHOICE, "paper|published|quick|compact|ms|ms-published", &given.preset,
     "paper: 4000000 tasks, as models/paper.lego; published: as the paper's code does it; quick: 72000 tasks; "
     "compact: the networks for blocks, in minutes; ms, ms-published: the meta-sketch, a competitor, 5000000 tasks (paper)"},
    {"tasks", 0, OPTION_U64, "N", &given.tasks, "so many instead: a multiple of 8, which is a step; of ms any number"},
    {"batch", 0, OPTION_U32, "N", &given.batch, "of ms: tasks of a step, 1 to 8 (8; published 1)"},
    {"scale-max", 0, OPTION_REAL, "S", &given.scale_max,
     "of ms: mean frequencies of tasks up to 1 + S, their logarithms alike (600; published 2 to 11, alike themselves)"},
    {"seed", 's', OPTION_U64, "S", &given.seed, "of tasks and first weights (0)"},
    {"backend", 0, OPTION_CHOICE, "cpu|cuda", &given.backend, "what computes (cpu)"},
    {"threads", 't', OPTION_U32, "T", &given.threads, "threads of the CPU (as many as there are cores)"},
    {"name", 0, OPTION_TEXT, "NAME", &given.name, "name of the model: 1 to 15 of a-z 0-9 - and dot (paper, or compact)"},
    {"checkpoint", 'c', OPTION_TEXT, "FILE", &given.checkpoint,
     "keep a checkpoint here; else there is one at the output's name with .checkpoint until the model is written"},
    {"every", 0, OPTION_U64, "N", &given.every, "steps between two checkpoints (a hundredth of them)"},
    {"resume", 'r', OPTION_FLAG, NULL, &given.resume, "go on from the checkpoint"},
    {"log", 'l', OPTION_TEXT, "FILE", &given.log, "write losses and errors here, a JSON object a line"},
    {"from-rule", 0, OPTION_FLAG, NULL, &given.from_rule,
     "for research: start with a decoder that answers as the rule does, like quick"},
    {"fixed-v", 0, OPTION_FLAG, NULL, &given.fixed_v, "for research: V stays as it starts"},
    {"no-normalisation", 0, OPTION_FLAG, NULL, &given.no_normalisation, "for research: embeddings are V itself"},
    {"no-scan", 0, OPTION_FLAG, NULL, &given.no_scan, "for research: without memory scanning"},
    {"plain-loss", 0, OPTION_FLAG, NULL, &given.plain_loss, "for research: errors without the rule as their guide"},
    {"n-min", 0, OPTION_U32, "N", &given.n_min, "for research: no task has fewer items (8000; published 1000; quick 10000)"},
    {"alpha-max", 0, OPTION_REAL, "A", &given.alpha_max, "for research: no task is of more skewness (1)"},
    {"scouts", 0, OPTION_U64, "N", &given.scouts,
     "for research: so many of a step's 8 tasks, of 1000 items or more, are for the scan alone (1; published and quick 0)"},
    {"scout-alpha", 0, OPTION_REAL, "A", &given.scout_alpha, "for research: the --alpha-max of scouts (1.4)"},
    {"rate", 0, OPTION_REAL, "R", &given.rate, "for research: learning rate of the networks (0.001; published ms 0.0001)"},
    {"rate-end", 0, OPTION_REAL, "R", &given.rate_end,
     "of ms: the rate falls to this in the second half (0.00001, or as --rate)"},
    {"rate-v", 0, OPTION_REAL, "R", &given.rate_v, "for research: learning rate of V (0.00005; published 0.0001; quick 0.0003)"},
    {"score", 0, OPTION_TEXT, "FILE", &given.score,
     "print the errors of a checkpoint's networks by the number of items in a brick, and train nothing"},
    {"bench", 0, OPTION_FLAG, NULL, &given.bench,
     "measure the CPU backend against the machine's peak, and train nothing"},
    {"quiet", 'q', OPTION_FLAG, NULL, &given.quiet, "no progress"},
    {0},
};

#ifndef HAVE_CUDA
static void say_no_cuda(void)
{
    say("this build has no CUDA: 'make gpu' makes one that has, where the CUDA toolkit (nvcc) is installed");
}
#endif

static const struct backend *chosen_backend(void)
{
    if (given.backend == BACKEND_CPU)
        return &backend_cpu;
#ifdef HAVE_CUDA
    return &backend_cuda;
#else
    say_no_cuda();
    return NULL;
#endif
}

static const struct ms_backend *chosen_ms_backend(void)
{
    if (given.backend == BACKEND_CPU)
        return &ms_backend_cpu;
#ifdef HAVE_CUDA
    return &ms_backend_cuda;
#else
    say_no_cuda();
    return NULL;
#endif
}

/* ---- what the options add up to --------------------------------------------------------------------------------- */

/* What the options for research change of a preset's numbers. */
static void change_numbers(struct recipe *recipe)
{
    if (given.n_min != 0)
        recipe->n_min = given.n_min;
    if (given.alpha_max >= 0)
        recipe->alpha_max = (float)given.alpha_max;
    if (given.rate >= 0)
        recipe->rate = (float)given.rate;
    if (given.rate_v >= 0)
        recipe->rate_table = (float)given.rate_v;
    if (given.scouts == 0 || recipe->no_scan) /* where they are asked for nevertheless, that is refused */
        recipe->scouts = 0;
    if (given.scouts > 0 && given.scouts != UINT64_MAX) {
        recipe->scouts = given.scouts < TRAIN_BATCH ? (uint32_t)given.scouts : TRAIN_BATCH; /* which is refused */
        recipe->scout_n_min = 1000;
        recipe->scout_alpha_max = 1.4F;
    }
    if (given.scout_alpha >= 0)
        recipe->scout_alpha_max = (float)given.scout_alpha;
}

static struct recipe chosen_recipe(void)
{
    struct recipe recipe = given.preset == PRESET_QUICK       ? recipe_quick()
                           : given.preset == PRESET_PUBLISHED ? recipe_published()
                                                              : recipe_paper();
    recipe.seed = given.seed;
    recipe.tasks = given.tasks != 0 ? given.tasks : recipe.tasks;
    recipe.from_rule |= given.from_rule;
    recipe.fixed_table = given.fixed_v;
    recipe.no_norm = given.no_normalisation;
    recipe.no_scan = given.no_scan;
    recipe.plain_loss = given.plain_loss;
    change_numbers(&recipe);
    return recipe;
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
    static unsigned char bytes[TRAIN_PARAMETERS * 4 + 1024];
    unsigned char *at = bytes;
    lego_model *model = NULL;
    bool ok = train_export(&run->recipe, run->state.average, given.name, keep, &at) == LEGO_OK &&
              lego_model_load(bytes, (size_t)(at - bytes), NULL, &model) == LEGO_OK;
    lego_model_destroy(model);
    return ok;
}

/* Says what is wrong with the options that name files; 0 if nothing is. */
static int check_file_options(void)
{
    bool to_stdout = strcmp(given.output, "-") == 0;
    if (to_stdout && given.resume && given.checkpoint == NULL)
        return options_wrong(&command_train, "--resume needs --checkpoint FILE if the model goes to standard output");
    if ((given.checkpoint != NULL && strcmp(given.checkpoint, given.output) == 0) ||
        (given.log != NULL && strcmp(given.log, given.output) == 0) ||
        (given.log != NULL && given.checkpoint != NULL && strcmp(given.log, given.checkpoint) == 0))
        return options_wrong(&command_train, "--out, --checkpoint and --log must be different files");
    return 0;
}

/* Says which option is missing or impossible; 0 if none is. */
static int check_options(int count, char **operands, const struct recipe *recipe)
{
    if (count > 0)
        return options_wrong(&command_train, "'%s': it takes no argument, tasks are drawn from the seed", operands[0]);
    if (given.bench || given.score != NULL)
        return 0;
    if (given.output == NULL)
        return options_wrong(&command_train, "--out FILE is missing: where should the model go?");
    if (given.scout_alpha >= 0 && recipe->scouts == 0)
        return options_wrong(&command_train, "--scout-alpha is of scouts, and without --scouts there are none");
    if (given.batch != 0 || given.scale_max >= 0 || given.rate_end >= 0)
        return options_wrong(&command_train, "--batch, --scale-max and --rate-end are of --preset ms");
    const char *problem = recipe_problem(recipe);
    if (problem != NULL)
        return options_wrong(&command_train, "%s", problem);
    return check_file_options();
}

/* FILE.checkpoint; NULL if there is no memory. */
static char *default_checkpoint(void)
{
    size_t size = strlen(given.output) + sizeof ".checkpoint";
    char *path = malloc(size);
    if (path == NULL)
        say_no_memory();
    else
        snprintf(path, size, "%s.checkpoint", given.output);
    return path;
}

/* Whether files can be written, and those of an earlier run are not overwritten. */
static bool check_files(const training_files *files)
{
    if (!output_check(files->output) || (files->checkpoint != NULL && !output_check(files->checkpoint)))
        return false;
    bool there = files->checkpoint != NULL && access(files->checkpoint, F_OK) == 0;
    if (files->resume && !there)
        say("there is no checkpoint %s to go on from; without --resume the run starts at the beginning",
            files->checkpoint);
    else if (!files->resume && there)
        say("%s is there already: --resume goes on with it; to start afresh, remove it or name another --checkpoint",
            files->checkpoint);
    return files->resume == there;
}

/* Starts, or goes on; one of the two runs is NULL. */
static bool start(struct run *run, struct ms_run *ms, const training_files *files)
{
    if (run != NULL) {
        const struct backend *backend = chosen_backend();
        return backend != NULL && (!files->resume || training_load(files->checkpoint, run)) &&
               training_run(backend, given.threads, run, files);
    }
    const struct ms_backend *backend = chosen_ms_backend();
    return backend != NULL && (!files->resume || train_ms_load(files->checkpoint, ms)) &&
           train_ms(backend, given.threads, ms, files);
}

static bool train(uint64_t steps, struct run *run, struct ms_run *ms)
{
    training_files files = {.output = given.output, .name = given.name, .checkpoint = given.checkpoint,
                            .log = given.log, .every = given.every, .resume = given.resume, .quiet = given.quiet,
                            .keep_checkpoint = given.checkpoint != NULL};
    if (files.every == 0)
        files.every = steps > 100 ? steps / 100 : 1;
    char *path = NULL;
    if (given.checkpoint == NULL && strcmp(given.output, "-") != 0) {
        path = default_checkpoint();
        if (path == NULL)
            return false;
        files.checkpoint = path;
    }
    bool ok = check_files(&files) && start(run, ms, &files);
    free(path);
    return ok;
}

/* ---- the bench -------------------------------------------------------------------------------------------------- */

static int bench(void)
{
    struct train_bench result;
    if (!train_bench(given.threads, &result)) {
        say_no_memory();
        return EXIT_FAILED;
    }
    printf("%s\n", result.description);
    printf("peak       %7.1f GFLOP/s, multiply-adds in registers\n", result.peak * 1e-9);
    printf("forward    %7.1f GFLOP/s, %2.0f %% of peak: the decoder\n", result.forward * 1e-9,
           100 * result.forward / result.peak);
    printf("backward   %7.1f GFLOP/s, %2.0f %%\n", result.backward * 1e-9, 100 * result.backward / result.peak);
    printf("both       %7.1f GFLOP/s, %2.0f %%\n", result.both * 1e-9, 100 * result.both / result.peak);
    printf("training   %7.1f tasks/s, whole steps of the paper's recipe\n", result.tasks);
    return EXIT_DONE;
}

/* ----------------------------------------------------------------------------------------------------------------- */

/* What the compact preset has no use for; 0 if none of it is given. */
static int check_compact(void)
{
    if (given.backend != BACKEND_CPU || given.resume || given.checkpoint != NULL || given.scouts != UINT64_MAX || given.fixed_v ||
        given.from_rule || given.no_normalisation || given.no_scan || given.plain_loss)
        return options_wrong(&command_train, "--preset compact trains on the CPU in minutes, without checkpoints: of the "
                                             "options it takes --out, --seed, --name, --log, --threads and --quiet");
    return 0;
}

/* The meta-sketch shares no more than a few options with the others. */
static int run_ms(int count, char **operands)
{
    static struct ms_run run;
    run.recipe = given.preset == PRESET_MS ? ms_recipe_ours() : ms_recipe_published();
    run.recipe.seed = given.seed;
    if (given.tasks != 0)
        run.recipe.tasks = given.tasks;
    if (given.batch != 0)
        run.recipe.batch = given.batch;
    if (given.rate >= 0)
        run.recipe.rate = run.recipe.rate_end = given.rate;
    if (given.rate_end >= 0)
        run.recipe.rate_end = given.rate_end;
    if (given.scale_max >= 0) {
        run.recipe.scale_max = given.scale_max;
        run.recipe.log_scale = 1;
    }
    if (count > 0)
        return options_wrong(&command_train, "'%s': it takes no argument, tasks are drawn from the seed", operands[0]);
    if (given.output == NULL)
        return options_wrong(&command_train, "--out FILE is missing: where should the model go?");
    bool numbers = given.scouts != UINT64_MAX || given.scout_alpha >= 0 || given.alpha_max >= 0 || given.rate_v >= 0 ||
                   given.n_min != 0;
    bool changed = given.fixed_v || given.from_rule || given.no_normalisation || given.no_scan || given.plain_loss;
    if (numbers || changed || given.name != NULL)
        return options_wrong(&command_train, "of the options that change a recipe --preset ms takes --seed, --tasks, "
                                             "--batch, --scale-max, --rate and --rate-end; and its model has no --name");
    const char *problem = ms_recipe_problem(&run.recipe);
    if (problem != NULL)
        return options_wrong(&command_train, "%s", problem);
    int wrong = check_file_options();
    if (wrong != 0)
        return wrong;
    ms_state_start(&run.recipe, &run.state);
    return train(ms_recipe_steps(&run.recipe), NULL, &run) ? EXIT_DONE : EXIT_FAILED;
}

static int run(int count, char **operands)
{
    if (given.preset >= PRESET_MS && !given.bench && given.score == NULL)
        return run_ms(count, operands);
    static struct run run;
    bool compact = given.preset == PRESET_COMPACT;
    if (given.name == NULL)
        given.name = compact ? "compact" : "paper";
    run.recipe = chosen_recipe();
    int wrong = check_options(count, operands, &run.recipe);
    if (wrong != 0)
        return wrong;
    if (given.bench)
        return bench();
    state_start(&run.recipe, &run.state);
    if (!name_works(&run))
        return options_wrong(&command_train, "a model cannot be called '%s': 1 to 15 of a-z 0-9 - and dot", given.name);
    if (compact && given.score == NULL) {
        wrong = check_compact();
        if (wrong != 0)
            return wrong;
        return train_compact(given.seed, given.threads, given.output, given.name, given.log, given.quiet) ? EXIT_DONE
                                                                                                          : EXIT_FAILED;
    }
    if (given.score != NULL) {
        const struct backend *backend = chosen_backend();
        return backend != NULL && train_score(backend, given.threads, given.score) ? EXIT_DONE : EXIT_FAILED;
    }
    return train(recipe_steps(&run.recipe), &run, NULL) ? EXIT_DONE : EXIT_FAILED;
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
                "  legosketch train --preset paper --backend cuda -o paper.lego\n"
                "  legosketch train --preset compact -o compact.lego --log compact.jsonl\n"
                "  legosketch train --preset ms --backend cuda -o models/ms.lego\n"
                "  legosketch train --score quick.checkpoint\n"
                "  legosketch train --bench\n",
    .options = options,
    .run = run,
};
