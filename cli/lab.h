/* The lab: experiments that measure what the paper claims, each in a file of its own, cli/lab_*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_LAB_H
#define CLI_LAB_H

#include "content.h"
#include "record.h"

enum { LAB_LIST_MAX = 64 }; /* methods, budgets or skewnesses on one command line */

/* What is asked for. Where something is 0 the experiment has its own. */
typedef struct lab_plan {
    const estimator_kind *kinds[LAB_LIST_MAX + 1]; /* with the constant 1 among them */
    uint64_t budgets[LAB_LIST_MAX];
    double alphas[LAB_LIST_MAX];
    size_t kind_count, budget_count, alpha_count;
    uint64_t seed;
    uint32_t seeds, distinct;
    unsigned threads;
    double scale;
    int format; /* -1: as the name of each file says */
    on_error policy;
    bool quick, quiet;
    char *const *files; /* streams */
    int file_count;
    char *const *checkpoints;
    int checkpoint_count;
} lab_plan;

/* PARTIAL: some of it failed, which was said, and the rest is worth keeping. LEFT_OUT: there was nothing to run it
 * on. */
typedef enum lab_result { LAB_DONE, LAB_PARTIAL, LAB_FAILED, LAB_LEFT_OUT } lab_result;

typedef struct lab_experiment {
    const char *name, *title, *figure;
    lab_result (*run)(const lab_plan *plan, record *into);
} lab_experiment;

extern const lab_experiment lab_real, lab_synthetic, lab_speed, lab_ablations, lab_skew, lab_bound, lab_scaling,
    lab_bytes;

/* ---- lab_streams.c ---------------------------------------------------------------------------------------------- */

typedef struct lab_stream {
    char name[64];
    double alpha; /* of a Zipf stream; negative for others */
    content content; /* of a file in its order, where a method wants that; elsewhere occurrences are shuffled */
} lab_stream;

/* A Zipf stream as `gen` makes it, and one of about N items whose skewness follows from that. Both say what is
 * wrong. */
bool lab_stream_zipf(lab_stream *self, const char *name, uint32_t distinct, double alpha);
bool lab_stream_sized(lab_stream *self, const char *name, uint32_t distinct, uint64_t total);

/* A file, in the format of the plan or of its name: .u32, .u64, .tsv, else lines. */
bool lab_stream_file(lab_stream *self, const lab_plan *plan, char *path);
void lab_stream_free(lab_stream *self);

/* ---- lab_compare.c ---------------------------------------------------------------------------------------------- */

/* Every method at every budget on a stream, at equal bytes: a row each. A method that refuses a budget has its
 * reason in the row instead of errors. */
lab_result lab_compare(const lab_plan *plan, record *into, const lab_stream *source, const uint64_t *budgets,
                       size_t count);

/* The plan's budgets if there are any, else these. */
lab_result lab_compare_at(const lab_plan *plan, record *into, const lab_stream *source, const uint64_t *own,
                          size_t count);

/* The worse of two. */
static inline lab_result lab_worse(lab_result a, lab_result b)
{
    return a > b ? a : b;
}

/* The model of a method by its own name. */
const lego_model *lab_model(const estimator_kind *kind);

/* Seeds of a mean: those asked for, or one if it should be quick, else three. */
uint32_t lab_seeds(const lab_plan *plan);

#endif
