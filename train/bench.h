/* bench: how fast the CPU backend is, against what the machine can do at most. */
#ifndef LEGO_TRAIN_BENCH_H
#define LEGO_TRAIN_BENCH_H

#include <stdbool.h>

struct train_bench {
    char description[80];
    double peak;                    /* FLOP/s of multiply-adds in registers, all threads */
    double forward, backward, both; /* of the decoder, its useful arithmetic alone */
    double tasks;                   /* a second, whole steps */
};

/* threads 0: as many as there are cores. False if there is no memory. Takes some ten seconds. */
bool train_bench(unsigned threads, struct train_bench *result);

#endif
