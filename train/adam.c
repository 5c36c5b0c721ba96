/* adam: from a gradient to new parameters. Clipping, Adam as PyTorch does it (Kingma, Ba 2015, with bias correction),
 * the learning rate in ten stages down to a tenth, the clamp on V. */
#include "parameters.h"

#include <math.h>

double adam_rate(const struct recipe *recipe, uint64_t step)
{
    uint64_t stage = 10 * step / recipe_steps(recipe);
    return pow(0.1, (double)(stage < 10 ? stage : 10) / 10);
}

/* What the gradient is multiplied by so that its norm is at most 10; NaN if it is not finite. */
static double clip(const float gradient[TRAIN_PARAMETERS])
{
    double square = 0;
    for (int i = 0; i < TRAIN_PARAMETERS; i++) square += (double)gradient[i] * (double)gradient[i];
    double norm = sqrt(square);
    return !isfinite(norm) ? (double)NAN : norm > 10 ? 10 / (norm + 1e-6) : 1;
}

bool adam_update(const struct recipe *recipe, const float gradient[TRAIN_PARAMETERS], struct state *state)
{
    const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
    double scale = clip(gradient), rate = adam_rate(recipe, state->step), t = (double)++state->step;
    if (isnan(scale)) return state->step--, false;
    double step_size = rate / (1 - pow(beta1, t)), root = sqrt(1 - pow(beta2, t));
    for (int i = 0; i < TRAIN_PARAMETERS; i++) {
        double g = scale * (double)gradient[i];
        double first = beta1 * (double)state->first[i] + (1 - beta1) * g;
        double second = beta2 * (double)state->second[i] + (1 - beta2) * g * g;
        double base = (double)(i < AT_SCAN_CELL_0 ? recipe->rate_table : recipe->rate);
        state->first[i] = (float)first;
        state->second[i] = (float)second;
        state->parameters[i] -= (float)(base * step_size * first / (sqrt(second) / root + epsilon));
    }
    for (int i = 0; i < TRAIN_TABLE; i++) {
        float v = state->parameters[i];
        state->parameters[i] = v < 0.001F ? 0.001F : v > 1 ? 1 : v;
    }
    double share = adam_average(recipe);
    for (int i = 0; i < TRAIN_PARAMETERS; i++)
        state->average[i] += (float)(share * ((double)state->parameters[i] - (double)state->average[i]));
    return true;
}
