/* adam: from a gradient to new parameters, on the CPU and on the GPU. Adam as PyTorch does it (Kingma, Ba 2015, with
 * bias correction), the gradient clipped, the learning rate falling, and the average that a model is made of. */
#pragma once

#include "paper.h"

/* What the learning rate is multiplied by at a step: paper as its `fall` says; ms in the second half, its logarithm
 * evenly. Tests look at steps beyond the end. */
BOTH double recipe_fall(const struct recipe *recipe, uint64_t step)
{
    double steps = (double)recipe_steps(recipe), done = fmin((double)step / steps, 1), late = 2 * done - 1;
    uint64_t stage = step < recipe_steps(recipe) ? 10 * step / recipe_steps(recipe) : 10;
    if (recipe->fall == FALL_LATE && stage > 0) stage--;
    if (recipe->net == NET_PAPER) return recipe->fall == FALL_LINEAR ? 1 - 0.9 * done : pow(0.1, (double)stage / 10);
    return late <= 0 || recipe->rate == 0 ? 1 : pow(recipe->rate_end / recipe->rate, late);
}

/* How far the average moves towards the parameters in a step: it is over a fiftieth of a run (paper), or
 * the last step alone (ms, and paper where asked for). */
BOTH double recipe_average(const struct recipe *recipe)
{
    double steps = (double)recipe_steps(recipe);
    return recipe->net == NET_MS || recipe->last_step || steps <= 50 ? 1 : 50 / steps;
}

/* The norm of a step's gradient that is clipped; ms clips each task instead. */
BOTH double recipe_clip(const struct recipe *recipe)
{
    return recipe->net == NET_PAPER ? 10 : 1e30;
}

BOTH double recipe_rate(const struct recipe *recipe, uint32_t parameter)
{
    return recipe->net == NET_PAPER && parameter < TRAIN_TABLE ? recipe->rate_table : recipe->rate;
}

/* What a gradient is multiplied by so that its norm is at most `most`; NaN or 0 if it is not finite. */
BOTH double adam_clip(double square, double most)
{
    double norm = sqrt(square);
    return norm > most ? most / (norm + 1e-6) : 1;
}

/* What all parameters share in a step. */
struct adam {
    double size, root;
};

BOTH struct adam adam_at(const struct recipe *recipe, uint64_t step)
{
    double t = (double)(step + 1);
    struct adam adam = {recipe_fall(recipe, step) / (1 - pow(0.9, t)), sqrt(1 - pow(0.999, t))};
    return adam;
}

BOTH void adam_move(struct adam adam, double rate, double gradient, float *parameter, float *first, float *second)
{
    double m = 0.9 * (double)*first + (1 - 0.9) * gradient;
    double v = 0.999 * (double)*second + (1 - 0.999) * gradient * gradient;
    *first = (float)m;
    *second = (float)v;
    *parameter -= (float)(rate * adam.size * m / (sqrt(v) / adam.root + 1e-8));
}

BOTH float adam_average(double share, float average, float parameter)
{
    return share < 1 ? average + (float)(share * ((double)parameter - (double)average)) : parameter;
}
