/* combine: merge, subtract and fold. What sketches count only adds up, so all of these are sums of cells, exact or
 * refused: sizes that do not nest would leave next to nothing in common. */
#include "sketch/sketch.h"

/* Adds the light part of `from`, times sign, to that of `into`, whose number of blocks divides its. */
static void add_light(lego_sketch *into, const lego_sketch *from, int sign)
{
    blocks_changed(into);
    if (has_blocks(into->model)) dense_add_all(&into->dense, &from->dense, sign);
    else bricks_merge(&into->bricks, &from->bricks, sign);
}

/* Counts everything that a top holds in a light part. */
static void add_residents(lego_sketch *into, const struct top *top)
{
    struct top_light light = light_of(into);
    struct resident one;
    for (uint32_t b = 0; b < top->buckets.d; b++)
        for (struct top_place next = {0, 0}; top_next(&top->bucket[b], &next, &one);) {
            unsigned char integer[8];
            size_t size;
            const void *item = top_item(&one.key, integer, &size);
            light.take(light.sketch, item, size, (int64_t)one.votes);
        }
}

/* Replaces the sketch's memory by one of the shape, to which it folds, with the same content. */
static lego_status reshape(lego_sketch *sketch, const struct shape *shape)
{
    lego_sketch made = *sketch;
    lego_status status = sketch_allocate(&made, shape);
    if (status != LEGO_OK) return status;
    add_light(&made, sketch, 1);
    if (has_top(sketch)) {
        struct top_light light = light_of(&made);
        top_add_all(&made.top, &sketch->top, &light);
    }
    sketch_free(sketch);
    *sketch = made;
    return LEGO_OK;
}

static bool nests(uint32_t a, uint32_t b)
{
    return a % b == 0 || b % a == 0;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The shape of two sketches together, or LEGO_ERR_SHAPE. */
static lego_status common_shape(const lego_sketch *into, const lego_sketch *from, struct shape *shape)
{
    struct shape a = sketch_shape(into), b = sketch_shape(from);
    *shape = a;
    if (a.columns != b.columns || !nests(a.blocks, b.blocks)) return LEGO_ERR_SHAPE;
    shape->blocks = least(a.blocks, b.blocks);
    if (!a.buckets || !b.buckets) return LEGO_OK;
    shape->buckets = least(a.buckets, b.buckets);
    return nests(a.buckets, b.buckets) ? LEGO_OK : LEGO_ERR_SHAPE;
}

/* Whether a light part is as it was made: it may still hold nothing but sums that cancel each other if it is not. */
static bool is_untouched(const lego_sketch *sketch)
{
    const struct bricks *bricks = &sketch->bricks;
    uint64_t any = 0, size = 0;
    for (uint32_t i = 0; has_blocks(sketch->model) && i < sketch->dense.blocks; i++) {
        struct block block = sketch->dense.kernels->canonical(&sketch->dense.block[i]);
        for (int j = 0; j < 8; j++) any |= block.word[j];
    }
    if (!has_blocks(sketch->model)) size = bricks_saved_size(bricks->model, bricks->bricks.d, bricks->columns.d);
    for (uint64_t i = 0; i < size; i++) any |= bricks->cells[i];
    return any == 0;
}

static void add_all(lego_sketch *into, const lego_sketch *from, int sign)
{
    struct top_light light = light_of(into);
    into->mass += from->mass;
    add_light(into, from, sign);
    if (has_top(into) && has_top(from)) top_add_all(&into->top, &from->top, &light);
    else if (has_top(from)) add_residents(into, &from->top);
    else if (has_top(into) && !is_untouched(from)) top_mix(&into->top);
}

static lego_status combine(lego_sketch *into, const lego_sketch *from, int sign)
{
    struct shape shape, own = sketch_shape(into);
    if (!model_same(into->model, from->model)) return LEGO_ERR_MODEL;
    if (into->seed != from->seed) return LEGO_ERR_SEED;
    if (sign < 0 && (has_top(into) || has_top(from))) return LEGO_ERR_TOP;
    lego_status status = common_shape(into, from, &shape);
    if (status != LEGO_OK) return status;
    if (from->mass > (uint64_t)INT64_MAX - into->mass) return LEGO_ERR_RANGE;

    lego_sketch *twin = NULL; /* a sketch added to itself would change while it is read */
    if (into == from) status = lego_copy(from, &twin);
    if (status == LEGO_OK && (shape.blocks != own.blocks || shape.buckets != own.buckets))
        status = reshape(into, &shape);
    if (status == LEGO_OK) add_all(into, twin ? twin : from, sign);
    lego_destroy(twin);
    return status;
}

lego_status lego_merge(lego_sketch *into, const lego_sketch *from)
{
    return combine(into, from, 1);
}

lego_status lego_subtract(lego_sketch *into, const lego_sketch *from)
{
    return combine(into, from, -1);
}

/* ---- fold -------------------------------------------------------------------------------------------------------- */

lego_status lego_fold(lego_sketch *sketch, uint32_t blocks)
{
    struct shape shape = sketch_shape(sketch);
    if (blocks == 0 || shape.blocks % blocks != 0) return LEGO_ERR_SHAPE;
    if (blocks == shape.blocks) return LEGO_OK;
    shape.blocks = blocks;
    return reshape(sketch, &shape);
}

/* The largest divisor of n that is at most `most`; 0 if that is 0. */
static uint32_t divisor_within(uint32_t n, uint64_t most)
{
    if (most == 0) return 0;
    uint32_t parts = most >= n ? 1 : (uint32_t)((n + most - 1) / most);
    while (n % parts != 0) parts++;
    return n / parts;
}

/* The most blocks with which a shape, but for its blocks, fits; 0 if not one does. */
static uint32_t blocks_within(const lego_model *model, struct shape shape, uint32_t own, uint64_t budget)
{
    for (shape.blocks = own; shape.blocks && sketch_bytes(model, &shape) > budget;)
        shape.blocks = divisor_within(own, shape.blocks - 1);
    return shape.blocks;
}

/* Of the numbers of buckets to which the top folds, the one with which the part that loses more loses least. */
lego_status lego_fold_within(lego_sketch *sketch, uint64_t budget)
{
    struct shape own = sketch_shape(sketch), best = own;
    if (budget < LEGO_BUDGET_MIN || budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    if (sketch_bytes(sketch->model, &own) <= budget) return LEGO_OK;
    double most = 0;
    for (uint32_t h = own.buckets;; h = divisor_within(own.buckets, h - 1)) {
        struct shape shape = {own.blocks, own.columns, h};
        shape.blocks = blocks_within(sketch->model, shape, own.blocks, budget);
        double top = own.buckets ? (double)h / own.buckets : 1, light = (double)shape.blocks / own.blocks;
        double left = top < light ? top : light;
        if (left > most) {
            most = left;
            best = shape;
        }
        if (h <= 1 || top < most) break;
    }
    return most > 0 ? reshape(sketch, &best) : LEGO_ERR_SHAPE;
}
