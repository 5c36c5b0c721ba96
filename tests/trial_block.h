/* trial_block: random content of a block, and every kernels that this CPU can run. */
#pragma once

#include "block/keep.h"
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
    assert_memory_equal(a->key, b->key, a->n * sizeof *a->key);
    if (a->step < SLOW_KEEP) return;
    assert_memory_equal(a->known, b->known, a->n * sizeof *a->known);
    assert_int_equal(a->g, b->g);
    assert_int_equal(a->signs, b->signs);
    assert_int_equal(a->bits, b->bits);
    const struct loss *x = &a->loss, *y = &b->loss;
    assert_true(x->plus == y->plus && x->minus == y->minus && x->press == y->press && x->nursed == y->nursed);
    assert_true(x->left == y->left && x->wide == y->wide && x->hand == y->hand);
}

/* ---- random content ---------------------------------------------------------------------------------------------- */

/* What counts of a trial are like: up to 2^bits, most far below, and some negative if it is signed. */
struct trial {
    uint64_t state;
    unsigned whole, bits;
    bool is_signed, below; /* some counts are negative; all of them are */
    bool alike;            /* most are equal, and a power of two */
    bool crowded;          /* keys have few bits that differ, so that quotients are equal and prints too */
    uint64_t left;         /* all counts together stay below 2^62 */
};

static inline struct trial make_trial(uint64_t seed)
{
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d), .left = UINT64_MAX / 4};
    t.whole = 34 + (unsigned)draw_below(&t.state, 29);
    t.bits = (unsigned)(draw_below(&t.state, 3) ? draw_below(&t.state, 8) : draw_below(&t.state, 61));
    t.is_signed = draw_below(&t.state, 4) == 0;
    t.crowded = draw_below(&t.state, 4) == 0;
    t.below = t.is_signed && draw_below(&t.state, 3) == 0;
    t.alike = draw_below(&t.state, 6) == 0;
    return t;
}

static inline int64_t trial_count(struct trial *t)
{
    uint64_t size = 1 + draw_below(&t->state, UINT64_C(1) << draw_below(&t->state, t->bits + 1));
    if (t->alike) size = draw_below(&t->state, 8) ? UINT64_C(1) << t->bits : 1;
    if (size > t->left / 2) size = 1;
    t->left -= size;
    int64_t count = (int64_t)size;
    return t->below || (t->is_signed && draw_below(&t->state, 3) == 0) ? -count : count;
}

static inline uint64_t trial_key(struct trial *t)
{
    uint64_t key = draw(&t->state);
    if (t->crowded) key &= UINT64_C(0x8000f3f000f00000) | UINT64_MAX << (40 + t->bits % 16) >> t->bits % 3;
    return slow_cut(key, t->whole);
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
    unsigned n = (unsigned)draw_below(&t->state, 250);
    return draw_below(&t->state, 2) ? n : n / (1 + (unsigned)draw_below(&t->state, 16));
}

/* A list at any step, which may be too large for it. */
static inline void trial_list(struct trial *t, struct content *content)
{
    static struct slow_items items;
    unsigned step = (unsigned)draw_below(&t->state, SLOW_KEEP);
    trial_items(t, trial_entries(t), &items);
    slow_content(&items, step, t->whole, content);
}

/* An item for a content: one of its own, or of its neighbours, or any; and often as much as would make it 0. */
static inline uint64_t trial_item(struct trial *t, const struct content *content, int64_t *count)
{
    unsigned kind = (unsigned)draw_below(&t->state, 8), i = 0;
    *count = trial_count(t);
    if (kind < 3 || content->n == 0) return trial_key(t);
    i = (unsigned)draw_below(&t->state, kind == 3 && content->n > 6 ? 6 : content->n);
    if (t->is_signed && draw_below(&t->state, 4) == 0 && content->value[i] != 0) *count = -content->value[i];
    uint64_t key = content->key[i], other = draw(&t->state) >> (kind < 5 ? 24 : kind < 7 ? 16 : 20);
    return slow_cut(kind == 3 ? key | (other & 0xffff) : key ^ other, t->whole);
}

