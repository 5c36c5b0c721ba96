/* tasks: recipes, the tasks drawn from them, and parameters as they start. */
#include "parameters.h"

#include <math.h>
#include <string.h>

struct recipe recipe_published(void)
{
    return (struct recipe){.tasks = 4000000,
                           .n_min = 1000,
                           .n_max = 50000,
                           .alpha_min = 0.5F,
                           .alpha_max = 1,
                           .scale_min = 0.5F,
                           .scale_max = 10,
                           .rate = 1e-3F,
                           .rate_table = 1e-4F};
}

struct recipe recipe_paper(void)
{
    struct recipe recipe = recipe_published();
    recipe.n_min = 8000;
    recipe.scouts = 1;
    recipe.scout_n_min = 1000;
    recipe.scout_alpha_max = 1.4F;
    recipe.rate_table = 5e-5F;
    return recipe;
}

struct recipe recipe_quick(void)
{
    struct recipe recipe = recipe_published();
    recipe.tasks = 72000;
    recipe.n_min = 10000;
    recipe.rate_table = 3e-4F;
    recipe.from_rule = 1;
    return recipe;
}

/* At least the N of any task: a sum over j from 2 is below the integral from 1. */
static double longest_stream(const struct recipe *recipe)
{
    double n = (double)recipe->n_max + 1, alpha = (double)recipe->alpha_max;
    if (recipe->scouts != 0) alpha = fmax(alpha, (double)recipe->scout_alpha_max);
    double integral = fabs(alpha - 1) < 1e-3 ? 1.01 * log(n) : (pow(n, 1 - alpha) - 1) / (1 - alpha);
    return (double)recipe->scale_max * pow(n, alpha) * integral;
}

static const char *scouts_problem(const struct recipe *recipe)
{
    if (recipe->scouts >= TRAIN_BATCH) return "there are more than 7 scouts, which leaves a step no task to decode";
    if (recipe->scouts == 0) return NULL;
    if (recipe->no_scan) return "scouts are for the scan, and there is none";
    if (recipe->scout_n_min < 1 || recipe->scout_n_min > recipe->n_max)
        return "the items of a scout are not from 1 to the most of other tasks";
    if (!(recipe->scout_alpha_max >= recipe->alpha_min && recipe->scout_alpha_max <= 2))
        return "the skewness of a scout is not from the least of other tasks to 2";
    return NULL;
}

const char *recipe_problem(const struct recipe *recipe)
{
    if (recipe->tasks == 0 || recipe->tasks % TRAIN_BATCH != 0) return "the tasks are not a multiple of 8, a step's";
    if (recipe->tasks > UINT64_C(1) << 48) return "there are more than 2^48 tasks";
    if (recipe->n_min < 1 || recipe->n_max < recipe->n_min || recipe->n_max > 10000000)
        return "the items of a task are not from 1 to 10000000";
    if (!(recipe->alpha_min >= 0 && recipe->alpha_max >= recipe->alpha_min && recipe->alpha_max <= 2))
        return "the skewness is not from 0 to 2";
    if (!(recipe->scale_min > 0 && recipe->scale_max >= recipe->scale_min && recipe->scale_max <= 1000))
        return "the least frequency is not from 0 to 1000";
    const char *problem = scouts_problem(recipe);
    if (problem) return problem;
    if (!(longest_stream(recipe) * TRAIN_ROWS * TRAIN_UNIT < 0x1p62))
        return "a stream may be too long for its cells: fewer items, less skewness or smaller frequencies";
    if (!(recipe->rate >= 0 && recipe->rate <= 1 && recipe->rate_table >= 0 && recipe->rate_table <= 1))
        return "a learning rate is not from 0 to 1";
    return NULL;
}

static double unit(uint64_t x)
{
    return (double)(x >> 11) * 0x1p-53;
}

struct task task_draw(const struct recipe *recipe, uint64_t step, uint32_t slot)
{
    uint64_t key = split_mix(split_mix(recipe->seed, 1) + TRAIN_BATCH * step + slot, 1);
    double n = unit(split_mix(key, 1)), alpha = unit(split_mix(key, 2)), scale = unit(split_mix(key, 3));
    bool scout = slot >= recipe_queried(recipe);
    uint32_t n_min = scout ? recipe->scout_n_min : recipe->n_min;
    float alpha_max = scout ? recipe->scout_alpha_max : recipe->alpha_max;
    double alphas = (double)alpha_max - (double)recipe->alpha_min;
    double scales = (double)recipe->scale_max - (double)recipe->scale_min;
    return (struct task){key, n_min + (uint32_t)(n * (recipe->n_max - n_min + 1.0)),
                         (float)((double)recipe->alpha_min + alpha * alphas),
                         (float)((double)recipe->scale_min + scale * scales), scout};
}

/* Output 0 of a layer becomes its input `in`: all other weights and the bias are 0. */
static void pass_on(float *layer, int inputs, int outputs, int in)
{
    memset(layer, 0, (size_t)inputs * sizeof *layer);
    layer[in] = 1;
    layer[inputs * outputs] = 0;
}

void state_start(const struct recipe *recipe, struct state *state)
{
    static const struct {
        int in, size;
    } layers[] = {
#define SIZE(layer, name, in, out) {in, ((in) + 1) * (out)},
        MODEL_LAYERS(SIZE)};
    *state = (struct state){0};
    uint64_t from = split_mix(recipe->seed, 2), k = 1;
    const double two_pi = 6.283185307179586477;
    for (int i = 0; i < TRAIN_TABLE; i++, k += 2) {
        double radius = sqrt(-2 * log(1 - unit(split_mix(from, k))));
        float v = (float)(0.5005 + 0.2 * radius * cos(two_pi * unit(split_mix(from, k + 1))));
        state->parameters[i] = v < 0.001F ? 0.001F : v > 1 ? 1 : v;
    }
    float *at = state->parameters + TRAIN_TABLE;
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < layers[layer].size; i++)
            *at++ = (float)((2 * unit(split_mix(from, k++)) - 1) / sqrt(layers[layer].in));
    for (int i = 0; i < TRAIN_LOSSES; i++) *at++ = 1;
    if (recipe->from_rule) { /* the input after the 16 that are mixed; LeakyReLU leaves it, since it is positive */
        pass_on(state->parameters + AT_DEC_OUT_0, IN_DEC_OUT_0, OUT_DEC_OUT_0, 16);
        pass_on(state->parameters + AT_DEC_OUT_1, IN_DEC_OUT_1, OUT_DEC_OUT_1, 0);
        pass_on(state->parameters + AT_DEC_OUT_2, IN_DEC_OUT_2, OUT_DEC_OUT_2, 0);
    }
    memcpy(state->average, state->parameters, sizeof state->average);
}
