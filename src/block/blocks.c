/* blocks: see blocks.h. */
#include "block/blocks.h"

#include <string.h>

#include "block/keep.h"

void blocks_init(struct blocks *blocks, uint32_t number, uint32_t most, void *bytes)
{
    uintptr_t at = ((uintptr_t)bytes + BLOCKS_LINE - 1) / BLOCKS_LINE * BLOCKS_LINE;
    *blocks = (struct blocks){.block = (struct block *)at,
                              .blocks = number,
                              .most = most,
                              .whole = key_bits(number),
                              .unlisted = {.value = 1},
                              .kernels = block_kernels_best()};
    memset(blocks->block, 0, (size_t)number * sizeof(struct block));
}

static void add_news(const struct blocks *blocks, unsigned entered, int64_t count, struct news *news)
{
    const uint64_t size = count < 0 ? -(uint64_t)count : (uint64_t)count;
    news->entered += entered;
    news->lighter += size < blocks->unlisted.value ? entered : 0;
}

static void add_on(const struct blocks *blocks, struct block *block, uint64_t key, int64_t count, struct news *news)
{
    add_news(blocks, blocks->kernels->add_on(block, blocks->whole, key, count), count, news);
}

bool blocks_add(struct blocks *blocks, struct hash hash, int64_t count)
{
    const struct spot spot = spot_of(blocks->blocks, hash);
    struct block *block = &blocks->block[spot.block];
    block_prefetch(block);
    blocks->loose |= count < 0;
    if (blocks_grow(blocks)) return blocks->kernels->add(block, blocks->whole, spot.key, count);
    struct news news = {0};
    add_on(blocks, block, spot.key, count, &news);
    blocks->unlisted.entered += news.entered;
    blocks->unlisted.lighter += news.lighter;
    blocks->keeps |= block_keeps(block);
    return true;
}

void blocks_take_back(struct blocks *blocks, struct hash hash, int64_t count)
{
    const struct spot spot = spot_of(blocks->blocks, hash);
    if (blocks_grow(blocks)) blocks_add(blocks, hash, -count);
    else blocks->kernels->add_on(&blocks->block[spot.block], blocks->whole, spot.key, -count);
}

/* ---- in no order ------------------------------------------------------------------------------------------------- */

bool blocks_list(const struct blocks *blocks, struct block *block, struct content *content)
{
    while (content->n > BLOCK_ENTRIES || !blocks->kernels->close(block, blocks->whole, content)) {
        if (content->step + 1 == STEP_KEEP) return false;
        content_lower(content, content->step + 1, blocks->whole);
    }
    return true;
}

bool blocks_join(struct blocks *blocks, uint32_t block, struct content *from)
{
    struct block *into = &blocks->block[block];
    struct content own;
    if (block_keeps(into)) return false;
    blocks->kernels->open(into, blocks->whole, &own);
    content_lower(from, own.step, blocks->whole);
    content_join(&own, from, 1);
    if (!blocks_grow(blocks)) return blocks_list(blocks, into, &own);
    return own.n <= BLOCK_ENTRIES && blocks->kernels->close(into, blocks->whole, &own);
}

/* ---- in order ---------------------------------------------------------------------------------------------------- */

/* Items of one block. */
struct arrivals {
    const uint64_t *key;
    const int64_t *count;
    size_t n;
    struct news *news;
};

/* Adds the first n of them to a block that lists, if it does so then; else nothing has changed. */
static bool list_first(const struct blocks *blocks, struct block *block, const struct arrivals *arrivals, size_t n)
{
    struct content content;
    blocks->kernels->open(block, blocks->whole, &content);
    for (size_t i = 0; i < n; i++) {
        content_add(&content, blocks->whole, arrivals->key[i], arrivals->count[i]);
        for (; content.n > BLOCK_ENTRIES; content_lower(&content, content.step + 1, blocks->whole))
            if (content.step + 1 == STEP_KEEP) return false;
    }
    return blocks_list(blocks, block, &content);
}

static size_t add_one_by_one(const struct blocks *blocks, struct block *block, const struct arrivals *arrivals)
{
    size_t i = 0;
    for (; i < arrivals->n && !block_keeps(block); i++)
        add_on(blocks, block, arrivals->key[i], arrivals->count[i], arrivals->news);
    return i;
}

static bool all_above(const struct block *block, const struct arrivals *arrivals)
{
    int64_t any = 0;
    for (size_t i = 0; i < arrivals->n; i++) any |= arrivals->count[i];
    return any >= 0 && block_signs(block) == SIGNS_ABOVE;
}

/* Adds them until the block keeps, and returns how many these were. Where counts only grow, what fits had room all the
 * way: as many are added at once as leave it a list, which halving tells, and then the one with which it keeps. */
static size_t add_until_it_keeps(const struct blocks *blocks, struct block *block, const struct arrivals *arrivals)
{
    enum { FEW = 4 };
    size_t fit = 0, many = arrivals->n;
    if (many <= FEW || !all_above(block, arrivals)) return add_one_by_one(blocks, block, arrivals);
    if (list_first(blocks, block, arrivals, many)) return many;
    const struct block before = *block;
    while (many - fit > 1) {
        const size_t middle = fit + (many - fit) / 2;
        *block = before;
        if (list_first(blocks, block, arrivals, middle)) fit = middle;
        else many = middle;
    }
    *block = before;
    list_first(blocks, block, arrivals, fit);
    add_on(blocks, block, arrivals->key[fit], arrivals->count[fit], arrivals->news);
    return fit + 1;
}

static void add_to_keeper(const struct blocks *blocks, struct block *block, const struct arrivals *arrivals)
{
    enum { FEW = 12 }; /* that are added in place, if that is a matter of a few bits */
    size_t i = 0;
    if (arrivals->n <= FEW)
        i = blocks->kernels->add_some(block, blocks->whole, arrivals->key, arrivals->count, (unsigned)arrivals->n);
    if (i == arrivals->n) return;
    struct content content;
    blocks->kernels->open(block, blocks->whole, &content);
    for (; i < arrivals->n; i++) {
        content.entered = 0;
        keep_add(&content, arrivals->key[i], arrivals->count[i]);
        add_news(blocks, content.entered, arrivals->count[i], arrivals->news);
    }
    blocks->kernels->close(block, blocks->whole, &content);
}

bool blocks_take(const struct blocks *blocks, uint32_t index, const uint64_t key[], const int64_t count[], size_t n,
                 struct news *news)
{
    struct block *block = &blocks->block[index];
    const struct arrivals all = {key, count, n, news};
    const size_t listed = block_keeps(block) ? 0 : add_until_it_keeps(blocks, block, &all);
    if (listed == n) return block_keeps(block);
    const struct arrivals rest = {key + listed, count + listed, n - listed, news};
    add_to_keeper(blocks, block, &rest);
    return true;
}
