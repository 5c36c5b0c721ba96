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

typedef float four __attribute__((vector_size(16)));
static __attribute__((noinline)) four fused_singly(four a, four b, four c)
{
    return (four){fused(a[0], b[0], c[0]), fused(a[1], b[1], c[1]), fused(a[2], b[2], c[2]), fused(a[3], b[3], c[3])};
}

#if defined(__SSE2__)
#include <emmintrin.h>

/* Lanes that are all ones where a sum of doubles may round to the wrong float: it is half way between two of them, or
 * below 2^-126, where floats have fewer bits. */
static inline __m128i in_doubt(__m128d sum)
{
    __m128i bits = _mm_castpd_si128(sum);
    __m128i half = _mm_cmpeq_epi32(_mm_and_si128(bits, _mm_set_epi32(0, 0x1fffffff, 0, 0x1fffffff)),
                                   _mm_set_epi32(1, 0x10000000, 1, 0x10000000));
    __m128i small = _mm_cmplt_epi32(_mm_and_si128(bits, _mm_set_epi32(0x7fffffff, 0, 0x7fffffff, 0)),
                                    _mm_set_epi32(0x38100000, 0, 0x38100000, 0));
    return _mm_or_si128(half, small);
}

static inline four fused_lanes(four a, four b, four c)
{
    __m128d low = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
    __m128d high = _mm_add_pd(_mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), _mm_cvtps_pd(_mm_movehl_ps(b, b))),
                              _mm_cvtps_pd(_mm_movehl_ps(c, c)));
    if (_mm_movemask_epi8(_mm_or_si128(in_doubt(low), in_doubt(high)))) return fused_singly(a, b, c);
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
#else
static inline four fused_lanes(four a, four b, four c)
{
    return fused_singly(a, b, c);
}
#endif
#endif

#include "model/kernels_decode.h"
