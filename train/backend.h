/* backend: where steps are computed. The loop, the tests and the commands know only this. A backend draws the tasks
 * itself, so nothing but losses comes back while steps run; all of a run's memory is in the session.
 *
 * A backend gives the same bits every time; between backends losses and gradients agree to 1e-4. */
#pragma once

#include "train.h"

enum { BACKEND_ERROR = 256 };

enum backend_result {
    BACKEND_DONE,
    BACKEND_NOT_FINITE, /* the loss or the gradient of a step is not finite; what is left can only be closed */
    BACKEND_FAILED      /* the device failed, likewise */
};

struct session; /* one run on one backend; each backend has its own */

struct backend {
    const char *name;

    /* A session whose state is that of state_start(), or NULL and why. threads: 0 for as many as there are cores; a
     * backend may have no use for it. The result does not depend on it. */
    struct session *(*open)(const struct recipe *recipe, unsigned threads, char error[BACKEND_ERROR]);
    void (*close)(struct session *session);

    /* What computes and how, in words, for the log: "cpu, avx512, 2 threads". */
    const char *(*describe)(const struct session *session);

    bool (*load)(struct session *session, const struct state *state);
    bool (*save)(struct session *session, struct state *state);

    /* The losses of a step's tasks at the current parameters, and the gradient that Adam gets, before it is clipped.
     * Changes nothing; for tests. */
    enum backend_result (*gradient)(struct session *session, uint64_t step, double gradient[], double losses[]);

    /* The next `count` steps, updates included. losses [count][net->losses]: of each step, before its update; *done is
     * how many there were. If BACKEND_NOT_FINITE, the losses behind those are the ones to blame. */
    enum backend_result (*steps)(struct session *session, uint32_t count, double losses[], uint32_t *done);
};

extern const struct backend backend_cpu;
#ifdef HAVE_CUDA
extern const struct backend backend_cuda;
#endif
