/* One interface for everything that is timed. A call of run() does all of one operation, so that nothing stands between
 * the clock and the calls a user would make.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_METHOD_H
#define BENCH_METHOD_H

#include "keys.h"
#include "legosketch.h"

enum operation { STORE, QUERY, PAIRS, OPERATIONS }; /* pairs: store one, ask for one, and so on */
enum calls { SINGLE, BATCH, CALLS };                /* one item a call, or work.batch of them */
enum key_kind { NUMBERS, TEXTS, KEY_KINDS };

struct work {
    const struct keys *stream;
    size_t items;    /* so many are stored, from the first of the stream on, */
    size_t ask_from; /* and asked for, from this one on */
    enum key_kind keys;
    enum calls calls;
    size_t batch; /* the items of a batch call */
    unsigned threads;
    void *answers; /* room for a batch of whatever the method answers; item i's is at i mod batch */
};

struct answer {
    double value, upper; /* the estimate, and what the item's count is at most */
};

enum { ANSWER_BYTES_MOST = sizeof(lego_estimate) };

struct method {
    const char *name;
    bool yardstick;        /* what the others are compared with */
    bool limit;            /* what the machine can do at most */
    bool batches, threads; /* has batch calls, which can use several threads */
    double lines;          /* cache lines that storing or asking for an item touches in the sketch */
    double flops;          /* floating-point operations of the networks that answer; 0: there are none */
    lego_status (*create)(const struct method *self, uint64_t bytes, const lego_allocator *allocator, void **made);
    void (*destroy)(void *made);
    void (*clear)(void *made); /* NULL: there is no way, it goes on from where it is */
    uint64_t (*bytes)(const void *made);
    uint64_t (*total)(const void *made); /* what was stored, by its own count; NULL: it does not know */
    lego_status (*ready)(void *made, const struct work *work); /* before run(), if not NULL; not timed */
    lego_status (*run)(void *made, enum operation operation, const struct work *work);
    struct answer (*read)(const void *answers, size_t i);
    bool may_miss; /* answers can be below the truth */

    /* For create: of a Lego sketch its model and packing, of these and the lab's other methods the kind, of the
     * yardstick whether it prefetches, which makes no difference one item a call. */
    const char *model;
    lego_packing packing;
    const struct estimator_kind *kind;
    bool prefetch;
};

extern const struct method method_touch, method_touch_prefetch, method_countmin, method_countmin_prefetch, method_dense,
    method_flat, method_paper, method_rule, method_cu, method_elastic;

/* Every one in the order of a table, ended by NULL. */
extern const struct method *const methods[];

/* How many items the batch call that starts at `at` has. */
static inline size_t batch_size(const struct work *work, size_t at)
{
    return work->items - at < work->batch ? work->items - at : work->batch;
}

#endif
