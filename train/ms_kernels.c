/* ms_kernels: a task of the meta-sketch, compiled for each kind of vector register. */
#include "lanes.h"

#include "ms_net.h"

KERNELS_OF_LEVEL(LEVEL)

size_t OF_LEVEL(ms_workspace)(uint32_t n, unsigned workers)
{
    return workspace_size(n, workers);
}

void OF_LEVEL(ms_task)(struct pool *pool, unsigned workers, uint32_t n, const uint64_t *bits, const float *frequency,
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
