/* trial_blocks: blocks of a sketch without the sketch, their canonical bytes, and random streams. */
#pragma once

#include "block/blocks.h"
#include "support_draw.h"

static inline struct blocks make_blocks(uint32_t number, uint32_t most)
{
    struct blocks blocks;
    void *bytes = aligned_alloc(BLOCKS_LINE, blocks_bytes(number)); /* a multiple of lines */
    assert_non_null(bytes);
    blocks_init(&blocks, number, most, bytes);
    assert_ptr_equal(blocks.block, bytes);
    return blocks;
}

static inline void free_blocks(struct blocks *blocks)
{
    free(blocks->block);
}

static inline struct blocks copy_blocks(const struct blocks *blocks)
{
    struct blocks copy = make_blocks(blocks->blocks, blocks->most);
    copy.kernels = blocks->kernels;
    memcpy(copy.block, blocks->block, blocks->blocks * sizeof *blocks->block);
    copy.keeps = blocks->keeps;
    copy.loose = blocks->loose;
    return copy;
}

static inline struct block canonical(const struct blocks *blocks, uint32_t i)
{
    static struct content content;
    struct block block;
    blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
    assert_true(blocks->kernels->close(&block, blocks->whole, &content));
    assert_true(blocks->kernels->valid(&block, blocks->whole, &content));
    return block;
}

static inline void assert_same_blocks(const struct blocks *a, const struct blocks *b)
{
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->keeps, b->keeps);
    assert_true(a->unlisted.entered == b->unlisted.entered);
    for (uint32_t i = 0; i < a->blocks; i++) {
        struct block x = canonical(a, i), y = canonical(b, i);
        assert_memory_equal(&x, &y, sizeof x);
    }
}

struct stream {
    unsigned n;
    struct hash hash[8192];
    int64_t count[8192];
};

/* What a round is made of: how many blocks there are at most, and items so many that some, all or none still list. */
struct trial {
    uint64_t state;
    uint32_t most;
    unsigned items, digits;
};

static inline struct trial make_trial(uint64_t seed)
{
    struct trial t = {.state = seed * UINT64_C(0x2545f4914f6cdd1d)};
    t.most = 1 + (uint32_t)draw_below(&t.state, draw_below(&t.state, 8) ? 6 : 80);
    t.items = 1 + (unsigned)draw_below(&t.state, t.most * (draw_below(&t.state, 2) ? 150 : 1000));
    if (t.items > 8192) t.items = 8192;
    t.digits = (unsigned)(draw_below(&t.state, 4) ? draw_below(&t.state, 4) : draw_below(&t.state, 14));
    return t;
}

static inline void trial_stream(struct trial *t, struct stream *s)
{
    uint64_t domain = 1 + draw_below(&t->state, 2 * t->items), seed = draw(&t->state);
    s->n = t->items;
    for (unsigned i = 0; i < s->n; i++) {
        s->hash[i] = hash_u64(draw_below(&t->state, domain), seed_of(seed));
        s->count[i] = draw_count(&t->state, t->digits);
    }
}

/* In any order. */
static inline void shuffle(struct stream *s, uint64_t *state)
{
    for (unsigned i = s->n; i > 1; i--) {
        unsigned j = (unsigned)draw_below(state, i);
        struct hash hash = s->hash[i - 1];
        int64_t count = s->count[i - 1];
        s->hash[i - 1] = s->hash[j];
        s->count[i - 1] = s->count[j];
        s->hash[j] = hash;
        s->count[j] = count;
    }
}

static inline void add_stream(struct blocks *blocks, const struct stream *s, int sign)
{
    for (unsigned i = 0; i < s->n; i++) assert_true(blocks_add(blocks, s->hash[i], sign * s->count[i]));
}

static inline struct blocks blocks_of(const struct stream *s, uint32_t most)
{
    struct blocks blocks = make_blocks(most, most);
    add_stream(&blocks, s, 1);
    return blocks;
}

/* Any of the kernels that run here. */
static inline const struct block_kernels *draw_kernels(uint64_t *state)
{
    unsigned n = 0;
    while (block_kernels_all[n]) n++;
    for (;;) {
        const struct block_kernels *kernels = block_kernels_all[draw_below(state, n)];
        if (kernels->supported()) return kernels;
    }
}
