/* The decoder on any CPU, with vectors of 16 bytes. */
#include <stdint.h>
#include <string.h>

#define DECODER decode_kernels_plain
#define DECODER_NAME "plain"
#define SUPPORTED true
#define LANES 4
#define TILE_READS 4
#define TILE_MIX 4
#define TILE_VECTORS 2

#if defined(__aarch64__)
#include <arm_neon.h>
#define FUSED(a, b, c) ((vec)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#define FUSED_ONE(a, b, c) __builtin_fmaf(a, b, c)
#else
/* a * b + c rounded once, on CPUs that can not: answers must not depend on the machine. In doubles the product is
 * exact. If the sum is not, its last bit is made odd, so that it stays on its side of what is half way between two
 * floats. */
static inline float fused(float a, float b, float c)
{
    double p = (double)a * (double)b, q = (double)c, sum = p + q, back = sum - p;
    double error = (p - (sum - back)) + (q - back);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    uint64_t wrong = (uint64_t)((error < 0) | (error > 0)) & ~bits & 1, toward = (uint64_t)((error > 0) == (sum > 0));
    bits += wrong & toward;
    bits -= wrong & ~toward & 1;
    memcpy(&sum, &bits, sizeof bits);
    return (float)sum;
}

#define FUSED(a, b, c) fused_lanes(a, b, c)
#define FUSED_ONE(a, b, c) fused(a, b, c)

typedef float four __attribute__((vector_size(16)));
static inline four fused_lanes(four a, four b, four c)
{
    return (four){fused(a[0], b[0], c[0]), fused(a[1], b[1], c[1]), fused(a[2], b[2], c[2]), fused(a[3], b[3], c[3])};
}
#endif

#define LOOK_UP(table, index)                                                                                          \
    ((vec){(table)[(index)[0]], (table)[(index)[1]], (table)[(index)[2]], (table)[(index)[3]]})
#include "kernels_decode.h"
