/* describe: what is known of a sketch, some of it by a look at all blocks. */
#include <math.h>

#include "sketch/census.h"
#include "sketch/judge.h"
#include "sketch/sketch.h"

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The errors of items of losing blocks that are not listed: they get the same value, or what a listed one with the same
 * print counts, which gets theirs, too. */
static void expect_gone(const struct census *census, const struct findings *found, double value, lego_info *info)
{
    const struct bucket *gone = &found->all_gone;
    double absolute = 0, relative = 0, squares = 0;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) {
        const struct bucket *some = &found->gone[i];
        const double part = fabs(some->n - value * some->inverse);
        absolute += fabs(some->sum - value * some->n);
        relative += part;
        squares += some->n > 0 ? found->doubt[i] * (part / some->n) * (part / some->n) : 0;
    }
    if (gone->n == 0) return;
    const double each = gone->n / (double)census->losing;
    double twins_absolute = 0, twins_relative = 0;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) {
        const struct bucket *listed = &census->listed[i];
        if (listed->n == 0) continue;
        const double pairs = each * listed->alike, count = listed->sum / listed->n;
        twins_absolute += pairs * (count + gone->sum / gone->n);
        twins_relative += pairs * (count * gone->inverse + gone->sum * listed->inverse / listed->n) / gone->n;
    }
    info->expected_aae += (absolute + twins_absolute) / found->distinct;
    info->expected_are += (relative + twins_relative) / found->distinct;
    info->expected_are_error = sqrt(squares) / found->distinct;
}

/* Two items that share an entry have both counts. Those of shorter prints do so more often. */
static void expect_twins(const struct census *census, const struct findings *found, lego_info *info)
{
    double alike = 0, sum = 0, inverse = 0;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++)
        for (unsigned j = 0; j < 2; j++) {
            const struct bucket *some = j ? &census->listed[i] : &census->others[i];
            if (some->n == 0) continue;
            alike += some->alike;
            sum += some->alike * some->sum / some->n;
            inverse += some->alike * some->inverse / some->n;
        }
    if (alike == 0) return;
    info->expected_aae += 2 * census->twins * sum / alike / found->distinct;
    info->expected_are += 2 * census->twins * (sum / alike) * (inverse / alike) / found->distinct;
}

/* Who came too late for about half of the middle count may be taken to be of a lower class; and twins for one of a
 * higher one. Less than half an item of doubt is none. */
static void count_classes(const struct census *census, const struct findings *found, lego_info *info)
{
    for (unsigned k = 0; k < CENSUS_CLASSES; k++) {
        struct bucket listed = {0}, others = {0};
        double gone = 0, doubt = 0;
        for (unsigned i = k * CENSUS_PARTS; i < (k + 1) * CENSUS_PARTS; i++) {
            listed.n += census->listed[i].n;
            listed.inverse += census->listed[i].inverse;
            others.n += census->others[i].n;
            gone += found->gone[i].n;
            doubt += found->doubt[i];
        }
        const double seen = listed.n + others.n, late = found->middle / 2 * listed.inverse;
        const double twins = 2 * census->twins * seen / found->distinct;
        doubt += late * late + twins * twins;
        info->classes[k] = seen + gone;
        info->class_errors[k] = doubt < 0.25 ? 0 : sqrt(doubt);
    }
}

/* How far off what is expected is, in the streams that we have, besides what chance has in it. */
static const double rough_absolute = 0.15, rough_relative = 0.1;

static void count_items(const lego_sketch *sketch, lego_info *info)
{
    const struct blocks *blocks = &sketch->blocks;
    struct census census = {0};
    struct findings found;
    struct content content;
    uint32_t keeping = 0;
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
        census_add(&census, &blocks->block[i], blocks->whole, &content);
        keeping += block_keeps(&blocks->block[i]);
    }
    census_find(&census, &found);
    info->exact = blocks_whole(blocks);
    info->keeping = (double)keeping / blocks->blocks;
    info->distinct = found.distinct;
    info->distinct_error = found.distinct_error;
    info->expected_aae = info->expected_are = info->expected_aae_error = info->expected_are_error = 0;
    count_classes(&census, &found, info);
    if (found.distinct == 0) return;
    expect_gone(&census, &found, census.below ? 0 : (double)unlisted_now(blocks).value, info);
    expect_twins(&census, &found, info);
    info->expected_aae_error = rough_absolute * info->expected_aae;
    info->expected_are_error = hypot(info->expected_are_error, rough_relative * info->expected_are);
}

/* ---- bricks ------------------------------------------------------------------------------------------------------ */

/* The paper's scan has an estimate of each brick. */
static void count_brick_items(const struct bricks *bricks, lego_info *info)
{
    struct stream stream;
    for (uint32_t i = 0; i < bricks->bricks.d; i++) {
        if (row_get64(bricks->totals + 8 * (size_t)i) <= 0) continue; /* a scan takes long */
        bricks_scan(bricks, i, &stream);
        if (stream.distinct > 0) info->distinct += stream.distinct; /* which networks may say otherwise */
    }
}

/* Residents of a bucket that the light part has not counted. A flagged one may have some of its count there: where
 * blocks list, it has if there is anything; where they share, what there is may be another's. */
static unsigned count_residents(const lego_sketch *sketch, const struct top_bucket *bucket)
{
    struct resident one;
    unsigned n = 0;
    for (struct top_place next = {0, 0}; top_next(bucket, &next, &one);) {
        unsigned char integer[8];
        size_t size;
        const void *item = top_item(&one.key, integer, &size);
        n += !one.flagged || light_count(sketch, item, size) == 0;
    }
    return n;
}

int64_t lego_total(const lego_sketch *sketch)
{
    int64_t light = has_blocks(sketch->model) ? sketch->blocks.total : sketch->bricks.total;
    return light + (has_top(sketch) ? (int64_t)sketch->top.votes : 0);
}

void lego_measure(const lego_sketch *sketch, lego_info *info)
{
    struct shape shape = sketch_shape(sketch);
    *info = (lego_info){.model = sketch->model,
                        .seed = seed_shown(sketch->seed),
                        .secret = seed_is_secret(sketch->seed),
                        .total = lego_total(sketch),
                        .items = sketch->items,
                        .bytes = sketch_bytes_now(sketch),
                        .budget = sketch_budget(sketch->model, &shape),
                        .blocks = shape.blocks,
                        .columns = shape.columns,
                        .top_bytes = has_top(sketch) ? top_bytes(sketch->top.buckets.d) : 0,
                        .top_budget = sketch_top_budget(&shape),
                        .expected_aae = NAN,
                        .expected_are = NAN,
                        .distinct_error = NAN,
                        .expected_aae_error = NAN,
                        .expected_are_error = NAN,
                        .cache_bytes = sketch_cache_bytes(sketch),
                        .top_total = has_top(sketch) ? (int64_t)sketch->top.votes : 0};
    for (unsigned k = 0; k < LEGO_CLASSES; k++) info->classes[k] = info->class_errors[k] = NAN;
}

void lego_describe(const lego_sketch *sketch, lego_info *info)
{
    lego_measure(sketch, info);
    if (has_blocks(sketch->model)) count_items(sketch, info);
    else count_brick_items(&sketch->bricks, info);
    for (uint32_t i = 0; has_top(sketch) && i < sketch->top.buckets.d; i++)
        info->distinct += count_residents(sketch, &sketch->top.bucket[i]);
}
