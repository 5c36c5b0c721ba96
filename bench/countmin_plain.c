/* The yardstick's batches on any CPU. */
#define KERNELS countmin_plain
#define KERNELS_NAME "plain"
#define SUPPORTED true
#include "countmin_kernels.h"
