/* ms_backend: where the meta-sketch's steps are computed; backend.h is the same of the paper's networks. */
#ifndef LEGO_TRAIN_MS_BACKEND_H
#define LEGO_TRAIN_MS_BACKEND_H

#include "backend.h"
#include "ms_train.h"

/* What comes of one task, at the parameters of the moment. */
struct ms_found {
    float gradient[MS_PARAMETERS]; /* of its loss, before clipping */
    double mean[MS_NORMED], variance[MS_NORMED]; /* of batch norm, unbiased */
    float memory[MS_DEPTH][MS_SLOTS][MS_EMBED]; /* with all items stored */
    struct ms_losses losses;
};

struct ms_session; /* one run on one backend; each backend has its own */

/* As struct backend has them. */
struct ms_backend {
    const char *name;
    struct ms_session *(*open)(const struct ms_recipe *recipe, unsigned threads, char error[BACKEND_ERROR]);
    void (*close)(struct ms_session *session);
    const char *(*describe)(const struct ms_session *session);
    bool (*load)(struct ms_session *session, const struct ms_state *state);
    bool (*save)(struct ms_session *session, struct ms_state *state);

    /* A step's task, in its place of the batch; changes nothing; for tests. */
    enum backend_result (*task)(struct ms_session *session, uint64_t step, uint32_t place, struct ms_found *found);

    /* The next `count` steps, updates included; losses[i] is the mean over the tasks of the i-th. */
    enum backend_result (*steps)(struct ms_session *session, uint32_t count, struct ms_losses losses[], uint32_t *done);
};

extern const struct ms_backend ms_backend_cpu;
#ifdef HAVE_CUDA
extern const struct ms_backend ms_backend_cuda;
#endif

#endif
