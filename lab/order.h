/* The order in which items came, for methods whose answers depend on it: item numbers of an exact table, 4 bytes an
 * occurrence. Where only counts are known the occurrences are shuffled instead. */
#pragma once

#include "estimator.h"
#include "exact.h"

typedef struct item_order {
    uint32_t *items;
    size_t size, capacity;
} item_order; /* starts as {0} */

lego_status order_append(item_order *order, size_t item);
void order_free(item_order *order);

/* The same on every machine for the same state, which is another one afterwards. */
void order_shuffle(uint32_t *items, size_t n, uint64_t *state);

/* Gives every occurrence to an estimator, one at a time.
 *
 * order NULL: the table's counts in an order of our own, the same each time. A stream of up to 2^24 occurrences is
 * shuffled as a whole. A longer one is dealt out in rounds of about so many: each round has the same share of every
 * item, to within one occurrence, and is shuffled. So it takes about 100 MB, however long the stream is. Of more than
 * 2^27 occurrences several of an item are added at once, so that it takes no more time than that. Negative counts come
 * last, each at once. */
lego_status order_feed(const item_order *order, const exact_table *truth, const estimator_kind *kind, void *self);
