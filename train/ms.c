/* ms: recipes of the meta-sketch, how its parameters start, and the model file. See ms_train.h. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "little.h"
#include "ms_train.h"

#include <string.h>

struct recipe ms_recipe_published(void)
{
    return (struct recipe){.net = NET_MS,
                           .tasks = 5000000,
                           .batch = 1,
                           .n_min = 2,
                           .n_max = 5000,
                           .alpha_min = 0.8,
                           .alpha_max = 1.3,
                           .scale_min = 1,
                           .scale_max = 10,
                           .rate = 1e-4,
                           .rate_end = 1e-4};
}

struct recipe ms_recipe_ours(void)
{
    struct recipe recipe = ms_recipe_published();
    recipe.batch = MS_BATCH;
    recipe.scale_max = 600;
    recipe.log_scale = true;
    recipe.rate = 1e-3;
    recipe.rate_end = 1e-5;
    return recipe;
}

static const char *problem(const struct recipe *recipe)
{
    if (recipe->batch < 1 || recipe->batch > MS_BATCH) return "the tasks of a step are not from 1 to 8";
    if (recipe->n_min < 2 || recipe->n_max < recipe->n_min || recipe->n_max > MS_POPULATION)
        return "the items of a task are not from 2 to 100000"; /* batch norm has no variance of one item */
    if (!(recipe->alpha_min >= 0 && recipe->alpha_max >= recipe->alpha_min && recipe->alpha_max <= 4))
        return "the skewness is not from 0 to 4";
    if (!(recipe->scale_min >= 0 && recipe->scale_max >= recipe->scale_min && recipe->scale_max <= 1000))
        return "the mean frequency is not from 1 to 1000"; /* then all sums of frequencies are exact in doubles */
    if (recipe->log_scale && recipe->scale_min == 0)
        return "a mean frequency whose logarithm is drawn does not start above 1";
    if (!(recipe->rate_end >= 0 && recipe->rate_end <= recipe->rate)) return "the learning rate rises";
    return NULL;
}

/* Brings every column of A [2][5][50] to length 1. */
static void normalise(float *parameters)
{
    for (int d = 0; d < MS_DEPTH; d++)
        for (int s = 0; s < MS_SLOTS; s++) {
            float *column = parameters + MS_AT_ADDRESS + d * MS_REFINED * MS_SLOTS + s;
            double square = 0;
            for (int r = 0; r < MS_REFINED; r++) square += (double)column[r * MS_SLOTS] * (double)column[r * MS_SLOTS];
            if (square > 0)
                for (int r = 0; r < MS_REFINED; r++)
                    column[r * MS_SLOTS] = (float)((double)column[r * MS_SLOTS] / sqrt(square));
        }
}

/* From state = output 2 of SplitMix64 from seed, one output a number in the order of the arena: matrices and biases
 * (2u - 1) / sqrt(in), beta 0 and gamma 1 (which take no output), A u with columns brought to length 1, loss weights 1.
 * Means 0, variances 1. */
static void start(const struct recipe *recipe, struct state *state)
{
    static const struct {
        int at, in, out, norm;
    } layers[] = {
#define MS_LAYER_ENTRY(layer, in, out, norm) {MS_AT_##layer, in, out, norm},
        MS_LAYERS(MS_LAYER_ENTRY)};
    uint64_t from = split_mix(recipe->seed, 2), k = 1;
    float *p = state->parameters;
    for (size_t l = 0; l < sizeof layers / sizeof *layers; l++) {
        int matrix = layers[l].in * layers[l].out, drawn = layers[l].norm ? matrix : matrix + layers[l].out;
        for (int i = 0; i < drawn; i++)
            p[layers[l].at + i] = (float)((2 * split_mix_unit(from, k++) - 1) / sqrt(layers[l].in));
        for (int i = 0; layers[l].norm && i < layers[l].out; i++) p[layers[l].at + matrix + layers[l].out + i] = 1;
    }
    for (int i = MS_AT_ADDRESS; i < MS_AT_LOSS; i++) p[i] = (float)split_mix_unit(from, k++);
    normalise(p);
    p[MS_AT_LOSS] = p[MS_AT_LOSS + 1] = 1;
    for (int i = 0; i < MS_NORMED; i++) state->statistics[MS_NORMED + i] = 1;
}

/* ---- the model file ---------------------------------------------------------------------------------------------- */

static const char magic[8] = {'L', 'E', 'G', 'O', 'M', 'E', 'T', 'A'};

/* gamma (W x - mean) / sqrt(variance + epsilon) + beta is a layer with other weights. Returns where the next one
 * goes. */
static float *fold(const float *w, int in, int out, const double *mean, const double *variance, float *to)
{
    const float *bias = w + in * out, *gamma = bias + out;
    for (int o = 0; o < out; o++) {
        double scale = mean ? (double)gamma[o] / sqrt(variance[o] + 1e-5) : 1;
        for (int i = 0; i < in; i++) to[i * out + o] = (float)(scale * (double)w[o * in + i]);
        to[in * out + o] = (float)((double)bias[o] - (mean ? scale * mean[o] : 0));
    }
    return to + (in + 1) * out;
}

/* The numbers of a model file. */
static void fold_all(const float *parameters, const double *statistics, float numbers[MS_NUMBERS])
{
    const double *mean = statistics, *variance = statistics + MS_NORMED;
    float *to = numbers;
#define MS_LAYER_FOLD(layer, in, out, norm)                                                                            \
    to = fold(parameters + MS_AT_##layer, in, out, (norm) ? mean : NULL, (norm) ? variance : NULL, to);                \
    if (norm) mean += (out), variance += (out);
    MS_LAYERS(MS_LAYER_FOLD)
    memcpy(to, parameters + MS_AT_ADDRESS, (MS_AT_LOSS - MS_AT_ADDRESS) * sizeof *to);
}

static lego_status save(const struct recipe *recipe, const struct state *state, const char *name, lego_write write,
                        void *context)
{
    (void)name; /* the file has none */
    float numbers[MS_NUMBERS];
    unsigned char bytes[MS_FILE];
    uint32_t head[2] = {1, MS_NUMBERS};
    uint64_t tasks = recipe_tasks(recipe, state->step);
    fold_all(state->average, state->statistics, numbers);
    memcpy(bytes, magic, sizeof magic);
    little(bytes + 8, head, sizeof head[0], 2);
    little(bytes + 16, &tasks, sizeof tasks, 1);
    little(bytes + 24, numbers, sizeof numbers[0], MS_NUMBERS);
    uint64_t checksum = XXH3_64bits(bytes, MS_FILE - 8);
    little(bytes + MS_FILE - 8, &checksum, sizeof checksum, 1);
    return write(context, bytes, sizeof bytes) == 0 ? LEGO_OK : LEGO_ERR_WRITE;
}

static uint32_t length(const struct recipe *recipe, uint64_t step, uint32_t slot)
{
    return ms_task_draw(recipe, step * recipe->batch + slot).n;
}

const struct net net_ms = {.name = "ms",
                           .parameters = MS_PARAMETERS,
                           .statistics = 2 * MS_NORMED,
                           .losses = sizeof(struct ms_losses) / sizeof(double),
                           .loss_names = {"loss", "mse", "are", "aae"},
                           .problem = problem,
                           .start = start,
                           .constrain = normalise,
                           .save = save,
                           .length = length};
_Static_assert((int)MS_PARAMETERS <= NET_PARAMETERS && 2 * (int)MS_NORMED <= NET_STATISTICS,
               "train.h knows the largest net");
