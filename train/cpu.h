/* cpu: what the CPU backend is made of. Its steps are the same for all nets: the tasks are spread over threads, a
 * thread a task; each has a gradient of its own, and these are added in the order of the tasks, so the result is the
 * same for any number of threads. */
#pragma once

#include "train.h"

/* Multiply-adds of the paper's decoder for one item, forward. */
enum { DECODE_FORWARD_MADDS = 3476 };

/* What comes of one task, at the parameters of the moment. */
struct cpu_result {
    double gradient[NET_PARAMETERS], losses[NET_LOSSES];
    double clip;                               /* what the gradient is multiplied by in the mean */
    double statistics[NET_STATISTICS], follow; /* the state's move towards these by so much */
};

/* The step at hand. */
struct cpu_step {
    const struct recipe *recipe;
    uint64_t step;
    const float *parameters;
};

/* A task of a net. A thread has a workspace, in bytes, aligned to 64, for any task of the recipe. */
struct cpu_work {
    size_t (*workspace)(const struct recipe *recipe);
    void (*task)(const struct cpu_step *step, uint32_t slot, void *workspace, struct cpu_result *result);
};

/* The work of all nets, compiled for one kind of vector register. */
struct kernels {
    const char *name;
    bool (*supported)(void);
    struct cpu_work work[NETS];

    /* For benches: so many multiply-adds of independent numbers in registers, as fast as the machine can. Returns a
     * number that depends on all of them, so that nothing can be left out. */
    double (*multiply_add)(uint64_t count);
};

/* Best first; those that do not run on this CPU say so. NULL ends the list. */
extern const struct kernels *const cpu_kernels[];

/* The first of them that is supported. */
const struct kernels *cpu_best(void);

/* What a level of instructions has its own of (lanes.h): paper_task.c and ms_task.c. */
#define KERNELS_OF(level)                                                                                              \
    size_t paper_workspace_##level(const struct recipe *recipe), ms_workspace_##level(const struct recipe *recipe);    \
    void paper_task_##level(const struct cpu_step *, uint32_t slot, void *workspace, struct cpu_result *);             \
    void ms_task_##level(const struct cpu_step *, uint32_t slot, void *workspace, struct cpu_result *);                \
    double multiply_add_##level(uint64_t count);
#define KERNELS_OF_LEVEL(level) KERNELS_OF(level)

/* As backend_cpu.open() does it, with kernels of one's choice. */
struct session;
struct session *cpu_open(const struct recipe *recipe, unsigned threads, const struct kernels *kernels, char error[]);

/* Clips, moves and constrains the parameters, counts the step. False, and nothing changed, if the gradient is not
 * finite. */
bool cpu_update(const struct recipe *recipe, const double gradient[], struct state *state);
