/* The yardstick's batches on x86-64-v3, which CMakeLists.txt compiles this file for. */
#ifdef __AVX2__
#define KERNEL countmin_v3
#define KERNEL_NAME "x86-64-v3"
#define SUPPORTED __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")
#include "countmin_kernel.h"
#else
typedef int no_avx2;
#endif
