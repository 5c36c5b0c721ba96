/* add: item -> hash -> top, if the sketch keeps one -> blocks or bricks. */
#include "sketch/blocks_query.h"
#include "sketch/sketch.h"

lego_status sketch_take_counts(lego_sketch *sketch, const int64_t *counts, size_t n)
{
    uint64_t sum = counts ? 0 : n, mass;
    bool fits = true;
    for (size_t i = 0; counts && i < n; i++)
        fits &= !__builtin_add_overflow(sum, counts[i] < 0 ? -(uint64_t)counts[i] : (uint64_t)counts[i], &sum);
    fits = fits && !__builtin_mul_overflow(sum, sketch->model->quantum, &mass);
    if (!fits || mass > (uint64_t)INT64_MAX - sketch->mass) return LEGO_ERR_RANGE;
    sketch->mass += mass;
    return LEGO_OK;
}

/* ---- the light part ---------------------------------------------------------------------------------------------- */

static void add_to_blocks(lego_sketch *sketch, struct hash hash, int64_t count)
{
    struct dense *dense = &sketch->dense;
    const struct half half[2] = {dense_half(dense, hash, 0), dense_half(dense, hash, 1)};
    dense->total += count;
    __builtin_prefetch(&dense->block[half[1].block], 1); /* while the first is added to */
    for (unsigned which = 0; which < 2; which++) {
        if (half[which].block < COMPACT_SCANNED) blocks_add_scanned(sketch, &half[which], which, count);
        else dense_add_half(dense, &half[which], which, count);
    }
}

void light_add(lego_sketch *sketch, struct hash hash, int64_t count)
{
    if (has_blocks(sketch->model)) add_to_blocks(sketch, hash, count);
    else bricks_add(&sketch->bricks, hash, count);
}

static void take_item(void *context, const void *item, size_t size, int64_t count)
{
    lego_sketch *sketch = context;
    light_add(sketch, hash_bytes(item, size, sketch->seed), count);
}

/* The rule's estimate alone, which needs no network: integers, the same on every machine. */
static int64_t upper_of(const void *context, const void *item, size_t size)
{
    const lego_sketch *sketch = context;
    struct hash hash = hash_bytes(item, size, sketch->seed);
    if (!has_blocks(sketch->model)) return bricks_upper(&sketch->bricks, hash);
    int64_t value[BLOCK_ROWS], upper = INT64_MAX;
    uint32_t columns[BLOCK_ROWS];
    unsigned rows = dense_read(&sketch->dense, hash, value, columns);
    for (unsigned k = 0; k < rows; k++)
        if (value[k] < upper) upper = value[k];
    return upper;
}

struct top_light light_of(lego_sketch *sketch)
{
    return (struct top_light){take_item, upper_of, sketch};
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

static void add_item(lego_sketch *sketch, struct hash hash, const void *item, size_t size, int64_t count)
{
    if (has_top(sketch)) {
        struct top_light light = light_of(sketch);
        count = top_add(&sketch->top, hash, item, size, count, &light);
        if (count == 0) return;
    }
    light_add(sketch, hash, count);
}

lego_status lego_add(lego_sketch *sketch, const void *item, size_t size, int64_t count)
{
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    lego_status status = sketch_take_counts(sketch, &count, 1);
    if (status == LEGO_OK) add_item(sketch, hash_bytes(item, size, sketch->seed), item, size, count);
    return status;
}

lego_status lego_add_u64(lego_sketch *sketch, uint64_t item, int64_t count)
{
    unsigned char integer[8];
    size_t size = 0;
    const void *bytes = NULL; /* which only a top asks for */
    lego_status status = sketch_take_counts(sketch, &count, 1);
    if (has_top(sketch)) bytes = items_bytes(&(lego_items){.n = 1, .integers = &item}, 0, integer, &size);
    if (status == LEGO_OK) add_item(sketch, hash_u64(item, sketch->seed), bytes, size, count);
    return status;
}

/* ---- many items -------------------------------------------------------------------------------------------------- */

const void *items_bytes(const lego_items *items, size_t i, unsigned char integer[8], size_t *size)
{
    if (!items->integers) {
        *size = (size_t)(items->offsets[i + 1] - items->offsets[i]);
        return (const unsigned char *)items->bytes + items->offsets[i];
    }
    *size = 8;
    for (int k = 0; k < 8; k++) integer[k] = (unsigned char)(items->integers[i] >> (8 * k));
    return integer;
}

bool items_valid(const lego_items *items)
{
    if (items->integers || items->n == 0) return true;
    if (!items->offsets) return false;
    for (size_t i = 0; i < items->n; i++)
        if (items->offsets[i] > items->offsets[i + 1]) return false;
    return items->bytes || items->offsets[items->n] == items->offsets[0];
}

enum { AHEAD = 16 }; /* items whose buckets and blocks are on their way while others are counted */

/* In the order of the items, on which the top depends. */
static void add_through_top(lego_sketch *sketch, const lego_items *items)
{
    struct hash hash[AHEAD];
    for (size_t start = 0; start < items->n; start += AHEAD) {
        size_t n = items->n - start < AHEAD ? items->n - start : AHEAD;
        for (size_t i = 0; i < n; i++) {
            hash[i] = items_hash(items, start + i, sketch->seed);
            top_prefetch(&sketch->top, hash[i]);
            if (has_blocks(sketch->model)) dense_prefetch(&sketch->dense, hash[i]);
        }
        for (size_t i = 0; i < n; i++) {
            unsigned char integer[8];
            size_t size;
            const void *item = items_bytes(items, start + i, integer, &size);
            add_item(sketch, hash[i], item, size, items->counts ? items->counts[start + i] : 1);
        }
    }
}

lego_status lego_add_items(lego_sketch *sketch, const lego_items *items)
{
    if (!items_valid(items)) return LEGO_ERR_ARGUMENT;
    lego_status status = sketch_take_counts(sketch, items->counts, items->n);
    if (status != LEGO_OK) return status;
    if (has_top(sketch)) add_through_top(sketch, items);
    else if (has_blocks(sketch->model)) batch_add(sketch, items);
    else bricks_add_items(&sketch->bricks, items, sketch->seed, sketch->threads);
    return LEGO_OK;
}
