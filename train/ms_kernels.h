/* ms_kernels: ms_net.h as the kernels of one instruction set. KERNELS is their name, SUPPORTED an expression that says
 * whether this CPU has the instructions. */
#include "ms_net.h"

static void task_found(struct ms_pool *pool, unsigned workers, uint32_t n, const uint64_t *bits, const float *frequency,
                       const float *parameters, void *workspace, struct ms_found *found)
{
    struct workspace *s = lay_out(workspace, n, workers, bits, frequency, parameters);
    found->losses = net_task(pool, s, found->gradient);
    for (int i = 0; i < MS_NORMED; i++) {
        found->mean[i] = s->mean[i];
        found->variance[i] = (1 / (s->rest[i] * s->rest[i]) - (double)norm_epsilon) * n / (n - 1.0);
    }
    memcpy(found->memory, &s->memory, sizeof found->memory);
}

static bool supported(void)
{
    return SUPPORTED;
}

extern const struct ms_kernels KERNELS;
const struct ms_kernels KERNELS = {KERNELS_NAME, supported, workspace_size, task_found};
