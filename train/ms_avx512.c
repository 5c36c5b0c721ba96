/* A task of the meta-sketch with vectors of 64 bytes: x86-64-v4, which CMakeLists.txt compiles this file for. */
#ifdef __AVX512F__
#define real float
#define LANES 16
#define TILE_ROWS 8
#define TILE_COLUMNS 2
#define TILE_OUT 4
#define TILE_IN 4
#define KERNELS ms_kernels_avx512
#define KERNELS_NAME "avx512"
#define SUPPORTED                                                                                             \
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") && \
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2")
#include "ms_kernels.h"
#else
typedef int no_ms_avx512;
#endif
