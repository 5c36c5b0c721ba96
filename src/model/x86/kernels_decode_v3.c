/* The decoder with vectors of 32 bytes: x86-64-v3, which CMakeLists.txt compiles this file for. */
#ifdef __AVX2__
#include <immintrin.h>
#define DECODER decode_kernels_v3
#define DECODER_NAME "x86-64-v3"
#define SUPPORTED __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")
#define LANES 8
#define FUSED(a, b, c) ((vec)_mm256_fmadd_ps(a, b, c))
#define TILE_READS 5
#define TILE_MIX 6
#define TILE_VECTORS 2
#include "model/kernels_decode.h"
#else
typedef int no_avx2;
#endif
