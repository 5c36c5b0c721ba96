/* format: bytes <-> models and sketches, as docs/format.md lays them out. Bytes from outside are checked whole, against
 * their own length, before anything is allocated. */
#include <math.h>

#include "top/elastic.h"
#include "file/envelope.h"

enum { MODEL_HEAD = 64, SKETCH_HEAD = 88 };
enum { PACKING_FLAT = 0, PACKING_DENSE = 1 };

static const char model_magic[8] = {'L', 'E', 'G', 'O', 'M', 'O', 'D', 'L'};
static const char sketch_magic[8] = {'L', 'E', 'G', 'O', 'S', 'K', 'C', 'H'};

/* ---- models ------------------------------------------------------------------------------------------------------ */

static uint64_t model_size(const lego_model *model)
{
    return MODEL_HEAD + 4 * (model->table_size + model_weights(model->kind)) + CHECKSUM;
}

lego_status lego_model_save(const lego_model *model, lego_write write, void *context)
{
    struct writer writer;
    writer_init(&writer, write, context);
    write_head(&writer, model_magic, model->kind, model_size(model));
    write_int(&writer, model->rows, 4);
    write_int(&writer, model->columns, 4);
    write_int(&writer, model->quantum, 4);
    write_int(&writer, model->table_size, 4);
    write_floats(&writer, &model->distinct_min, 1);
    write_floats(&writer, &model->skew_max, 1);
    write_bytes(&writer, model->name, NAME_SIZE);
    write_floats(&writer, model->table, model->table_size);
    write_floats(&writer, model->weights, model_weights(model->kind));
    return writer_finish(&writer);
}

static bool name_valid(const char name[NAME_SIZE])
{
    size_t n = 0;
    while (n < NAME_SIZE && name[n] && strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", name[n])) n++;
    for (size_t i = n; i < NAME_SIZE; i++)
        if (name[i]) return false;
    return n > 0 && n < NAME_SIZE;
}

/* The fixed fields into a model; whether they are possible. */
static bool read_model_head(const unsigned char *p, lego_model *model)
{
    *model = (lego_model){.kind = get32(p + 12),
                          .rows = get32(p + 24),
                          .columns = get32(p + 28),
                          .quantum = get32(p + 32),
                          .table_size = get32(p + 36),
                          .distinct_min = get_float(p + 40),
                          .skew_max = get_float(p + 44)};
    memcpy(model->name, p + 48, NAME_SIZE);
    if (model->kind != MODEL_PAPER && (get32(p + 40) != 0 || get32(p + 44) != 0)) return false;
    if (model->kind == MODEL_COMPACT && (model->rows != BLOCK_ROWS || model->columns != block_columns[0][0] ||
                                         model->quantum != BLOCK_ROWS || model->table_size != 1))
        return false;
    return model->kind <= MODEL_COMPACT && model->rows >= 1 && model->rows <= LEGO_ROWS_MAX &&
           model->columns >= COLUMNS_STEP && model->columns <= COLUMNS_MAX && model->columns % COLUMNS_STEP == 0 &&
           model->quantum >= model->rows && model->quantum <= QUANTUM_MAX && model->table_size >= 1 &&
           model->table_size <= TABLE_MAX && isfinite(model->distinct_min) && isfinite(model->skew_max) &&
           name_valid(model->name);
}

lego_status lego_model_load(const void *bytes, size_t size, const lego_allocator *allocator, lego_model **model)
{
    const unsigned char *p = bytes;
    lego_model head;
    lego_status status = check_envelope(p, size, model_magic, MODEL_HEAD);
    if (status != LEGO_OK) return status;
    if (!read_model_head(p, &head)) return LEGO_ERR_CORRUPT;
    if (model_size(&head) != size) return LEGO_ERR_TRUNCATED;
    const unsigned char *v = p + MODEL_HEAD, *w = v + 4 * (size_t)head.table_size;
    for (uint32_t i = 0; i < head.table_size; i++) {
        head.table[i] = get_float(v + 4 * (size_t)i);
        if (!(head.table[i] >= (head.kind == MODEL_COMPACT ? 1 : 0.001F) && head.table[i] <= 1)) return LEGO_ERR_CORRUPT;
    }
    uint64_t weights = model_weights(head.kind);
    for (uint64_t i = 0; i < weights; i++)
        if (!isfinite(get_float(w + 4 * i))) return LEGO_ERR_CORRUPT;

    head.allocator = sketch_allocator(allocator);
    head.allocated = sizeof head + weights * sizeof(float);
    if (head.kind == MODEL_COMPACT) head.allocated += sizeof(struct decode_weights);
    head.fingerprint = get(p + size - CHECKSUM, CHECKSUM);
    model_derive(&head);
    lego_model *made = head.allocator.alloc(head.allocator.context, head.allocated);
    if (!made) return LEGO_ERR_MEMORY;
    float *copy = (float *)(void *)(made + 1);
    for (uint64_t i = 0; i < weights; i++) copy[i] = get_float(w + 4 * i);
    *made = head;
    if (weights) made->weights = copy;
    if (head.kind == MODEL_COMPACT) {
        struct decode_weights *decoder = (struct decode_weights *)(void *)(copy + weights);
        compact_pack(copy, decoder);
        made->decoder = decoder;
    }
    *model = made;
    return LEGO_OK;
}

/* ---- sketches ---------------------------------------------------------------------------------------------------- */

/* Cells with a high part: the slots that are a first digit. */
static uint64_t spilled_cells(const struct spill *spill)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < spill->size; i++)
        n += spill->slots[i] != 0 && spill->slots[i] >> (SPILL_DIGIT_BITS + 1) < spill->keys;
    return n;
}

