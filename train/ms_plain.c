/* A task of the meta-sketch with vectors of 16 bytes, which every CPU has that we know of. */
#define real float
#define LANES 4
#define TILE_ROWS 4
#define TILE_COLUMNS 2
#define TILE_OUT 2
#define TILE_IN 4
#define KERNELS ms_kernels_plain
#define KERNELS_NAME "plain"
#define SUPPORTED true
#include "ms_kernels.h"
