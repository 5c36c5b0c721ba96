/* sketch: bytes <-> sketches, as docs/format.md lays them out: a head, the blocks or bricks, the buckets of the top.
 *
 * Bytes from outside are read once, into the memory of a new sketch, at most 52 times as large as they are (an empty
 * block has 5 bytes in a file; of format 4 it may be three times that for a moment); all of it is checked there before
 * anybody gets it. So it does no harm if another thread writes to them meanwhile. */
#include "file/envelope.h"
#include "file/format4.h"
#include "sketch/judge.h"
#include "sketch/mass.h"
#include "sketch/sketch.h"

enum { SKETCH_HEAD = 76, UNLISTED_SIZE = 32, TOP_HEAD_SIZE = 12, SECRET_AT = 14, SEED_AT = 24, NAME_AT = 40 };

_Static_assert(LEGO_ITEMS_MIXED == (LEGO_ITEMS_BYTES | LEGO_ITEMS_INTEGERS), "what items are is bits");

/* What follows the version: the kind of the model, and of the items, and whether the seed is secret. */
static uint32_t kinds(const lego_model *model, lego_kind items, bool secret)
{
    return model->kind | (uint32_t)items << 8 | (uint32_t)secret << 16;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A block in its one form, as if there were `number` of them. */
static void canonical_block(const struct blocks *blocks, uint32_t number, uint32_t index, struct block *block)
{
    struct content content;
    unsigned whole = blocks->whole;
    if (number == blocks->blocks) {
        blocks->kernels->open(&blocks->block[index], whole, &content);
    } else {
        gather_block(blocks, number, index, &content);
        whole = key_bits(number);
    }
    blocks->kernels->close(block, whole, &content);
}

static uint32_t saved_number(const struct blocks *blocks)
{
    return blocks->loose ? blocks_least(blocks) : blocks->blocks;
}

static uint64_t light_saved_size(const lego_sketch *sketch)
{
    const struct blocks *blocks = &sketch->blocks;
    uint64_t size = 0;
    struct block block;
    if (!has_blocks(sketch->model))
        return bricks_saved_size(sketch->model, sketch->bricks.bricks.d, sketch->bricks.columns.d);
    uint32_t number = saved_number(blocks);
    for (uint32_t i = 0; i < number; i++) {
        canonical_block(blocks, number, i, &block);
        size += block_bytes(&block);
    }
    return size + (blocks->keeps ? UNLISTED_SIZE : 0);
}

uint64_t lego_saved_size(const lego_sketch *sketch)
{
    uint64_t top = has_top(sketch) ? TOP_HEAD_SIZE + top_least(&sketch->top) * (uint64_t)TOP_BUCKET : 0;
    return SKETCH_HEAD + light_saved_size(sketch) + top + CHECKSUM;
}

static void write_blocks(struct writer *writer, const struct blocks *blocks)
{
    uint32_t number = saved_number(blocks);
    for (uint32_t i = 0; i < number; i++) {
        struct block block;
        unsigned char bytes[sizeof block];
        canonical_block(blocks, number, i, &block);
        for (unsigned at = 0; at < block_bytes(&block); at += 8) put_int(bytes + at, block.word[at / 8], 8);
        write_bytes(writer, bytes, block_bytes(&block));
    }
    if (!blocks->keeps) return;
    write_int(writer, blocks->unlisted.value, 8);
    write_int(writer, blocks->unlisted.likely, 8);
    write_int(writer, blocks->unlisted.entered, 8);
    write_int(writer, blocks->unlisted.lighter, 8);
}

static void write_top(struct writer *writer, const struct top *top)
{
    uint32_t buckets = top_least(top);
    write_int(writer, buckets, 4);
    write_int(writer, top->votes, 8);
    for (uint32_t i = 0; i < buckets; i++) {
        struct top_bucket bucket;
        top_gather(top, buckets, i, &bucket);
        write_bytes(writer, &bucket, sizeof bucket);
    }
}

lego_status lego_save(const lego_sketch *sketch, lego_write write, void *context)
{
    const lego_model *model = sketch->model;
    struct shape shape = sketch_shape(sketch);
    lego_kind items = sketch_untouched(sketch) ? LEGO_ITEMS_NONE : sketch->items;
    struct writer writer;
    writer_init(&writer, write, context);
    write_head(&writer, &sketch_format, kinds(model, items, seed_is_secret(sketch->seed)), lego_saved_size(sketch));
    write_int(&writer, seed_shown(sketch->seed), 8);
    write_int(&writer, model->fingerprint, 8);
    write_bytes(&writer, model->name, NAME_SIZE);
    write_int(&writer, shape.blocks, 4);
    write_int(&writer, has_blocks(model) ? saved_number(&sketch->blocks) : shape.columns, 4);
    write_int(&writer, (uint64_t)(has_blocks(model) ? sketch->blocks.total : sketch->bricks.total), 8);
    write_int(&writer, shape.buckets, 4);
    if (has_blocks(model)) write_blocks(&writer, &sketch->blocks);
    else write_bytes(&writer, sketch->bricks.cells, (size_t)light_saved_size(sketch));
    if (has_top(sketch)) write_top(&writer, &sketch->top);
    return writer_finish(&writer);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

lego_status lego_saved_model(const void *bytes, size_t size, char name[NAME_SIZE])
{
    const unsigned char *p = bytes;
    char found[NAME_SIZE];
    lego_status status = check_head(p, size, &sketch_format);
    if (status != LEGO_OK) return status;
    if (size < NAME_AT + NAME_SIZE) return LEGO_ERR_TRUNCATED;
    memcpy(found, p + NAME_AT, NAME_SIZE);
    if (!name_valid(found)) return LEGO_ERR_CORRUPT;
    memcpy(name, found, NAME_SIZE);
    return LEGO_OK;
}

lego_status lego_saved_seed(const void *bytes, size_t size, uint64_t *seed, int *secret)
{
    const unsigned char *p = bytes;
    char name[NAME_SIZE];
    lego_status status = lego_saved_model(bytes, size, name);
    if (status != LEGO_OK) return status;
    *seed = get(p + SEED_AT, 8);
    *secret = p[SECRET_AT] == 1;
    return LEGO_OK;
}

/* The seed that the bytes ask for: their own, or the given one if it has their fingerprint. */
static lego_status find_seed(const unsigned char *p, const lego_options *options, struct seed *seed)
{
    const lego_options given = {.secret = options->secret};
    uint64_t shown = get(p + SEED_AT, 8);
    *seed = seed_of(shown);
    if (!p[SECRET_AT]) return LEGO_OK;
    bool agrees = given.secret && seed_wanted(&given, seed) && seed_shown(*seed) == shown;
    return agrees ? LEGO_OK : LEGO_ERR_SECRET;
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

/* The shape that the head names, and how many blocks there are: no more than the bytes can have. */
static lego_status read_shape(const unsigned char *p, size_t size, const lego_model *model, struct shape *shape,
                              uint32_t *blocks)
{
    *shape = (struct shape){get32(p + 56), 0, get32(p + 72)};
    *blocks = shape->blocks;
    if (has_blocks(model)) *blocks = get32(p + 60);
    else shape->columns = get32(p + 60);
    if (!sketch_shape_valid(model, shape)) return LEGO_ERR_CORRUPT;
    if (has_blocks(model) && !blocks_possible(*blocks, shape->blocks)) return LEGO_ERR_CORRUPT;
    uint64_t light = has_blocks(model) ? *blocks * (uint64_t)(BLOCK_HEAD / 8)
                                       : bricks_saved_size(model, shape->blocks, shape->columns);
    uint64_t least = SKETCH_HEAD + light + (shape->buckets ? TOP_HEAD_SIZE + TOP_BUCKET : 0) + CHECKSUM;
    return least <= size ? LEGO_OK : LEGO_ERR_TRUNCATED;
}

/* Whether whole keys are those of items: where the number of blocks is no power of two, there are others. */
static bool keys_possible(const struct blocks *blocks, uint32_t block, const struct content *list)
{
    if (list->step != STEP_WHOLE) return true;
    for (unsigned i = 0; i < list->n; i++) {
        struct spot spot = spot_of(blocks->blocks, spot_hash(blocks->blocks, (struct spot){block, list->key[i]}));
        if (spot.block != block || key_cut(spot.key, blocks->whole) != list->key[i]) return false;
    }
    return true;
}

/* All of it is possible, in its one form, and no sum can overflow. Blocks that are fewer than there can be have whole
 * keys. */
static bool check_blocks(struct blocks *blocks, uint64_t quantum, uint64_t *mass)
{
    const unsigned last = blocks_grow(blocks) ? STEP_WHOLE : STEP_LAST;
    struct block_sums all = {0};
    struct content content;
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        const struct block *block = &blocks->block[i];
        if (block_step(block) > last || !blocks->kernels->valid(block, blocks->whole, &content)) return false;
        if (!keys_possible(blocks, i, &content)) return false;
        sums_add(&all, &content);
        blocks->keeps |= block_keeps(block);
    }
    if (all.sum != blocks->total || !sums_mass(&all, blocks->total, quantum, mass)) return false;
    return blocks_whole(blocks) ? blocks_least(blocks) == blocks->blocks : true;
}

static void read_block(struct rest *rest, struct block *block)
{
    const unsigned char *p = rest->at;
    unsigned at = 0;
    block->word[0] = take_int(rest, BLOCK_HEAD / 8);
    unsigned size = block_bytes(block);
    rest->fits = rest->fits && size <= sizeof *block && (size_t)(rest->end - p) >= size;
    if (!rest->fits) return;
    for (; at + 8 <= size; at += 8) block->word[at / 8] = get(p + at, 8);
    if (at < size) block->word[at / 8] = get(p + at, size - at);
    rest->at = p + size;
}

static lego_status read_unlisted(struct rest *rest, struct unlisted *unlisted)
{
    unlisted->value = take_int(rest, 8);
    unlisted->likely = take_int(rest, 8);
    unlisted->entered = take_int(rest, 8);
    unlisted->lighter = take_int(rest, 8);
    if (!rest->fits) return LEGO_ERR_TRUNCATED;
    return unlisted->value > 0 && unlisted->value <= INT64_MAX ? LEGO_OK : LEGO_ERR_CORRUPT;
}

/* Every bucket is possible, there are no more than it takes, their votes add up, and all of them could go to the
 * light part without a sum that overflows. */
static bool check_top(const struct top *top, struct seed seed, uint64_t quantum, uint64_t *mass)
{
    uint64_t votes = 0;
    for (uint32_t i = 0; i < top->buckets.d; i++)
        if (!top_bucket_valid(&top->bucket[i], i, top->buckets, seed, &votes)) return false;
    if (votes != top->votes || votes > ((uint64_t)INT64_MAX - *mass) / quantum) return false;
    *mass += votes * quantum;
    return top_least(top) == top->buckets.d;
}

/* The top, for which there is no memory yet. */
static lego_status read_top(lego_sketch *sketch, uint32_t most, struct rest *rest)
{
    uint32_t buckets = (uint32_t)take_int(rest, 4);
    uint64_t votes = take_int(rest, 8);
    if (!rest->fits || !top_possible(buckets, most)) return LEGO_ERR_CORRUPT;
    if ((uint64_t)(rest->end - rest->at) != buckets * (uint64_t)TOP_BUCKET) return LEGO_ERR_TRUNCATED;
    lego_status status = top_allocate(sketch, most, buckets);
    if (status != LEGO_OK) return status;
    sketch->top.votes = votes;
    memcpy(sketch->top.bucket, rest->at, (size_t)buckets * TOP_BUCKET);
    rest->at = rest->end;
    bool valid = check_top(&sketch->top, sketch->seed, sketch->model->quantum, &sketch->mass);
    return valid ? LEGO_OK : LEGO_ERR_CORRUPT;
}

static lego_status read_blocks(struct rest *rest, struct blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->blocks; i++) read_block(rest, &blocks->block[i]);
    return rest->fits ? LEGO_OK : LEGO_ERR_TRUNCATED;
}

/* today: as they are written today. */
static lego_status load_blocks(lego_sketch *sketch, int64_t total, bool today, struct rest *rest)
{
    struct blocks *blocks = &sketch->blocks;
    lego_status status = today ? read_blocks(rest, blocks) : format4_read(rest, sketch);
    if (status != LEGO_OK) return status;
    blocks->total = total;
    blocks->loose = true; /* something may be negative */
    if (!check_blocks(blocks, sketch->model->quantum, &sketch->mass)) return LEGO_ERR_CORRUPT;
    if (!blocks->keeps) return LEGO_OK;
    if (today) return read_unlisted(rest, &blocks->unlisted);
    blocks_judge(blocks);
    return LEGO_OK;
}

static lego_status read_light(lego_sketch *sketch, const unsigned char *p, bool today, struct rest *rest)
{
    const int64_t total = (int64_t)get(p + 64, 8);
    if (has_blocks(sketch->model)) return load_blocks(sketch, total, today, rest);
    rest->at = bricks_load(&sketch->bricks, rest->at, total);
    return bricks_check(&sketch->bricks, &sketch->mass) ? LEGO_OK : LEGO_ERR_CORRUPT;
}

/* Fills an empty sketch without a top of the shape that the bytes name. */
static lego_status read_content(lego_sketch *sketch, const unsigned char *p, size_t size, uint32_t top_most, bool today)
{
    struct rest rest = {p + SKETCH_HEAD, p + size - CHECKSUM, true};
    lego_status status = read_light(sketch, p, today, &rest);
    if (status == LEGO_OK && top_most > 0) status = read_top(sketch, top_most, &rest);
    if (status == LEGO_OK && rest.at != rest.end) status = LEGO_ERR_TRUNCATED;
    bool is_empty = status == LEGO_OK && sketch_untouched(sketch);
    if (status == LEGO_OK && is_empty != (sketch->items == LEGO_ITEMS_NONE)) status = LEGO_ERR_CORRUPT;
    return status;
}

lego_status lego_load(const void *bytes, size_t size, const lego_options *options, lego_sketch **sketch)
{
    static const lego_options none = LEGO_OPTIONS_INIT;
    const unsigned char *p = bytes;
    struct seed seed;
    struct shape shape;
    uint32_t blocks;
    lego_sketch *made;
    lego_status status = check_envelope(p, size, &sketch_format, SKETCH_HEAD);
    if (status != LEGO_OK) return status;
    if (!options) options = &none;
    const lego_model *model = find_model(p, options->model);
    if (!model) return LEGO_ERR_MODEL;
    lego_kind items = (lego_kind)(p[13] & LEGO_ITEMS_MIXED);
    if (get32(p + 12) != kinds(model, items, p[SECRET_AT] & 1)) return LEGO_ERR_CORRUPT;
    status = find_seed(p, options, &seed);
    if (status != LEGO_OK) return status;
    status = read_shape(p, size, model, &shape, &blocks);
    if (status != LEGO_OK) return status;
    const bool today = get32(p + 8) == SKETCH_VERSION;
    if (!today && shape.buckets > 0) return LEGO_ERR_VERSION;
    struct shape plain = {shape.blocks, shape.columns, 0}; /* the top gets its memory when its number is known */
    status = sketch_make(model, seed, &plain, blocks, 0, options->allocator, &made);
    if (status != LEGO_OK) return status;
    made->items = items;
    status = read_content(made, p, size, shape.buckets, today);
    if (status == LEGO_OK) *sketch = made;
    else lego_destroy(made);
    return status;
}