static uint64_t cells_size(const struct shape *shape)
{
    return (uint64_t)shape->bricks * shape->rows * shape->columns * (shape->bits / 8);
}

static uint64_t sketch_size(const struct memory *memory, uint64_t entries)
{
    return SKETCH_HEAD + 8 * (uint64_t)brick_count(memory) + cells_size(&memory->shape) + 16 * entries + CHECKSUM;
}

static uint64_t dense_size(uint32_t blocks)
{
    return SKETCH_HEAD + (uint64_t)blocks * sizeof(struct block) + CHECKSUM;
}

uint64_t lego_sketch_saved_size(const lego_sketch *sketch)
{
    if (has_blocks(sketch->model)) return dense_size(sketch->dense.blocks);
    return sketch_size(&sketch->memory, spilled_cells(&sketch->memory.spill));
}

static void write_cells(struct writer *writer, const struct memory *memory)
{
    for (uint32_t i = 0; i < brick_count(memory); i++) {
        struct brick brick = brick_at(memory, i);
        uint32_t columns = brick.level->columns.d, bytes = brick.level->bits / 8;
        for (uint32_t k = 0; k < memory->shape.rows; k++) {
            struct row row = brick_row(memory, &brick, k);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            write_bytes(writer, row.bytes, (size_t)columns * bytes);
#else
            for (uint32_t c = 0; c < columns; c++) write_int(writer, (uint64_t)cells_low(&row, c), bytes);
#endif
        }
    }
}

static void write_spill(struct writer *writer, const struct memory *memory)
{
    uint64_t cell = 0;
    for (uint32_t i = 0; i < brick_count(memory); i++) {
        struct brick brick = brick_at(memory, i);
        for (uint32_t k = 0; k < memory->shape.rows; k++) {
            struct row row = brick_row(memory, &brick, k);
            for (uint32_t c = 0; c < brick.level->columns.d; c++, cell++) {
                int64_t high = cells_high(&row, &memory->spill, c);
                if (high == 0) continue;
                write_int(writer, cell, 8);
                write_int(writer, (uint64_t)high, 8);
            }
        }
    }
}

static void write_sketch_head(struct writer *writer, const lego_sketch *sketch, uint32_t packing, uint64_t size)
{
    write_head(writer, sketch_magic, packing, size);
    write_int(writer, sketch->seed, 8);
    write_int(writer, sketch->model->fingerprint, 8);
    write_bytes(writer, sketch->model->name, NAME_SIZE);
}

static lego_status save_dense(const lego_sketch *sketch, lego_write write, void *context)
{
    const struct dense *dense = &sketch->dense;
    struct writer writer;
    writer_init(&writer, write, context);
    write_sketch_head(&writer, sketch, PACKING_DENSE, dense_size(dense->blocks));
    write_int(&writer, dense->blocks, 8);
    write_int(&writer, BLOCK_ROWS, 8);
    write_int(&writer, (uint64_t)dense->total, 8);
    write_int(&writer, 0, 8);
    for (uint32_t i = 0; i < dense->blocks; i++) {
        struct block block = is_flat(sketch) ? flat_block(&sketch->flat, i) : block_canonical(&dense->block[i]);
        for (int j = 0; j < 8; j++) write_int(&writer, block.word[j], 8);
    }
    return writer_finish(&writer);
}

