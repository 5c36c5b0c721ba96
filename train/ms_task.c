/* ms_task: one task of the meta-sketch, from its number to its gradient. Compiled for each kind of vector register. */
#include "lanes.h"

#include "adam.h"
#include "cpu.h"
#include "ms_net.h"

KERNELS_OF_LEVEL(LEVEL)

size_t OF_LEVEL(ms_workspace)(const struct recipe *recipe)
{
    return workspace_size(recipe->n_max) + recipe->n_max * (sizeof(uint64_t) + sizeof(float));
}

void OF_LEVEL(ms_task)(const struct cpu_step *step, uint32_t slot, void *workspace, struct cpu_result *result)
{
    const struct ms_task task = ms_task_draw(step->recipe, step->step * step->recipe->batch + slot);
    const double top = ms_task_top(&task);
    uint64_t *bits = (uint64_t *)((char *)workspace + workspace_size(step->recipe->n_max));
    float *frequency = (float *)(bits + task.n);
    for (uint32_t i = 0; i < task.n; i++) {
        bits[i] = ms_item_bits(&task, i);
        frequency[i] = ms_item_frequency(&task, top, i);
    }
    struct workspace *s = lay_out(workspace, task.n, bits, frequency, step->parameters);
    struct ms_losses losses = net_task(s);
    memcpy(result->losses, &losses, sizeof losses);
    double square = 0;
    for (int i = 0; i < MS_PARAMETERS; i++) {
        result->gradient[i] = (double)s->gradient[i];
        square += result->gradient[i] * result->gradient[i];
    }
    result->clip = adam_clip(square, MS_CLIP); /* what is not finite stays so */
    result->follow = ms_follow(step->recipe, task.n);
    for (int i = 0; i < MS_NORMED; i++) {
        double variance = 1 / (s->rest[i] * s->rest[i]) - (double)norm_epsilon;
        result->statistics[i] = s->mean[i];
        result->statistics[MS_NORMED + i] = variance * task.n / (task.n - 1.0); /* unbiased */
    }
}
