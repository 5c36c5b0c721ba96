/* posterior, where counts are above 0: the body compiled plainly, and the choice. */
#define POSTERIOR posterior_plain
#define WIDE 4
#include "model/posterior_body.h"

/* Gathers make it up to twice as fast; the bits are the same. */
void posterior_alike(const struct learnt *learnt, const struct reading *reading, float absent,
                     const struct weighing weighing[], unsigned n, double answer[])
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        posterior_v3(learnt, reading, absent, weighing, n, answer);
        return;
    }
#endif
    posterior_plain(learnt, reading, absent, weighing, n, answer);
}
