/* list: the most frequent items, from the top, in falling order. */
#include "sketch/sketch.h"

/* One of a list, while it is being made. */
struct entry {
    lego_estimate estimate;
    const struct top_bucket *bucket;
    struct top_place place; /* in the bucket; what top_next() takes */
};

static struct resident resident_of(const struct entry *entry)
{
    struct resident one = {0};
    struct top_place place = entry->place;
    top_next(entry->bucket, &place, &one);
    return one;
}

/* The order of a list: falling estimates; where they are equal, by key, so that there is one order. */
static bool is_ahead(const struct entry *a, const struct entry *b)
{
    if (a->estimate.value != b->estimate.value) return a->estimate.value > b->estimate.value;
    struct resident x = resident_of(a), y = resident_of(b);
    return top_compare(&x.key, &y.key) < 0;
}

/* A heap with the last of the list on top: moves the one at `at` down to where it belongs. */
static void sift(struct entry *heap, size_t n, size_t at)
{
    struct entry one = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_ahead(&heap[child], &heap[child + 1])) child++;
        if (is_ahead(&heap[child], &one)) break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

/* All residents, in the order of a list. */
static void make_list(const lego_sketch *sketch, struct entry *list)
{
    const lego_asking asking = LEGO_ASKING_INIT;
    size_t n = 0;
    for (uint32_t b = 0; b < sketch->top.buckets.d; b++) {
        struct entry entry = {.bucket = &sketch->top.bucket[b]};
        struct resident one;
        for (struct top_place next = {0, 0}; entry.place = next, top_next(entry.bucket, &next, &one);) {
            entry.estimate = query_resident(sketch, &one, &asking);
            list[n++] = entry;
        }
    }
    for (size_t i = n / 2; i > 0; i--) sift(list, n, i - 1);
    for (size_t left = n; left > 1; left--) { /* the last of those left goes to the end */
        struct entry last = list[0];
        list[0] = list[left - 1];
        list[left - 1] = last;
        sift(list, left - 1, 0);
    }
}

lego_status lego_top(const lego_sketch *sketch, size_t most, lego_visit visit, void *context)
{
    const lego_allocator *a = &sketch->allocator;
    if (!has_top(sketch)) return LEGO_ERR_ARGUMENT;
    size_t n = 0;
    for (uint32_t b = 0; b < sketch->top.buckets.d; b++) n += top_residents(&sketch->top.bucket[b]);
    if (n == 0 || most == 0) return LEGO_OK;
    struct entry *list = n > SIZE_MAX / sizeof *list ? NULL : a->alloc(a->context, n * sizeof *list);
    if (!list) return LEGO_ERR_MEMORY;
    make_list(sketch, list);
    for (size_t i = 0; i < n && i < most; i++) {
        unsigned char integer[8];
        struct resident one = resident_of(&list[i]);
        lego_top_item top = {.estimate = list[i].estimate, .exact = !one.flagged};
        top.item = top_item(&one.key, integer, &top.size);
        if (visit(context, &top) != 0) break;
    }
    a->free(a->context, list, n * sizeof *list);
    return LEGO_OK;
}
