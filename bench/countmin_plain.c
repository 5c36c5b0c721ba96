/* The yardstick's batches on any CPU. */
#define KERNEL countmin_plain
#define KERNEL_NAME "plain"
#define SUPPORTED true
#include "countmin_kernel.h"
