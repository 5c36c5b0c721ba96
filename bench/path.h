/* A path: one operation of one method, by one kind of call, on one kind of key, in one setting, on so many threads.
 * What is timed, printed and written is a list of paths.
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
    size_t length; /* items of the stream */
    size_t batch;
    unsigned repeats, threads;
    const char *filter; /* NULL: everything */
    lego_allocator allocator;
};

/* A sketch of so many bytes and the stream that it gets. */
struct setting {
    uint64_t budget;
    uint32_t ranks;
    size_t length;
};

struct sample {
    double wall, cpu; /* seconds; cpu is of all threads together */
};

struct path {
    const char *axis; /* what grows in the series that it belongs to; NULL: nothing, it stands for itself */
    const struct method *method;
    struct setting setting;
    enum operation operation;
    enum calls calls;
    enum key_kind keys;
    unsigned threads;
    size_t items;

    uint64_t bytes;    /* of the sketch that was made */
    uint32_t distinct; /* keys that came in the stream */
    struct sample samples[REPEATS_MOST];
    unsigned count;     /* of samples */
    lego_status status; /* if not LEGO_OK, why there are no more samples */
    bool wrong;         /* an answer or a total was not what it must be */
};

struct path_list {
    struct path *paths;
    size_t count, room;
    bool ok; /* all of them found memory */
};

extern const char *const operation_names[OPERATIONS], *const calls_names[CALLS], *const key_names[KEY_KINDS];

/* Appends every path of the plan that passes its filter, in the order of the tables, with the yardsticks and limits
 * that they are compared with. */
void path_list_fill(struct path_list *self, const struct plan *plan);

/* Appends series of paths: what a longer stream, more distinct items, more blocks and more threads do. */
void path_list_grow(struct path_list *self, const struct plan *plan, bool quick);

/* Appends one; how many items it has at most follows from the rest. */
void path_list_add(struct path_list *self, struct path path);
void path_list_free(struct path_list *self);

bool same_setting(const struct path *a, const struct path *b);

/* The same table: whatever differs but the method and the threads. */
bool same_work(const struct path *a, const struct path *b);

/* The path of that method that does the same on so many threads; NULL if it is not there. */
const struct path *path_of(const struct path_list *list, const struct path *like, const struct method *method,
                           unsigned threads);

/* Millions of items a second: the median of the samples, the slowest and the fastest, and the median of CPU time. 0
 * without samples. */
struct rate {
    double median, least, most, by_cpu;
};
struct rate path_rate(const struct path *self);

/* CPU seconds a second and thread. Below 1 somebody else had the CPU, or threads waited. */
double path_cpu(const struct path *self);

/* What comparisons are made with: on one thread the rate by CPU time, which a busy machine disturbs least; else the
 * median. */
double path_speed(const struct path *self);

/* The speed by that of the faster version of the yardstick at the same work on one thread; 0: it was not measured. */
double path_ratio(const struct path_list *list, const struct path *self);

/* The share of what the machine can do (methods_limit.c, limits.h); 0: that was not measured. */
double path_share(const struct path_list *list, const struct path *self, double peak_flops);

#endif
