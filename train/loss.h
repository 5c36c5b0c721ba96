/* loss: how wrong a step of the paper's networks was. Each metric of a task is measured by what the rule would have got
 * (the guide), and each is weighed by a number that is learnt too: LW(L_i) = sum of 0.5 / w_i^2 * L_i + ln(1 +
 * w_i^2). */
#pragma once

#include "paper.h"

#define LOSS_GUIDE_LEAST 0.001

/* The part of a metric in LW, and the gradient of its weight. */
BOTH double loss_weigh(double metric, double w)
{
    return 0.5 / (w * w) * metric + log(1 + w * w);
}

BOTH double loss_weigh_backward(double metric, double w)
{
    return -metric / (w * w * w) + 2 * w / (1 + w * w);
}

/* L = L' + 0.1 L'': the part of each of the five. */
BOTH double loss_part(const struct recipe *recipe, int i)
{
    return i < 3 ? 1 : recipe->no_scan ? 0 : 0.1;
}

/* Tasks that the mean of each of the five is over. */
BOTH double loss_tasks(const struct recipe *recipe, int i)
{
    return i < 3 ? recipe_queried(recipe) : TRAIN_BATCH;
}

/* error and guide -> metric, of one task; off: s(alpha) - alpha and s(n) - n. Error and guide of a scout are 0. */
BOTH void loss_task_forward(const struct recipe *recipe, const double off[2], struct losses *task)
{
    for (int i = 0; i < 3; i++) {
        double ratio = task->error[i] / (task->guide[i] + LOSS_GUIDE_LEAST);
        task->metric[i] = recipe->plain_loss ? task->error[i] : ratio * ratio;
    }
    for (int i = 0; i < 2; i++) task->metric[3 + i] = recipe->no_scan ? 0 : off[i] * off[i];
}

/* The gradient of L by the errors of one task, and by off. weights: the 5 of the loss. */
BOTH void loss_task_backward(const struct recipe *recipe, const float *weights, const struct losses *task,
                             const double off[2], double derror[3], double doff[2])
{
    double dmetric[TRAIN_LOSSES];
    for (int i = 0; i < TRAIN_LOSSES; i++)
        dmetric[i] = loss_part(recipe, i) * 0.5 / ((double)weights[i] * (double)weights[i]) / loss_tasks(recipe, i);
    for (int i = 0; i < 3; i++) {
        double guide = task->guide[i] + LOSS_GUIDE_LEAST;
        derror[i] = dmetric[i] * (recipe->plain_loss ? 1 : 2 * task->error[i] / (guide * guide));
    }
    for (int i = 0; i < 2; i++) doff[i] = dmetric[3 + i] * 2 * off[i];
}

/* The means over the tasks of a step, and L; dweights: its gradient by the 5 weights. */
BOTH void loss_step(const struct recipe *recipe, const float *weights, const struct losses *tasks, struct losses *mean,
                    double *dweights)
{
    struct losses sum = {0, {0}, {0}, {0}};
    for (int t = 0; t < TRAIN_BATCH; t++) {
        for (int i = 0; i < TRAIN_LOSSES; i++) sum.metric[i] += tasks[t].metric[i] / loss_tasks(recipe, i);
        for (int i = 0; i < 3; i++) {
            sum.error[i] += tasks[t].error[i] / loss_tasks(recipe, i);
            sum.guide[i] += tasks[t].guide[i] / loss_tasks(recipe, i);
        }
    }
    for (int i = 0; i < TRAIN_LOSSES; i++) {
        sum.total += loss_part(recipe, i) * loss_weigh(sum.metric[i], (double)weights[i]);
        dweights[i] = (double)(float)(loss_part(recipe, i) * loss_weigh_backward(sum.metric[i], (double)weights[i]));
    }
    *mean = sum;
}
