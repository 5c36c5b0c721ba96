/* cpu: what the CPU backend is made of. */
#ifndef LEGO_TRAIN_CPU_H
#define LEGO_TRAIN_CPU_H

#include "ms_train.h"
#include "paper.h"
#include "pool.h"

/* Multiply-adds of the paper's decoder for one item: forward; backward for the matrices and for the layers below. */
enum { DECODE_FORWARD_MADDS = 3476, DECODE_BACKWARD_MADDS = 3476 + 3188 };

/* One task of each net, compiled for one kind of vector register (paper_task.h, ms_net.h). Workspaces are in bytes, to
 * be aligned to 64. */
struct kernels {
    const char *name;
    bool (*supported)(void);

    /* A thread has a workspace, for tasks of up to n items. A task gives its losses and its part of the gradient, by
     * all but the loss weights. log2s[j] = log2(j) to n + 1. */
    size_t (*paper_workspace)(uint32_t n);
    void (*paper_task)(const struct recipe *recipe, const struct task *task, const float *parameters,
                       const double *log2s, void *workspace, double *gradient, struct losses *losses);

    /* A workspace is for one task of n items, which all threads of a pool do together. */
    size_t (*ms_workspace)(uint32_t n, unsigned workers);
    void (*ms_task)(struct pool *pool, unsigned workers, uint32_t n, const uint64_t *bits, const float *frequency,
                    const float *parameters, void *workspace, struct ms_found *found);

    /* For the bench: the paper's decoder alone, forward and backward of `items` made-up items (rounded up to blocks);
     * and so many multiply-adds of independent numbers in registers, as fast as the machine can. Both return a number
     * that depends on all of it, so that nothing can be left out. */
    double (*decode)(const float *parameters, void *workspace, uint64_t items, bool backward);
    double (*multiply_add)(uint64_t count);
};

/* The same as paper_task.c and ms_kernels.c give it, compiled for a level of instructions (lanes.h). */
#define KERNELS_OF(level)                                                                                              \
    size_t paper_workspace_##level(uint32_t n);                                                                        \
    void paper_task_##level(const struct recipe *, const struct task *, const float *, const double *, void *,         \
                            double *, struct losses *);                                                                \
    size_t ms_workspace_##level(uint32_t n, unsigned workers);                                                         \
    void ms_task_##level(struct pool *, unsigned, uint32_t, const uint64_t *, const float *, const float *, void *,    \
                         struct ms_found *);                                                                           \
    double paper_decode_##level(const float *, void *, uint64_t, bool);                                                \
    double multiply_add_##level(uint64_t);
#define KERNELS_OF_LEVEL(level) KERNELS_OF(level)

/* Best first; those that do not run on this CPU say so. NULL ends the list. */
extern const struct kernels *const cpu_kernels[];

/* The first of them that is supported. */
const struct kernels *cpu_best(void);

/* What the CPU does of a net. */
struct cpu_net {
    unsigned threads; /* the most that have something to do */
    void *(*open)(const struct recipe *recipe, const struct kernels *kernels, struct pool *pool); /* NULL: no memory */
    void (*close)(void *work);

    /* The gradient of a step, its losses, and the statistics after it, of which those before are given. False if there
     * is not enough memory. */
    bool (*gradient)(void *work, uint64_t step, const float *parameters, double *gradient, double *statistics,
                     double *losses);
};
extern const struct cpu_net cpu_paper, cpu_compact, cpu_ms;

/* As backend_cpu.open() does it, with kernels of one's choice. */
struct session;
struct session *cpu_open(const struct recipe *recipe, unsigned threads, const struct kernels *kernels, char error[]);

/* Clips, moves and constrains the parameters, counts the step. False, and nothing changed, if the gradient is not
 * finite. */
bool cpu_update(const struct recipe *recipe, const double gradient[], struct state *state);

/* Room that is aligned to 64 bytes; NULL if there is none. */
void *cpu_room(size_t size);

#endif
