/* cpu: what the CPU backend needs of a task, compiled once for each kind of vector register. */
#ifndef LEGO_TRAIN_CPU_H
#define LEGO_TRAIN_CPU_H

#include "train.h"

#include <stddef.h>

/* Multiply-adds of the decoder for one item: forward; backward for the matrices and for the layers below. */
enum { DECODE_FORWARD_MADDS = 3476, DECODE_BACKWARD_MADDS = 3476 + 3188 };

struct kernels {
    const char *name;
    bool (*supported)(void);

    /* Bytes of a workspace for tasks of up to n items, to be aligned to 64. A thread needs one. */
    size_t (*workspace)(uint32_t n);

    /* One task: its losses, and its part of the gradient, by all but the loss weights. log2s[j] = log2(j) to n + 1. */
    void (*task)(const struct recipe *recipe, const struct task *task, const float *parameters, const double *log2s,
                 void *workspace, double *gradient, struct losses *losses);

    /* For the bench: the decoder alone, forward and backward of `items` made-up items (rounded up to blocks); and so
     * many multiply-adds of independent numbers in registers, as fast as the machine can. Both return a number that
     * depends on all of it, so that nothing can be left out. */
    double (*decode)(const float *parameters, void *workspace, uint64_t items, bool backward);
    double (*multiply_add)(uint64_t count);
};

/* Best first; those that do not run on this CPU say so. NULL ends the list. */
extern const struct kernels *const cpu_kernels[];

/* The first of them that is supported. */
const struct kernels *cpu_best(void);

/* A session of backend_cpu with chosen kernels. */
struct session;
struct session *cpu_open(const struct recipe *recipe, unsigned threads, const struct kernels *kernels, char error[]);

#endif
