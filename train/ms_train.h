/* ms_train: the meta-sketch (Cao, Feng, Xie: AAAI 2023), a neural competitor, trained by us so that it can be measured
 * like all others. lab/ms.c answers with what comes out of it.
 *
 *     bits x [60] -> embedding 60 -> 64 -> 43 -> 23 (batch norm and ReLU, ReLU last)                              z
 *     z -> refine 23 -> 32 -> 18 -> 5 (batch norm and LeakyReLU) -> sparsemax(q A), A [2][5][50]                  a
 *     store: M += a (x) f z, M [2][50][23]: 9,200 bytes, one brick
 *     query: read = a M / sum of a^2; features = reads [2][23], min read/z [2], min read [2], min (read - min)/z [2]
 *     [features, z, N] (76) -> residual MLP 76 -> 256 -> 76 (+ input, ReLU) -> 38 (ReLU) -> 1
 *
 * A task: n items are stored, each once with its whole frequency, and all are queried. Loss LW(MSE, ARE) = sum of
 * 0.5/w^2 L + ln(1 + w^2) with w learnt too. A step is `batch` tasks: the gradient of each is clipped at norm 5, Adam
 * gets their mean, and the columns of A are brought back to length 1. Gradients go all the way, through memory too: the
 * embedding learns what to write.
 *
 * What the paper leaves open, and what we took (the public code of the authors was read for facts, not copied):
 *   - an item has 60 bits, 0 or 1; here they are random, in a sketch they are those of its hash;
 *   - a task's frequencies are 1 + round(s P j^-alpha / H), H = sum of i^-alpha for i = 1 .. P = 100,000: those of n
 *     items with random ranks j in a stream of P items and mean frequency 1 + s, s from 1 to 10, as a brick gets its
 *     items from a larger stream. The published population is a file of words that we do not have. A stream of skewness
 *     1.5 has a mean frequency of 508, so a recipe may draw s up to there, with all orders of magnitude alike;
 *   - batch norm has epsilon 1e-5; the mean and variance that a model is made of follow those of the tasks by 0.01 n /
 *     n_max, task after task, so that those of a few items hardly count. (Published: 0.1, twice a step.) Layers
 *     before it have no bias: it would be taken off again;
 *   - z_k below 1e-4 takes no part in the minima, nor does, in the last one, a read within 1e-4 of the least; where
 *     none is left the feature is 0. (Published: numbers of 1e4 to 1e10 instead.) Where the least is met twice, the
 *     first gets the gradient;
 *   - the weights w of the loss are learnt, as LW says, and are part of the norm that is clipped. (Published: the
 *     optimiser was not given them.)
 *   - the model is what the last step left. (Published likewise, with one task a step, at a rate that does not fall.)
 *
 * Everything random follows from (seed, number of the task), all sums have a fixed order: the same bits with any number
 * of threads.
 *
 *     ms_net.h        a task on blocks of items, stage by stage; it names the headers that it is made of
 *     ms_task.c       the same compiled for each kind of vector register; cuda/ms.cu on the GPU
 *     ms.c            recipes, first weights, the model file */
#pragma once

#include "train.h"

enum { MS_BITS = 60, MS_EMBED = 23, MS_REFINED = 5, MS_DEPTH = 2, MS_SLOTS = 50, MS_HIDDEN = 256 };
enum { MS_FEATURES = MS_DEPTH * (MS_EMBED + 3), MS_IN = MS_FEATURES + MS_EMBED + 1, MS_HALF = (MS_IN + 1) / 2 };
enum { MS_POPULATION = 100000, MS_BATCH = 8 };

/* Layers in the order of the arena of parameters, with inputs, outputs, and whether batch norm follows: W [out][in],
 * then bias [out]; with batch norm the bias is its beta, and its gamma [out] follows. */
#define MS_LAYERS(X)                                                                                                   \
    X(EMBED_0, MS_BITS, 64, 1)                                                                                         \
    X(EMBED_1, 64, 43, 1)                                                                                              \
    X(EMBED_2, 43, MS_EMBED, 0)                                                                                        \
    X(REFINE_0, MS_EMBED, 32, 1)                                                                                       \
    X(REFINE_1, 32, 18, 1)                                                                                             \
    X(REFINE_2, 18, MS_REFINED, 0)                                                                                     \
    X(DECODE_0, MS_IN, MS_HIDDEN, 0)                                                                                   \
    X(DECODE_1, MS_HIDDEN, MS_IN, 0) X(DECODE_2, MS_IN, MS_HALF, 0) X(DECODE_3, MS_HALF, 1, 0)

/* The arena: the layers, then A [2][5][50], then the weights of the loss, of MSE and ARE. A member for each, a char for
 * each float, so that offsets are indices. */
#define MS_LAYER_SPACE(layer, in, out, norm) char layer[(out) * ((in) + 1 + (norm))];
struct ms_layout {
    MS_LAYERS(MS_LAYER_SPACE)
    char address[MS_DEPTH * MS_REFINED * MS_SLOTS];
    char loss[2];
};
#define MS_LAYER_PLACE(layer, in, out, norm)                                                                           \
    MS_IN_##layer = (in), MS_OUT_##layer = (out), MS_AT_##layer = offsetof(struct ms_layout, layer),                   \
    MS_BIAS_##layer = MS_AT_##layer + (in) * (out), MS_GAMMA_##layer = MS_BIAS_##layer + (out),
