/* What the machine can do. */
#include "bench.h"

#include "cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 3 };

bool limits_measure(struct limits *self, bool quick)
{
    const uint64_t madds = quick ? UINT64_C(200000000) : UINT64_C(2000000000); /* a tenth of a second or less */
    const size_t bytes = quick ? (size_t)64 << 20 : (size_t)1 << 30;           /* more than caches hold, unless quick */
    uint64_t *words = malloc(bytes);
    if (words == NULL) return false;
    memset(words, 1, bytes);
    volatile double result; /* so that the work is done */
    self->instructions = cpu_best()->name;
    for (int turn = 0; turn < TURNS; turn++) {
        double start = clocks().wall;
        result = cpu_best()->multiply_add(madds);
        double middle = clocks().wall;
        uint64_t sum = 0;
        for (size_t i = 0; i < bytes / sizeof *words; i++) sum += words[i];
        result = (double)sum;
        double end = clocks().wall;
        self->flops = fmax(self->flops, 2.0 * (double)madds / (middle - start));
        self->bandwidth = fmax(self->bandwidth, (double)bytes / (end - middle));
    }
    (void)result;
    free(words);
    return true;
}
