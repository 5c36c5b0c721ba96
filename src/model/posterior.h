/* posterior: how likely each count is for an item, given its reads and what was learnt of the stream, and the answer.
 *
 * An item of count v that reads a and b in its rows and c in its cap has met the noise a - v, b - v and c - v:
 *
 *     P(v) ~ counts(v) cap(c - v) [ rows(a - v) rows(b - v) + twin Z ],    Z = sum of counts(v) rows(a - v) rows(b - v)
 *
 * The second term is the chance that another item has the same print: then the reads are both's together, and it may
 * be the other that nearly all of them is.
 *
 * The answer is the count for which the expected error is least, if an error of 1 weighs 1 + kappa / v: half of the
 * weight P(v) (1 + kappa / v) is below it, half above. kappa = 0 makes absolute errors least, a large one relative
 * ones.
 *
 * The body, kernels_posterior.h, is compiled once for each kind of CPU, and all give the same bits. */
#pragma once

#include "model/learn.h"

/* What an error weighs at count v, absolute + relative / v, and which share of all weight is below the answer. */
struct weighing {
    float absolute, relative, share;
};

struct posterior_kernels {
    const char *name;
    bool (*supported)(void);

    /* The answers for n weighings, where learnt->sign is 1. absent: how likely the item is never to have come, over how
     * likely it is to have. The reading is of a block that shares, its least value above 0. */
    void (*answer)(const struct learnt *learnt, const struct reading *reading, float absent,
                   const struct weighing weighing[], unsigned n, double answer[]);
};

/* Best first; those that do not run on this CPU say so. NULL ends the list. */
extern const struct posterior_kernels *const posterior_kernels_all[];

/* The first of them that is supported. */
const struct posterior_kernels *posterior_kernels_best(void);

/* The same for any sign. Where counts of both signs may be met, it takes some ten microseconds. */
void posterior_answer(const struct posterior_kernels *kernels, const struct learnt *learnt,
                      const struct reading *reading, float absent, const struct weighing weighing[], unsigned n,
                      double answer[]);
