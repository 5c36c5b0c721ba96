/* sketch: item -> hash -> embed -> brick -> scan -> decode -> estimate, and the life of a sketch. */
#include "sketch/sketch.h"

#include <math.h>
#include <stdlib.h>

#include "model/decode.h"
#include "core/parallel.h"
#include "sketch/query.h"
#include "paper/scan.h"

/* ---- the flow ---------------------------------------------------------------------------------------------------- */

static void add_to_blocks(lego_sketch *sketch, struct hash hash, int64_t count)
{
    struct dense *dense = &sketch->dense;
    const struct half half[2] = {dense_half(dense, hash, 0), dense_half(dense, hash, 1)};
    dense->total += count;
    if (!is_flat(sketch)) __builtin_prefetch(&dense->block[half[1].block], 1); /* while the first is added to */
    for (unsigned which = 0; which < 2; which++) {
        if (half[which].block < COMPACT_SCANNED) query_add_half(sketch, &half[which], which, count);
        else if (is_flat(sketch)) flat_add_half(&sketch->flat, &half[which], which, count);
        else dense_add_half(dense, &half[which], which, count);
    }
}

void sketch_add(lego_sketch *sketch, struct hash hash, int64_t count)
{
    if (has_blocks(sketch->model)) {
        add_to_blocks(sketch, hash, count);
        return;
    }
    struct place place;
    uint32_t weight[LEGO_ROWS_MAX];
    hash_place(hash, sketch->model->rows, sketch->model->table_size, &place);
    embed_weights(sketch->model, place.index, weight);
    struct scan_follow follow = scan_before(&sketch->memory, &place);
    memory_add(&sketch->memory, &place, weight, count);
    if (follow.state != SUMMARY_EMPTY) scan_after(sketch->model, &sketch->memory, &place, &follow);
}

lego_estimate sketch_estimate(const lego_sketch *sketch, struct hash hash)
{
    const lego_model *model = sketch->model;
    if (has_blocks(model)) return query_one(sketch, hash);
    const struct memory *memory = &sketch->memory;
    struct place place;
    struct reads reads = {.rows = model->rows};
    hash_place(hash, model->rows, model->table_size, &place);
    embed_weights(model, place.index, reads.weight);
    struct brick brick = brick_of(memory, place.brick);
    brick_read(memory, &brick, &place, reads.value);
    reads.total = memory->totals[brick.number];
    double unit = fmax(0, (double)reads.total) * model->mean_weight / brick.level->columns.d;
    for (uint32_t k = 0; k < model->rows; k++) reads.noise[k] = unit / reads.weight[k];
    if (!memory->summaries) return decode(model, &reads, NULL);
    struct stream stream = scan_brick(model, memory, &brick);
    return decode(model, &reads, &stream);
}

/* The shape of a sketch as it was made. */
static struct shape shape_of(const lego_sketch *sketch)
{
    if (!has_blocks(sketch->model)) return sketch->memory.shape;
    uint32_t bits = !is_flat(sketch) ? 0 : sketch->flat.is_wide ? FLAT_WIDE : FLAT_NARROW;
    return (struct shape){.bricks = sketch->dense.blocks, .rows = BLOCK_ROWS, .bits = bits};
}

/* Whether it is flat and its cells are too narrow for so much mass. */
static bool is_too_narrow(const lego_sketch *sketch, uint64_t mass)
{
    return mass > INT32_MAX && is_flat(sketch) && !sketch->flat.is_wide;
}

static lego_status reshape(lego_sketch *sketch, const struct shape *shape);

lego_status sketch_take_counts(lego_sketch *sketch, const int64_t *counts, size_t n)
{
    uint64_t sum = counts ? 0 : n, most = (uint64_t)INT64_MAX / sketch->model->quantum;
    for (size_t i = 0; counts && i < n && sum <= most; i++)
        sum += counts[i] < 0 ? -(uint64_t)counts[i] : (uint64_t)counts[i];
    if (sum > most || sum * sketch->model->quantum > (uint64_t)INT64_MAX - sketch->mass) return LEGO_ERR_RANGE;
    uint64_t mass = sketch->mass + sum * sketch->model->quantum;
    if (is_too_narrow(sketch, mass)) {
        struct shape shape = shape_of(sketch);
        shape.bits = FLAT_WIDE;
        lego_status status = reshape(sketch, &shape);
        if (status != LEGO_OK) return status;
    }
    sketch->mass = mass;
    return LEGO_OK;
}

