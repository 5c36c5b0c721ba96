/* add: item -> hash -> top, if the sketch keeps one -> blocks or bricks. */
#include "sketch/batch.h"
#include "sketch/judge.h"
#include "sketch/mass.h"
#include "sketch/sketch.h"

/* ---- the light part ---------------------------------------------------------------------------------------------- */

lego_status light_add(lego_sketch *sketch, struct hash hash, int64_t count)
{
    if (!has_blocks(sketch->model)) {
        bricks_add(&sketch->bricks, hash, count);
        return LEGO_OK;
    }
    while (!blocks_add(&sketch->blocks, hash, count)) {
        lego_status status = grow_blocks(sketch);
        if (status != LEGO_OK) return status;
    }
    blocks_count(&sketch->blocks, count);
    return LEGO_OK;
}

static void take_item(void *context, const void *item, size_t size, int64_t count)
{
    struct taker *taker = context;
    lego_sketch *sketch = taker->sketch;
    struct hash hash = hash_bytes(item, size, sketch->seed);
    bool grows = has_blocks(sketch->model) && blocks_grow(&sketch->blocks);
    if (taker->status == LEGO_OK) taker->status = light_add(sketch, hash, count);
    if (taker->status != LEGO_OK || !grows || taker->taken > TOP_RESIDENTS) return;
    taker->hash[taker->taken] = hash;
    taker->count[taker->taken++] = count;
}

int64_t light_count(const lego_sketch *sketch, const void *item, size_t size)
{
    struct hash hash = hash_bytes(item, size, sketch->seed);
    if (!has_blocks(sketch->model)) return bricks_upper(&sketch->bricks, hash);
    struct reading reading;
    blocks_read(&sketch->blocks, spot_of(sketch->blocks.blocks, hash), &reading);
    return reading.value;
}

static int64_t upper_of(const void *context, const void *item, size_t size)
{
    return light_count(((const struct taker *)context)->sketch, item, size);
}

struct top_light light_of(struct taker *taker, lego_sketch *sketch)
{
    taker->sketch = sketch;
    taker->status = LEGO_OK;
    taker->taken = 0;
    return (struct top_light){take_item, upper_of, taker};
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

/* To the top, and what that leaves to the light part. An item changes one bucket, and sends away at most all who are in
 * it: where the light part can not take them, both are as they were. */
lego_status add_to_top(lego_sketch *sketch, struct hash hash, const void *item, size_t size, int64_t count)
{
    struct top *top = &sketch->top;
    lego_status status = LEGO_OK;
    while (status == LEGO_OK && top_wants_more(top, hash, item, size, count)) status = grow_top(sketch);
    if (status != LEGO_OK) return status;
    struct top_bucket *bucket = &top->bucket[top_index(top->buckets, hash)], before = *bucket;
    uint64_t votes = top->votes;
    struct taker taker; /* 2 KB, of which most is never written */
    struct top_light light = light_of(&taker, sketch);
    int64_t rest = top_add(top, hash, item, size, count, &light);
    status = taker.status;
    if (status == LEGO_OK && rest != 0) status = light_add(sketch, hash, rest);
    if (status == LEGO_OK) return LEGO_OK;
    while (taker.taken-- > 0) light_add(sketch, taker.hash[taker.taken], -taker.count[taker.taken]);
    *bucket = before;
    top->votes = votes;
    return status;
}

static lego_status add_item(lego_sketch *sketch, struct hash hash, const void *item, size_t size, int64_t count)
{
    return has_top(sketch) ? add_to_top(sketch, hash, item, size, count) : light_add(sketch, hash, count);
}

static lego_status add_one(lego_sketch *sketch, struct hash hash, const void *item, size_t size, int64_t count,
                           lego_kind kind)
{
    uint64_t mass = sketch->mass;
    lego_status status = mass_take(sketch, count < 0 ? -(uint64_t)count : (uint64_t)count);
    if (status != LEGO_OK) return status;
    status = add_item(sketch, hash, item, size, count);
    if (status != LEGO_OK) sketch->mass = mass;
    else if (count != 0) sketch->items |= kind;
    return status;
}

lego_status lego_add(lego_sketch *sketch, const void *item, size_t size, int64_t count)
{
    if (!item && size > 0) return LEGO_ERR_ARGUMENT;
    return add_one(sketch, hash_bytes(item, size, sketch->seed), item, size, count, LEGO_ITEMS_BYTES);
}

lego_status lego_add_u64(lego_sketch *sketch, uint64_t item, int64_t count)
{
    unsigned char integer[8];
    size_t size = 0;
    const void *bytes = NULL; /* which only a top asks for */
    if (has_top(sketch)) bytes = items_bytes(&(lego_items){.n = 1, .integers = &item}, 0, integer, &size);
    return add_one(sketch, hash_u64(item, sketch->seed), bytes, size, count, LEGO_ITEMS_INTEGERS);
}

/* ---- many items -------------------------------------------------------------------------------------------------- */

const void *items_bytes(const lego_items *items, size_t i, unsigned char integer[8], size_t *size)
{
    if (!items->integers) {
        *size = (size_t)(items->offsets[i + 1] - items->offsets[i]);
        return item_at(items->bytes, items->offsets[i]);
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

/* What counts come to: each 1 where there are none. */
struct counted {
    uint64_t sizes; /* the sum of |count|, or UINT64_MAX if that is more than 64 bits */
    bool falls;     /* whether any is negative */
};

static struct counted count_items(const lego_items *items)
{
    lego_u128 sizes = 0;
    int64_t all = 0;
    if (!items->counts) return (struct counted){items->n, false};
    for (size_t i = 0; i < items->n; i++) {
        int64_t count = items->counts[i];
        uint64_t size = count < 0 ? -(uint64_t)count : (uint64_t)count;
        sizes += size;
        all |= count;
    }
    return (struct counted){sizes >> 64 ? UINT64_MAX : (uint64_t)sizes, all < 0};
}

static lego_status add_to_blocks(lego_sketch *sketch, const lego_items *items, const struct counted *counted)
{
    const struct batch_growth growth = {grow_blocks_for_batch, sketch};
    const struct batch batch = {&sketch->blocks, items, sketch->seed, counted->falls, &growth, NULL};
    return batch_add(&batch, sketch->threads, &sketch->allocator) ? LEGO_OK : LEGO_ERR_MEMORY;
}

static lego_kind kind_of(const lego_items *items)
{
    if (items->kind != LEGO_ITEMS_NONE) return items->kind;
    return items->integers ? LEGO_ITEMS_INTEGERS : LEGO_ITEMS_BYTES;
}

lego_status lego_add_items(lego_sketch *sketch, const lego_items *items)
{
    if (!items_valid(items) || (unsigned)items->kind > LEGO_ITEMS_MIXED) return LEGO_ERR_ARGUMENT;
    const struct counted counted = count_items(items);
    uint64_t mass = sketch->mass;
    lego_status status = mass_take(sketch, counted.sizes);
    if (status != LEGO_OK) return status;
    if (has_top(sketch)) status = add_items_to_top(sketch, items, counted.falls);
    else if (has_blocks(sketch->model)) status = add_to_blocks(sketch, items, &counted);
    else bricks_add_items(&sketch->bricks, items, sketch->seed, sketch->threads);
    if (status != LEGO_OK) sketch->mass = mass;
    else if (counted.sizes > 0) sketch->items |= kind_of(items);
    return status;
}
