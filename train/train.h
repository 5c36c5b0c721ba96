/* train: what all training has in common. Two nets are trained: the paper's (paper.h) and the meta-sketch, a competitor
 * (ms_train.h). Each is an arena of floats that starts from a seed, and a gradient of synthetic tasks; one Adam, one
 * checkpoint, one loop and one log do the rest.
 *
 *     train.h       a recipe, the state of a run, a net    recipe.c      what a recipe is made of, where two differ
 *     adam.h        from a gradient to new parameters      checkpoint.c  a run as bytes
 *     backend.h     what computes steps                    cpu.c         the CPU: any net, a thread a task
 *     layers.h      x_forward / x_backward of a layer      cuda/         the GPU: session.cu and a file for each net
 * The loop around the steps, with its log and its files, is cli/training.c.
 *
 * Everything random follows from the seed and the number of the task, so a run can stop anywhere and go on, and a
 * backend gives the same weights every time. */
#pragma once

#include "legosketch.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Before a function that CPU and GPU compute with alike. */
#ifdef __CUDACC__
#define BOTH static inline __host__ __device__
#else
#define BOTH static inline
#endif

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

/* Output k of SplitMix64 (Steele, Lea, Flood 2014) from a state; the first is output 1. */
BOTH uint64_t split_mix(uint64_t state, uint64_t k)
{
    uint64_t z = state + k * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* [0, 1), from the top 53 bits. */
BOTH double split_mix_unit(uint64_t state, uint64_t k)
{
    return (double)(split_mix(state, k) >> 11) * 0x1p-53;
}

/* A task's own state, from which all of it is drawn. */
BOTH uint64_t task_key(uint64_t seed, uint64_t number)
{
    return split_mix(split_mix(seed, 1) + number, 1);
}

/* ---- a recipe ---------------------------------------------------------------------------------------------------- */

enum { NET_PAPER, NET_MS, NETS };

/* How the learning rate of `paper` falls to a tenth, or nearly. */
enum {
    FALL_STAGES, /* ours: at each tenth of the run but the first by the tenth root of a tenth, so at last 0.1^0.9 */
    FALL_LATE,   /* the authors' code: the same, but the first fall is at two tenths of the run, so at last 0.1^0.8 */
    FALL_LINEAR, /* the paper's text: evenly from step to step */
    FALLS
};

/* What is trained, and how. A net has no use for the fields of others, which are 0. */
struct recipe {
    uint32_t net;
    uint64_t seed, tasks;        /* a run does so many tasks, `batch` a step; the last step has what is left */
    uint32_t batch;              /* paper 8, ms 1 to 8 */
    double rate;                 /* learning rate at the start: recipe_fall() */
    uint32_t n_min, n_max;       /* items of a task: n = n_min + floor(u * (n_max - n_min + 1)) */
    double alpha_min, alpha_max; /* skewness of a task */
    double scale_min, scale_max; /* paper: the least frequency; ms: the mean frequency less 1 */
    double rate_table;           /* paper: the learning rate of V */
    uint32_t fall;               /* paper: one of the FALL_ above */
    bool last_step;              /* paper: the model is the last step, not the average over the end of the run */
    uint64_t scouts;             /* paper: so many tasks of a step are scouts, 0 to 7; 0: the next two mean nothing */
    uint32_t scout_n_min;        /* n of a scout is from here to n_max, */
    double scout_alpha_max;      /* its alpha from alpha_min to here, its scale as that of others */
    bool from_rule;              /* paper: the decoder starts by answering what the rule answers */
    bool fixed_table, no_norm, no_scan, plain_loss; /* the four ablations of the paper */
    bool log_scale;                                 /* ms: scale = min (max / min)^u instead of min + u (max - min) */
    double rate_end;                                /* ms: the rate falls to this in the second half of a run */
};

/* One field of a recipe: in the log, on the command line, in a checkpoint. */
struct recipe_field {
    const char *name, *option; /* option NULL: only a preset sets it */
    enum { FIELD_U64, FIELD_U32, FIELD_REAL, FIELD_FLAG } kind;
    unsigned nets; /* a bit for each that has a use for it */
    size_t at;
};
enum { RECIPE_FIELDS = 23 };
extern const struct recipe_field recipe_fields[RECIPE_FIELDS];

/* A field's value: an integer, or the bits of a double. */
uint64_t recipe_bits(const struct recipe *recipe, const struct recipe_field *field);
enum { RECIPE_TEXT = 32 };
void recipe_text(const struct recipe *recipe, const struct recipe_field *field, char text[RECIPE_TEXT]);
void recipe_set_bits(struct recipe *recipe, const struct recipe_field *field, uint64_t bits);

/* What differs between the recipe of a checkpoint and the one asked for, in words that follow "was made "; false if
 * nothing does. */
bool recipe_difference(const struct recipe *made, const struct recipe *asked, char *text, size_t size);

/* NULL, or what makes the recipe impossible. */
const char *recipe_problem(const struct recipe *recipe);

BOTH uint64_t recipe_steps(const struct recipe *recipe)
{
    return recipe->tasks / recipe->batch + (recipe->tasks % recipe->batch != 0);
}

/* Tasks of the first so many steps. */
BOTH uint64_t recipe_tasks(const struct recipe *recipe, uint64_t steps)
{
    uint64_t whole = recipe->tasks / recipe->batch;
    return steps <= whole ? steps * recipe->batch : recipe->tasks;
}

/* Tasks of a step. Tests look at steps beyond the end, which are whole. */
BOTH uint32_t recipe_batch(const struct recipe *recipe, uint64_t step)
{
    uint64_t first = step * recipe->batch;
    return first < recipe->tasks && recipe->tasks - first < recipe->batch ? (uint32_t)(recipe->tasks - first)
                                                                          : recipe->batch;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

/* The most that a net has of each. */
enum { NET_PARAMETERS = 52036, NET_STATISTICS = 314, NET_LOSSES = 12 };

/* All that a run has learnt: what a checkpoint holds and a backend starts from. */
struct state {
    uint64_t step; /* steps done */
    float parameters[NET_PARAMETERS];
    float first[NET_PARAMETERS], second[NET_PARAMETERS]; /* Adam's moments */
    float average[NET_PARAMETERS];     /* of the parameters over the last part of a run, what a model is made of: its
                                      errors vary less from seed to seed than those of the last step */
    double statistics[NET_STATISTICS]; /* of the tasks, which no gradient moves */
};

/* What is trained. */
struct cpu_step;
struct cpu_result;
struct net {
    const char *name;
    uint32_t parameters, statistics;
    uint32_t losses; /* numbers that a step measures; the first is what the gradient is of */
    const char *loss_names[NET_LOSSES];
    const char *(*problem)(const struct recipe *recipe);
    void (*start)(const struct recipe *recipe, struct state *state); /* step 0; the rest of the state is 0 */
    void (*constrain)(float *parameters);                            /* after an update; NULL: nothing to do */
    lego_status (*save)(const struct recipe *recipe, const struct state *state, const char *name, lego_write write,
                        void *context); /* the model file */

    /* On the CPU, each NULL if there is nothing to do: how long a task takes, in any unit; and what is no mean over
     * tasks, after all that is (cpu.h). */
    uint32_t (*length)(const struct recipe *recipe, uint64_t step, uint32_t slot);
    void (*settle)(const struct cpu_step *step, const struct cpu_result *tasks, double *gradient, double *losses);
};
extern const struct net net_paper, net_ms;

const struct net *net_of(const struct recipe *recipe);
void state_start(const struct recipe *recipe, struct state *state);
