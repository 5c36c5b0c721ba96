/* loss: how wrong a step was. Each metric of a task is measured by what the rule would have got (the guide), and each
 * is weighed by a number that is learnt too: LW(L_i) = sum of 0.5 / w_i^2 * L_i + ln(1 + w_i^2). */
#include "train.h"

#include <math.h>

static const double guide_least = 0.001;

/* L = L' + 0.1 L'': the part of each of the five. */
static double part(const struct recipe *recipe, int i)
{
    return i < 3 ? 1 : recipe->no_scan ? 0 : 0.1;
}

/* Tasks that the mean of each of the five is over. */
static double tasks_in(const struct recipe *recipe, int i)
{
    return i < 3 ? recipe_queried(recipe) : TRAIN_BATCH;
}

void loss_task_forward(const struct recipe *recipe, const double off[2], struct losses *task)
{
    for (int i = 0; i < 3; i++) {
        double ratio = task->error[i] / (task->guide[i] + guide_least);
        task->metric[i] = recipe->plain_loss ? task->error[i] : ratio * ratio;
    }
    for (int i = 0; i < 2; i++) task->metric[3 + i] = recipe->no_scan ? 0 : off[i] * off[i];
}

void loss_task_backward(const struct recipe *recipe, const float weights[TRAIN_LOSSES], const struct losses *task,
                        const double off[2], double derror[3], double doff[2])
{
    double dmetric[TRAIN_LOSSES];
    for (int i = 0; i < TRAIN_LOSSES; i++)
        dmetric[i] = part(recipe, i) * 0.5 / ((double)weights[i] * (double)weights[i]) / tasks_in(recipe, i);
    for (int i = 0; i < 3; i++) {
        double guide = task->guide[i] + guide_least;
        derror[i] = dmetric[i] * (recipe->plain_loss ? 1 : 2 * task->error[i] / (guide * guide));
    }
    for (int i = 0; i < 2; i++) doff[i] = dmetric[3 + i] * 2 * off[i];
}

void loss_forward(const struct recipe *recipe, const float weights[TRAIN_LOSSES],
                  const struct losses tasks[TRAIN_BATCH], struct losses *mean)
{
    *mean = (struct losses){0};
    for (int t = 0; t < TRAIN_BATCH; t++) {
        for (int i = 0; i < TRAIN_LOSSES; i++) mean->metric[i] += tasks[t].metric[i] / tasks_in(recipe, i);
        for (int i = 0; i < 3; i++) {
            mean->error[i] += tasks[t].error[i] / tasks_in(recipe, i);
            mean->guide[i] += tasks[t].guide[i] / tasks_in(recipe, i);
        }
    }
    for (int i = 0; i < TRAIN_LOSSES; i++) {
        double square = (double)weights[i] * (double)weights[i];
        mean->total += part(recipe, i) * (0.5 / square * mean->metric[i] + log(1 + square));
    }
}

void loss_backward(const struct recipe *recipe, const float weights[TRAIN_LOSSES], const struct losses *mean,
                   float dweights[TRAIN_LOSSES])
{
    for (int i = 0; i < TRAIN_LOSSES; i++) {
        double w = (double)weights[i];
        dweights[i] = (float)(part(recipe, i) * (-mean->metric[i] / (w * w * w) + 2 * w / (1 + w * w)));
    }
}
