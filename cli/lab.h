/* The lab: experiments that measure what the paper claims. `eval` and `demo` measure with it too.
 *
 *     lab.c          the command            lab_streams.c  streams, counted exactly
 *     lab_compare.c  every method at every budget on a stream
 *     lab_errors.c   real, space, synthetic, ablations, scaling, bytes; the other experiments have a file each */
#pragma once

#include "metrics.h"
#include "options.h"
#include "record.h"
#include "stream.h"

enum { LAB_LIST_MAX = 64 }; /* methods, budgets or skewnesses on one command line */

/* What is asked for, and where nothing was what the experiment has of its own. */
typedef struct lab_plan {
    const estimator_kind *kinds[LAB_LIST_MAX + 1]; /* with the constant 1 among them */
    uint64_t budgets[LAB_LIST_MAX];                /* if there are none, they follow from the stream */
    double alphas[LAB_LIST_MAX];
    char *models[LAB_LIST_MAX]; /* files of the ablations */
    size_t kind_count, budget_count, alpha_count, model_count;
    const lego_model *model; /* of every method that uses one; NULL: each has its own */
    const char *model_file;  /* it is one of several that are compared, from here: rows say which; else NULL */
    uint64_t seed;
    uint32_t seeds, distinct, threads;
    double scale;
    reading how;
    bool quick, quiet;
    char *const *files; /* streams */
    int file_count;
} lab_plan;

/* PARTIAL: some of it failed, which was said, and the rest is worth keeping. LEFT_OUT: there was nothing to run it
 * on. */
typedef enum lab_result { LAB_DONE, LAB_PARTIAL, LAB_FAILED, LAB_LEFT_OUT } lab_result;

/* What the files behind an experiment's name are. */
typedef enum lab_files { LAB_NO_FILES, LAB_STREAMS, LAB_MODELS } lab_files;

typedef struct lab_experiment {
    const char *name, *title, *figure;
    lab_result (*run)(const lab_plan *plan, record *into);
    lab_files files;
    /* For the plan where it has nothing. */
    uint32_t seeds, distinct; /* seeds: 0: 3 */
    double scale, quick_scale;
    double alphas[8];                /* up to a 0 */
    const estimator_kind *kinds[16]; /* up to a NULL; without any, all but those that are only measured by name */
} lab_experiment;

extern const lab_experiment lab_real, lab_space, lab_synthetic, lab_speed, lab_ablations, lab_skew, lab_bound,
    lab_scaling, lab_bytes;

/* ---- lab.c: lists in options, which eval has too ---------------------------------------------------------------- */

/* Takes one word of a list into a plan; NULL, or what the word should have been. */
typedef const char *lab_take(lab_plan *plan, const char *word, size_t length);
lab_take lab_take_kind, lab_take_size;

/* Every word between commas; a list that is NULL has none. Says which one is wrong with the command line. */
bool lab_list(const command *self, lab_plan *plan, const char *list, lab_take *take);

/* ---- lab_streams.c ---------------------------------------------------------------------------------------------- */

/* What a stream holds, counted exactly while it is read: the truth that methods are measured against. */
typedef struct content {
    exact_table *truth;
    item_order order;
    bool keep_order; /* there are occurrences to keep in order, and a method that wants them */
    bool deletes;    /* a count was negative */
} content;

void content_free(content *self);

typedef struct lab_stream {
    char name[512];
    double alpha;    /* of a Zipf stream; negative for others */
    content content; /* of a file in its order, where a method wants that; elsewhere occurrences are shuffled */
} lab_stream;

/* A Zipf stream as `gen` makes it (name NULL: "zipf ALPHA"), and one of about N items whose skewness follows from that.
 * These and the next say what is wrong, and have a name even then. */
bool lab_stream_zipf(lab_stream *self, const char *name, uint32_t distinct, double alpha);
bool lab_stream_sized(lab_stream *self, const char *name, uint32_t distinct, uint64_t total);

/* File i of the plan. */
bool lab_stream_file(lab_stream *self, const lab_plan *plan, size_t i);

/* The content of files, or of standard input if there are none, for the methods of the plan. */
bool lab_read(content *into, const lab_plan *plan, char *const *paths, int count);

/* ---- lab_compare.c ---------------------------------------------------------------------------------------------- */

/* A method of the plan at a budget on a stream. */
trial lab_trial(const lab_plan *plan, const content *read, const estimator_kind *kind, uint64_t budget);

/* The name of its model, or NULL; what came of it, unless that is NULL, as fields of a row, in a stream of so many
 * items; and whether anything did, else it says why not. The stream's name is NULL where there is but one. */
const char *lab_model_name(const trial *spec);
void lab_fields(json_line *row, const trial *spec, const metrics *result, int64_t total);
bool lab_say(const trial *spec, const char *where, lego_status status);

/* Whether the stream was too large for a method with hindsight, which is a result; and why there is none, in words. */
bool lab_full(const trial *spec, lego_status status);
const char *lab_reason(const trial *spec, lego_status status);

/* Every method at every budget on a stream, at equal bytes: a row each. A method that refuses a budget has its
 * reason in the row instead of errors. */
lab_result lab_compare(const lab_plan *plan, record *into, const lab_stream *source, const uint64_t *budgets,
                       size_t count);

/* Notes that a file or a stream could not be used. */
lab_result lab_unusable(record *into, const char *name);

/* The worse of two. */
static inline lab_result lab_worse(lab_result a, lab_result b)
{
    return a > b ? a : b;
}
