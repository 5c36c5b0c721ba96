/* What a stream holds, counted exactly while it is read: the truth that methods are measured against. */
#ifndef CLI_CONTENT_H
#define CLI_CONTENT_H

#include "estimator.h"
#include "exact.h"
#include "order.h"
#include "stream.h"

typedef struct content {
    exact_table *truth;
    item_order order;
    bool keep_order; /* there are occurrences to keep in order, and a method that wants them */
    bool deletes;    /* a count was negative */
} content;

/* Empty; says if there is no memory. */
bool content_start(content *self);
void content_free(content *self);

/* The sink of a stream whose context is the content. */
bool content_batch(void *context, stream *from, const item_batch *batch);

/* Whether a method can be given it; says if not. */
bool content_suits(const content *self, const estimator_kind *kind);

#endif
