/* sketch: bytes <-> sketches, as docs/format.md lays them out: a head, the blocks or bricks, the buckets of the top.
 *
 * Bytes from outside are read once, into the memory of a new sketch, which takes little more than they do (and what
 * scans cache: ten times as much for the narrowest bricks); all of it is checked there before anybody gets it. So it
 * does no harm if another thread writes to them meanwhile. */
#include "file/envelope.h"
#include "sketch/sketch.h"

enum { SKETCH_HEAD = 88, NAME_AT = 40 };

static const char sketch_magic[8] = {'L', 'E', 'G', 'O', 'S', 'K', 'C', 'H'};

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static uint64_t light_size(const lego_sketch *sketch)
{
    return has_blocks(sketch->model)
               ? sketch->dense.blocks * (uint64_t)sizeof(struct block)
               : bricks_saved_size(sketch->model, sketch->bricks.bricks.d, sketch->bricks.columns.d);
}

uint64_t lego_saved_size(const lego_sketch *sketch)
{
    return SKETCH_HEAD + light_size(sketch) + sketch_shape(sketch).buckets * (uint64_t)TOP_BUCKET + CHECKSUM;
}

static void write_blocks(struct writer *writer, const struct dense *dense)
{
    for (uint32_t i = 0; i < dense->blocks; i++) {
        struct block block = dense->kernels->canonical(&dense->block[i]);
        for (int j = 0; j < 8; j++) write_int(writer, block.word[j], 8);
    }
}

