/* support_bricks: what the tests of the paper's bricks share: bricks of a shape, what is in their rows, and streams. */
#pragma once

#include "paper/bricks.h"
#include "support.h"

static inline struct bricks make_bricks(const lego_model *model, uint32_t bricks, uint32_t columns)
{
    assert_true(bricks_valid_shape(model, bricks, columns));
    struct bricks made;
    void *bytes = malloc(bricks_bytes(model, bricks, columns) + bricks_cache_bytes(model, bricks));
    assert_non_null(bytes);
    bricks_init(&made, model, bricks, columns, bytes);
    return made;
}

static inline void free_bricks(struct bricks *bricks)
{
    free(bricks->cells);
}

static inline bool is_wide(const struct bricks *bricks, uint32_t brick, uint32_t k)
{
    return bricks->marks[brick] >> k & 1;
}

static inline struct cells cells_of(const struct bricks *bricks, uint32_t brick, uint32_t k)
{
    uint32_t columns = bricks->columns.d;
    bool wide = is_wide(bricks, brick, k);
    return (struct cells){bricks->cells + ((size_t)brick * bricks->model->rows + k) * 4 * columns,
                          wide ? columns - row_tail(columns) : columns, wide};
}

static inline unsigned wide_rows(const struct bricks *bricks)
{
    unsigned n = 0;
    for (uint32_t b = 0; b < bricks->bricks.d; b++) n += (unsigned)__builtin_popcount(bricks->marks[b]);
    return n;
}

/* A stream in columns: items and counts, which are above 0 unless told otherwise. */
struct drawn {
    size_t n;
    uint64_t *items;
    int64_t *counts;
};

static inline struct drawn draw_items(uint64_t *state, size_t n, uint64_t domain, unsigned digits)
{
    struct drawn drawn = {n, malloc((n + 1) * 8), malloc((n + 1) * 8)};
    assert_true(drawn.items && drawn.counts);
    for (size_t i = 0; i < n; i++) {
        drawn.items[i] = draw_below(state, domain);
        drawn.counts[i] = draw_count(state, digits);
    }
    return drawn;
}

static inline void free_drawn(struct drawn *drawn)
{
    free(drawn->items);
    free(drawn->counts);
}

static inline void add_drawn(struct bricks *bricks, const struct drawn *drawn)
{
    for (size_t i = 0; i < drawn->n; i++) bricks_add(bricks, hash_u64(drawn->items[i], seed_of(0)), drawn->counts[i]);
}
