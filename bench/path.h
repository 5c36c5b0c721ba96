/* A path: one operation of one method, by one kind of call, on one kind of key, in so many bytes, on so many threads.
 * What is timed, printed and written is a list of paths. */
#pragma once

#include "method.h"

enum { SIZES_MOST = 16, REPEATS_MOST = 99 };

enum plan_kind { PLAN_ALL, PLAN_ASKED, PLAN_GROWTH };

/* What is to be measured. */
struct plan {
    enum plan_kind kind;
    uint64_t sizes[SIZES_MOST];
    size_t size_count;
    uint64_t length;   /* items of the stream */
    uint32_t distinct; /* possible ones; 0: as many as suit the size */
    uint32_t batch;    /* items of a batch call; 0: all that are stored */
    uint32_t repeats, threads;
    const char *filter; /* NULL: everything */
    bool quick, quiet;
};

struct path {
    const struct method *method;
    uint64_t budget;
    enum operation operation;
    enum calls calls;
    enum key_kind keys;
    uint32_t threads;
    size_t length;  /* items of the stream */
    uint32_t ranks; /* keys that could come in it */
    uint64_t crowd; /* other items that are in a sketch before it is asked; a yardstick's speed depends on none */
    size_t items;   /* of the stream, that are stored or asked for */
    size_t batch;   /* items of a batch call; 0: all that are stored */
    size_t fresh;   /* stores start again from an empty sketch after so many; 0: after all */
    bool errors;    /* of the answers are wanted too */
    const char *by; /* what grows from path to path, and what it is here; NULL: nothing does */
    uint64_t x;

    uint64_t bytes;                               /* of the sketch that was made; of stores: when it was full */
    uint32_t distinct;                            /* keys that came in the stream */
    double aae;                                   /* the answers' mean absolute error over these, if wanted */
    double wall[REPEATS_MOST], cpu[REPEATS_MOST]; /* the seconds of samples; cpu is of all threads together */
    unsigned count;                               /* of samples */
    lego_status status;                           /* if not LEGO_OK, why there are no more samples */
    bool wrong;                                   /* an answer or a total was not what it must be */
};

struct path_list {
    struct path *paths;
    size_t count;
};

extern const char *const operation_names[OPERATIONS], *const calls_names[CALLS], *const key_names[KEY_KINDS];

/* Every path of the plan that passes its filter, in the order of the tables, with the yardsticks and limits that they
 * are compared with. False if there is no memory. The caller frees the paths. */
bool path_list_fill(struct path_list *self, const struct plan *plan);

/* The same table: whatever differs but the method and the threads. The same stream, in a sketch of the same size. */
bool same_work(const struct path *a, const struct path *b);
bool same_stream(const struct path *a, const struct path *b);

/* Whether there is such a path, and we want to know how fast it is. */
bool path_exists(const struct path *self);

/* Millions of items a second: the median of the samples, the slowest and the fastest, and the median of CPU time. 0
 * without samples. */
struct rate {
    double median, least, most, by_cpu;
};
struct rate path_rate(const struct path *self);

/* The median of CPU time on one thread, which a busy machine disturbs least, and of the clock on several. */
double path_speed(const struct path *self);

/* The mean absolute error over the distinct items, if every answer were 1. */
double path_aae_of_one(const struct path *self);

/* CPU seconds a second and thread. Below 1 somebody else had the CPU, or threads waited. */
double path_cpu(const struct path *self);

/* The speed by that of the faster version of the yardstick at the same work on one thread; 0: it was not measured. */
double path_ratio(const struct path_list *list, const struct path *self);

/* The share of what the machine can do (methods_countmin.c, limits.c); 0: that was not measured. */
double path_share(const struct path_list *list, const struct path *self, double peak_flops);

/* The median by that of the same method on one thread; 0: it has one itself, or that was not measured. */
double path_gain(const struct path_list *list, const struct path *self);