lego_status lego_save(const lego_sketch *sketch, lego_write write, void *context)
{
    const lego_model *model = sketch->model;
    struct shape shape = sketch_shape(sketch);
    struct writer writer;
    writer_init(&writer, write, context);
    write_head(&writer, sketch_magic, SKETCH_VERSION, model->kind, lego_saved_size(sketch));
    write_int(&writer, sketch->seed, 8);
    write_int(&writer, model->fingerprint, 8);
    write_bytes(&writer, model->name, NAME_SIZE);
    write_int(&writer, shape.blocks, 4);
    write_int(&writer, shape.columns, 4);
    write_int(&writer, (uint64_t)(has_blocks(model) ? sketch->dense.total : sketch->bricks.total), 8);
    write_int(&writer, shape.buckets, 8);
    write_int(&writer, shape.buckets ? sketch->top.votes : 0, 8);
    if (has_blocks(model)) write_blocks(&writer, &sketch->dense);
    else write_bytes(&writer, sketch->bricks.cells, (size_t)light_size(sketch));
    if (shape.buckets) write_bytes(&writer, sketch->top.bucket, (size_t)shape.buckets * TOP_BUCKET);
    return writer_finish(&writer);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

lego_status lego_saved_model(const void *bytes, size_t size, char name[NAME_SIZE])
{
    const unsigned char *p = bytes;
    char found[NAME_SIZE];
    if (size > 0 && memcmp(p, sketch_magic, size < 8 ? size : 8) != 0) return LEGO_ERR_MAGIC;
    if (size < NAME_AT + NAME_SIZE) return LEGO_ERR_TRUNCATED;
    if (get32(p + 8) != SKETCH_VERSION) return LEGO_ERR_VERSION;
    memcpy(found, p + NAME_AT, NAME_SIZE);
    if (!name_valid(found)) return LEGO_ERR_CORRUPT;
    memcpy(name, found, NAME_SIZE);
    return LEGO_OK;
}

/* The model that the bytes ask for: the given one or a built-in one, if fingerprint and name agree. */
static const lego_model *find_model(const unsigned char *p, const lego_model *model)
{
    if (!model) {
        char name[NAME_SIZE];
        memcpy(name, p + NAME_AT, NAME_SIZE);
        model = name_valid(name) ? lego_model_builtin(name) : NULL;
    }
    bool agrees = model && model->fingerprint == get(p + 32, 8) && memcmp(model->name, p + NAME_AT, NAME_SIZE) == 0;
    return agrees ? model : NULL;
}

/* The shape that the head names, if the bytes are as many as it takes. */
static lego_status read_shape(const unsigned char *p, size_t size, const lego_model *model, struct shape *shape)
{
    *shape = (struct shape){get32(p + 56), get32(p + 60), get32(p + 72)};
    if (get32(p + 12) != model->kind || get32(p + 76) != 0 || !sketch_shape_valid(model, shape))
        return LEGO_ERR_CORRUPT;
    uint64_t light = has_blocks(model) ? shape->blocks * (uint64_t)sizeof(struct block)
                                       : bricks_saved_size(model, shape->blocks, shape->columns);
    uint64_t whole = SKETCH_HEAD + light + shape->buckets * (uint64_t)TOP_BUCKET + CHECKSUM;
    return whole == size ? LEGO_OK : LEGO_ERR_TRUNCATED;
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* Blocks are canonical; half an item is in rows k and k + 2 of a block, so these have equal sums where both are there;
 * rows 0 and 1, which no block gives up, sum to the stream's length each; no sum can overflow. */
static bool check_blocks(const struct dense *dense, uint64_t *mass)
{
    lego_u128 magnitudes[BLOCK_ROWS] = {0}, most = magnitude(dense->total);
    __extension__ __int128 sums[2] = {0};
    for (uint32_t i = 0; i < dense->blocks; i++) {
        struct block block = dense->block[i];
        int64_t value[BLOCK_CELLS];
        if (!dense->kernels->valid(&block)) return false;
        dense->kernels->unpack(&block, value);
        const uint8_t *columns = block_columns[block_step(&block)];
        const int64_t *at = value;
        __extension__ __int128 own[BLOCK_ROWS] = {0};
        for (unsigned k = 0; k < BLOCK_ROWS; k++) {
            for (unsigned c = columns[k]; c > 0; c--, at++) {
                magnitudes[k] += magnitude(*at);
                own[k] += *at;
            }
            if (k < 2) sums[k] += own[k];
            else if (columns[k] > 0 && own[k] != own[k - 2]) return false;
        }
    }
    for (unsigned k = 0; k < BLOCK_ROWS; k++)
        if (magnitudes[k] > most) most = magnitudes[k];
    *mass = (uint64_t)most * BLOCK_ROWS; /* as sketch_take_counts() would have counted it: a model has Q = BLOCK_ROWS */
    return most <= INT64_MAX / BLOCK_ROWS && sums[0] == dense->total && sums[1] == dense->total;
}

static const unsigned char *read_blocks(struct dense *dense, const unsigned char *p)
{
    for (uint32_t i = 0; i < dense->blocks; i++)
        for (int j = 0; j < 8; j++, p += 8) dense->block[i].word[j] = get(p, 8);
    return p;
}

/* Every bucket is possible, their votes add up, and all of them could go to the light part without a sum that
 * overflows. */
static bool check_top(const struct top *top, uint64_t seed, uint64_t quantum, uint64_t *mass)
{
    uint64_t votes = 0;
    for (uint32_t i = 0; i < top->buckets.d; i++)
        if (!top_bucket_valid(&top->bucket[i], i, top->buckets, seed, &votes)) return false;
    if (votes != top->votes || votes > ((uint64_t)INT64_MAX - *mass) / quantum) return false;
    *mass += votes * quantum;
    return true;
}

/* Fills an empty sketch of the shape that the bytes name; whether what it then holds is possible. */
static bool read_content(lego_sketch *sketch, const unsigned char *p)
{
    const unsigned char *at = p + SKETCH_HEAD;
    bool valid;
    if (has_blocks(sketch->model)) {
        sketch->dense.total = (int64_t)get(p + 64, 8);
        at = read_blocks(&sketch->dense, at);
        valid = check_blocks(&sketch->dense, &sketch->mass);
    } else {
        at = bricks_load(&sketch->bricks, at, (int64_t)get(p + 64, 8));
        valid = bricks_check(&sketch->bricks, &sketch->mass);
    }
    if (!has_top(sketch)) return valid && get(p + 80, 8) == 0;
    sketch->top.votes = get(p + 80, 8);
    memcpy(sketch->top.bucket, at, (size_t)sketch->top.buckets.d * TOP_BUCKET);
    return valid && check_top(&sketch->top, sketch->seed, sketch->model->quantum, &sketch->mass);
}

lego_status lego_load(const void *bytes, size_t size, const lego_model *model, const lego_allocator *allocator,
                      lego_sketch **sketch)
{
    const unsigned char *p = bytes;
    struct shape shape;
    lego_sketch *made;
    lego_status status = check_envelope(p, size, sketch_magic, SKETCH_VERSION, SKETCH_HEAD);
    if (status != LEGO_OK) return status;
    model = find_model(p, model);
    if (!model) return LEGO_ERR_MODEL;
    status = read_shape(p, size, model, &shape);
    if (status == LEGO_OK) status = sketch_make(model, get(p + 24, 8), &shape, allocator, &made);
    if (status != LEGO_OK) return status;
    if (!read_content(made, p)) {
        lego_destroy(made);
        return LEGO_ERR_CORRUPT;
    }
    *sketch = made;
    return LEGO_OK;
}
