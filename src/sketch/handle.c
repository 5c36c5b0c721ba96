/* handle: what a sketch is. The shape that a budget gives, its memory, its life, and what is known of it. */
#include <string.h>

#include "core/allocate.h"
#include "core/parallel.h"
#include "legosketch_lab.h"
#include "sketch/sketch.h"

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

struct shape sketch_shape(const lego_sketch *sketch)
{
    uint32_t buckets = has_top(sketch) ? sketch->top.buckets.d : 0;
    if (has_blocks(sketch->model)) return (struct shape){sketch->dense.blocks, 0, buckets};
    return (struct shape){sketch->bricks.bricks.d, sketch->bricks.columns.d, buckets};
}

static uint64_t light_bytes(const lego_model *model, const struct shape *shape)
{
    return has_blocks(model) ? dense_bytes(shape->blocks) : bricks_bytes(model, shape->blocks, shape->columns);
}

static uint64_t cache_bytes(const lego_model *model, const struct shape *shape)
{
    return has_blocks(model) ? sizeof(struct blocks_summary) : bricks_cache_bytes(model, shape->blocks);
}

uint64_t sketch_bytes(const lego_model *model, const struct shape *shape)
{
    return sizeof(struct lego_sketch) + light_bytes(model, shape) + top_bytes(shape->buckets);
}

/* An odd number of blocks is found in 32 bits of a hash, so it must be small beside them. */
static bool blocks_valid(const struct shape *shape)
{
    uint32_t odd = shape->blocks ? shape->blocks / (shape->blocks & -shape->blocks) : 0;
    return odd >= 1 && odd <= BRICKS_MAX && shape->columns == 0 && dense_bytes(shape->blocks) <= LEGO_BUDGET_MAX;
}

bool sketch_shape_valid(const lego_model *model, const struct shape *shape)
{
    if (has_blocks(model) ? !blocks_valid(shape) : !bricks_valid_shape(model, shape->blocks, shape->columns))
        return false;
    return sketch_bytes(model, shape) <= LEGO_BUDGET_MAX;
}

/* The most, less what is beyond its nine highest bits, at most 0.4 %: so that twice the budget has twice as many blocks
 * or buckets, and such sketches merge. */
static uint32_t whole_number(uint64_t most)
{
    unsigned shift = 0;
    while (most >> shift >= 512) shift++;
    return (uint32_t)(most >> shift << shift);
}

static uint32_t buckets_within(uint64_t top)
{
    return top < LEGO_TOP_MIN ? 0 : whole_number((top - TOP_LINE) / TOP_BUCKET);
}

/* What is beside the blocks and buckets and has a fixed size. */
static uint64_t fixed_bytes(bool top)
{
    return sizeof(struct lego_sketch) + DENSE_LINE + (top ? TOP_LINE : 0);
}

/* The shape that fills a budget. Beside blocks, what has a fixed size is paid for with a 256th of the budget or what it
 * takes: as a fixed part alone, it would give twice the budget not quite twice the blocks. */
