/* sketch: item -> hash -> embed -> brick -> scan -> decode -> estimate, and the life of a sketch. */
#include "sketch.h"

#include <stdlib.h>

#include "decode.h"
#include "parallel.h"

/* ---- the flow ---------------------------------------------------------------------------------------------------- */

void sketch_add(lego_sketch *sketch, struct hash hash, int64_t count)
{
    struct place place;
    uint32_t weight[LEGO_ROWS_MAX];
    hash_place(hash, sketch->model->rows, sketch->model->table_size, &place);
    embed_weights(sketch->model, place.index, weight);
    memory_add(&sketch->memory, &place, weight, count);
}

lego_estimate sketch_estimate(const lego_sketch *sketch, struct hash hash)
{
    const lego_model *model = sketch->model;
    const struct memory *memory = &sketch->memory;
    struct place place;
    struct reads reads;
    hash_place(hash, model->rows, model->table_size, &place);
    embed_weights(model, place.index, reads.weight);
    struct brick brick = brick_of(memory, place.brick);
    brick_read(memory, &brick, &place, reads.value);
    reads.total = memory->totals[brick.number];
    reads.columns = brick.level->columns.d;
    if (!memory->summaries) return decode(model, &reads, NULL);
    struct stream stream = scan_brick(model, memory, &brick);
    return decode(model, &reads, &stream);
}

bool sketch_take_counts(lego_sketch *sketch, const int64_t *counts, size_t n)
{
    uint64_t sum = counts ? 0 : n, most = (uint64_t)INT64_MAX / sketch->model->quantum;
    for (size_t i = 0; counts && i < n && sum <= most; i++)
        sum += counts[i] < 0 ? -(uint64_t)counts[i] : (uint64_t)counts[i];
    return sum <= most && memory_take_mass(&sketch->memory, sum * sketch->model->quantum);
}

lego_status lego_sketch_add(lego_sketch *sketch, const void *item, size_t size, int64_t count)
{
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    if (!sketch_take_counts(sketch, &count, 1)) return LEGO_ERR_RANGE;
    sketch_add(sketch, hash_bytes(item, size, sketch->seed), count);
    return LEGO_OK;
}

