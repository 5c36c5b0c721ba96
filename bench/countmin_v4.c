/* The yardstick's batches on x86-64-v4, which CMakeLists.txt compiles this file for. */
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
#define KERNEL countmin_v4
#define KERNEL_NAME "x86-64-v4"
#define SUPPORTED                                                                                                      \
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&   \
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2")
#include "countmin_kernel.h"
#else
typedef int no_avx512;
#endif