enum {
    MS_LAYERS(MS_LAYER_PLACE) MS_AT_ADDRESS = offsetof(struct ms_layout, address),
    MS_AT_LOSS = offsetof(struct ms_layout, loss),
    MS_PARAMETERS = sizeof(struct ms_layout)
};

/* Where a layer's numbers are among the means and variances of batch norm, of which there is one an output. */
enum { MS_NORM_EMBED_0 = 0, MS_NORM_EMBED_1 = 64, MS_NORM_REFINE_0 = 107, MS_NORM_REFINE_1 = 139, MS_NORMED = 157 };

/* Draws are outputs of SplitMix64 from state `key`: the first gives n, the second alpha, the third scale (each as u =
 * top 53 bits / 2^53); output 4 + 2i gives the bits of item i (the top 60, the lowest of them first), and the top 32
 * bits of output 5 + 2i its rank j = 1 + (bits * P >> 32). key = output 1 from state (output 1 from state seed) +
 * number of the task, which is batch * step + its place in the step. */
struct ms_task {
    uint64_t key;
    uint32_t n;
    double alpha, scale;
};

/* Of one task, or the mean of a step's, before the step's update. */
struct ms_losses {
    double total, mse, are, aae;
};

/* The norm at which the gradient of a task is clipped. */
#define MS_CLIP 5.0

/* The statistics of a state are means and variances of batch norm, what a model answers with. They follow those of a
 * task: by this much. */
BOTH double ms_follow(const struct recipe *recipe, uint32_t n)
{
    return 0.01 * n / recipe->n_max;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

struct recipe ms_recipe_published(void); /* 5,000,000 tasks, one a step, seed 0, n 2 to 5000, alpha 0.8 to 1.3, s 1 to
                                          * 10, rate 1e-4 */
struct recipe ms_recipe_ours(void);      /* 8 tasks a step, which a GPU does at once, mean frequencies up to 601, a
                                          * higher rate that falls */

/* number: batch * step + its place in the step. */
BOTH struct ms_task ms_task_draw(const struct recipe *recipe, uint64_t number)
{
    uint64_t key = task_key(recipe->seed, number);
    double u = split_mix_unit(key, 3), least = recipe->scale_min, most = recipe->scale_max;
    struct ms_task task = {key,
                           recipe->n_min + (uint32_t)(split_mix_unit(key, 1) * (recipe->n_max - recipe->n_min + 1.0)),
                           recipe->alpha_min + split_mix_unit(key, 2) * (recipe->alpha_max - recipe->alpha_min),
                           recipe->log_scale ? least * pow(most / least, u) : least + u * (most - least)};
    return task;
}

/* The frequency of an item of rank j is 1 + round(top j^-alpha). The sum of j^-alpha for j = 1 .. P: the first terms as
 * they are, the others by Euler and Maclaurin, to 1e-9. */
BOTH double ms_task_top(const struct ms_task *task)
{
    const double from = 32, to = MS_POPULATION, alpha = task->alpha, t = 1 - alpha, ratio = log(to / from);
    double sum = 0;
    for (int j = 1; j < 32; j++) sum += pow((double)j, -alpha);
    sum += t == 0 ? ratio : pow(from, t) * expm1(t * ratio) / t;
    sum += (pow(from, -alpha) + pow(to, -alpha)) / 2;
    sum += alpha / 12 * (pow(from, -alpha - 1) - pow(to, -alpha - 1));
    return task->scale * MS_POPULATION / sum;
}

BOTH uint64_t ms_item_bits(const struct ms_task *task, uint32_t i)
{
    return split_mix(task->key, 4 + 2 * (uint64_t)i) >> (64 - MS_BITS);
}

BOTH float ms_item_frequency(const struct ms_task *task, double top, uint32_t i)
{
    uint64_t rank = 1 + ((split_mix(task->key, 5 + 2 * (uint64_t)i) >> 32) * MS_POPULATION >> 32);
    return (float)(1 + floor(top * pow((double)rank, -task->alpha) + 0.5));
}

/* ---- the model file ---------------------------------------------------------------------------------------------- */

/* The model file: batch norm is folded into the layer before it, so that each layer is W and bias; W is transposed, as
 * whoever answers for one item after another wants it.
 *
 * | offset | size | field |                 (little-endian)
 * | 0      | 8    | LEGOMETA                |
 * | 8      | 4    | u32 version: 1          |
 * | 12     | 4    | u32 numbers             |
 * | 16     | 8    | u64 tasks it was trained with |
 * | 24     | 4 each | f32: the layers in order, W [in][out] and bias [out]; then A |
 * | end - 8 | 8   | u64 XXH3-64 of all before | */
#define MS_LAYER_FOLDED(layer, in, out, norm) +(out) * ((in) + 1)
enum { MS_NUMBERS = MS_DEPTH * MS_REFINED * MS_SLOTS MS_LAYERS(MS_LAYER_FOLDED), MS_FILE = 24 + 4 * MS_NUMBERS + 8 };
