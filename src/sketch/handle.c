/* handle: what a sketch is. The shape that a budget gives, its memory and its life. */
#include <string.h>

#include "core/allocate.h"
#include "core/parallel.h"
#include "legosketch_lab.h"
#include "sketch/sketch.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

struct shape sketch_shape(const lego_sketch *sketch)
{
    uint32_t buckets = has_top(sketch) ? sketch->top.most : 0;
    if (has_blocks(sketch->model)) return (struct shape){sketch->blocks.most, 0, buckets};
    return (struct shape){sketch->bricks.bricks.d, sketch->bricks.columns.d, buckets};
}

static uint64_t light_bytes(const lego_model *model, const struct shape *shape, uint32_t blocks)
{
    return has_blocks(model) ? blocks_bytes(blocks) : bricks_bytes(model, shape->blocks, shape->columns);
}

/* Of bricks, behind them. */
static uint64_t cache_bytes(const lego_model *model, const struct shape *shape)
{
    return has_blocks(model) ? 0 : bricks_cache_bytes(model, shape->blocks);
}

uint64_t sketch_bytes(const lego_model *model, const struct shape *shape)
{
    return sizeof(struct lego_sketch) + light_bytes(model, shape, shape->blocks) + top_bytes(shape->buckets);
}

uint64_t sketch_cache_bytes(const lego_sketch *sketch)
{
    struct shape shape = sketch_shape(sketch);
    return cache_bytes(sketch->model, &shape);
}

uint64_t light_size(const lego_sketch *sketch)
{
    struct shape shape = sketch_shape(sketch);
    return light_bytes(sketch->model, &shape, sketch->blocks.blocks) + cache_bytes(sketch->model, &shape);
}

uint64_t sketch_bytes_now(const lego_sketch *sketch)
{
    struct shape shape = sketch_shape(sketch);
    uint64_t top = has_top(sketch) ? top_bytes(sketch->top.buckets.d) : 0;
    return sizeof *sketch + light_size(sketch) - cache_bytes(sketch->model, &shape) + top;
}

bool sketch_shape_valid(const lego_model *model, const struct shape *shape)
{
    bool valid = has_blocks(model) ? shape->blocks > 0 && shape->blocks <= BLOCKS_LIMIT && shape->columns == 0
                                   : bricks_valid_shape(model, shape->blocks, shape->columns);
    valid = valid && (shape->buckets == 0 || top_possible(1, shape->buckets));
    return valid && sketch_bytes(model, shape) <= LEGO_BUDGET_MAX;
}

/* The most, less what is beyond its eight highest bits, at most 0.8 %: so that twice the budget has twice as many
 * blocks, and such sketches merge. */
static uint32_t whole_number(uint64_t most)
{
    unsigned shift = 0;
    while (most >> shift >= 256) shift++;
    return (uint32_t)(most >> shift << shift);
}

/* What is beside the blocks and buckets and has a fixed size. */
static uint64_t fixed_bytes(bool top)
{
    return sizeof(struct lego_sketch) + BLOCKS_LINE + (top ? TOP_LINE : 0);
}

/* How many blocks a budget without its buckets gives. What has a fixed size is paid for with a 128th of it or what it
 * takes: as a fixed part alone, it would give twice the budget not quite twice the blocks. */
static uint32_t blocks_of(uint64_t budget, bool top)
{
    uint64_t fixed = fixed_bytes(top);
    const uint64_t bytes = budget / 128 < fixed ? budget - fixed : budget - (budget + 127) / 128;
    return whole_number(bytes / sizeof(struct block));
}

