/* A path: one operation of one method, by one kind of call, on one kind of key, in one size, on so many threads. What is
 * timed, filtered, printed and written is a list of paths.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PATH_H
#define BENCH_PATH_H

#include "method.h"

enum { SIZES_MOST = 16, REPEATS_MOST = 99 };

/* What is to be measured. */
struct plan {
    uint64_t sizes[SIZES_MOST];
    size_t size_count;
    size_t length, asked, pairs; /* items of the stream; how many are asked for; how many pairs */
    size_t batch;
    unsigned repeats, threads;
    const char *filter; /* NULL: everything */
    lego_allocator allocator;
};

struct sample {
    double wall, cpu; /* seconds; cpu is of all threads together */
};

struct path {
    const struct method *method;
    uint64_t budget, bytes;
    enum operation operation;
    enum calls calls;
    enum key_kind keys;
    unsigned threads;
    size_t items;
    uint32_t ranks, distinct; /* of the stream */
    struct sample samples[REPEATS_MOST];
    unsigned count;     /* of samples */
    double sum;         /* of the last answers: all paths of a method must agree */
    lego_status status; /* why there are no samples */
    bool wrong;         /* an answer was not what it must be */
};

struct path_list {
    struct path *paths;
    size_t count;
};

extern const char *const operation_names[OPERATIONS], *const calls_names[CALLS], *const key_names[KEY_KINDS];

/* Every path of the plan that passes its filter, in the order of the tables. NULL if there is no memory. */
struct path_list path_list_make(const struct plan *plan);
void path_list_free(struct path_list *self);

/* The path of that method that is otherwise like this one, on one thread; NULL if it is not there. */
const struct path *path_of(const struct path_list *list, const struct path *like, const struct method *method);

/* Millions of items a second: the median of the samples, the slowest and the fastest. 0 without samples. */
struct rate {
    double median, least, most;
};
struct rate path_rate(const struct path *self);

/* CPU seconds a second and thread. Below 1 somebody else had the CPU, or threads waited. */
double path_cpu(const struct path *self);

/* The median of n numbers, which it sorts. */
double median_of(double *values, size_t n);

#endif
