/* The order in which items came; see order.h. */
#include "order.h"

#include "counters.h"

#include <stdlib.h>

enum {
    ROUND = 1 << 24, /* occurrences shuffled at once: 64 MB of item numbers */
    MOST = 1 << 27   /* occurrences that are added one by one; of a longer stream several are added at once */
};

/* A stream that is dealt in random order. */
struct deal {
    const exact_table *truth;
    int64_t unit;  /* so many occurrences of an item are added at once */
    int64_t *left; /* of each item */
};

lego_status order_append(item_order *order, size_t item)
{
    if (order->size == order->capacity) { /* grown by half, so that little is left over */
        size_t capacity = order->capacity + order->capacity / 2 + 4096;
        uint32_t *items = realloc(order->items, capacity * sizeof *items);
        if (items == NULL) return LEGO_ERR_MEMORY;
        order->items = items;
        order->capacity = capacity;
    }
    order->items[order->size++] = (uint32_t)item; /* an exact table has fewer than 2^32 */
    return LEGO_OK;
}

void order_free(item_order *order)
{
    free(order->items);
    *order = (item_order){0};
}

static lego_status feed(const item_order *order, const exact_table *truth, const estimator_kind *kind, void *self)
{
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < order->size && status == LEGO_OK; i++) {
        exact_item item = exact_at(truth, order->items[i]);
        status = kind->add(self, item.bytes, item.size, 1);
    }
    return status;
}

void order_shuffle(uint32_t *items, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) { /* Fisher-Yates */
        size_t j = (size_t)pick(hash_row((XXH128_hash_t){(*state)++, UINT64_C(0x9e3779b97f4a7c15)}, 1), i);
        uint32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

/* How many of an item's occurrences are dealt before a round: count * round / rounds, plus an offset of its own below
 * 1, without which every rare item would come in the same round. */
static int64_t dealt_before(int64_t count, size_t item, uint64_t round, uint64_t rounds)
{
    if (round == rounds) return count;
    uint64_t offset = pick(hash_row((XXH128_hash_t){item, 1}, 1), rounds);
    return (int64_t)(((lab_u128)(uint64_t)count * round + (round == 0 ? 0 : offset)) / rounds);
}

/* How often an item occurs: a negative count is not an occurrence. */
static int64_t occurrences(const exact_table *truth, size_t item)
{
    int64_t count = exact_at(truth, item).count;
    return count > 0 ? count : 0;
}

/* How often an item is dealt. */
static int64_t times(const struct deal *self, size_t item)
{
    int64_t count = occurrences(self->truth, item);
    return count / self->unit + (count % self->unit > 0);
}

static lego_status deal(const struct deal *self, uint64_t round, uint64_t rounds, item_order *order)
{
    lego_status status = LEGO_OK;
    order->size = 0;
    for (size_t i = 0; i < exact_size(self->truth) && status == LEGO_OK; i++) {
        int64_t count = times(self, i);
        int64_t n = dealt_before(count, i, round + 1, rounds) - dealt_before(count, i, round, rounds);
        for (; n > 0 && status == LEGO_OK; n--) status = order_append(order, i);
    }
    return status;
}

static lego_status feed_dealt(const struct deal *self, const item_order *order, const estimator_kind *kind, void *to)
{
    lego_status status = LEGO_OK;
    for (size_t i = 0; i < order->size && status == LEGO_OK; i++) {
        exact_item item = exact_at(self->truth, order->items[i]);
        int64_t *left = &self->left[order->items[i]], count = *left < self->unit ? *left : self->unit;
        status = kind->add(to, item.bytes, item.size, count);
        *left -= count;
    }
    return status;
}

static lego_status feed_rounds(const struct deal *self, const estimator_kind *kind, void *to)
{
    uint64_t total = 0, state = 0;
    for (size_t i = 0; i < exact_size(self->truth); i++) {
        self->left[i] = occurrences(self->truth, i);
        total += (uint64_t)times(self, i);
    }
    uint64_t rounds = total / ROUND + 1;
    item_order order = {0};
    lego_status status = LEGO_OK;
    for (uint64_t round = 0; round < rounds && status == LEGO_OK; round++) {
        status = deal(self, round, rounds, &order);
        order_shuffle(order.items, order.size, &state);
        if (status == LEGO_OK) status = feed_dealt(self, &order, kind, to);
    }
    order_free(&order);
    return status;
}

static lego_status feed_shuffled(const exact_table *truth, const estimator_kind *kind, void *to)
{
    uint64_t total = 0;
    for (size_t i = 0; i < exact_size(truth); i++) total += (uint64_t)occurrences(truth, i);
    struct deal self = {truth, (int64_t)(total / MOST) + 1, malloc((exact_size(truth) + 1) * sizeof *self.left)};
    lego_status status = self.left != NULL ? feed_rounds(&self, kind, to) : LEGO_ERR_MEMORY;
    free(self.left);
    return status;
}

lego_status order_feed(const item_order *order, const exact_table *truth, const estimator_kind *kind, void *self)
{
    if (order != NULL) return feed(order, truth, kind, self);
    lego_status status = feed_shuffled(truth, kind, self);
    for (size_t i = 0; i < exact_size(truth) && status == LEGO_OK; i++) {
        exact_item item = exact_at(truth, i);
        if (item.count < 0) status = kind->add(self, item.bytes, item.size, item.count);
    }
    return status;
}
