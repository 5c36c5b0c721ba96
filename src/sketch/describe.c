/* describe: what is known of a sketch, some of it by a look at all blocks. */
#include <math.h>

#include "sketch/census.h"
#include "sketch/sketch.h"

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The errors of what items of losing blocks get that are not listed. Where all get 1, what was lost tells the absolute
 * one: it is their counts. */
static void expect_unlisted(const struct census *census, const struct findings *found, uint64_t value, lego_info *info)
{
    double absolute = 0, relative = 0, squares = 0, items = 0;
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) {
        const struct bucket *sample = &census->sample[i];
        const double weight = found->weight * found->unlisted[i / CENSUS_PARTS];
        const double more = sample->sum - sample->n * (double)value, part = sample->n - sample->inverse * (double)value;
        items += weight * sample->n;
        absolute += weight * fabs(more);
        relative += weight * fabs(part);
        squares += sample->n > 0 ? weight * found->weight * part * part / sample->n : 0;
    }
    if (value == 1 && absolute > 0 && census->lost > items) {
        relative *= (census->lost - items) / absolute;
        absolute = census->lost - items;
    }
    info->expected_aae += absolute / found->distinct;
    info->expected_are += relative / found->distinct;
    info->expected_are_error = sqrt(squares) / found->distinct;
    info->expected_aae_error = relative > 0 ? info->expected_are_error * absolute / relative : 0;
}

/* Two items that share an entry have both counts. */
static void expect_twins(const struct census *census, const struct findings *found, lego_info *info)
{
    struct bucket all = {0};
    for (unsigned i = 0; i < CENSUS_BUCKETS; i++) {
        all.n += census->others[i].n;
        all.sum += census->others[i].sum;
        all.inverse += census->others[i].inverse;
    }
    if (all.n == 0) return;
    info->expected_aae += 2 * census->twins * all.sum / all.n / found->distinct;
    info->expected_are += 2 * census->twins * (all.sum / all.n) * (all.inverse / all.n) / found->distinct;
}

/* Where all items of a class are listed, nothing of it is a guess. */
static void count_classes(const struct census *census, const struct findings *found, lego_info *info)
{
    for (unsigned k = 0; k < CENSUS_CLASSES; k++) {
        double listed = 0, others = 0, sampled = 0;
        for (unsigned i = k * CENSUS_PARTS; i < (k + 1) * CENSUS_PARTS; i++) {
            listed += census->listed[i].n;
            others += census->others[i].n;
            sampled += census->sample[i].n;
        }
        const bool all = found->unlisted[k] == 0;
        info->classes[k] = others + (all ? listed : fmax(listed, sampled * found->weight));
        info->class_errors[k] = all ? 0 : sqrt(sampled) * found->weight;
    }
}

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
    expect_unlisted(&census, &found, blocks->unlisted.value, info);
    expect_twins(&census, &found, info);
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
