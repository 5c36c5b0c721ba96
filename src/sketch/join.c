/* join: see join.h. */
#include "sketch/join.h"

#include "block/keep.h"

/* ---- what comes to a block --------------------------------------------------------------------------------------- */

/* The blocks of a part that have items of a block, if that is one of `number`: from *first to what is returned. */
static uint32_t pieces_of(const struct part *part, uint32_t number, uint32_t block, uint32_t *first)
{
    const uint64_t own = part->blocks->blocks;
    *first = (uint32_t)(block * own / number);
    return (uint32_t)(((block + UINT64_C(1)) * own + number - 1) / number);
}

/* Of the entries of a list of whole keys those of a block of `into`, with the keys that they have there. */
static void take_home(const struct blocks *into, uint32_t block, const struct blocks *from, uint32_t index,
                      struct content *list)
{
    unsigned n = 0;
    for (unsigned i = 0; i < list->n; i++) {
        const struct spot spot = spot_of(into->blocks, spot_hash(from->blocks, (struct spot){index, list->key[i]}));
        list->key[n] = key_cut(spot.key, into->whole);
        list->value[n] = list->value[i];
        n += spot.block == block;
    }
    list->n = n;
}

/* Opens a block of a part as far as it comes to a block of `into`. */
static void open_piece(const struct part *part, uint32_t index, const struct blocks *into, uint32_t block,
                       struct content *content)
{
    const struct blocks *from = part->blocks;
    from->kernels->open(&from->block[index], from->whole, content);
    if (content->step == STEP_WHOLE && from->blocks != into->blocks) take_home(into, block, from, index, content);
}

/* ---- as a list, or with the heaviest ----------------------------------------------------------------------------- */

/* Adds a list, times `times`, to another; false if that is more than a list can have. */
static bool add_list(struct content *all, struct content *list, int64_t times, const struct blocks *into)
{
    const unsigned last = blocks_grow(into) ? STEP_WHOLE : STEP_KEEP - 1;
    const unsigned step = all->step > list->step ? all->step : list->step;
    if (step > last) return false;
    for (unsigned i = 0; i < list->n; i++) list->value[i] *= times;
    content_lower(all, step, into->whole);
    content_lower(list, step, into->whole);
    content_join(all, list, 1);
    while (all->n > BLOCK_ENTRIES) {
        if (all->step == last) return false;
        content_lower(all, all->step + 1, into->whole);
    }
    return true;
}

static bool fill_list(const struct join *join, struct blocks *into, uint32_t block, struct block *made)
{
    struct content all, list;
    content_start(&all, STEP_WHOLE);
    for (size_t p = 0; p < join->n; p++) {
        uint32_t i, end = pieces_of(&join->part[p], into->blocks, block, &i);
        for (; i < end; i++) {
            open_piece(&join->part[p], i, into, block, &list);
            if (!add_list(&all, &list, join->part[p].times, into)) return false;
        }
    }
    if (!blocks_grow(into)) return blocks_list(into, made, &all);
    return into->kernels->close(made, into->whole, &all);
}

static void fill_keeper(const struct join *join, struct blocks *into, uint32_t block, struct block *made)
{
    struct joined joined = {.entry = join->entry};
    struct content content;
    for (size_t p = 0; p < join->n; p++) {
        uint32_t i, end = pieces_of(&join->part[p], into->blocks, block, &i);
        for (; i < end; i++) {
            open_piece(&join->part[p], i, into, block, &content);
            keep_gather(&joined, &content, into->whole, join->part[p].times);
        }
    }
    keep_join(&joined, &content);
    into->kernels->close(made, into->whole, &content);
    into->keeps = true;
}

bool join_fill(struct join *join, struct blocks *into)
{
    for (uint32_t b = 0; b < into->blocks; b++) {
        struct block made;
        if (!fill_list(join, into, b, &made)) {
            if (blocks_grow(into)) return false;
            fill_keeper(join, into, b, &made);
        }
        into->block[b] = made;
    }
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The most entries that come to one of so many blocks. */
static size_t most_entries(const struct part part[], size_t n, uint32_t blocks)
{
    size_t most = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        size_t sum = 0;
        for (size_t p = 0; p < n; p++) {
            uint32_t i, end = pieces_of(&part[p], blocks, b, &i);
            for (; i < end; i++) sum += block_entries(&part[p].blocks->block[i]);
        }
        if (sum > most) most = sum;
    }
    return most;
}

bool join_start(struct join *join, const struct part part[], size_t n, uint32_t blocks, const lego_allocator *allocator)
{
    *join = (struct join){.part = part, .n = n, .allocator = allocator};
    join->size = (most_entries(part, n, blocks) + 1) * sizeof *join->entry;
    join->entry = allocator->alloc(allocator->context, join->size);
    return join->entry != NULL;
}

void join_end(struct join *join)
{
    join->allocator->free(join->allocator->context, join->entry, join->size);
}
