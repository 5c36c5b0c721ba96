/* combine: merge, subtract and fold. What sketches count only adds up, so all of these are sums, exact or refused:
 * sizes that do not nest would leave next to nothing in common. A sketch whose keys are whole merges into any other. */
#include "sketch/join.h"
#include "sketch/judge.h"
#include "sketch/mass.h"
#include "sketch/sketch.h"

/* ---- light parts ------------------------------------------------------------------------------------------------- */

/* The blocks of the parts become the sketch's, if there are so many; *done is false, and nothing has changed, if they
 * do not fit. In place where nothing can fail on the way. */
static lego_status join_as(lego_sketch *sketch, const struct part part[], size_t n, uint32_t number, bool *done)
{
    const bool in_place = number == sketch->blocks.blocks && !blocks_grow(&sketch->blocks);
    const struct shape shape = sketch_shape(sketch);
    lego_sketch made = *sketch;
    struct join join;
    lego_status status = in_place ? LEGO_OK : light_allocate(&made, &shape, number);
    if (status != LEGO_OK) return status;
    if (!join_start(&join, part, n, number, &sketch->allocator)) {
        if (!in_place) light_free(&made);
        return LEGO_ERR_MEMORY;
    }
    *done = join_fill(&join, in_place ? &sketch->blocks : &made.blocks);
    join_end(&join);
    if (in_place) return LEGO_OK;
    light_free(*done ? sketch : &made);
    if (*done) *sketch = made;
    return LEGO_OK;
}

/* The same in as few blocks as hold whole keys, if all of them are whole; else in all. */
static lego_status join_parts(lego_sketch *sketch, const struct part part[], size_t n)
{
    lego_status status = LEGO_OK;
    int64_t total = 0;
    bool whole = true, loose = false, done = false;
    for (size_t i = 0; i < n; i++) {
        total += part[i].times * part[i].blocks->total;
        whole &= blocks_whole(part[i].blocks);
        loose |= part[i].times < 0 || part[i].blocks->loose;
    }
    uint32_t number = whole ? sketch->blocks.blocks : sketch->blocks.most;
    for (;; number = blocks_after(number, sketch->blocks.most)) {
        status = join_as(sketch, part, n, number, &done);
        if (status != LEGO_OK || done) break;
    }
    if (status != LEGO_OK) return status;
    sketch->blocks.total = total;
    sketch->blocks.loose |= loose;
    if (sketch->blocks.keeps) blocks_judge(&sketch->blocks);
    return LEGO_OK;
}

/* Adds the light part of `from`, times sign, to that of `into`. Where keys are not whole, the number of blocks that
 * `into` can have divides the other's. */
