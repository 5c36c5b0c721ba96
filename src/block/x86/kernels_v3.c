/* Blocks on x86-64-v3, which CMakeLists.txt compiles this file for. */
#ifdef __BMI2__
#define KERNELS block_kernels_v3
#define KERNELS_NAME "x86-64-v3"
#define SUPPORTED                                                                                                      \
    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&               \
        __builtin_cpu_supports("popcnt")
#include "block/kernels_body.h"
#else
typedef int no_bmi2;
#endif
