/* Blocks on any CPU. */
#define KERNELS block_kernels_plain
#define KERNELS_NAME "plain"
#define SUPPORTED true
#include "block/kernels_body.h"
