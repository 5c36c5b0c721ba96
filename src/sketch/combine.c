/* combine: merge, subtract and fold. What sketches count only adds up, so all of these are sums, exact or refused:
 * sizes that do not nest would leave next to nothing in common. A sketch whose keys are whole merges into any other. */
#include "sketch/mass.h"
#include "sketch/sketch.h"

/* ---- blocks to blocks -------------------------------------------------------------------------------------------- */

/* An entry of a list, among all blocks. */
struct entry_place {
    uint32_t block;
    unsigned entry;
};

/* Adds the items of a sketch whose keys are whole, times sign, until one can not be added, which *end is then. */
static lego_status add_whole(lego_sketch *into, const struct blocks *from, int sign, struct entry_place *end)
{
    lego_status status = LEGO_OK;
    struct content list;
    for (uint32_t b = 0; b < from->blocks; b++) {
        from->kernels->open(&from->block[b], from->whole, &list);
        for (unsigned i = 0; i < list.n; i++) {
            *end = (struct entry_place){b, i};
            status = light_add(into, spot_hash(from->blocks, (struct spot){b, list.key[i]}), sign * list.value[i]);
            if (status != LEGO_OK) return status;
        }
    }
    return status;
}

/* Takes those before *end away again, the last first: in any other order there might be no room on the way. */
static void take_whole_back(lego_sketch *into, const struct blocks *from, int sign, const struct entry_place *end)
{
    struct content list;
    for (uint32_t b = end->block + 1; b-- > 0;) {
        from->kernels->open(&from->block[b], from->whole, &list);
        for (unsigned i = b == end->block ? end->entry : list.n; i-- > 0;)
            light_add(into, spot_hash(from->blocks, (struct spot){b, list.key[i]}), -sign * list.value[i]);
    }
}

/* All of them, or none. */
static lego_status pour_whole(lego_sketch *into, const struct blocks *from, int sign)
{
    struct entry_place end = {0, 0};
    lego_status status = add_whole(into, from, sign, &end);
    if (status != LEGO_OK) take_whole_back(into, from, sign, &end);
    return status;
}

/* A block of `from` as it would be in `into`, whose number divides its: whole keys change with the number. */
static void open_as(const struct blocks *into, const struct blocks *from, uint32_t block, struct content *content)
{
    from->kernels->open(&from->block[block], from->whole, content);
    if (content->step != STEP_WHOLE || into->blocks == from->blocks) return;
    for (unsigned i = 0; i < content->n; i++) {
        struct hash hash = spot_hash(from->blocks, (struct spot){block, content->key[i]});
        content->key[i] = key_cut(spot_of(into->blocks, hash).key, into->whole);
    }
}

/* Adds a row, or the entries of a list, to a cap that counts. */
static void add_to_cap(struct blocks *into, struct block *cap, struct content *from, int sign)
{
    struct content row;
    into->kernels->open(cap, into->whole, &row);
    if (step_lists(from->step)) {
        for (unsigned i = 0; i < from->n; i++) content_add(&row, into->whole, from->key[i], sign * from->value[i]);
    } else {
        unsigned step = row.step > from->step ? row.step : from->step;
        content_lower(&row, step, into->whole);
        content_lower(from, step, into->whole);
        content_join(&row, from, sign);
    }
    into->kernels->settle(cap, into->whole, &row);
}

/* Adds the blocks of one cap. If that counts, it is added to the cap of `into` at once; if only the other counts, or
 * comes to count, block by block: it is made of what there is before the block for which it is made. */
static void pour_cap(struct blocks *into, const struct blocks *from, uint32_t index, int sign)
{
    uint32_t parts = from->blocks / into->blocks, first = cap_first(index), end = cap_end(from, index);
    const struct block *theirs = &from->block[from->blocks + index];
    struct block *cap = cap_of(into, first / parts);
    struct content content;
    bool at_once = cap_counts(theirs);
    if (at_once) {
        blocks_make_cap(into, first / parts);
        from->kernels->open(theirs, from->whole, &content);
        add_to_cap(into, cap, &content, sign);
    }
    for (uint32_t b = first; b < end; b++) {
        open_as(into, from, b, &content);
        if (content.step == STEP_WHOLE && content.n == 0) continue;
        blocks_join(into, b / parts, &content, sign);
        if (at_once || !cap_counts(cap)) continue;
        open_as(into, from, b, &content);
        add_to_cap(into, cap, &content, sign);
    }
}