lego_status lego_sketch_add(lego_sketch *sketch, const void *item, size_t size, int64_t count)
{
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    lego_status status = sketch_take_counts(sketch, &count, 1);
    if (status != LEGO_OK) return status;
    sketch_add(sketch, hash_bytes(item, size, sketch->seed), count);
    return LEGO_OK;
}

lego_status lego_sketch_add_u64(lego_sketch *sketch, uint64_t item, int64_t count)
{
    lego_status status = sketch_take_counts(sketch, &count, 1);
    if (status != LEGO_OK) return status;
    sketch_add(sketch, hash_u64(item, sketch->seed), count);
    return LEGO_OK;
}

lego_status lego_sketch_estimate(const lego_sketch *sketch, const void *item, size_t size, lego_estimate *estimate)
{
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    *estimate = sketch_estimate(sketch, hash_bytes(item, size, sketch->seed));
    return LEGO_OK;
}

lego_status lego_sketch_estimate_u64(const lego_sketch *sketch, uint64_t item, lego_estimate *estimate)
{
    *estimate = sketch_estimate(sketch, hash_u64(item, sketch->seed));
    return LEGO_OK;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static uint64_t blocks_bytes(const struct shape *shape)
{
    return shape->bits ? flat_bytes(shape->bricks, shape->bits) : dense_bytes(shape->bricks);
}

static bool blocks_valid(const struct shape *shape)
{
    uint32_t odd = shape->bricks ? shape->bricks / (shape->bricks & -shape->bricks) : 0;
    return odd >= 1 && odd <= BRICKS_MAX && shape->columns == 0 && blocks_bytes(shape) <= LEGO_BUDGET_MAX;
}

bool sketch_shape_valid(const struct shape *shape, const lego_model *model)
{
    if (has_blocks(model)) return shape->bits == 0 && blocks_valid(shape);
    return shape->rows == model->rows && shape->bricks >= 1 && shape->bricks <= BRICKS_MAX &&
           shape->columns >= COLUMNS_STEP && shape->columns <= model->columns && shape->columns % COLUMNS_STEP == 0 &&
           (shape->bits == 8 || shape->bits == 16 || shape->bits == 32 || shape->bits == 64) &&
           2 * (uint64_t)shape->bricks * shape->rows * shape->columns <= SPILL_KEYS_MAX &&
           memory_bytes(shape) <= LEGO_BUDGET_MAX;
}

/* The most columns for which so many bricks fit into the bytes; 0 if none. */
static uint32_t columns_within(struct shape shape, uint32_t most, uint64_t bytes)
{
    for (shape.columns = most; shape.columns > 0; shape.columns -= COLUMNS_STEP)
        if (memory_bytes(&shape) <= bytes) break;
    return shape.columns;
}

/* The most blocks that fit beside a 256th of the budget or what has a fixed size, less what is beyond their nine highest
 * bits, at most 0.4 %: so that twice the budget gives twice the blocks, and such sketches merge. */
static lego_status choose_blocks(const lego_options *options, struct shape *shape)
{
    *shape = (struct shape){options->bricks, 0, BLOCK_ROWS, options->packing == LEGO_FLAT ? FLAT_NARROW : 0};
    if (options->columns || options->cell_bits) return LEGO_ERR_ARGUMENT;
    if (options->budget == 0) return blocks_valid(shape) ? LEGO_OK : LEGO_ERR_ARGUMENT;
    if (options->budget < LEGO_BUDGET_MIN || options->budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;
    uint64_t fixed = sizeof(struct lego_sketch) + (shape->bits ? 2u : 1u) * DENSE_LINE, budget = options->budget;
    uint64_t unit = shape->bits ? FLAT_BLOCK : sizeof(struct block);
    uint64_t most = budget / 256 < fixed ? (budget - fixed) / unit : budget * 255 / (256 * unit);
    if (!shape->bricks) {
        unsigned shift = 0;
        while (most >> shift >= 512) shift++;
        shape->bricks = (uint32_t)(most >> shift << shift);
    }
    if (!blocks_valid(shape)) return LEGO_ERR_ARGUMENT;
    return shape->bricks <= most ? LEGO_OK : LEGO_ERR_BUDGET;
}

/* Fills in what the options leave open. Without bricks and columns, K is a power of two, so that the bricks can pair up
 * to the end, and the columns are the most that fit: between half the model's and all. */
static lego_status choose_shape(const lego_options *options, const lego_model *model, struct shape *shape)
{
    if (has_blocks(model)) return choose_blocks(options, shape);
    *shape = (struct shape){options->bricks, options->columns, model->rows, options->cell_bits ? options->cell_bits : 8};
    if (options->budget == 0) {
        if (!shape->columns) shape->columns = model->columns;
        return sketch_shape_valid(shape, model) ? LEGO_OK : LEGO_ERR_ARGUMENT;
    }
    struct shape probe = {shape->bricks ? shape->bricks : 1, shape->columns ? shape->columns : COLUMNS_STEP, shape->rows,
                          shape->bits};
    if (!sketch_shape_valid(&probe, model)) return LEGO_ERR_ARGUMENT;
    if (options->budget < LEGO_BUDGET_MIN || options->budget > LEGO_BUDGET_MAX) return LEGO_ERR_BUDGET;

    /* The handle is paid for with a 256th of the budget or what it takes: as a fixed part, it would give twice the
     * budget not quite twice the bricks, and such sketches should merge. Who names the shape pays just the handle. */
    uint64_t handle = sizeof(struct lego_sketch), share = options->budget / 256;
    if (share < handle || (shape->bricks && shape->columns)) share = handle;
    uint64_t bytes = options->budget - share;
    if (!shape->bricks && shape->columns) {
        probe.bricks = 1;
        uint64_t bricks = bytes / memory_bytes(&probe);
        shape->bricks = bricks < BRICKS_MAX ? (uint32_t)bricks : BRICKS_MAX;
    } else if (!shape->bricks) {
        struct shape more = {1, model->columns + COLUMNS_STEP, shape->rows, shape->bits};
        while (memory_bytes(&more) <= bytes && more.bricks < BRICKS_MAX) more.bricks *= 2;
        shape->bricks = more.bricks;
    }
    if (!shape->columns) shape->columns = columns_within(*shape, model->columns, bytes);
    if (!sketch_shape_valid(shape, model) || memory_bytes(shape) > bytes) return LEGO_ERR_BUDGET;
    return LEGO_OK;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* Bytes of a sketch's memory without caches, and of the caches. */
static uint64_t counted_bytes(const lego_model *model, const struct shape *shape)
{
    return has_blocks(model) ? blocks_bytes(shape) : memory_bytes(shape);
}

static uint64_t cached_bytes(const lego_model *model, const struct shape *shape)
{
    if (has_blocks(model)) return sizeof(struct blocks_summary);
    return model->weights ? memory_summary_bytes(shape) : 0;
}

/* Memory for an empty sketch of this shape, of the handle's model and from its allocator, into the handle, which must
 * have none. */
static lego_status allocate_memory(lego_sketch *handle, const struct shape *shape)
{
    uint64_t size = counted_bytes(handle->model, shape) + cached_bytes(handle->model, shape);
    handle->bytes = size > SIZE_MAX ? NULL : handle->allocator.alloc(handle->allocator.context, (size_t)size);
    if (!handle->bytes) return LEGO_ERR_MEMORY;
    handle->packing = has_blocks(handle->model) && shape->bits == 0 ? LEGO_DENSE : LEGO_FLAT;
    if (has_blocks(handle->model)) {
        if (shape->bits) flat_init(&handle->flat, shape->bricks, shape->bits, handle->bytes);
        else dense_init(&handle->dense, shape->bricks, handle->bytes);
        handle->summary = (struct blocks_summary *)(void *)((unsigned char *)handle->bytes + blocks_bytes(shape));
        blocks_changed(handle);
    } else {
        memory_init(&handle->memory, shape);
        memory_attach(&handle->memory, handle->bytes, handle->model->weights != NULL);
        memory_clear(&handle->memory);
    }
    return LEGO_OK;
}

static void free_memory(lego_sketch *sketch)
{
    struct shape shape = shape_of(sketch);
    size_t size = (size_t)(counted_bytes(sketch->model, &shape) + cached_bytes(sketch->model, &shape));
    sketch->allocator.free(sketch->allocator.context, sketch->bytes, size);
}

lego_status sketch_make(const lego_model *model, uint64_t seed, const struct shape *shape,
                        const lego_allocator *allocator, lego_sketch **sketch)
{
    lego_allocator a = sketch_allocator(allocator);
    lego_sketch *made = a.alloc(a.context, sizeof *made);
    if (!made) return LEGO_ERR_MEMORY;
    *made = (lego_sketch){.model = model, .seed = seed, .allocator = a, .threads = 1};
    lego_status status = allocate_memory(made, shape);
    if (status != LEGO_OK) {
        a.free(a.context, made, sizeof *made);
        return status;
    }
    *sketch = made;
    return LEGO_OK;
}

lego_status lego_sketch_create(const lego_options *options, lego_sketch **sketch)
{
    const lego_model *model = options->model ? options->model : lego_model_builtin(NULL);
    struct shape shape;
    if (options->packing != LEGO_DENSE && options->packing != LEGO_FLAT) return LEGO_ERR_ARGUMENT;
    lego_status status = choose_shape(options, model, &shape);
    return status != LEGO_OK ? status : sketch_make(model, options->seed, &shape, options->allocator, sketch);
}

void lego_sketch_destroy(lego_sketch *sketch)
{
    if (!sketch) return;
    free_memory(sketch);
    sketch->allocator.free(sketch->allocator.context, sketch, sizeof *sketch);
}

lego_status lego_sketch_copy(const lego_sketch *sketch, lego_sketch **copy)
{
    lego_sketch *made;
    struct shape shape = shape_of(sketch);
    lego_status status = sketch_make(sketch->model, sketch->seed, &shape, &sketch->allocator, &made);
    if (status != LEGO_OK) return status;
    made->mass = sketch->mass;
    if (is_flat(sketch)) {
        flat_copy(&made->flat, &sketch->flat);
    } else if (has_blocks(sketch->model)) {
        memcpy(made->dense.block, sketch->dense.block, sketch->dense.blocks * sizeof(struct block));
        made->dense.total = sketch->dense.total;
    } else {
        const struct memory *from = &sketch->memory;
        struct memory *to = &made->memory;
        memcpy(to->cells, from->cells, memory_bytes(&from->shape)); /* totals and spill follow the cells */
        to->level = from->level;
        to->folded = from->folded;
        to->spill.used = from->spill.used;
    }
    *copy = made;
    return LEGO_OK;
}

void lego_sketch_clear(lego_sketch *sketch)
{
    sketch->mass = 0;
    blocks_changed(sketch);
    if (is_flat(sketch)) flat_clear(&sketch->flat);
    else if (has_blocks(sketch->model)) dense_clear(&sketch->dense);
    else memory_clear(&sketch->memory);
}

void lego_sketch_set_threads(lego_sketch *sketch, unsigned threads)
{
    sketch->threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
}

/* ---- merge and fold ---------------------------------------------------------------------------------------------- */

static void add_all(lego_sketch *into, const lego_sketch *from, int sign)
{
    blocks_changed(into);
    if (is_flat(into) && is_flat(from)) flat_add_flat(&into->flat, &from->flat, sign);
    else if (is_flat(into)) flat_add_dense(&into->flat, &from->dense, sign);
    else if (is_flat(from)) dense_add_flat(&into->dense, &from->flat, sign);
    else if (has_blocks(into->model)) dense_add_all(&into->dense, &from->dense, sign);
    else memory_add_all(&into->memory, &from->memory, sign);
}

/* Replaces the sketch's memory by one of the shape, to which it folds, with the same content. The shape may be of
 * another packing. */
static lego_status reshape(lego_sketch *sketch, const struct shape *shape)
{
    lego_sketch made = *sketch;
    lego_status status = allocate_memory(&made, shape);
    if (status != LEGO_OK) return status;
    add_all(&made, sketch, 1);
    free_memory(sketch);
    *sketch = made;
    return LEGO_OK;
}

static lego_status combine(lego_sketch *into, const lego_sketch *from, int sign)
{
    if (into->model->fingerprint != from->model->fingerprint) return LEGO_ERR_MODEL;
    if (into->seed != from->seed) return LEGO_ERR_SEED;
    struct shape a = shape_of(into), b = shape_of(from), common = a;
    common.bricks = greatest_common_divisor(a.bricks, b.bricks);
    if (b.columns < a.columns) common.columns = b.columns;
    if (is_too_narrow(into, into->mass + from->mass)) common.bits = FLAT_WIDE;
    if (!has_blocks(into->model) && (!shape_folds_to(&a, &common) || !shape_folds_to(&b, &common))) return LEGO_ERR_SHAPE;
    if (from->mass > (uint64_t)INT64_MAX - into->mass) return LEGO_ERR_RANGE;

    lego_sketch *twin = NULL; /* a sketch added to itself would change while it is read */
    lego_status status = into == from ? lego_sketch_copy(from, &twin) : LEGO_OK;
    if (status == LEGO_OK && (common.bricks != a.bricks || common.columns != a.columns || common.bits != a.bits))
        status = reshape(into, &common);
    if (status == LEGO_OK) {
        into->mass += from->mass;
        add_all(into, twin ? twin : from, sign);
    }
    lego_sketch_destroy(twin);
    return status;
}

lego_status lego_sketch_merge(lego_sketch *into, const lego_sketch *from)
{
    return combine(into, from, 1);
}

lego_status lego_sketch_subtract(lego_sketch *into, const lego_sketch *from)
{
    return combine(into, from, -1);
}

lego_status lego_sketch_fold(lego_sketch *sketch, uint32_t bricks)
{
    struct shape shape = shape_of(sketch);
    if (bricks == 0 || shape.bricks % bricks != 0) return LEGO_ERR_SHAPE;
    if (bricks == shape.bricks) return LEGO_OK;
    shape.bricks = bricks;
    return reshape(sketch, &shape);
}

lego_status lego_sketch_convert(lego_sketch *sketch, lego_packing packing)
{
    if (packing != LEGO_DENSE && packing != LEGO_FLAT) return LEGO_ERR_ARGUMENT;
    if (!has_blocks(sketch->model) || packing == sketch->packing) return LEGO_OK;
    struct shape shape = shape_of(sketch);
    shape.bits = packing == LEGO_DENSE ? 0 : sketch->mass > INT32_MAX ? FLAT_WIDE : FLAT_NARROW;
    return blocks_valid(&shape) ? reshape(sketch, &shape) : LEGO_ERR_BUDGET;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

uint64_t lego_sketch_bytes(const lego_sketch *sketch)
{
    struct shape shape = shape_of(sketch);
    return sizeof *sketch + counted_bytes(sketch->model, &shape);
}

uint64_t lego_sketch_cache_bytes(const lego_sketch *sketch)
{
    struct shape shape = shape_of(sketch);
    return cached_bytes(sketch->model, &shape);
}

static void describe_blocks(const lego_sketch *sketch, lego_sketch_info *info)
{
    const struct dense *dense = &sketch->dense;
    info->total = dense->total;
    info->bricks = info->bricks_now = dense->blocks;
    info->rows = BLOCK_ROWS;
    info->cell_bits = info->cell_bits_most = shape_of(sketch).bits;
    for (uint32_t i = 0; i < dense->blocks; i++) {
        const uint8_t *columns = block_columns[is_flat(sketch) ? sketch->flat.step[i] : block_step(&dense->block[i])];
        for (unsigned k = 0; k < BLOCK_ROWS; k++) info->cells += columns[k];
    }
}

static void describe_memory(const struct memory *memory, lego_sketch_info *info)
{
    const struct level *least = &memory->levels[memory->level], *most = least + (memory->folded > 0);
    for (uint32_t i = 0; i < memory->shape.bricks; i++) info->total += memory->totals[i];
    for (uint32_t i = 0; i < brick_count(memory); i++)
        info->cells += (uint64_t)memory->shape.rows * brick_at(memory, i).level->columns.d;
    info->bricks = memory->shape.bricks;
    info->bricks_now = brick_count(memory);
    info->rows = memory->shape.rows;
    info->columns = least->columns.d;
    info->cell_bits = least->bits;
    info->cell_bits_most = most->bits;
    info->spill_used = memory->spill.used;
    info->spill_limit = memory->spill.limit;
}

void lego_sketch_describe(const lego_sketch *sketch, lego_sketch_info *info)
{
    *info = (lego_sketch_info){.model = sketch->model,
                               .seed = sketch->seed,
                               .bytes = lego_sketch_bytes(sketch),
                               .cache_bytes = lego_sketch_cache_bytes(sketch),
                               .packing = sketch->packing};
    if (has_blocks(sketch->model)) describe_blocks(sketch, info);
    else describe_memory(&sketch->memory, info);
}

lego_status lego_sketch_scan(const lego_sketch *sketch, uint32_t brick, lego_scan *scan)
{
    const struct memory *memory = &sketch->memory;
    if (has_blocks(sketch->model)) return brick < sketch->dense.blocks ? LEGO_ERR_UNTRAINED : LEGO_ERR_ARGUMENT;
    if (brick >= brick_count(memory)) return LEGO_ERR_ARGUMENT;
    if (!memory->summaries) return LEGO_ERR_UNTRAINED;
    struct brick at = brick_at(memory, brick);
    struct stream stream = scan_brick(sketch->model, memory, &at);
    *scan = (lego_scan){memory->totals[at.number], stream.distinct, stream.skew};
    return LEGO_OK;
}
