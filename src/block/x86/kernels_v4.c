/* Blocks on x86-64-v4 with vectors that count ones and choose bytes, which CMakeLists.txt compiles this file for. */
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512VBMI__) && defined(__AVX512BW__)
#define KERNELS block_kernels_v4
#define KERNELS_NAME "x86-64-v4"
#define SUPPORTED                                                                                                      \
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&   \
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&                                    \
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi") &&                           \
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")
#include "block/kernels_body.h"
#else
typedef int no_avx512;
#endif