/* The shape that fills a budget. */
static lego_status choose_shape(const lego_model *model, uint64_t budget, uint64_t top, struct shape *shape)
{
    *shape = (struct shape){0, 0, 0};
    if (budget < LEGO_BUDGET_MIN || budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    if (top > 0 && (top < LEGO_TOP_MIN || top > budget - LEGO_BUDGET_MIN)) return LEGO_ERR_BUDGET;
    shape->buckets = top_most(top);
    budget -= shape->buckets * (uint64_t)TOP_BUCKET;
    if (!has_blocks(model)) {
        budget -= fixed_bytes(top > 0);
        return bricks_fit(model, budget, &shape->blocks, &shape->columns) ? LEGO_OK : LEGO_ERR_BUDGET;
    }
    shape->blocks = blocks_of(budget, top > 0);
    return LEGO_OK;
}

uint64_t sketch_top_budget(const struct shape *shape)
{
    uint64_t bytes = top_bytes(shape->buckets);
    return bytes > 0 && bytes < LEGO_TOP_MIN ? LEGO_TOP_MIN : bytes;
}

uint64_t sketch_budget(const lego_model *model, const struct shape *shape)
{
    bool has_buckets = shape->buckets > 0;
    uint64_t top = shape->buckets * (uint64_t)TOP_BUCKET;
    uint64_t low = LEGO_BUDGET_MIN + (has_buckets ? TOP_LINE : 0), high = LEGO_BUDGET_MAX;
    if (!has_blocks(model)) return bricks_least(model, shape->blocks, shape->columns) + fixed_bytes(has_buckets) + top;
    while (low < high) { /* the number of blocks never falls with the budget */
        uint64_t middle = low + (high - low) / 2;
        if (blocks_of(middle, has_buckets) < shape->blocks) low = middle + 1;
        else high = middle;
    }
    uint64_t least = LEGO_BUDGET_MIN + sketch_top_budget(shape); /* what lego_create() asks for */
    return low + top > least || !has_buckets ? low + top : least;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void *allocate(const lego_allocator *allocator, uint64_t size)
{
    return size > SIZE_MAX ? NULL : allocator->alloc(allocator->context, (size_t)size);
}

lego_status light_allocate(lego_sketch *handle, const struct shape *shape, uint32_t blocks)
{
    uint64_t size = light_bytes(handle->model, shape, blocks), cache = cache_bytes(handle->model, shape);
    void *bytes = allocate(&handle->allocator, size + cache);
    if (!bytes) return LEGO_ERR_MEMORY;
    handle->bytes = bytes;
    if (!has_blocks(handle->model)) {
        bricks_init(&handle->bricks, handle->model, shape->blocks, shape->columns, handle->bytes);
        return LEGO_OK;
    }
    blocks_init(&handle->blocks, blocks, shape->blocks, handle->bytes);
    handle->blocks.loose = blocks > 1;
    return LEGO_OK;
}

void light_free(lego_sketch *handle)
{
    handle->allocator.free(handle->allocator.context, handle->bytes, (size_t)light_size(handle));
}

lego_status top_allocate(lego_sketch *handle, uint32_t most, uint32_t buckets)
{
    void *bytes = allocate(&handle->allocator, top_bytes(buckets));
    if (!bytes) return LEGO_ERR_MEMORY;
    handle->top_bytes = bytes;
    top_init(&handle->top, buckets, most, bytes);
    return LEGO_OK;
}

void top_free(lego_sketch *handle)
{
    const lego_allocator *a = &handle->allocator;
    if (has_top(handle)) a->free(a->context, handle->top_bytes, (size_t)top_bytes(handle->top.buckets.d));
}

lego_status sketch_allocate(lego_sketch *handle, const struct shape *shape, uint32_t blocks, uint32_t buckets)
{
    lego_status status = light_allocate(handle, shape, blocks);
    handle->top_bytes = NULL;
    if (status != LEGO_OK || shape->buckets == 0) return status;
    status = top_allocate(handle, shape->buckets, buckets);
    if (status != LEGO_OK) light_free(handle);
    return status;
}

void sketch_free(lego_sketch *handle)
{
    light_free(handle);
    top_free(handle);
}

lego_status sketch_make(const lego_model *model, struct seed seed, const struct shape *shape, uint32_t blocks,
                        uint32_t buckets, const lego_allocator *allocator, lego_sketch **sketch)
{
    lego_allocator a = allocator_or_default(allocator);
    lego_sketch *made = a.alloc(a.context, sizeof *made);
    if (!made) return LEGO_ERR_MEMORY;
    *made = (lego_sketch){.model = model, .seed = seed, .allocator = a, .threads = 1};
    lego_status status = sketch_allocate(made, shape, blocks, buckets);
    if (status == LEGO_OK) *sketch = made;
    else a.free(a.context, made, sizeof *made);
    return status;
}

/* ---- what is in it ----------------------------------------------------------------------------------------------- */

bool light_untouched(const lego_sketch *sketch)
{
    const struct blocks *blocks = &sketch->blocks;
    const struct bricks *bricks = &sketch->bricks;
    uint64_t size = 0;
    for (uint32_t i = 0; has_blocks(sketch->model) && i < blocks->blocks; i++)
        if (block_step(&blocks->block[i]) != STEP_WHOLE || block_entries(&blocks->block[i]) > 0) return false;
    if (!has_blocks(sketch->model)) size = bricks_saved_size(bricks->model, bricks->bricks.d, bricks->columns.d);
    for (uint64_t i = 0; i < size; i++)
        if (bricks->cells[i]) return false;
    return true;
}

bool sketch_untouched(const lego_sketch *sketch)
{
    bool kept = has_top(sketch) && (sketch->top.votes > 0 || top_leaks(&sketch->top));
    return !kept && light_untouched(sketch);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static const lego_model *model_of(const lego_options *options)
{
    return options->model ? options->model : lego_model_builtin(NULL);
}

lego_status lego_create(const lego_options *options, lego_sketch **sketch)
{
    struct shape shape;
    struct seed seed;
    lego_status status = choose_shape(model_of(options), options->budget, options->top, &shape);
    if (status != LEGO_OK) return status;
    if (!seed_wanted(options, &seed)) return LEGO_ERR_ARGUMENT;
    return sketch_make(model_of(options), seed, &shape, 1, 1, options->allocator, sketch);
}

lego_status lego_lab_create(const lego_options *options, uint32_t blocks, uint32_t columns, lego_sketch **sketch)
{
    struct shape shape = {blocks, columns, top_most(options->top)};
    struct seed seed;
    if (options->top > 0 && (options->top < LEGO_TOP_MIN || options->top > LEGO_BUDGET_MAX)) return LEGO_ERR_BUDGET;
    if (!sketch_shape_valid(model_of(options), &shape) || !seed_wanted(options, &seed)) return LEGO_ERR_ARGUMENT;
    return sketch_make(model_of(options), seed, &shape, 1, 1, options->allocator, sketch);
}

void lego_destroy(lego_sketch *sketch)
{
    if (!sketch) return;
    sketch_free(sketch);
    sketch->allocator.free(sketch->allocator.context, sketch, sizeof *sketch);
}

static void copy_blocks(struct blocks *to, const struct blocks *from)
{
    memcpy(to->block, from->block, from->blocks * sizeof *from->block);
    to->total = from->total;
    to->loose = from->loose;
    to->keeps = from->keeps;
    to->unlisted = from->unlisted;
}

lego_status lego_copy(const lego_sketch *sketch, lego_sketch **copy)
{
    lego_sketch *made;
    struct shape shape = sketch_shape(sketch);
    uint32_t blocks = sketch->blocks.blocks, buckets = has_top(sketch) ? sketch->top.buckets.d : 0;
    lego_status status = sketch_make(sketch->model, sketch->seed, &shape, blocks, buckets, &sketch->allocator, &made);
    if (status != LEGO_OK) return status;
    made->mass = sketch->mass;
    made->items = sketch->items;
    if (has_blocks(sketch->model)) copy_blocks(&made->blocks, &sketch->blocks);
    else bricks_copy(&made->bricks, &sketch->bricks);
    if (has_top(sketch)) {
        memcpy(made->top.bucket, sketch->top.bucket, (size_t)buckets * TOP_BUCKET);
        made->top.votes = sketch->top.votes;
    }
    *copy = made;
    return LEGO_OK;
}

/* As small as they were made, if the little memory that takes can be had; else empty in their own. */
static void clear_blocks(lego_sketch *sketch, const struct shape *shape)
{
    lego_sketch made = *sketch;
    if (light_allocate(&made, shape, 1) == LEGO_OK) {
        light_free(sketch);
        *sketch = made;
        return;
    }
    blocks_init(&sketch->blocks, sketch->blocks.blocks, shape->blocks, sketch->bytes);
    sketch->blocks.loose = true;
}

static void clear_top(lego_sketch *sketch, const struct shape *shape)
{
    lego_sketch made = *sketch;
    if (top_allocate(&made, shape->buckets, 1) == LEGO_OK) {
        top_free(sketch);
        *sketch = made;
        return;
    }
    top_clear(&sketch->top);
}

void lego_clear(lego_sketch *sketch)
{
    struct shape shape = sketch_shape(sketch);
    sketch->mass = 0;
    sketch->items = LEGO_ITEMS_NONE;
    if (has_blocks(sketch->model)) clear_blocks(sketch, &shape);
    else bricks_clear(&sketch->bricks);
    if (has_top(sketch)) clear_top(sketch, &shape);
}

void lego_set_threads(lego_sketch *sketch, unsigned threads)
{
    sketch->threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
}

/* ---- the lab ----------------------------------------------------------------------------------------------------- */

lego_status lego_lab_scan_brick(const lego_sketch *sketch, uint32_t brick, lego_lab_scan *scan)
{
    if (has_blocks(sketch->model) || brick >= sketch->bricks.bricks.d) return LEGO_ERR_ARGUMENT;
    struct stream stream;
    int64_t total = bricks_scan(&sketch->bricks, brick, &stream);
    *scan = (lego_lab_scan){total, stream.distinct, stream.skew};
    return LEGO_OK;
}
