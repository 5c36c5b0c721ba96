/* A task of the meta-sketch with vectors of 32 bytes: x86-64-v3, which CMakeLists.txt compiles this file for. */
#ifdef __AVX2__
#define real float
#define LANES 8
#define TILE_ROWS 4
#define TILE_COLUMNS 2
#define TILE_OUT 2
#define TILE_IN 4
#define KERNELS ms_kernels_avx2
#define KERNELS_NAME "avx2"
#define SUPPORTED __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")
#include "ms_kernels.h"
#else
typedef int no_ms_avx2;
#endif
