/* The posterior for any CPU. */
#define POSTERIOR posterior_kernels_plain
#define POSTERIOR_NAME "plain"
#define SUPPORTED true
#include "model/kernels_posterior.h"