/* Adds all blocks of a sketch that has grown, whose number is a multiple of those of `into`, which has grown, too. */
static void pour_blocks(lego_sketch *into, const struct blocks *from, int sign)
{
    for (uint32_t i = 0; i < blocks_caps(from->blocks, from->most); i++) pour_cap(&into->blocks, from, i, sign);
    into->blocks.total += sign * from->total;
    into->blocks.loose |= sign < 0 || from->loose;
}

/* Adds the light part of `from`, times sign, to that of `into`. Where keys are not whole, `into` has grown, and its
 * number of blocks divides the other's. */
static lego_status pour(lego_sketch *into, const lego_sketch *from, int sign)
{
    blocks_changed(into);
    if (!has_blocks(into->model)) bricks_merge(&into->bricks, &from->bricks, sign);
    else if (blocks_whole(&from->blocks)) return pour_whole(into, &from->blocks, sign);
    else pour_blocks(into, &from->blocks, sign);
    return LEGO_OK;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Counts everything that a top holds in a light part. */
static lego_status pour_residents(lego_sketch *into, const struct top *top)
{
    struct resident one;
    lego_status status = LEGO_OK;
    for (uint32_t b = 0; b < top->buckets.d; b++)
        for (struct top_place next = {0, 0}; status == LEGO_OK && top_next(&top->bucket[b], &next, &one);) {
            unsigned char integer[8];
            size_t size;
            const void *item = top_item(&one.key, integer, &size);
            status = light_add(into, hash_bytes(item, size, into->seed), (int64_t)one.votes);
        }
    return status;
}

/* Adds a top to a top, which grows as it must. */
static lego_status pour_top(lego_sketch *into, const struct top *from)
{
    struct taker taker;
    struct top_light light = light_of(&taker, into);
    struct top_progress progress = {0};
    lego_status status = LEGO_OK;
    while (status == LEGO_OK && !top_add_all(&into->top, from, &progress, into->seed, &light)) status = grow_top(into);
    return status == LEGO_OK ? taker.status : status;
}

/* Which parts of a sketch must have grown. */
struct grown {
    bool blocks, top;
};

/* Makes a sketch of the shape, to which this one folds, with the same content: as large as it must be, or grown. */
static lego_status make_shaped(const lego_sketch *sketch, const struct shape *shape, struct grown grown,
                               lego_sketch **made)
{
    bool young = has_blocks(sketch->model) && !grown.blocks && blocks_whole(&sketch->blocks);
    bool small = has_top(sketch) && !grown.top && !top_leaks(&sketch->top);
    lego_status status = sketch_make(sketch->model, sketch->seed, shape, young ? 1 : shape->blocks,
                                     small ? 1 : shape->buckets, &sketch->allocator, made);
    if (status != LEGO_OK) return status;
    (*made)->threads = sketch->threads;
    (*made)->mass = sketch->mass;
    (*made)->items = sketch->items;
    status = pour(*made, sketch, 1);
    if (status == LEGO_OK && has_top(sketch)) status = pour_top(*made, &sketch->top);
    if (status != LEGO_OK) lego_destroy(*made);
    return status;
}

/* The sketch becomes another, which is gone then. */
static void become(lego_sketch *sketch, lego_sketch *made)
{
    lego_sketch old = *sketch;
    *sketch = *made;
    *made = old;
    lego_destroy(made);
}

static lego_status reshape(lego_sketch *sketch, const struct shape *shape)
{
    lego_sketch *made;
    lego_status status = make_shaped(sketch, shape, (struct grown){false, false}, &made);
    if (status == LEGO_OK) become(sketch, made);
    return status;
}

static bool nests(uint32_t a, uint32_t b)
{
    return a % b == 0 || b % a == 0;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The shape of two sketches together, or LEGO_ERR_SHAPE. What is whole goes into any shape, but into keeps within its
 * budget. */
static lego_status common_shape(const lego_sketch *into, const lego_sketch *from, struct shape *shape)
{
    struct shape a = sketch_shape(into), b = sketch_shape(from);
    *shape = a;
    if (a.columns != b.columns) return LEGO_ERR_SHAPE;
    if (!has_blocks(into->model) || !blocks_whole(&from->blocks)) {
        bool fits = has_blocks(into->model) && blocks_whole(&into->blocks) && b.blocks <= a.blocks;
        if (!fits && !nests(a.blocks, b.blocks)) return LEGO_ERR_SHAPE;
        shape->blocks = least(a.blocks, b.blocks);
    }
    if (!a.buckets || !b.buckets || !top_leaks(&from->top)) return LEGO_OK;
    shape->buckets = least(a.buckets, b.buckets);
    return nests(a.buckets, b.buckets) ? LEGO_OK : LEGO_ERR_SHAPE;
}

/* ---- merge and subtract ------------------------------------------------------------------------------------------ */

/* Into a sketch of the common shape, which has grown where it must. */
static lego_status add_all(lego_sketch *into, const lego_sketch *from, int sign)
{
    lego_status status = pour(into, from, sign);
    if (status != LEGO_OK) return status;
    into->items |= from->items;
    if (has_top(into) && has_top(from)) return pour_top(into, &from->top);
    if (has_top(from)) return pour_residents(into, &from->top);
    if (has_top(into) && !light_untouched(from)) top_mix(&into->top);
    return LEGO_OK;
}

/* Which parts of into must have grown before `from` is added: the blocks where that has lost bits; the top where that
 * has sent residents away, or where its items come to the light part of a sketch that keeps a top. */
static struct grown needs_grown(const lego_sketch *into, const lego_sketch *from)
{
    bool leaks = has_top(from) ? top_leaks(&from->top) : !light_untouched(from);
    return (struct grown){has_blocks(from->model) && !blocks_whole(&from->blocks), has_top(into) && leaks};
}

static bool has_grown(const lego_sketch *sketch)
{
    return !(has_blocks(sketch->model) && blocks_grow(&sketch->blocks)) &&
           !(has_top(sketch) && top_grows(&sketch->top));
}

/* In place where nothing can fail half way: it has the shape, and it has grown, or only its own blocks have to.
 * Otherwise in a new sketch. */
static lego_status combine_shaped(lego_sketch *into, const lego_sketch *from, const struct shape *shape, int sign)
{
    struct shape own = sketch_shape(into);
    struct grown grown = needs_grown(into, from);
    bool same = own.blocks == shape->blocks && own.buckets == shape->buckets;
    if (same && (has_grown(into) || (!grown.blocks && !has_top(into) && !has_top(from))))
        return add_all(into, from, sign);
    lego_sketch *made;
    lego_status status = make_shaped(into, shape, grown, &made);
    if (status != LEGO_OK) return status;
    status = add_all(made, from, sign);
    if (status == LEGO_OK) become(into, made);
    else lego_destroy(made);
    return status;
}

static lego_status combine(lego_sketch *into, const lego_sketch *from, int sign)
{
    struct shape shape;
    if (!model_same(into->model, from->model)) return LEGO_ERR_MODEL;
    if (!seed_equal(into->seed, from->seed)) return LEGO_ERR_SEED;
    if (sign < 0 && (has_top(into) || has_top(from))) return LEGO_ERR_TOP;
    lego_status status = common_shape(into, from, &shape);
    if (status != LEGO_OK) return status;
    uint64_t mass;
    status = mass_join(into, from, &mass);
    if (status != LEGO_OK) return status;

    lego_sketch *twin = NULL; /* a sketch added to itself would change while it is read */
    if (into == from) status = lego_copy(from, &twin);
    if (status == LEGO_OK) status = combine_shaped(into, twin ? twin : from, &shape, sign);
    if (status == LEGO_OK) into->mass = mass;
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

static lego_status merge_times(lego_sketch *into, const lego_sketch *from, int64_t times)
{
    lego_sketch *twice;
    lego_status status = lego_copy(from, &twice);
    for (uint64_t left = (uint64_t)(times < 0 ? -times : times); status == LEGO_OK && left > 0; left /= 2) {
        if (left % 2 == 1) status = combine(into, twice, times < 0 ? -1 : 1);
        if (status == LEGO_OK && left > 1) status = combine(twice, twice, 1);
    }
    lego_destroy(twice);
    return status;
}

lego_status lego_merge_many(lego_sketch *into, const lego_sketch *const from[], const int64_t weights[], size_t n)
{
    lego_sketch *made;
    lego_status status = lego_copy(into, &made);
    if (status != LEGO_OK) return status;
    for (size_t i = 0; status == LEGO_OK && i < n; i++) status = merge_times(made, from[i], weights ? weights[i] : 1);
    if (status == LEGO_OK) become(into, made);
    else lego_destroy(made);
    return status;
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
