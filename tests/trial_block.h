/* trial_block: random content of a block, and every kernels that this CPU can run. */
#pragma once

#include "block/kernels.h"
#include "slow_block.h"

static const struct block_kernels *kernels; /* those being tested */

static inline void each_kernels(void (*test)(void))
{
    for (unsigned i = 0; block_kernels_all[i]; i++) {
        if (!block_kernels_all[i]->supported()) continue;
        kernels = block_kernels_all[i];
        test();
    }
}

static inline void assert_block(const struct block *a, const struct block *b)
{
    assert_memory_equal(a, b, sizeof *a);
}

static inline void assert_content(const struct content *a, const struct content *b)
{
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->value, b->value, a->n * sizeof *a->value);
    if (a->step < SLOW_SHARE) assert_memory_equal(a->key, b->key, a->n * sizeof *a->key);
}

/* ---- random content ---------------------------------------------------------------------------------------------- */

/* What counts of a trial are like: up to 2^bits, most far below, and some negative if it is signed. */
struct trial {
    uint64_t state;
    unsigned whole, bits;
    bool is_signed, below; /* some counts are negative; all of them are */
    bool crowded;          /* crowded: keys have few bits that differ, so that quotients are equal and prints too */
};

static inline struct trial make_trial(uint64_t seed)
{
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d)};
    t.whole = 34 + (unsigned)draw_below(&t.state, 29);
    t.bits = (unsigned)(draw_below(&t.state, 3) ? draw_below(&t.state, 8) : draw_below(&t.state, 62));
    t.is_signed = draw_below(&t.state, 4) == 0;
    t.crowded = draw_below(&t.state, 4) == 0;
    t.below = t.is_signed && draw_below(&t.state, 3) == 0;
    return t;
}

static inline int64_t trial_count(struct trial *t)
{
    int64_t count = (int64_t)(1 + draw_below(&t->state, UINT64_C(1) << draw_below(&t->state, t->bits + 1)));
    return t->below || (t->is_signed && draw_below(&t->state, 3) == 0) ? -count : count;
}

static inline uint64_t trial_key(struct trial *t)
{
    uint64_t key = draw(&t->state);
    if (t->crowded) key &= UINT64_C(0x8000700000f00000) | UINT64_MAX << (40 + t->bits % 16) >> t->bits % 3;
    return slow_cut(0, t->whole, key);
}

static inline void trial_items(struct trial *t, unsigned n, struct slow_items *items)
{
    items->n = n;
    for (unsigned i = 0; i < n; i++) {
        items->key[i] = trial_key(t);
        items->count[i] = trial_count(t);
    }
}

/* Any number of entries from 0 to somewhat more than there can be, small ones more often. */
static inline unsigned trial_entries(struct trial *t)
{
    unsigned n = (unsigned)draw_below(&t->state, 600);
    return draw_below(&t->state, 2) ? n : n / (1 + (unsigned)draw_below(&t->state, 16));
}

/* Content at any step, which may be too large for it. Cells need not be sums of the same items. */
static inline void trial_content(struct trial *t, struct content *content)
{
    static struct slow_items items;
    unsigned step = (unsigned)draw_below(&t->state, SLOW_END);
    trial_items(t, step < SLOW_SHARE ? trial_entries(t) : 0, &items);
    slow_content(&items, step, t->whole, content);
    if (step < SLOW_SHARE) return;
    unsigned zeros = (unsigned)draw_below(&t->state, 4);
    for (unsigned i = 0; i < content->n; i++) content->value[i] = draw_below(&t->state, 4) < zeros ? 0 : trial_count(t);
}
