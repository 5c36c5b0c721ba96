/* paper: self-supervised meta-learning of the paper's networks (section 3.2, Algorithm 3), on synthetic Zipf tasks.
 *
 * One step: draw 8 tasks, store each into a brick of its own, scan the brick, query every item (but those of scouts),
 * take the loss, go back through query and scan, clip, and let Adam update.
 *
 *     paper.c        recipes, how parameters start, the model     paper_net.h    g_scan and g_dec, forward and backward
 *     parameters.h   where each layer lies in the arena           paper_task.c   one task: store, scan, query, and back
 *     loss.h         L', L'', learnable weights, and back         cuda/paper.cu  the same on a GPU
 *
 * Dimensions: d1 = 5 rows, d2 = 5120 columns, 80 values of V. Parameters are one arena of floats, in the order of a
 * model file: V[80], then the layers of MODEL_LAYERS (matrix [out][in], bias [out]), then the 5 learnable weights of
 * the loss (AAE, ARE, MSE, skew, distinct). */
#pragma once

#include "train.h"

enum { TRAIN_ROWS = 5, TRAIN_COLUMNS = 5120, TRAIN_TABLE = 80, TRAIN_BATCH = 8 };
enum { TRAIN_LOSSES = 5, TRAIN_PARAMETERS = 5356 };

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
 * a cell has 6 bits to spare; a recipe that could not fit is refused. */
#define TRAIN_UNIT 0x1p32

/* f'' of an item is m / v of the row of least v among those that are not above the least m / v times this (the first
 * of equal ones). An item alone in two of its cells reads its own frequency from both, and rounding must not choose
 * which of them gets the gradient, or no two backends would agree. The least v, because V spreads out faster so:
 * after 400,000 tasks the rule's AAE on its tasks was 24.1, with the first row 25.2, with the largest v 27.0. */
#define TRAIN_TIE 1.00001

/* What a step measured: s(alpha) and s(n) are means over its 8 tasks, all else over those that are not scouts. */
struct losses {
    double total;                /* L = L' + 0.1 L'' */
    double metric[TRAIN_LOSSES]; /* (E/(guide+0.001))^2 of AAE, ARE, MSE (plain E with plain_loss); squared errors
                                    of s(alpha) and s(n), 0 with no_scan */
    double error[3], guide[3];   /* AAE, ARE, MSE of the network and of the rule */
};

/* The recipe of the paper's text (section 5.1, appendix C) as far as it gives one; loss, gradients and networks are
 * those of the authors' code (docs/reproduction.md has what differs). 4,000,000 tasks, seed 0, n 1000 to 50000,
 * alpha 0.5 to 1, lengths of 1 to 10 times the least, all rates 1e-3 and falling linearly to 1e-4. */
struct recipe recipe_published(void);

/* The recipe of the code that the authors published: the same, but lengths of 0.5 to 10 times, V at 1e-4, and rates
 * that fall in stages. */
struct recipe recipe_authors(void);

/* Ours, by which models/paper.lego was made: that of the authors' code with a model that is an average, and three
 * changes more, which docs/training.md measures: no task has fewer than 8,000 items, since the networks decode from
 * 10,000 on, and below it the guide is so close to 0 that one such task outweighs all others; one task in eight is a
 * scout; and V moves at half the rate, since it does so more steadily without those tasks. */
struct recipe recipe_ours(void);

/* Ten minutes on two cores: 72,000 tasks of 10,000 items and more, V at six times the rate of recipe_ours(), and a
 * decoder that starts as the rule. */
struct recipe recipe_quick(void);

/* Scouts as recipe_ours() has them, so many of a step's tasks. */
void recipe_scout(struct recipe *recipe, uint64_t scouts);

/* Tasks of a step whose items are queried, at least 1: slots from here on are scouts. */
BOTH uint32_t recipe_queried(const struct recipe *recipe)
{
    return TRAIN_BATCH - (uint32_t)recipe->scouts;
}

BOTH struct task task_draw(const struct recipe *recipe, uint64_t step, uint32_t slot)
{
    uint64_t key = task_key(recipe->seed, TRAIN_BATCH * step + slot);
    bool scout = slot >= recipe_queried(recipe);
    uint32_t n_min = scout ? recipe->scout_n_min : recipe->n_min;
    double alphas = (scout ? recipe->scout_alpha_max : recipe->alpha_max) - recipe->alpha_min;
    double scales = recipe->scale_max - recipe->scale_min;
    struct task task = {key, n_min + (uint32_t)(split_mix_unit(key, 1) * (recipe->n_max - n_min + 1.0)),
                        (float)(recipe->alpha_min + split_mix_unit(key, 2) * alphas),
                        (float)(recipe->scale_min + split_mix_unit(key, 3) * scales), scout};
    return task;
}