lego_status lego_sketch_save(const lego_sketch *sketch, lego_write write, void *context)
{
    if (has_blocks(sketch->model)) return save_dense(sketch, write, context);
    const struct memory *memory = &sketch->memory;
    const struct shape *shape = &memory->shape;
    uint64_t entries = spilled_cells(&memory->spill);
    struct writer writer;
    writer_init(&writer, write, context);
    write_sketch_head(&writer, sketch, PACKING_FLAT, sketch_size(memory, entries));
    write_int(&writer, shape->bricks, 4);
    write_int(&writer, shape->columns, 4);
    write_int(&writer, shape->rows, 1);
    write_int(&writer, shape->bits, 1);
    write_int(&writer, memory->level, 2); /* the second byte is the 0 after it */
    write_int(&writer, memory->folded, 4);
    write_int(&writer, memory_spill_slots(shape), 8);
    write_int(&writer, entries, 8);
    for (uint32_t i = 0; i < brick_count(memory); i++)
        write_int(&writer, (uint64_t)memory->totals[brick_at(memory, i).number], 8);
    write_cells(&writer, memory);
    if (entries) write_spill(&writer, memory);
    return writer_finish(&writer);
}

/* The parts of a sketch's bytes, and a memory of its shape with nothing behind it, to find bricks and rows by. */
struct parts {
    const unsigned char *totals, *cells, *entries;
    uint64_t entry_count;
    struct memory memory;
    uint64_t mass;
};

static lego_status read_sketch_head(const unsigned char *p, size_t size, const lego_model *model, struct parts *parts)
{
    struct shape shape = {get32(p + 56), get32(p + 60), p[64], p[65]};
    if (!sketch_shape_valid(&shape, model) || p[67] != 0 || get(p + 72, 8) != memory_spill_slots(&shape))
        return LEGO_ERR_CORRUPT;
    struct memory *memory = &parts->memory;
    memory_init(memory, &shape);
    memory->level = p[66];
    memory->folded = get32(p + 68);
    if (memory->level > memory->last) return LEGO_ERR_CORRUPT;
    if (memory->folded > 0 &&
        (memory->level == memory->last || memory->folded >= memory->levels[memory->level + 1].bricks.d))
        return LEGO_ERR_CORRUPT;
    parts->entry_count = get(p + 80, 8);
    if (parts->entry_count > size / 16 || sketch_size(memory, parts->entry_count) != size) return LEGO_ERR_TRUNCATED;
    parts->totals = p + SKETCH_HEAD;
    parts->cells = parts->totals + 8 * (size_t)brick_count(memory);
    parts->entries = parts->cells + cells_size(&shape);
    return LEGO_OK;
}

/* Where a cell number of the file is: which brick, row and column, and where its bytes are. */
struct position {
    uint32_t brick, row, column, bits;
    const unsigned char *low;
};

static bool find_cell(const struct parts *parts, uint64_t cell, struct position *at)
{
    const struct memory *memory = &parts->memory;
    const struct level *level = &memory->levels[memory->level];
    uint32_t rows = memory->shape.rows, first = memory->folded;
    uint64_t wide = first ? (uint64_t)rows * level[1].columns.d : 0, narrow = (uint64_t)rows * level->columns.d;
    uint64_t bytes = 0, brick;
    if (cell < first * wide) {
        level++;
        brick = cell / wide;
        cell %= wide;
        bytes = brick * wide * (level->bits / 8);
    } else {
        cell -= first * wide;
        brick = first + cell / narrow;
        cell %= narrow;
        if (first) bytes = first * wide * (level[1].bits / 8);
        bytes += (brick - first) * narrow * (level->bits / 8);
    }
    if (brick >= brick_count(memory)) return false;
    at->brick = (uint32_t)brick;
    at->row = (uint32_t)(cell / level->columns.d);
    at->column = (uint32_t)(cell % level->columns.d);
    at->bits = level->bits;
    at->low = parts->cells + bytes + cell * (level->bits / 8);
    return true;
}

