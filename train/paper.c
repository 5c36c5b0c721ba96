/* paper: recipes, parameters as they start, and the model that comes out. See paper.h. */
#include "cpu.h"
#include "loss.h"
#include "parameters.h"

#include <string.h>

/* Rates and ranges are floats, so that the models that were trained come out again. */
struct recipe recipe_published(void)
{
    struct recipe recipe = recipe_authors();
    recipe.scale_min = 1;
    recipe.rate_table = recipe.rate;
    recipe.fall = FALL_LINEAR;
    return recipe;
}

struct recipe recipe_authors(void)
{
    return (struct recipe){.net = NET_PAPER,
                           .tasks = 4000000,
                           .batch = TRAIN_BATCH,
                           .n_min = 1000,
                           .n_max = 50000,
                           .alpha_min = 0.5,
                           .alpha_max = 1,
                           .scale_min = 0.5,
                           .scale_max = 10,
                           .rate = 1e-3F,
                           .rate_table = 1e-4F,
                           .fall = FALL_LATE,
                           .last_step = true};
}

void recipe_scout(struct recipe *recipe, uint64_t scouts)
{
    recipe->scouts = scouts;
    recipe->scout_n_min = scouts ? 1000 : 0;
    recipe->scout_alpha_max = scouts ? 1.4F : 0;
}

struct recipe recipe_ours(void)
{
    struct recipe recipe = recipe_authors();
    recipe.fall = FALL_STAGES;
    recipe.last_step = false;
    recipe.n_min = 8000;
    recipe_scout(&recipe, 1);
    recipe.rate_table = 5e-5F;
    return recipe;
}

struct recipe recipe_quick(void)
{
    struct recipe recipe = recipe_ours();
    recipe.tasks = 72000;
    recipe.n_min = 10000;
    recipe_scout(&recipe, 0);
    recipe.rate_table = 3e-4F;
    recipe.from_rule = true;
    return recipe;
}

/* At least the N of any task: a sum over j from 2 is below the integral from 1. */
static double longest_stream(const struct recipe *recipe)
{
    double n = (double)recipe->n_max + 1, alpha = recipe->alpha_max;
    if (recipe->scouts != 0) alpha = fmax(alpha, recipe->scout_alpha_max);
    double integral = fabs(alpha - 1) < 1e-3 ? 1.01 * log(n) : (pow(n, 1 - alpha) - 1) / (1 - alpha);
    return recipe->scale_max * pow(n, alpha) * integral;
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

static const char *problem(const struct recipe *recipe)
{
    if (recipe->batch != TRAIN_BATCH) return "a step of these networks is 8 tasks";
    if (recipe->tasks % TRAIN_BATCH != 0) return "the tasks are not a multiple of 8, a step's";
    if (recipe->n_min < 1 || recipe->n_max < recipe->n_min || recipe->n_max > 10000000)
        return "the items of a task are not from 1 to 10000000";
    if (!(recipe->alpha_min >= 0 && recipe->alpha_max >= recipe->alpha_min && recipe->alpha_max <= 2))
        return "the skewness is not from 0 to 2";
    if (!(recipe->scale_min > 0 && recipe->scale_max >= recipe->scale_min && recipe->scale_max <= 1000))
        return "the least frequency is not from 0 to 1000";
    const char *wrong = scouts_problem(recipe);
    if (wrong) return wrong;
    if (!(longest_stream(recipe) * TRAIN_ROWS * TRAIN_UNIT < 0x1p62))
        return "a stream may be too long for its cells: fewer items, less skewness or smaller frequencies";
    if (!(recipe->rate_table >= 0 && recipe->rate_table <= 1)) return "the learning rate of V is not from 0 to 1";
    if (recipe->fall >= FALLS) return "there is no such fall of the learning rate";
    return NULL;
}

/* Output 0 of a layer becomes its input `in`: all other weights and the bias are 0. */
static void pass_on(float *layer, int inputs, int outputs, int in)
{
    memset(layer, 0, (size_t)inputs * sizeof *layer);
    layer[in] = 1;
    layer[inputs * outputs] = 0;
}

static float clamp(float v)
{
    return v < 0.001F ? 0.001F : v > 1 ? 1 : v;
}

static void constrain(float *parameters)
{
    for (int i = 0; i < TRAIN_TABLE; i++) parameters[i] = clamp(parameters[i]);
}

/* With from_rule the last three layers pass the rule on, and nothing else. From state = output 2 of SplitMix64 from
 * seed, one output a number in the order of the arena: weights and biases (2u - 1) / sqrt(in), loss weights 1; for V
 * two outputs a number: 0.5005 + 0.2 sqrt(-2 ln(1 - u1)) cos(2 pi u2), clamped. */
static void start(const struct recipe *recipe, struct state *state)
{
    static const struct {
        int in, size;
    } layers[] = {
#define SIZE(layer, name, in, out) {in, ((in) + 1) * (out)},
        MODEL_LAYERS(SIZE)};
    uint64_t from = split_mix(recipe->seed, 2), k = 1;
    const double two_pi = 6.283185307179586477;
    float *at = state->parameters;
    for (int i = 0; i < TRAIN_TABLE; i++, k += 2) {
        double radius = sqrt(-2 * log(1 - split_mix_unit(from, k)));
        *at++ = clamp((float)(0.5005 + 0.2 * radius * cos(two_pi * split_mix_unit(from, k + 1))));
    }
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < layers[layer].size; i++)
            *at++ = (float)((2 * split_mix_unit(from, k++) - 1) / sqrt(layers[layer].in));
    for (int i = 0; i < TRAIN_LOSSES; i++) *at++ = 1;
    if (recipe->from_rule) { /* the input after the 16 that are mixed; LeakyReLU leaves it, since it is positive */
        pass_on(state->parameters + AT_DEC_OUT_0, IN_DEC_OUT_0, OUT_DEC_OUT_0, 16);
        pass_on(state->parameters + AT_DEC_OUT_1, IN_DEC_OUT_1, OUT_DEC_OUT_1, 0);
        pass_on(state->parameters + AT_DEC_OUT_2, IN_DEC_OUT_2, OUT_DEC_OUT_2, 0);
    }
}

