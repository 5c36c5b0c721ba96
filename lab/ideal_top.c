/* The table of the most frequent items that an oracle would make: the exact counts of as many as fit, the heaviest
 * first, and 1 for the rest, in as few bits as any code of such a table needs. What it is told for nothing: which
 * items there are (only these are asked for, so keys have to tell them apart from each other and from nobody else),
 * how many have each count, and the stream itself, before the first bit is written.
 *
 * Then the r items not listed yet could come in any order, m of them have the next count, and which of these m is
 * listed next is the table's choice. So the next costs log2(r / m) bits: the ideal code of "one of these m", key and
 * count. For all of n items that is log2(n! / (m1! m2! ...)), the entropy of their counts in any order; for k items
 * with k different counts it is log2(n! / (n - k)!), k keys of log2(n) bits or a little less, and counts for
 * nothing. Beside them only n and k are counted, 16 bytes.
 *
 * No table of the heaviest can do with fewer bytes. It is no bound on tables of others, such as many items of 2,
 * which are cheap and take off more ARE a bit than few of 1000 (though less AAE, where counts are spread as in
 * Zipf's law); nor on tables that round their counts or take one item for another now and then. */
#include "counters.h"
#include "exact.h"

#include <math.h>
#include <stdlib.h>

enum { HEAD = 16 };

typedef struct ideal_top {
    uint64_t budget;
    double bits;                /* of what is listed */
    exact_table *seen, *listed; /* the stream, and what settle() chose of it */
} ideal_top;

/* The index of an item and its count. */
typedef struct known {
    int64_t count;
    size_t index;
} known;

static int heaviest_first(const void *a, const void *b)
{
    const known *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static lego_status list(ideal_top *table, const known *items, size_t n)
{
    lego_status status = exact_create(&table->listed);
    table->bits = 0;
    for (size_t i = 0, end = 0; i < n && items[i].count > 1 && status == LEGO_OK; i++) {
        while (end < n && items[end].count == items[i].count) end++;
        double bits = table->bits + log2((double)(n - i) / (double)(end - i));
        if (ceil(bits) > 8 * (double)(table->budget - HEAD)) break;
        table->bits = bits;
        exact_item one = exact_at(table->seen, items[i].index);
        status = exact_add(table->listed, one.bytes, one.size, one.count);
    }
    return status;
}

static lego_status settle(void *self)
{
    ideal_top *table = self;
    size_t n = exact_size(table->seen);
    known *items = calloc(n + 1, sizeof *items);
    if (items == NULL) return LEGO_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) items[i] = (known){exact_at(table->seen, i).count, i};
    qsort(items, n, sizeof *items, heaviest_first);
    exact_destroy(table->listed);
    table->listed = NULL;
    lego_status status = list(table, items, n);
    free(items);
    return status;
}

static lego_status create(const lego_options *wanted, void **self)
{
    if (wanted->budget < HEAD || wanted->budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    ideal_top *made = calloc(1, sizeof *made);
    if (made == NULL) return LEGO_ERR_MEMORY;
    made->budget = wanted->budget;
    lego_status status = exact_create(&made->seen);
    if (status == LEGO_OK) *self = made;
    else free(made);
    return status;
}

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    return exact_add(((ideal_top *)self)->seen, item, size, count);
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    int64_t count = exact_count(((const ideal_top *)self)->listed, item, size);
    *value = count > 0 ? (double)count : 1;
    return LEGO_OK;
}

static uint64_t bytes(const void *self)
{
    return HEAD + (uint64_t)ceil(ceil(((const ideal_top *)self)->bits) / 8);
}

static void destroy(void *self)
{
    exact_destroy(((ideal_top *)self)->seen);
    exact_destroy(((ideal_top *)self)->listed);
    free(self);
}

const estimator_kind estimator_ideal_top = {"ideal-top",      .seedless = true,    .create = create,
                                            .bytes = bytes,   .destroy = destroy,  .add = add,
                                            .settle = settle, .estimate = estimate};
