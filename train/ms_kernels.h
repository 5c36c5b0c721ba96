/* ms_kernels: ms_net.h as the kernels of one instruction set. KERNELS is their name, SUPPORTED an expression that says
 * whether this CPU has the instructions. */
#include "ms_net.h"

static void task_gradient(struct ms_pool *pool, unsigned workers, uint32_t n, const uint64_t *bits,
                          const float *frequency, const float *parameters, void *workspace, float *gradient,
                          double *mean, double *variance, struct ms_losses *losses)
{
    struct workspace *s = lay_out(workspace, n, workers, bits, frequency, parameters);
    *losses = net_task(pool, s, gradient);
    for (int i = 0; i < MS_NORMED; i++) {
        mean[i] = s->mean[i];
        variance[i] = (1 / (s->rest[i] * s->rest[i]) - (double)norm_epsilon) * n / (n - 1.0);
    }
}

static bool supported(void)
{
    return SUPPORTED;
}

extern const struct ms_kernels KERNELS;
const struct ms_kernels KERNELS = {KERNELS_NAME, supported, workspace_size, task_gradient};
