/* The decoder with vectors of 64 bytes: x86-64-v4, which CMakeLists.txt compiles this file for. */
#ifdef __AVX512F__
#include <immintrin.h>
#define DECODER decode_kernels_v4
#define DECODER_NAME "x86-64-v4"
#define SUPPORTED                                                                                                      \
    __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&   \
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma") &&   \
        __builtin_cpu_supports("bmi2")
#define LANES 16
#define FUSED(a, b, c) ((vec)_mm512_fmadd_ps(a, b, c))
#define TILE_READS 5
#define TILE_MIX 6
#define TILE_VECTORS 4
#include "model/kernels_decode.h"
#else
typedef int no_avx512;
#endif