lego_status lego_sketch_add_u64(lego_sketch *sketch, uint64_t item, int64_t count)
{
    if (!sketch_take_counts(sketch, &count, 1)) return LEGO_ERR_RANGE;
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

bool sketch_shape_valid(const struct shape *shape, const lego_model *model)
{
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

/* Fills in what the options leave open. Without bricks and columns, K is a power of two, so that the bricks can pair up
 * to the end, and the columns are the most that fit: between half the model's and all. */
static lego_status choose_shape(const lego_options *options, const lego_model *model, struct shape *shape)
{
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

static void *default_alloc(void *context, size_t size)
{
    (void)context;
    return malloc(size);
}

static void default_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    free(memory);
}

lego_allocator sketch_allocator(const lego_allocator *allocator)
{
    return allocator ? *allocator : (lego_allocator){default_alloc, default_free, NULL};
}

static uint64_t memory_allocated(const lego_sketch *sketch)
{
    return memory_bytes(&sketch->memory.shape) + lego_sketch_cache_bytes(sketch);
}

/* The memory of an empty sketch of this shape for the handle; the handle's own is neither read nor freed. */
static lego_status allocate_memory(const lego_sketch *handle, const struct shape *shape, struct memory *memory)
{
    bool summaries = handle->model->weights != NULL;
    uint64_t size = memory_bytes(shape) + (summaries ? memory_summary_bytes(shape) : 0);
    void *bytes = size > SIZE_MAX ? NULL : handle->allocator.alloc(handle->allocator.context, (size_t)size);
    if (!bytes) return LEGO_ERR_MEMORY;
    memory_init(memory, shape);
    memory_attach(memory, bytes, summaries);
    memory_clear(memory);
    return LEGO_OK;
}

static void free_memory(lego_sketch *sketch)
{
    sketch->allocator.free(sketch->allocator.context, sketch->memory.cells, (size_t)memory_allocated(sketch));
}

lego_status sketch_make(const lego_model *model, uint64_t seed, const struct shape *shape,
                        const lego_allocator *allocator, lego_sketch **sketch)
{
    lego_allocator a = sketch_allocator(allocator);
    lego_sketch *made = a.alloc(a.context, sizeof *made);
    if (!made) return LEGO_ERR_MEMORY;
    *made = (lego_sketch){.model = model, .seed = seed, .allocator = a, .threads = 1};
    lego_status status = allocate_memory(made, shape, &made->memory);
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
    const struct memory *from = &sketch->memory;
    lego_sketch *made;
    lego_status status = sketch_make(sketch->model, sketch->seed, &from->shape, &sketch->allocator, &made);
    if (status != LEGO_OK) return status;
    struct memory *to = &made->memory;
    memcpy(to->cells, from->cells, memory_bytes(&from->shape)); /* totals and spill follow the cells */
    to->level = from->level;
    to->folded = from->folded;
    to->mass = from->mass;
    to->spill.used = from->spill.used;
    *copy = made;
    return LEGO_OK;
}

void lego_sketch_clear(lego_sketch *sketch)
{
    memory_clear(&sketch->memory);
}

void lego_sketch_set_threads(lego_sketch *sketch, unsigned threads)
{
    sketch->threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
}

/* ---- merge and fold ---------------------------------------------------------------------------------------------- */

/* Replaces the sketch's memory by one of the shape, to which it folds, with the same content. */
static lego_status reshape(lego_sketch *sketch, const struct shape *shape)
{
    struct memory memory;
    lego_status status = allocate_memory(sketch, shape, &memory);
    if (status != LEGO_OK) return status;
    memory_add_all(&memory, &sketch->memory, 1);
    memory.mass = sketch->memory.mass;
    free_memory(sketch);
    sketch->memory = memory;
    return LEGO_OK;
}

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static lego_status combine(lego_sketch *into, const lego_sketch *from, int sign)
{
    if (into->model->fingerprint != from->model->fingerprint) return LEGO_ERR_MODEL;
    if (into->seed != from->seed) return LEGO_ERR_SEED;
    const struct shape *a = &into->memory.shape, *b = &from->memory.shape;
    struct shape common = *a;
    common.bricks = greatest_common_divisor(a->bricks, b->bricks);
    if (b->columns < a->columns) common.columns = b->columns;
    if (!shape_folds_to(a, &common) || !shape_folds_to(b, &common)) return LEGO_ERR_SHAPE;
    if (from->memory.mass > (uint64_t)INT64_MAX - into->memory.mass) return LEGO_ERR_RANGE;

    lego_sketch *twin = NULL; /* a sketch added to itself would change while it is read */
    lego_status status = into == from ? lego_sketch_copy(from, &twin) : LEGO_OK;
    if (status == LEGO_OK && (common.bricks != a->bricks || common.columns != a->columns))
        status = reshape(into, &common);
    if (status == LEGO_OK) {
        const struct memory *added = twin ? &twin->memory : &from->memory;
        memory_take_mass(&into->memory, added->mass);
        memory_add_all(&into->memory, added, sign);
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
    struct shape shape = sketch->memory.shape;
    if (bricks == 0 || shape.bricks % bricks != 0) return LEGO_ERR_SHAPE;
    if (bricks == shape.bricks) return LEGO_OK;
    shape.bricks = bricks;
    return reshape(sketch, &shape);
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

uint64_t lego_sketch_bytes(const lego_sketch *sketch)
{
    return sizeof *sketch + memory_bytes(&sketch->memory.shape);
}

uint64_t lego_sketch_cache_bytes(const lego_sketch *sketch)
{
    return sketch->memory.summaries ? memory_summary_bytes(&sketch->memory.shape) : 0;
}

void lego_sketch_describe(const lego_sketch *sketch, lego_sketch_info *info)
{
    const struct memory *memory = &sketch->memory;
    const struct level *least = &memory->levels[memory->level], *most = least + (memory->folded > 0);
    int64_t total = 0;
    for (uint32_t i = 0; i < memory->shape.bricks; i++) total += memory->totals[i];
    *info = (lego_sketch_info){.model = sketch->model,
                               .seed = sketch->seed,
                               .bytes = lego_sketch_bytes(sketch),
                               .cache_bytes = lego_sketch_cache_bytes(sketch),
                               .total = total,
                               .bricks = memory->shape.bricks,
                               .bricks_now = brick_count(memory),
                               .rows = memory->shape.rows,
                               .columns = least->columns.d,
                               .cell_bits = least->bits,
                               .cell_bits_most = most->bits,
                               .spill_used = memory->spill.used,
                               .spill_limit = memory->spill.limit};
}

lego_status lego_sketch_scan(const lego_sketch *sketch, uint32_t brick, lego_scan *scan)
{
    const struct memory *memory = &sketch->memory;
    if (brick >= brick_count(memory)) return LEGO_ERR_ARGUMENT;
    if (!memory->summaries) return LEGO_ERR_UNTRAINED;
    struct brick at = brick_at(memory, brick);
    struct stream stream = scan_brick(sketch->model, memory, &at);
    *scan = (lego_scan){memory->totals[at.number], stream.distinct, stream.skew};
    return LEGO_OK;
}
