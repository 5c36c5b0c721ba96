/* train: self-supervised meta-learning of the paper's networks (section 3.2, Algorithm 3), on synthetic Zipf tasks.
 *
 * One step: draw 8 tasks, store each into a brick of its own, scan the brick, query every item (but those of scouts),
 * take the loss, go back through query and scan, clip, and let Adam update. Everything random follows from (seed, step,
 * task) alone, so a run can stop anywhere and go on, and a backend gives the same weights every time.
 *
 *     tasks.c       what a task is, how parameters start   adam.c        clipping, Adam, learning rate, clamp on V
 *     layers.h      x_forward / x_backward of a layer      checkpoint.c  a run as bytes, the model that comes out
 *     networks.h    the same of g_scan and g_dec           cpu_task.h    one task: store, scan, query, and back
 *     loss.c        L', L'', learnable weights, and back   cpu.c         the CPU backend: tasks over threads
 *     backend.h     what a backend does; the other one is src/cuda/train.cu
 * The loop around the steps, with its log and its files, is cli/train.c.
 *
 * Dimensions: d1 = 5 rows, d2 = 5120 columns, 80 values of V. Parameters are one arena of floats, in the order of a
 * model file: V[80], then the layers of MODEL_LAYERS (matrix [out][in], bias [out]), then the 5 learnable weights of
 * the loss (AAE, ARE, MSE, skew, distinct). */
#ifndef LEGO_TRAIN_TRAIN_H
#define LEGO_TRAIN_TRAIN_H

#include "legosketch.h"

#include <stdbool.h>

enum { TRAIN_ROWS = 5, TRAIN_COLUMNS = 5120, TRAIN_TABLE = 80, TRAIN_BATCH = 8, TRAIN_LOSSES = 5,
       TRAIN_PARAMETERS = 5356 };

/* A task: n items of frequency scale * ((n + 1) / j)^alpha, j = 2 .. n + 1, real-valued, each stored once with its
 * whole frequency and queried once. Draws are outputs of SplitMix64 from state `key`: the first gives n, the second
 * alpha, the third scale (each as u = top 53 bits / 2^53), and outputs 4 + 2i and 5 + 2i are lo and hi of item
 * i = j - 2, from which hash_place() takes columns (mod 5120) and indices of V as it does for hashed items.
 * key = output 1 of SplitMix64 from state (output 1 from state seed) + 8 * step + slot.
 *
 * The last `scouts` of a step's 8 slots are scouts, tasks for the scan alone, drawn in the same way from ranges of
 * their own: a model decodes only where its scan says so, and the scan must be right on streams too that no decoder is
 * trained for. A scout is stored and scanned, and its items are not queried: it has no part in L' and gives V, decoder
 * and implicit head no gradient, only the heads of s(alpha) and s(n) and the layers below them. */
struct task {
    uint64_t key;
    uint32_t n;
    float alpha, scale;
    bool scout;
};

/* Cells sum in whole 2^-32, so that no order of addition matters. A brick of the paper's recipe sums up to 2^25, so
 * a cell has 6 bits to spare; recipe_problem() refuses what could not fit. */
#define TRAIN_UNIT 0x1p32

/* f'' of an item is m / v of the row of least v among those that are not above the least m / v times this (the first
 * of equal ones). An item alone in two of its cells reads its own frequency from both, and rounding must not choose
 * which of them gets the gradient, or no two backends would agree. The least v, because V spreads out faster so:
 * after 400,000 tasks the rule's AAE on its tasks was 24.1, with the first row 25.2, with the largest v 27.0. */
#define TRAIN_TIE 1.00001

/* What a step measured: s(alpha) and s(n) are means over its 8 tasks, all else over those that are not scouts. */
struct losses {
    double total;                      /* L = L' + 0.1 L'' */
    double metric[TRAIN_LOSSES];       /* (E/(guide+0.001))^2 of AAE, ARE, MSE (plain E with plain_loss); squared errors
                                          of s(alpha) and s(n), 0 with no_scan */
    double error[3], guide[3];         /* AAE, ARE, MSE of the network and of the rule */
};

