/* describe: what is known of a sketch, some of it by a look at all blocks. */
#include <math.h>

#include "sketch/sketch.h"

/* What the blocks show of how many items there are. Where a block lists, its entries, and as many more as are likely
 * to have equal prints. Where it shares, the cells of row 0 that are empty: with n items a cell that one key in w has
 * is empty with probability exp(-n / w), and n is where as many are empty as there are. */
struct census {
    double listed;             /* items of blocks that list */
    uint64_t listing;          /* blocks that list */
    uint64_t sharing;          /* blocks that share */
    uint64_t cells[10], empty; /* of row 0: by the logarithm of w; and how many are empty, of all */
    double shared_prints;      /* items of lists that share their print with another */
};

/* Blocks that list in short prints, as a sample of what their counts are. */
enum { SAMPLE = 64 };
struct sample {
    double blocks, entries, sum, inverse; /* of the counts, as far as caps let them be felt, and of 1 / count */
};

static void count_list(const struct blocks *blocks, const struct block *block, struct census *census)
{
    unsigned step = block_step(block);
    double entries = block_entries(block);
    double prints = exp2(step_print(step, blocks->whole)) / (1 + step_quarters(step) / 4.0); /* some have a bit less */
    census->listing++;
    double items = entries < 0.01 * prints ? entries : -prints * log1p(-entries / prints);
    census->listed += items;
    if (step > STEP_WHOLE && entries > 1) census->shared_prints += items * (items - 1) / prints;
}

/* Who has another's print has its count too, but no more than a cell of the cap, whichever that is. */
static void sample_list(const struct blocks *blocks, uint32_t i, struct sample *sample)
{
    struct content content, cap = {.n = 0};
    unsigned step = block_step(&blocks->block[i]);
    if (step == STEP_WHOLE || !step_lists(step)) return;
    if (cap_counts(cap_of(blocks, i))) blocks->kernels->open(cap_of(blocks, i), blocks->whole, &cap);
    blocks->kernels->open(&blocks->block[i], blocks->whole, &content);
    sample->blocks++;
    sample->entries += content.n;
    for (unsigned k = 0; k < content.n; k++) {
        double count = fabs((double)content.value[k]);
        bool capped = count >= BLOCKS_UNCAPPED && cap.n > 0;
        sample->sum += capped ? fmin(count, fabs((double)cap.value[k % cap.n])) : count;
        sample->inverse += 1 / count;
    }
}

static void count_rows(const struct blocks *blocks, const struct block *block, struct census *census)
{
    struct content content;
    struct row row = step_row(block_step(block), 0);
    unsigned width = 31 - (unsigned)__builtin_clz(row.from), folded = row.from - row.cells;
    blocks->kernels->open(block, blocks->whole, &content);
    census->sharing++;
    census->cells[width] += row.cells - folded;
    census->cells[width - 1] += folded;
    for (unsigned i = 0; i < row.cells; i++) census->empty += content.value[i] == 0;
}

static double expected_empty(const struct census *census, double items)
{
    double sum = 0;
    for (unsigned i = 0; i < 10; i++) sum += (double)census->cells[i] * exp(-items / exp2(i));
    return sum;
}

/* Items of a block that shares, by halving; where no cell is empty, what would leave half of one. */
static double items_shared(const struct census *census)
{
    double low = 0, high = 1 << 16, empty = census->empty ? (double)census->empty : 0.5;
    for (int i = 0; i < 60 && census->sharing; i++) {
        double middle = (low + high) / 2;
        if (expected_empty(census, middle) > empty) low = middle;
        else high = middle;
    }
    return low;
}

/* What is expected of items that share; NaN if nothing tells. What is learnt for it is kept as for a query. */
static void learn_errors(const lego_sketch *sketch, double *aae, double *are)
{
    const struct learnt *learnt = blocks_learnt(sketch);
    bool told = learnt && learnt->any && !learnt->crowded && learnt->sign; /* a trial knows counts of one sign only */
    *aae = told ? (double)learnt->aae * (double)learnt->unit : NAN;
    *are = told ? (double)learnt->are : NAN;
}

/* The errors of lists, from their sample, and those of shared cells, as they were learnt, each for its items. */
static void expect_errors(const lego_sketch *sketch, const struct census *census, double shared, lego_info *info)
{
    const struct blocks *blocks = &sketch->blocks;
    struct sample sample = {0};
    for (uint32_t i = 0; i < blocks->blocks && sample.blocks < SAMPLE && census->shared_prints > 0; i++)
        sample_list(blocks, i, &sample);
    double all = fmax(census->listed + shared, 1), listed = 0;
    if (sample.entries > 0) listed = census->shared_prints * sample.sum / sample.entries / all;
    info->expected_aae = listed;
    info->expected_are = sample.entries > 0 ? listed * sample.inverse / sample.entries : 0;
    if (census->sharing == 0) return;
    double aae, are;
    learn_errors(sketch, &aae, &are);
    info->expected_aae += shared / all * aae;
    info->expected_are += shared / all * are;
}

static void count_items(const lego_sketch *sketch, lego_info *info)
{
    const struct blocks *blocks = &sketch->blocks;
    struct census census = {0};
    bool whole = true;
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        const struct block *block = &blocks->block[i];
        whole &= block_step(block) == STEP_WHOLE;
        if (step_lists(block_step(block))) count_list(blocks, block, &census);
        else count_rows(blocks, block, &census);
    }
    double shared = (double)census.sharing * items_shared(&census);
    info->distinct += census.listed + shared;
    info->keeping = (double)census.sharing / blocks->blocks;
    info->exact = whole;
    expect_errors(sketch, &census, shared, info);
}

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
        n += !one.flagged || light_upper(sketch, item, size) == 0;
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
    info->cache_bytes = sketch_cache_bytes(sketch); /* with what was learnt just now */
}
