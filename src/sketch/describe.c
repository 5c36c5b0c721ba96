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
};

static void count_list(const struct blocks *blocks, const struct block *block, struct census *census)
{
    double entries = block_entries(block), prints = exp2(step_print(block_step(block), blocks->whole));
    census->listing++;
    census->listed += entries < 0.01 * prints ? entries : -prints * log1p(-entries / prints);
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

static void count_items(const struct blocks *blocks, lego_info *info)
{
    struct census census = {0};
    bool whole = true;
    for (uint32_t i = 0; i < blocks->blocks; i++) {
        const struct block *block = &blocks->block[i];
        whole &= block_step(block) == STEP_WHOLE;
        if (step_lists(block_step(block))) count_list(blocks, block, &census);
        else count_rows(blocks, block, &census);
    }
    info->distinct += census.listed + (double)census.sharing * items_shared(&census);
    info->listing = (double)census.listing / blocks->blocks;
    info->exact = whole;
    info->expected_aae = info->expected_are = 0; /* LEAD (issue 18): right where all is exact; else from the scan */
}

/* The paper's scan has an estimate of each brick. */
static void count_brick_items(const struct bricks *bricks, lego_info *info)
{
    struct stream stream;
    info->expected_aae = info->expected_are = NAN;
    for (uint32_t i = 0; i < bricks->bricks.d; i++) {
        if (row_get64(bricks->totals + 8 * (size_t)i) <= 0) continue; /* a scan takes long */
        bricks_scan(bricks, i, &stream);
        if (stream.distinct > 0) info->distinct += stream.distinct; /* which networks may say otherwise */
    }
}

int64_t lego_total(const lego_sketch *sketch)
{
    int64_t light = has_blocks(sketch->model) ? sketch->blocks.total : sketch->bricks.total;
    return light + (has_top(sketch) ? (int64_t)sketch->top.votes : 0);
}

void lego_describe(const lego_sketch *sketch, lego_info *info)
{
    struct shape shape = sketch_shape(sketch);
    *info = (lego_info){.model = sketch->model,
                        .seed = sketch->seed,
                        .total = lego_total(sketch),
                        .bytes = sketch_bytes_now(sketch),
                        .budget = sketch_budget(sketch->model, &shape),
                        .cache_bytes = sketch_cache_bytes(sketch),
                        .blocks = shape.blocks,
                        .columns = shape.columns,
                        .top_bytes = has_top(sketch) ? top_bytes(sketch->top.buckets.d) : 0,
                        .top_budget = sketch_top_budget(&shape),
                        .top_total = has_top(sketch) ? (int64_t)sketch->top.votes : 0};
    if (has_blocks(sketch->model)) count_items(&sketch->blocks, info);
    else count_brick_items(&sketch->bricks, info);
    for (uint32_t i = 0; has_top(sketch) && i < sketch->top.buckets.d; i++)
        info->distinct += top_residents(&sketch->top.bucket[i]);
}