struct recipe {
    uint64_t seed, tasks;              /* steps = tasks / 8 */
    uint32_t n_min, n_max;             /* 1000, 50000: n = n_min + floor(u * (n_max - n_min + 1)) */
    float alpha_min, alpha_max;        /* 0.5, 1.0 */
    float scale_min, scale_max;        /* 0.5, 10 */
    uint32_t scouts;                   /* 0 to 7; 0: the two fields below have no meaning */
    uint32_t scout_n_min;              /* n of a scout is from here to n_max, */
    float scout_alpha_max;             /* its alpha from alpha_min to here, its scale as that of others */
    float rate, rate_table;            /* 1e-3 for networks and loss weights, 1e-4 for V */
    uint32_t from_rule;                /* the decoder starts by answering what the rule answers */
    uint32_t fixed_table, no_norm, no_scan, plain_loss; /* the four ablations of the paper */
};

/* All that a run has learnt: what a checkpoint holds and a backend starts from. */
struct state {
    uint64_t step; /* steps done */
    float parameters[TRAIN_PARAMETERS];
    float first[TRAIN_PARAMETERS], second[TRAIN_PARAMETERS]; /* Adam's moments */
    float average[TRAIN_PARAMETERS]; /* of the parameters over the last fiftieth of a run, what a model is made of: its
                                        errors vary less from seed to seed than those of the last step */
};

/* The recipe of the published code (facts.md): 4,000,000 tasks, seed 0. */
struct recipe recipe_published(void);

/* The same with three changes, by which all of our figures come below 1.15 of the published ones whatever the seed
 * (docs/training.md has the runs that led there): no task has fewer than 8,000 items, since the networks decode from
 * 10,000 on, and below it the guide is so close to 0 that one such task outweighs all others; one task in eight is a
 * scout; and V moves at half the rate, since it does so more steadily without those tasks. */
struct recipe recipe_paper(void);

/* Ten minutes on two cores: 72,000 tasks of 10,000 items and more, V at six times the rate of recipe_paper(), and a
 * decoder that starts as the rule. */
struct recipe recipe_quick(void);

/* NULL, or what makes the recipe impossible. */
const char *recipe_problem(const struct recipe *recipe);

static inline uint64_t recipe_steps(const struct recipe *recipe)
{
    return recipe->tasks / TRAIN_BATCH;
}

/* Tasks of a step whose items are queried, at least 1: slots from here on are scouts. */
static inline uint32_t recipe_queried(const struct recipe *recipe)
{
    return TRAIN_BATCH - recipe->scouts;
}

/* ---- tasks.c ---------------------------------------------------------------------------------------------------- */

/* Output k of SplitMix64 (Steele, Lea, Flood 2014) from a state; the first is output 1. */
static inline uint64_t split_mix(uint64_t state, uint64_t k)
{
    uint64_t z = state + k * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct task task_draw(const struct recipe *recipe, uint64_t step, uint32_t slot);

/* Parameters as they start, step 0; with from_rule the last three layers then pass the rule on, and nothing else.
 * From state = output 2 of SplitMix64 from seed, one output a number in the order of the arena: weights and biases
 * (2u - 1) / sqrt(in), loss weights 1; for V two outputs a number: 0.5005 + 0.2 sqrt(-2 ln(1 - u1)) cos(2 pi u2),
 * clamped. */
void state_start(const struct recipe *recipe, struct state *state);

/* ---- loss.c ----------------------------------------------------------------------------------------------------- */

/* error and guide -> metric, of one task; off: s(alpha) - alpha and s(n) - n. Error and guide of a scout are 0. */
void loss_task_forward(const struct recipe *recipe, const double off[2], struct losses *task);

/* The gradient of L by the errors of one task, and by off. weights: the 5 of the loss. */
void loss_task_backward(const struct recipe *recipe, const float weights[TRAIN_LOSSES], const struct losses *task,
                        const double off[2], double derror[3], double doff[2]);

/* The means over the tasks of a step, and L. */
void loss_forward(const struct recipe *recipe, const float weights[TRAIN_LOSSES],
                  const struct losses tasks[TRAIN_BATCH], struct losses *mean);
void loss_backward(const struct recipe *recipe, const float weights[TRAIN_LOSSES], const struct losses *mean,
                   float dweights[TRAIN_LOSSES]);

/* ---- adam.c ----------------------------------------------------------------------------------------------------- */

/* What the base rates are multiplied by at a step. */
double adam_rate(const struct recipe *recipe, uint64_t step);

/* How far the average moves towards the parameters in a step. */
static inline double adam_average(const struct recipe *recipe)
{
    double steps = (double)recipe_steps(recipe);
    return steps > 50 ? 50 / steps : 1;
}

/* Clips the gradient, updates the parameters, clamps V, counts the step. False, and nothing changed, if the gradient is
 * not finite. */
bool adam_update(const struct recipe *recipe, const float gradient[TRAIN_PARAMETERS], struct state *state);

#endif
