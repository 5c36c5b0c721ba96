/* posterior_alike() on x86-64-v3, which CMakeLists.txt compiles this file for. */
#ifdef __AVX2__
#include <immintrin.h>

#define POSTERIOR posterior_v3
#define WIDE 8
#include "model/posterior_body.h"
#else
typedef int no_avx2;
#endif