/* Trained without the scan, a model's heads say 0 and the networks always decode. Trained without normalisation, Q is
 * as large as it may be: 0.001, the least of V, is then 0.8 of the least weight, not 0.2. */
static lego_status save(const struct recipe *recipe, const struct state *state, const char *name, lego_write write,
                        void *context)
{
    struct lego_model model = {.kind = recipe->no_norm ? MODEL_PLAIN : MODEL_PAPER,
                               .rows = TRAIN_ROWS,
                               .columns = TRAIN_COLUMNS,
                               .quantum = recipe->no_norm ? QUANTUM_MAX : 1024,
                               .table_size = TRAIN_TABLE,
                               .distinct_min = 10000,
                               .skew_max = 1};
    float weights[AT_LOSS - AT_SCAN_CELL_0];
    memcpy(weights, state->average + AT_SCAN_CELL_0, sizeof weights);
    if (recipe->no_scan) { /* the last layers give 0, and s(n) = 0 is above the limit */
        memset(weights + (AT_SCAN_IMPLICIT_2 - AT_SCAN_CELL_0), 0, (IN_SCAN_IMPLICIT_2 + 1) * OUT_SCAN_IMPLICIT_2 * 4);
        memset(weights + (AT_SCAN_SKEW_3 - AT_SCAN_CELL_0), 0, (IN_SCAN_SKEW_3 + 1) * OUT_SCAN_SKEW_3 * 4);
        memset(weights + (AT_SCAN_DISTINCT_3 - AT_SCAN_CELL_0), 0, (IN_SCAN_DISTINCT_3 + 1) * OUT_SCAN_DISTINCT_3 * 4);
        model.distinct_min = -1;
    }
    if (strlen(name) >= sizeof model.name) return LEGO_ERR_ARGUMENT;
    memcpy(model.name, name, strlen(name));
    memcpy(model.table, state->average, TRAIN_TABLE * sizeof(float));
    model.weights = weights;
    return lego_model_save(&model, write, context);
}

/* Nearly all of a task is queries, which a scout has none of. */
static uint32_t length(const struct recipe *recipe, uint64_t step, uint32_t slot)
{
    struct task task = task_draw(recipe, step, slot);
    return task.scout ? 0 : task.n;
}

/* Tasks give their parts of L and of its gradient, not means of their own. */
static void settle(const struct cpu_step *step, const struct cpu_result *tasks, double *gradient, double *losses)
{
    struct losses parts[TRAIN_BATCH];
    for (int t = 0; t < TRAIN_BATCH; t++) memcpy(&parts[t], tasks[t].losses, sizeof parts[t]);
    for (int i = 0; i < AT_LOSS; i++) gradient[i] = (double)(float)(TRAIN_BATCH * gradient[i]);
    loss_step(step->recipe, step->parameters + AT_LOSS, parts, (struct losses *)losses, gradient + AT_LOSS);
}

const struct net net_paper = {.name = "paper",
                              .parameters = TRAIN_PARAMETERS,
                              .losses = sizeof(struct losses) / sizeof(double),
                              .loss_names = {"loss", "loss_aae", "loss_are", "loss_mse", "loss_skew", "loss_distinct",
                                             "aae", "are", "mse", "rule_aae", "rule_are", "rule_mse"},
                              .problem = problem,
                              .start = start,
                              .constrain = constrain,
                              .save = save,
                              .length = length,
                              .settle = settle};
