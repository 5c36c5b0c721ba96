/* support_top: what the tests of sketches that keep their most frequent items share. */
#pragma once

#include "support.h"

/* An item that is its number in so many bytes, from 0 to 300: the number may not fit, then it is a multiple of 256. */
static inline size_t item_of(uint64_t number, unsigned char item[300])
{
    static const size_t sizes[] = {8, 4, 1, 8, 9, 3, 20, 100, 238, 239, 300, 8, 0, 12, 8, 16};
    size_t size = sizes[number % 16];
    memset(item, (int)(number % 7), size);
    for (size_t i = 0; i < size && i < 8; i++) item[i] = (unsigned char)(number >> (8 * i));
    return size;
}

/* A stream of such items and the truth about it. Items that come out as the same bytes are counted as one. */
enum { DOMAIN = 4000 };
struct truth {
    int64_t count[DOMAIN];
    int64_t total;
};

static inline uint64_t first_of(uint64_t number) /* that has the same bytes */
{
    unsigned char a[300], b[300];
    size_t size = item_of(number, a);
    if (size >= 3) return number;
    for (uint64_t i = number % 16; i < number; i += 16)
        if (item_of(i, b) == size && memcmp(a, b, size) == 0) return i;
    return number;
}

/* n changes of skewed items; with deletions, of no more than is there. */
static inline void feed(lego_sketch *sketch, struct truth *truth, uint64_t *state, size_t n, bool deletions)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t most = 1 + draw_below(state, DOMAIN),
                 number = first_of(draw_below(state, 1 + draw_below(state, most)));
        int64_t count = draw_below(state, 20) ? 1 : draw_count(state, 4);
        if (deletions && draw_below(state, 3) == 0)
            count = -(int64_t)draw_below(state, (uint64_t)truth->count[number] + 1);
        unsigned char item[300];
        size_t size = item_of(number, item);
        assert_int_equal(lego_add(sketch, item, size, count), LEGO_OK);
        truth->count[number] += count;
        truth->total += count;
    }
}

struct listed {
    const lego_sketch *sketch;
    double before;
    size_t n, exact;
};

static inline int check_listed(void *context, const lego_top_item *top)
{
    struct listed *listed = context;
    lego_estimate e;
    assert_true(listed->n == 0 || top->estimate.value <= listed->before);
    assert_int_equal(lego_query(listed->sketch, top->item, top->size, &e), LEGO_OK);
    assert_memory_equal(&e, &top->estimate, sizeof e);
    listed->before = top->estimate.value;
    listed->n++;
    listed->exact += top->exact != 0;
    if (top->exact) assert_true(e.lower == e.upper && e.value == (double)e.upper);
    return 0;
}

/* The counts of two streams together. */
static inline void add_truth(struct truth *into, const struct truth *from)
{
    for (int i = 0; i < DOMAIN; i++) into->count[i] += from->count[i];
    into->total += from->total;
}

static inline bool is_resident(const lego_sketch *sketch, const void *item, size_t size, struct resident *one)
{
    return has_top(sketch) && top_find(&sketch->top, hash_bytes(item, size, sketch->seed), item, size, one);
}

/* Sums, bounds, exactness of what is not flagged, what lego_describe() and the list say, and the bytes. Returns how
 * many counts are exact. */
static inline uint64_t check_top(const lego_sketch *sketch, const struct truth *truth)
{
    lego_info info = info_of(sketch);
    int64_t light = has_blocks(sketch->model) ? sketch->blocks.total : sketch->bricks.total;
    bool leaks = top_leaks(&sketch->top);
    assert_true(top_possible(sketch->top.buckets.d, sketch->top.most) && !(leaks && top_grows(&sketch->top)));
    assert_int_equal(info.total, truth->total);
    assert_int_equal(info.top_total + light, truth->total);
    uint64_t residents = 0, exact = 0;
    for (uint64_t number = 0; number < DOMAIN; number++) {
        if (first_of(number) != number) continue;
        unsigned char item[300];
        size_t size = item_of(number, item);
        lego_estimate e;
        struct resident one;
        assert_int_equal(lego_query(sketch, item, size, &e), LEGO_OK);
        assert_true(e.upper >= truth->count[number]);
        assert_true((double)e.lower <= e.value && e.value <= (double)e.upper);
        bool here = is_resident(sketch, item, size, &one);
        if (!leaks && size <= TOP_KEY_MAX) assert_true(here == (truth->count[number] > 0));
        if (!here) continue;
        assert_true(size <= TOP_KEY_MAX && (leaks || !one.flagged));
        residents++;
        if (one.flagged) continue;
        exact++;
        assert_int_equal(one.votes, truth->count[number]);
        assert_true(e.lower == e.upper && e.upper == truth->count[number]);
    }
    struct listed listed = {.sketch = sketch};
    assert_int_equal(lego_top(sketch, SIZE_MAX, check_listed, &listed), LEGO_OK);
    assert_int_equal(listed.n, residents);
    assert_int_equal(listed.exact, exact);

    struct bytes bytes = sketch_to_bytes(sketch);
    lego_sketch *loaded;
    assert_int_equal(lego_load(bytes.p, bytes.size, NULL, &loaded), LEGO_OK);
    assert_same(sketch, loaded);
    assert_int_equal(loaded->top.votes, sketch->top.votes);
    assert_int_equal(loaded->top.most, sketch->top.most);
    assert_int_equal(loaded->top.buckets.d, top_least(&sketch->top));
    lego_destroy(loaded);
    free(bytes.p);
    return exact;
}

/* Of a shape by hand. */
static inline lego_sketch *make_top(const char *model, uint32_t blocks, uint64_t top)
{
    lego_options options = {0, top, lego_model_builtin(model), 7, NULL, NULL};
    lego_sketch *sketch;
    assert_int_equal(lego_lab_create(&options, blocks, has_blocks(options.model) ? 0 : 160, &sketch), LEGO_OK);
    return sketch;
}

static const char *const models[] = {"compact", "paper"};
