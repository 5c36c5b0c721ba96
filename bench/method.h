/* One interface for everything that is timed. */
#pragma once

#include "keys.h"
#include "legosketch.h"

enum operation { STORE, QUERY, PAIRS, OPERATIONS }; /* pairs: store one, ask for one, and so on */
enum calls { SINGLE, BATCH, CALLS };                /* one item a call, or all of a span */
enum role { SKETCH, YARDSTICK, LIMIT }; /* a yardstick: what others are compared with; limit: what the machine can do */

/* What is done with items of the stream that follow each other, and how. */
struct span {
    const struct keys *stream;
    enum operation operation;
    enum calls calls;
    enum key_kind keys;
    unsigned threads;
    size_t n;        /* so many are stored, */
    size_t from;     /* from this one on, */
    size_t ask_from; /* or asked for, from this one on; pairs do both */
};

struct method {
    const char *name;
    enum role role;
    bool threads; /* batches can use several */
    double lines; /* cache lines that storing or asking for an item touches in the sketch */
    double flops; /* floating-point operations of the networks that answer; 0: there are none */
    lego_status (*create)(const struct method *self, uint64_t bytes, const struct keys *stream, void **made);
    void (*destroy)(void *made);
    void (*clear)(void *made);
    void (*describe)(const void *made, uint64_t *bytes, uint64_t *total); /* total: what was stored, by its own count */
    /* All of a span, so that nothing stands between the clock and the calls that a user would make. */
    lego_status (*run)(void *made, const struct span *span, void *answers);
    double (*upper)(const void *answers, size_t i); /* what item i's count is at most */
    double (*value)(const void *answers, size_t i); /* what it is taken for */
    size_t answer_size;                             /* at most that of a lego_estimate */

    /* For create: of a Lego sketch its model, which part of its budget is for its top (8: an eighth; 0: none), and
     * whether its seed is secret; of the yardstick whether batches prefetch. */
    const char *model;
    uint64_t top_part;
    bool secret;
    bool prefetch;
};

extern const struct method method_touch, method_countmin, method_countmin_prefetch, method_compact, method_top,
    method_secret, method_paper;

static inline const char *text_of(const struct keys *stream, size_t i, size_t *size)
{
    *size = stream->offsets[i + 1] - stream->offsets[i];
    return stream->text + stream->offsets[i];
}