static lego_status choose_shape(const lego_model *model, uint64_t budget, uint64_t top, struct shape *shape)
{
    *shape = (struct shape){0, 0, 0};
    if (budget < LEGO_BUDGET_MIN || budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    if (top > 0 && (top < LEGO_TOP_MIN || top > budget - LEGO_BUDGET_MIN)) return LEGO_ERR_BUDGET;
    shape->buckets = buckets_within(top);
    uint64_t fixed = fixed_bytes(top > 0), unit = sizeof(struct block);
    budget -= shape->buckets * (uint64_t)TOP_BUCKET;
    if (!has_blocks(model))
        return bricks_fit(model, budget - fixed, &shape->blocks, &shape->columns) ? LEGO_OK : LEGO_ERR_BUDGET;
    shape->blocks = whole_number(budget / 256 < fixed ? (budget - fixed) / unit : budget * 255 / (256 * unit));
    return LEGO_OK;
}

/* The least budget that gives this shape. */
static uint64_t least_budget(const lego_model *model, const struct shape *shape)
{
    uint64_t top = shape->buckets * (uint64_t)TOP_BUCKET, fixed = fixed_bytes(top > 0);
    uint64_t blocks = shape->blocks * (uint64_t)sizeof(struct block);
    if (!has_blocks(model)) return bricks_least(model, shape->blocks, shape->columns) + fixed + top;
    return top + ((blocks + fixed) / 256 < fixed ? blocks + fixed : (blocks * 256 + 254) / 255);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void *allocate(const lego_allocator *allocator, uint64_t size)
{
    return size > SIZE_MAX ? NULL : allocator->alloc(allocator->context, (size_t)size);
}

lego_status sketch_allocate(lego_sketch *handle, const struct shape *shape)
{
    const lego_allocator *a = &handle->allocator;
    uint64_t size = light_bytes(handle->model, shape), whole = size + cache_bytes(handle->model, shape);
    handle->bytes = allocate(a, whole);
    handle->top_bytes = handle->bytes && shape->buckets ? allocate(a, top_bytes(shape->buckets)) : NULL;
    if (!handle->bytes || (shape->buckets && !handle->top_bytes)) {
        if (handle->bytes) a->free(a->context, handle->bytes, (size_t)whole);
        return LEGO_ERR_MEMORY;
    }
    if (shape->buckets) top_init(&handle->top, shape->buckets, handle->top_bytes);
    handle->summary = NULL;
    if (has_blocks(handle->model)) {
        dense_init(&handle->dense, shape->blocks, handle->bytes);
        handle->summary = (struct blocks_summary *)(void *)((unsigned char *)handle->bytes + size);
        blocks_changed(handle);
    } else {
        bricks_init(&handle->bricks, handle->model, shape->blocks, shape->columns, handle->bytes);
    }
    return LEGO_OK;
}

void sketch_free(lego_sketch *handle)
{
    const lego_allocator *a = &handle->allocator;
    struct shape shape = sketch_shape(handle);
    a->free(a->context, handle->bytes,
            (size_t)(light_bytes(handle->model, &shape) + cache_bytes(handle->model, &shape)));
    if (has_top(handle)) a->free(a->context, handle->top_bytes, (size_t)top_bytes(shape.buckets));
}

lego_status sketch_make(const lego_model *model, uint64_t seed, const struct shape *shape,
                        const lego_allocator *allocator, lego_sketch **sketch)
{
    lego_allocator a = allocator_or_default(allocator);
    lego_sketch *made = a.alloc(a.context, sizeof *made);
    if (!made) return LEGO_ERR_MEMORY;
    *made = (lego_sketch){.model = model, .seed = seed, .allocator = a, .threads = 1};
    lego_status status = sketch_allocate(made, shape);
    if (status == LEGO_OK) *sketch = made;
    else a.free(a.context, made, sizeof *made);
    return status;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static const lego_model *model_of(const lego_options *options)
{
    return options->model ? options->model : lego_model_builtin(NULL);
}

lego_status lego_create(const lego_options *options, lego_sketch **sketch)
{
    struct shape shape;
    lego_status status = choose_shape(model_of(options), options->budget, options->top, &shape);
    if (status != LEGO_OK) return status;
    return sketch_make(model_of(options), options->seed, &shape, options->allocator, sketch);
}

lego_status lego_lab_create(const lego_options *options, uint32_t blocks, uint32_t columns, lego_sketch **sketch)
{
    struct shape shape = {blocks, columns, buckets_within(options->top)};
    if (options->top > 0 && (options->top < LEGO_TOP_MIN || options->top > LEGO_BUDGET_MAX)) return LEGO_ERR_BUDGET;
    if (!sketch_shape_valid(model_of(options), &shape)) return LEGO_ERR_ARGUMENT;
    return sketch_make(model_of(options), options->seed, &shape, options->allocator, sketch);
}

void lego_destroy(lego_sketch *sketch)
{
    if (!sketch) return;
    sketch_free(sketch);
    sketch->allocator.free(sketch->allocator.context, sketch, sizeof *sketch);
}

lego_status lego_copy(const lego_sketch *sketch, lego_sketch **copy)
{
    lego_sketch *made;
    struct shape shape = sketch_shape(sketch);
    lego_status status = sketch_make(sketch->model, sketch->seed, &shape, &sketch->allocator, &made);
    if (status != LEGO_OK) return status;
    made->mass = sketch->mass;
    if (has_blocks(sketch->model)) {
        memcpy(made->dense.block, sketch->dense.block, sketch->dense.blocks * sizeof(struct block));
        made->dense.total = sketch->dense.total;
    } else {
        bricks_copy(&made->bricks, &sketch->bricks);
    }
    if (has_top(sketch)) {
        memcpy(made->top.bucket, sketch->top.bucket, (size_t)shape.buckets * TOP_BUCKET);
        made->top.votes = sketch->top.votes;
    }
    *copy = made;
    return LEGO_OK;
}

void lego_clear(lego_sketch *sketch)
{
    sketch->mass = 0;
    blocks_changed(sketch);
    if (has_blocks(sketch->model)) dense_clear(&sketch->dense);
    else bricks_clear(&sketch->bricks);
    if (has_top(sketch)) top_clear(&sketch->top);
}

void lego_set_threads(lego_sketch *sketch, unsigned threads)
{
    sketch->threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

void lego_describe(const lego_sketch *sketch, lego_info *info)
{
    struct shape shape = sketch_shape(sketch);
    int64_t light = has_blocks(sketch->model) ? sketch->dense.total : sketch->bricks.total;
    int64_t top = has_top(sketch) ? (int64_t)sketch->top.votes : 0;
    *info = (lego_info){.model = sketch->model,
                        .seed = sketch->seed,
                        .total = light + top,
                        .bytes = sketch_bytes(sketch->model, &shape),
                        .budget = least_budget(sketch->model, &shape),
                        .cache_bytes = cache_bytes(sketch->model, &shape),
                        .blocks = shape.blocks,
                        .columns = shape.columns,
                        .top_bytes = top_bytes(shape.buckets),
                        .top_total = top};
}

lego_status lego_lab_scan_brick(const lego_sketch *sketch, uint32_t brick, lego_lab_scan *scan)
{
    if (has_blocks(sketch->model) || brick >= sketch->bricks.bricks.d) return LEGO_ERR_ARGUMENT;
    struct stream stream;
    int64_t total = bricks_scan(&sketch->bricks, brick, &stream);
    *scan = (lego_lab_scan){total, stream.distinct, stream.skew};
    return LEGO_OK;
}
