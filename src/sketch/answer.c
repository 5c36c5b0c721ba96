/* answer: estimates from blocks, one or many at once.
 *
 * An answer depends on the content of the sketch alone: not on what is asked together, nor on what was asked before. */
#include <math.h>

#include "model/bounds.h"
#include "sketch/sketch.h"

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* What others add to a cell, or to an entry, on average, if the stream is spread evenly. */
static double noise_of(const struct blocks *blocks, const struct reading *reading, unsigned value)
{
    bool cap = value == (step_lists(reading->step) ? 1 : 2);
    uint32_t sharers = cap && blocks->blocks > BLOCKS_A_CAP ? BLOCKS_A_CAP : cap ? blocks->blocks : 1;
    return fmax(0, (double)blocks->total) * sharers / ((double)blocks->blocks * reading->width[value]);
}

static double slack_of(const struct blocks *blocks, const struct reading *reading)
{
    struct reads reads = {.rows = reading->values};
    for (unsigned i = 0; i < reading->values; i++) reads.noise[i] = noise_of(blocks, reading, i);
    return decode_slack(&reads);
}

/* The least read. Where fewer than one item of twenty in a list can share its print, that is the count for at least
 * 95 % of the items: all three are the same. */
static lego_estimate answer_of(const struct blocks *blocks, const struct reading *reading)
{
    int64_t upper = reading_upper(reading);
    lego_estimate estimate = {(double)upper, upper, upper};
    bool alone = step_lists(reading->step) && 20 * (uint64_t)reading->entries < reading->width[0];
    if (upper <= 0 || alone) return estimate;
    double slack = slack_of(blocks, reading);
    estimate.lower = slack < (double)upper ? upper - (int64_t)slack : 0;
    return estimate;
}

lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash)
{
    const struct blocks *blocks = &sketch->blocks;
    struct reading reading;
    blocks_read(blocks, spot_of(blocks->blocks, hash), &reading);
    return answer_of(blocks, &reading);
}

/* ---- many items -------------------------------------------------------------------------------------------------- */

enum { AHEAD = 16 }; /* items whose blocks are on their way while those before them are answered */

/* Items from `first` on. */
static void answer_some(const lego_sketch *sketch, const struct spot spot[], unsigned n, size_t first,
                        lego_estimate *estimates)
{
    struct reading reading[AHEAD];
    blocks_read_many(&sketch->blocks, spot, n, reading);
    for (unsigned i = 0; i < n; i++) estimates[first + i] = answer_of(&sketch->blocks, &reading[i]);
}

/* Where n items are from `first` on; their blocks are on their way. */
static void place_items(const lego_sketch *sketch, const lego_items *items, size_t first, unsigned n,
                        struct spot spot[])
{
    const struct blocks *blocks = &sketch->blocks;
    struct hashes hashes;
    if (items->integers) blocks->kernels->hash_keys(items->integers + first, n, sketch->seed, &hashes);
    for (unsigned i = 0; i < n; i++) {
        struct hash hash =
            items->integers ? (struct hash){hashes.lo[i], hashes.hi[i]} : items_hash(items, first + i, sketch->seed);
        spot[i] = spot_of(blocks->blocks, hash);
        blocks_prefetch(blocks, spot[i].block);
    }
}

/* While the blocks of some items are on their way, the items before them are answered. */
void blocks_query_items(const lego_sketch *sketch, const lego_items *items, size_t first, size_t end,
                        lego_estimate *estimates)
{
    struct spot spot[2][AHEAD];
    unsigned before = 0;
    for (size_t start = first, turn = 0; start < end || before > 0; turn ^= 1) {
        unsigned n = end - start < AHEAD ? (unsigned)(end - start) : AHEAD;
        place_items(sketch, items, start, n, spot[turn]);
        answer_some(sketch, spot[turn ^ 1], before, start - before, estimates);
        start += n;
        before = n;
    }
}
