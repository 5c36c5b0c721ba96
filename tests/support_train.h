/* Sessions of training on the CPU, and figures that are nearly the same. */
#pragma once

#include "backend.h"
#include "cpu.h"
#include "support.h"

static inline struct session *open_session(const struct recipe *recipe, unsigned threads, const struct kernels *kernels)
{
    char error[BACKEND_ERROR] = "";
    struct session *session = cpu_open(recipe, threads, kernels ? kernels : cpu_best(), error);
    if (!session) fail_msg("%s", error);
    return session;
}

static inline void run(struct session *session, uint32_t count, struct losses *losses)
{
    uint32_t done;
    assert_int_equal(backend_cpu.steps(session, count, &losses->total, &done), BACKEND_DONE);
    assert_int_equal(done, count);
}

static inline void assert_near(double ours, double theirs, double tolerance, const char *what, int i)
{
    if (!(fabs(ours - theirs) <= tolerance))
        fail_msg("%s %d: %.9g, expected %.9g; %.2g apart", what, i, ours, theirs, fabs(ours - theirs));
}

static inline void assert_ratio(double ours, double theirs, double tolerance, const char *what, int i)
{
    assert_near(ours, theirs, tolerance * fabs(theirs) + 1e-12, what, i);
}
