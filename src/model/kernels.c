/* kernels: see kernels.h. */
#include "model/kernels.h"

#include <stddef.h>

#if defined(__x86_64__)
extern const struct decode_kernels decode_kernels_v3, decode_kernels_v4;
#endif
extern const struct decode_kernels decode_kernels_plain;

const struct decode_kernels *const decode_kernels_all[] = {
#if defined(__x86_64__)
    &decode_kernels_v4, &decode_kernels_v3,
#endif
    &decode_kernels_plain, NULL};

const struct decode_kernels *decode_kernels_best(void)
{
    const struct decode_kernels *const *kernels = decode_kernels_all;
    while (!(*kernels)->supported()) kernels++; /* the last one is */
    return *kernels;
}