static inline uint64_t trial_size(int64_t count)
{
    return count < 0 ? -(uint64_t)count : (uint64_t)count;
}

/* The least count outside the sample, without its sign, and how many have it. */
static inline uint64_t trial_least(const struct content *content, unsigned *alike)
{
    uint64_t least = 0;
    *alike = 0;
    for (unsigned i = 4; i < content->n; i++) {
        uint64_t size = trial_size(content->value[i]);
        if (*alike > 0 && size > least) continue;
        *alike = *alike > 0 && size == least ? *alike + 1 : 1;
        least = size;
    }
    return least;
}

/* The same, but what comes often weighs as much as the least of all entries, or one more or less, or what is lost, or
 * nothing. */
static inline uint64_t trial_sly_item(struct trial *t, const struct content *content, int64_t *count)
{
    unsigned alike;
    uint64_t least = trial_least(content, &alike), key = trial_item(t, content, count), size = 0;
    switch (draw_below(&t->state, 12)) {
    case 0: *count = 0; return key;
    case 1: size = least; break;
    case 2: size = least + 1; break;
    case 3: size = least > 0 ? least - 1 : 0; break;
    case 4: size = content->loss.plus; break;
    default: return key;
    }
    if (size > t->left / 2) size = 1;
    t->left -= size;
    *count = t->below || (t->is_signed && draw_below(&t->state, 2)) ? -(int64_t)size : (int64_t)size;
    return key;
}

/* Some entries grow by far. */
static inline void trial_giants(struct trial *t, struct content *content)
{
    for (unsigned n = 1 + (unsigned)draw_below(&t->state, 20); n > 0 && content->n > 0; n--) {
        unsigned i = (unsigned)draw_below(&t->state, content->n);
        uint64_t key = content->key[i] | draw(&t->state) >> content->known[i];
        int64_t size = (int64_t)1 << (4 + draw_below(&t->state, 8 + t->bits / 2));
        if ((uint64_t)size > t->left / 2) return;
        t->left -= (uint64_t)size;
        keep_add(content, slow_cut(key, t->whole), content->value[i] < 0 ? -size : size);
    }
}

/* Those that know more bits than all forget some of them, if that leaves the order as it is. */
static inline void trial_forget(struct trial *t, struct content *content)
{
    unsigned print = slow_print(content->step, 0);
    for (unsigned i = 0; i < content->n; i++) {
        unsigned known = print + (unsigned)draw_below(&t->state, content->known[i] - print + 1);
        uint64_t key = slow_cut(content->key[i], known);
        bool same = i > 0 && key == content->key[i - 1];
        if (i > 0 && (key < content->key[i - 1] || (same && known <= content->known[i - 1]))) continue;
        content->key[i] = key;
        content->known[i] = (uint8_t)known;
    }
}

/* A content that keeps, as a sequence of additions and merges may leave it. Some have small keys at their head, as
 * crowds have. */
static inline void trial_kept(struct trial *t, struct content *content)
{
    unsigned small = draw_below(&t->state, 4) == 0 ? 4 : 0;
    bool giants = draw_below(&t->state, 2), forget = draw_below(&t->state, 2);
    unsigned more = (unsigned)draw_below(&t->state, 4) * (unsigned)draw_below(&t->state, 200);
    content_start(content, SLOW_KEEP - 1);
    while (slow_fits(content, t->whole)) content_add(content, t->whole, trial_key(t), trial_count(t));
    keep_start(content);
    if (giants) trial_giants(t, content);
    for (; small > 0; small--) keep_add(content, slow_cut(trial_key(t) >> 8, t->whole), trial_count(t));
    for (int64_t count; more > 0; more--) {
        uint64_t key = trial_item(t, content, &count);
        keep_add(content, key, count);
    }
    if (forget) trial_forget(t, content);
}

static inline void trial_content(struct trial *t, struct content *content)
{
    if (draw_below(&t->state, 3) == 0) trial_kept(t, content);
    else trial_list(t, content);
}
