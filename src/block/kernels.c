/* kernels: see kernels.h. */
#include "block/kernels.h"

#if defined(__x86_64__)
extern const struct block_kernels block_kernels_v3, block_kernels_v4;
#endif
extern const struct block_kernels block_kernels_plain;

const struct block_kernels *const block_kernels_all[] = {
#if defined(__x86_64__)
    &block_kernels_v4, &block_kernels_v3,
#endif
    &block_kernels_plain, NULL};

const struct block_kernels *block_kernels_best(void)
{
    const struct block_kernels *const *kernels = block_kernels_all;
    while (!(*kernels)->supported()) kernels++; /* the last one is */
    return *kernels;
}
