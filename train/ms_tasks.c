/* ms_tasks: what a task of the meta-sketch is, and how its parameters start. See ms_train.h. */
#include "ms_train.h"
#include "train.h"

#include <math.h>
#include <string.h>

struct ms_recipe ms_recipe_published(void)
{
    return (struct ms_recipe){.tasks = 5000000, .batch = 1, .n_min = 2, .n_max = 5000, .alpha_min = 0.8,
                              .alpha_max = 1.3, .scale_min = 1, .scale_max = 10, .rate = 1e-4, .rate_end = 1e-4};
}

struct ms_recipe ms_recipe_ours(void)
{
    struct ms_recipe recipe = ms_recipe_published();
    recipe.batch = MS_BATCH;
    recipe.scale_max = 600;
    recipe.log_scale = 1;
    recipe.rate = 1e-3;
    recipe.rate_end = 1e-5;
    return recipe;
}

const char *ms_recipe_problem(const struct ms_recipe *recipe)
{
    if (recipe->tasks == 0) return "there are no tasks";
    if (recipe->batch < 1 || recipe->batch > MS_BATCH) return "the tasks of a step are not from 1 to 8";
    if (recipe->n_min < 2 || recipe->n_max < recipe->n_min || recipe->n_max > MS_POPULATION)
        return "the items of a task are not from 2 to 100000"; /* batch norm has no variance of one item */
    if (!(recipe->alpha_min >= 0 && recipe->alpha_max >= recipe->alpha_min && recipe->alpha_max <= 4))
        return "the skewness is not from 0 to 4";
    if (!(recipe->scale_min >= 0 && recipe->scale_max >= recipe->scale_min && recipe->scale_max <= 1000))
        return "the mean frequency is not from 1 to 1000"; /* then all sums of frequencies are exact in doubles */
    if (recipe->log_scale > 1 || (recipe->log_scale && recipe->scale_min == 0))
        return "a mean frequency whose logarithm is drawn does not start above 1";
    if (!(recipe->rate_end >= 0 && recipe->rate_end <= recipe->rate && recipe->rate <= 1))
        return "the learning rate is not from 0 to 1, or rises";
    return NULL;
}

double ms_rate(const struct ms_recipe *recipe, uint64_t step)
{
    double late = 2 * (double)step / (double)ms_recipe_steps(recipe) - 1;
    return late <= 0 || recipe->rate == 0 ? recipe->rate : recipe->rate * pow(recipe->rate_end / recipe->rate, late);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

static double unit(uint64_t bits) /* [0, 1) */
{
    return (double)(bits >> 11) * 0x1p-53;
}

struct ms_task ms_task_draw(const struct ms_recipe *recipe, uint64_t number)
{
    struct ms_task task = {.key = split_mix(split_mix(recipe->seed, 1) + number, 1)};
    task.n = recipe->n_min + (uint32_t)(unit(split_mix(task.key, 1)) * (recipe->n_max - recipe->n_min + 1.0));
    task.alpha = recipe->alpha_min + unit(split_mix(task.key, 2)) * (recipe->alpha_max - recipe->alpha_min);
    double u = unit(split_mix(task.key, 3));
    task.scale = recipe->log_scale ? recipe->scale_min * pow(recipe->scale_max / recipe->scale_min, u)
                                   : recipe->scale_min + u * (recipe->scale_max - recipe->scale_min);
    return task;
}

/* The sum of j^-alpha for j = 1 .. P: the first terms as they are, the others by Euler and Maclaurin, to 1e-9. */
static double zipf_sum(double alpha)
{
    const double from = 32, to = MS_POPULATION, t = 1 - alpha, ratio = log(to / from);
    double sum = 0;
    for (int j = 1; j < (int)from; j++) sum += pow(j, -alpha);
    sum += t == 0 ? ratio : pow(from, t) * expm1(t * ratio) / t;
    sum += (pow(from, -alpha) + pow(to, -alpha)) / 2;
    return sum + alpha / 12 * (pow(from, -alpha - 1) - pow(to, -alpha - 1));
}

void ms_task_items(const struct ms_task *task, uint64_t *bits, float *frequency)
{
    double top = task->scale * MS_POPULATION / zipf_sum(task->alpha);
    for (uint32_t i = 0; i < task->n; i++) {
        bits[i] = split_mix(task->key, 4 + 2 * (uint64_t)i) >> (64 - MS_BITS);
        uint64_t rank = 1 + ((split_mix(task->key, 5 + 2 * (uint64_t)i) >> 32) * MS_POPULATION >> 32);
        frequency[i] = (float)(1 + floor(top * pow((double)rank, -task->alpha) + 0.5));
    }
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

void ms_address_normalise(float *address)
{
    for (int d = 0; d < MS_DEPTH; d++)
        for (int s = 0; s < MS_SLOTS; s++) {
            float *column = address + d * MS_REFINED * MS_SLOTS + s;
            double square = 0;
            for (int r = 0; r < MS_REFINED; r++) square += (double)column[r * MS_SLOTS] * (double)column[r * MS_SLOTS];
            if (square > 0)
                for (int r = 0; r < MS_REFINED; r++)
                    column[r * MS_SLOTS] = (float)((double)column[r * MS_SLOTS] / sqrt(square));
        }
}

void ms_state_start(const struct ms_recipe *recipe, struct ms_state *state)
{
    static const struct {
        int at, in, out, norm;
    } layers[] = {
#define MS_LAYER_ENTRY(layer, in, out, norm) {MS_AT_##layer, in, out, norm},
        MS_LAYERS(MS_LAYER_ENTRY)};
    uint64_t from = split_mix(recipe->seed, 2), k = 1;
    memset(state, 0, sizeof *state);
    float *p = state->parameters;
    for (size_t l = 0; l < sizeof layers / sizeof *layers; l++) {
        int matrix = layers[l].in * layers[l].out, drawn = layers[l].norm ? matrix : matrix + layers[l].out;
        for (int i = 0; i < drawn; i++)
            p[layers[l].at + i] = (float)((2 * unit(split_mix(from, k++)) - 1) / sqrt(layers[l].in));
        for (int i = 0; layers[l].norm && i < layers[l].out; i++) p[layers[l].at + matrix + layers[l].out + i] = 1;
    }
    for (int i = MS_AT_ADDRESS; i < MS_AT_LOSS; i++) p[i] = (float)unit(split_mix(from, k++));
    ms_address_normalise(p + MS_AT_ADDRESS);
    p[MS_AT_LOSS] = p[MS_AT_LOSS + 1] = 1;
    for (int i = 0; i < MS_NORMED; i++) state->variance[i] = 1;
}