/* The low part of a cell: unsigned in one byte, signed in more. */
static int64_t get_low(const unsigned char *p, unsigned bytes)
{
    return bytes == 1 ? *p : bytes == 2 ? (int16_t)get(p, 2) : bytes == 4 ? (int32_t)get(p, 4) : (int64_t)get(p, 8);
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* Sums of |value| by row, so that no sum of cells can overflow later; of the low parts first. */
static void sum_rows(const struct parts *parts, lego_u128 sums[])
{
    const struct memory *memory = &parts->memory;
    const unsigned char *p = parts->cells;
    for (uint32_t i = 0; i < brick_count(memory); i++) {
        const struct level *level = &memory->levels[memory->level + (i < memory->folded)];
        unsigned bytes = level->bits / 8;
        for (uint32_t k = 0; k < memory->shape.rows; k++)
            for (uint32_t c = 0; c < level->columns.d; c++, p += bytes) sums[k] += magnitude(get_low(p, bytes));
    }
}

/* Entries rise, are not 0, fit the spill, and make values of 64 bits. */
static bool check_entries(const struct parts *parts, lego_u128 sums[])
{
    uint64_t used = 0, before = 0;
    for (uint64_t i = 0; i < parts->entry_count; i++) {
        const unsigned char *entry = parts->entries + 16 * i;
        uint64_t cell = get(entry, 8);
        int64_t high = (int64_t)get(entry + 8, 8), shifted, value;
        struct position at;
        if ((i > 0 && cell <= before) || high == 0 || !find_cell(parts, cell, &at) || at.bits == 64) return false;
        int64_t low = get_low(at.low, at.bits / 8);
        if (__builtin_mul_overflow(high, INT64_C(1) << at.bits, &shifted) ||
            __builtin_add_overflow(shifted, low, &value))
            return false;
        sums[at.row] += magnitude(value);
        sums[at.row] -= magnitude(low);
        used += spill_cost(high);
        before = cell;
    }
    return used <= parts->memory.spill.limit;
}

static bool check_content(struct parts *parts)
{
    lego_u128 sums[LEGO_ROWS_MAX] = {0}, most = 0;
    sum_rows(parts, sums);
    if (!check_entries(parts, sums)) return false;
    for (uint32_t i = 0; i < brick_count(&parts->memory); i++) {
        most += magnitude((int64_t)get(parts->totals + 8 * (size_t)i, 8));
    }
    for (uint32_t k = 0; k < parts->memory.shape.rows; k++)
        if (sums[k] > most) most = sums[k];
    parts->mass = (uint64_t)most;
    return most <= INT64_MAX;
}

static void fill_memory(const struct parts *parts, struct memory *memory)
{
    memory->level = parts->memory.level;
    memory->folded = parts->memory.folded;
    const unsigned char *p = parts->cells;
    for (uint32_t i = 0; i < brick_count(memory); i++) {
        struct brick brick = brick_at(memory, i);
        uint32_t columns = brick.level->columns.d, bytes = brick.level->bits / 8;
        memory->totals[brick.number] = (int64_t)get(parts->totals + 8 * (size_t)i, 8);
        for (uint32_t k = 0; k < memory->shape.rows; k++, p += (size_t)columns * bytes) {
            struct row row = brick_row(memory, &brick, k);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            memcpy(row.bytes, p, (size_t)columns * bytes);
#else
            for (uint32_t c = 0; c < columns; c++) cells_set_low(&row, c, get(p + (size_t)c * bytes, bytes));
#endif
        }
    }
    for (uint64_t i = 0; i < parts->entry_count; i++) {
        struct position at;
        find_cell(parts, get(parts->entries + 16 * i, 8), &at);
        struct brick brick = brick_at(memory, at.brick);
        struct row row = brick_row(memory, &brick, at.row);
        spill_add(&memory->spill, cells_key(&row, at.column), (int64_t)get(parts->entries + 16 * i + 8, 8));
    }
}

static struct block get_block(const unsigned char *p)
{
    struct block block;
    for (int j = 0; j < 8; j++) block.word[j] = get(p + 8 * j, 8);
    return block;
}

/* Blocks are canonical; half an item is in rows k and k + 2 of a block, so these have equal sums where both are there;
 * rows 0 and 1, which no block gives up, sum to the stream's length each; no sum can overflow. */
static bool check_blocks(const unsigned char *blocks, uint32_t n, int64_t total, uint64_t *mass)
{
    lego_u128 magnitudes[BLOCK_ROWS] = {0}, most = magnitude(total);
    __extension__ __int128 sums[2] = {0};
    for (uint32_t i = 0; i < n; i++) {
        struct block block = get_block(blocks + sizeof block * (size_t)i);
        int64_t value[BLOCK_CELLS];
        if (!block_valid(&block)) return false;
        block_unpack(&block, value);
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
    *mass = (uint64_t)most;
    return most <= INT64_MAX && sums[0] == total && sums[1] == total;
}

static lego_status load_dense(const unsigned char *p, size_t size, const lego_model *model, const lego_allocator *allocator,
                              lego_sketch **sketch)
{
    struct shape shape = {.bricks = get32(p + 56), .rows = BLOCK_ROWS};
    int64_t total = (int64_t)get(p + 72, 8);
    uint64_t mass;
    if (get32(p + 60) != 0 || get(p + 64, 8) != BLOCK_ROWS || get(p + 80, 8) != 0 || !sketch_shape_valid(&shape, model))
        return LEGO_ERR_CORRUPT;
    if (dense_size(shape.bricks) != size) return LEGO_ERR_TRUNCATED;
    if (!check_blocks(p + SKETCH_HEAD, shape.bricks, total, &mass)) return LEGO_ERR_CORRUPT;

    lego_sketch *made;
    lego_status status = sketch_make(model, get(p + 24, 8), &shape, allocator, &made);
    if (status != LEGO_OK) return status;
    made->mass = mass;
    made->dense.total = total;
    for (uint32_t i = 0; i < shape.bricks; i++)
        made->dense.block[i] = get_block(p + SKETCH_HEAD + sizeof(struct block) * (size_t)i);
    *sketch = made;
    return LEGO_OK;
}

lego_status lego_sketch_saved_model(const void *bytes, size_t size, char name[NAME_SIZE])
{
    const unsigned char *p = bytes;
    char found[NAME_SIZE];
    size_t letters = size < 8 ? size : 8;
    if (memcmp(p, sketch_magic, letters) != 0 && memcmp(p, elastic_magic, letters) != 0) return LEGO_ERR_MAGIC;
    if (size < 40 + NAME_SIZE) return LEGO_ERR_TRUNCATED;
    if (get32(p + 8) != FORMAT_VERSION) return LEGO_ERR_VERSION;
    memcpy(found, p + 40, NAME_SIZE);
    if (!name_valid(found)) return LEGO_ERR_CORRUPT;
    memcpy(name, found, NAME_SIZE);
    return LEGO_OK;
}

/* The model the bytes ask for: the given one or a built-in one, if fingerprint and name agree. */
static const lego_model *find_model(const unsigned char *p, const lego_model *model)
{
    if (!model) {
        char name[NAME_SIZE];
        memcpy(name, p + 40, NAME_SIZE);
        model = name_valid(name) ? lego_model_builtin(name) : NULL;
    }
    return model && model->fingerprint == get(p + 32, 8) && memcmp(model->name, p + 40, NAME_SIZE) == 0 ? model : NULL;
}

lego_status lego_sketch_load(const void *bytes, size_t size, const lego_model *model, const lego_allocator *allocator,
                             lego_sketch **sketch)
{
    const unsigned char *p = bytes;
    struct parts parts;
    lego_status status = check_envelope(p, size, sketch_magic, SKETCH_HEAD);
    if (status != LEGO_OK) return status;
    if (get32(p + 12) > PACKING_DENSE) return LEGO_ERR_VERSION;
    model = find_model(p, model);
    if (!model) return LEGO_ERR_MODEL;
    if (has_blocks(model) != (get32(p + 12) == PACKING_DENSE)) return LEGO_ERR_CORRUPT;
    if (has_blocks(model)) return load_dense(p, size, model, allocator, sketch);
    status = read_sketch_head(p, size, model, &parts);
    if (status != LEGO_OK) return status;
    if (!check_content(&parts)) return LEGO_ERR_CORRUPT;

    lego_sketch *made;
    status = sketch_make(model, get(p + 24, 8), &parts.memory.shape, allocator, &made);
    if (status != LEGO_OK) return status;
    made->mass = parts.mass;
    fill_memory(&parts, &made->memory);
    *sketch = made;
    return LEGO_OK;
}