static lego_status pour(lego_sketch *into, const lego_sketch *from, int sign)
{
    const struct part part[2] = {{&into->blocks, 1}, {&from->blocks, sign}};
    if (has_blocks(into->model)) return join_parts(into, part, 2);
    bricks_merge(&into->bricks, &from->bricks, sign);
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

/* Makes a sketch of the shape, to which this one folds, with the same content: as large as it must be, but with a top
 * that has grown, if that is asked for. */
static lego_status make_shaped(const lego_sketch *sketch, const struct shape *shape, bool top_grown, lego_sketch **made)
{
    bool small = has_top(sketch) && !top_grown && !top_leaks(&sketch->top);
    lego_status status =
        sketch_make(sketch->model, sketch->seed, shape, 1, small ? 1 : shape->buckets, &sketch->allocator, made);
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
    lego_status status = make_shaped(sketch, shape, false, &made);
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

/* Whether the top of `into` must have grown before `from` is added: where that has sent residents away, or where its
 * items come to the light part of a sketch that keeps a top. */
static bool needs_grown_top(const lego_sketch *into, const lego_sketch *from)
{
    return has_top(into) && (has_top(from) ? top_leaks(&from->top) : !light_untouched(from));
}

/* In place where nothing can fail half way: it has the shape, and there is no top, or all has grown. Otherwise in a new
 * sketch. */
static lego_status combine_shaped(lego_sketch *into, const lego_sketch *from, const struct shape *shape, int sign)
{
    struct shape own = sketch_shape(into);
    bool same = own.blocks == shape->blocks && own.buckets == shape->buckets;
    bool grown = !(has_blocks(into->model) && blocks_grow(&into->blocks)) && !(has_top(into) && top_grows(&into->top));
    if (same && (grown || (!has_top(into) && !has_top(from)))) return add_all(into, from, sign);
    lego_sketch *made;
    lego_status status = make_shaped(into, shape, needs_grown_top(into, from), &made);
    if (status != LEGO_OK) return status;
    status = add_all(made, from, sign);
    if (status == LEGO_OK) become(into, made);
    else lego_destroy(made);
    return status;
}

/* Of bricks, or where there is a top. */
static lego_status combine(lego_sketch *into, const lego_sketch *from, int sign)
{
    const lego_sketch *const one[] = {from};
    struct shape shape;
    if (sign < 0 && (has_top(into) || has_top(from))) return LEGO_ERR_TOP;
    lego_status status = common_shape(into, from, &shape);
    if (status != LEGO_OK) return status;
    uint64_t mass;
    status = mass_join(into, one, NULL, 1, &mass);
    if (status != LEGO_OK) return status;

    lego_sketch *twin = NULL; /* a sketch added to itself would change while it is read */
    if (into == from) status = lego_copy(from, &twin);
    if (status == LEGO_OK) status = combine_shaped(into, twin ? twin : from, &shape, sign);
    if (status == LEGO_OK) into->mass = mass;
    lego_destroy(twin);
    return status;
}

/* The same so many times, by doubling. */
static lego_status combine_times(lego_sketch *into, const lego_sketch *from, int64_t times)
{
    lego_sketch *twice = NULL;
    if (times == 1 || times == -1) return combine(into, from, (int)times);
    lego_status status = lego_copy(from, &twice);
    for (uint64_t left = times < 0 ? -(uint64_t)times : (uint64_t)times; status == LEGO_OK && left > 0; left /= 2) {
        if (left % 2 == 1) status = combine(into, twice, times < 0 ? -1 : 1);
        if (status == LEGO_OK && left > 1) status = combine(twice, twice, 1);
    }
    lego_destroy(twice);
    return status;
}

/* One after the other. */
static lego_status combine_chain(lego_sketch *into, const lego_sketch *const from[], const int64_t weights[], size_t n)
{
    lego_sketch *made;
    if (n == 1) return combine_times(into, from[0], weights ? weights[0] : 1);
    lego_status status = lego_copy(into, &made);
    if (status != LEGO_OK) return status;
    made->threads = into->threads;
    for (size_t i = 0; i < n && status == LEGO_OK; i++) status = combine_times(made, from[i], weights ? weights[i] : 1);
    if (status == LEGO_OK) become(into, made);
    else lego_destroy(made);
    return status;
}

/* The shape that blocks have together: the least number of those that are not whole, or that of `into` if this is whole
 * and less. */
static lego_status shape_of_all(const lego_sketch *into, const lego_sketch *const from[], size_t n, struct shape *shape)
{
    const bool whole = blocks_whole(&into->blocks);
    *shape = sketch_shape(into);
    for (size_t i = 0; i < n; i++)
        if (!blocks_whole(&from[i]->blocks)) shape->blocks = least(shape->blocks, from[i]->blocks.most);
    for (size_t i = 0; i < n; i++)
        if (!blocks_whole(&from[i]->blocks) && from[i]->blocks.most % shape->blocks != 0) return LEGO_ERR_SHAPE;
    return whole || into->blocks.most % shape->blocks == 0 ? LEGO_OK : LEGO_ERR_SHAPE;
}

/* Blocks of all, at once. */
static lego_status combine_blocks(lego_sketch *into, const struct shape *shape, const struct part part[], size_t n)
{
    if (shape->blocks == into->blocks.most) return join_parts(into, part, n);
    lego_sketch made = *into;
    lego_status status = light_allocate(&made, shape, 1);
    if (status != LEGO_OK) return status;
    status = join_parts(&made, part, n);
    light_free(status == LEGO_OK ? into : &made);
    if (status == LEGO_OK) *into = made;
    return status;
}

static lego_status combine_at_once(lego_sketch *into, const lego_sketch *const from[], const int64_t weights[],
                                   size_t n)
{
    const lego_allocator *a = &into->allocator;
    struct part two[2], *part = two;
    struct shape shape;
    uint64_t mass;
    lego_status status = shape_of_all(into, from, n, &shape);
    if (status == LEGO_OK) status = mass_join(into, from, weights, n, &mass);
    if (status != LEGO_OK) return status;
    if (n > 1 && n < SIZE_MAX / sizeof *part) part = a->alloc(a->context, (n + 1) * sizeof *part);
    if (!part || n >= SIZE_MAX / sizeof *part) return LEGO_ERR_MEMORY;
    part[0] = (struct part){&into->blocks, 1};
    for (size_t i = 0; i < n; i++) part[i + 1] = (struct part){&from[i]->blocks, weights ? weights[i] : 1};
    lego_kind items = into->items;
    for (size_t i = 0; i < n; i++) items |= from[i]->items;
    status = combine_blocks(into, &shape, part, n + 1);
    if (part != two) a->free(a->context, part, (n + 1) * sizeof *part);
    if (status != LEGO_OK) return status;
    into->mass = mass;
    into->items = items;
    return LEGO_OK;
}

lego_status lego_merge_many(lego_sketch *into, const lego_sketch *const from[], const int64_t weights[], size_t n)
{
    bool at_once = has_blocks(into->model) && !has_top(into);
    for (size_t i = 0; i < n; i++) {
        if (!model_same(into->model, from[i]->model)) return LEGO_ERR_MODEL;
        if (!seed_equal(into->seed, from[i]->seed)) return LEGO_ERR_SEED;
        if (weights && weights[i] == 0) return LEGO_ERR_ARGUMENT;
        at_once &= !has_top(from[i]);
    }
    if (n == 0) return LEGO_OK;
    return at_once ? combine_at_once(into, from, weights, n) : combine_chain(into, from, weights, n);
}

lego_status lego_merge(lego_sketch *into, const lego_sketch *from)
{
    return lego_merge_many(into, &from, NULL, 1);
}

lego_status lego_subtract(lego_sketch *into, const lego_sketch *from)
{
    return lego_merge_many(into, &from, &(int64_t){-1}, 1);
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
