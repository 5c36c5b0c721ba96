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
 *     ms_avx512.c, ms_avx2.c, ms_plain.c        the same compiled for a kind of vector register
 *     ms_tasks.c      recipe, tasks, first weights
 *     ms_backend.h    what computes steps: ms_cpu.c with the threads of ms_pool.c, or src/cuda/ms_train.cu
 *     ms_checkpoint.c a run as bytes
 *     ms_file.c       the model file */
#ifndef LEGO_TRAIN_MS_TRAIN_H
#define LEGO_TRAIN_MS_TRAIN_H

#include "legosketch.h"

#include <stdbool.h>
#include <stddef.h>

enum { MS_BITS = 60, MS_EMBED = 23, MS_REFINED = 5, MS_DEPTH = 2, MS_SLOTS = 50,
       MS_FEATURES = MS_DEPTH * (MS_EMBED + 3), MS_IN = MS_FEATURES + MS_EMBED + 1, MS_HIDDEN = 256,
       MS_HALF = (MS_IN + 1) / 2, MS_POPULATION = 100000, MS_BATCH = 8 };

/* Layers in the order of the arena of parameters, with inputs, outputs, and whether batch norm follows: W [out][in],
 * then bias [out]; with batch norm the bias is its beta, and its gamma [out] follows. */
#define MS_LAYERS(X)                                                                                           \
    X(EMBED_0, MS_BITS, 64, 1) X(EMBED_1, 64, 43, 1) X(EMBED_2, 43, MS_EMBED, 0)                               \
    X(REFINE_0, MS_EMBED, 32, 1) X(REFINE_1, 32, 18, 1) X(REFINE_2, 18, MS_REFINED, 0)                         \
    X(DECODE_0, MS_IN, MS_HIDDEN, 0) X(DECODE_1, MS_HIDDEN, MS_IN, 0) X(DECODE_2, MS_IN, MS_HALF, 0)           \
    X(DECODE_3, MS_HALF, 1, 0)

/* The arena: the layers, then A [2][5][50], then the weights of the loss, of MSE and ARE. A member for each, a char for
 * each float, so that offsets are indices. */
#define MS_LAYER_SPACE(layer, in, out, norm) char layer[(out) * ((in) + 1 + (norm))];
struct ms_layout {
    MS_LAYERS(MS_LAYER_SPACE)
    char address[MS_DEPTH * MS_REFINED * MS_SLOTS];
    char loss[2];
};
#define MS_LAYER_PLACE(layer, in, out, norm)                                                           \
    MS_IN_##layer = (in), MS_OUT_##layer = (out), MS_AT_##layer = offsetof(struct ms_layout, layer), \
    MS_BIAS_##layer = MS_AT_##layer + (in) * (out), MS_GAMMA_##layer = MS_BIAS_##layer + (out),
enum { MS_LAYERS(MS_LAYER_PLACE) MS_AT_ADDRESS = offsetof(struct ms_layout, address),
       MS_AT_LOSS = offsetof(struct ms_layout, loss), MS_PARAMETERS = sizeof(struct ms_layout) };

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

struct ms_recipe {
    uint64_t seed, tasks;
    uint32_t batch;              /* tasks of a step, 1 to MS_BATCH; the last step has what is left */
    uint32_t n_min, n_max;       /* 2, 5000: n = n_min + floor(u * (n_max - n_min + 1)) */
    uint32_t log_scale;          /* s = min (max / min)^u instead of min + u (max - min) */
    double alpha_min, alpha_max; /* 0.8, 1.3 */
    double scale_min, scale_max; /* 1, 10: s above */
    double rate, rate_end;       /* 1e-4: the rate falls to the second in the second half of a run: ms_rate() */
};

/* Of one task, or the mean of a step's, before the step's update. */
struct ms_losses {
    double total, mse, are, aae;
};

/* All that a run has learnt. */
struct ms_state {
    uint64_t step; /* steps done */
    float parameters[MS_PARAMETERS], first[MS_PARAMETERS], second[MS_PARAMETERS];
    double mean[MS_NORMED], variance[MS_NORMED]; /* of batch norm, what a model answers with */
};

/* ---- ms_tasks.c -------------------------------------------------------------------------------------------------- */

struct ms_recipe ms_recipe_published(void); /* 5,000,000 tasks, one a step, seed 0 */
struct ms_recipe ms_recipe_ours(void);      /* 8 tasks a step, which a GPU does at once, mean frequencies up to
                                             * 601, a higher rate that falls */
const char *ms_recipe_problem(const struct ms_recipe *recipe); /* NULL, or what makes it impossible */

static inline uint64_t ms_recipe_steps(const struct ms_recipe *recipe)
{
    return recipe->tasks / recipe->batch + (recipe->tasks % recipe->batch != 0);
}

/* The learning rate of a step: in the second half its logarithm falls evenly. */
double ms_rate(const struct ms_recipe *recipe, uint64_t step);

/* Tasks of a step: `batch`, but of the last one. Tests look at steps beyond the end, which are whole. */
static inline uint32_t ms_recipe_batch(const struct ms_recipe *recipe, uint64_t step)
{
    uint64_t first = step * recipe->batch;
    return first < recipe->tasks && recipe->tasks - first < recipe->batch ? (uint32_t)(recipe->tasks - first)
                                                                          : recipe->batch;
}

struct ms_task ms_task_draw(const struct ms_recipe *recipe, uint64_t number);

/* The bits and frequencies of all items of a task. */
void ms_task_items(const struct ms_task *task, uint64_t *bits, float *frequency);

/* Step 0. From state = output 2 of SplitMix64 from seed, one output a number in the order of the arena: matrices and
 * biases (2u - 1) / sqrt(in), beta 0 and gamma 1 (which take no output), A u with columns brought to length 1, loss
 * weights 1. Means 0, variances 1. */
void ms_state_start(const struct ms_recipe *recipe, struct ms_state *state);

/* Brings every column of A [2][5][50] to length 1. */
void ms_address_normalise(float *address);

/* ---- ms_file.c --------------------------------------------------------------------------------------------------- */

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
void ms_fold(const struct ms_state *state, float numbers[MS_NUMBERS]);
void ms_export(const struct ms_recipe *recipe, const struct ms_state *state, unsigned char bytes[MS_FILE]);

#endif
