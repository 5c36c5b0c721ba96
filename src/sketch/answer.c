/* answer: estimates from blocks, one or many at once, and the scan that they share.
 *
 * A block that lists has the answer. Of those that share, items are decoded DECODE_MOST at a time (model/kernels.h). An
 * answer depends on the content of the sketch alone: not on what is asked together, nor on what was asked before. */
#include <math.h>
#include <string.h>

#include "model/bounds.h"
#include "sketch/sketch.h"

/* ---- the scan ---------------------------------------------------------------------------------------------------- */

/* What the decoder needs of a sketch while it does not change. */
struct scanned {
    struct decode_stream stream;
    bool any; /* whether a scanned block shares: else there is nothing to go by */
    float made[DECODE_HIDDEN_ROOM];
};

/* Several readers may find that there is no scan. Each makes its own; the first to be done writes it down. */
static __attribute__((noinline)) void scan_blocks(const lego_sketch *sketch, struct scanned *scan)
{
    struct blocks_summary *summary = sketch->summary;
    uint32_t state = SUMMARY_EMPTY;
    compact_bias_of(sketch->model, &sketch->blocks, scan->made, &scan->any);
    scan->stream.bias = scan->made;
    if (!atomic_compare_exchange_strong(&summary->state, &state, SUMMARY_BUSY)) return;
    memcpy(summary->bias, scan->made, sizeof summary->bias);
    summary->any = scan->any;
    atomic_store_explicit(&summary->state, SUMMARY_READY, memory_order_release);
}

/* Only blocks that have grown share, and these have a summary. */
static void scan_start(struct scanned *scan, const lego_sketch *sketch)
{
    const struct blocks_summary *summary = sketch->summary;
    if (atomic_load_explicit(&summary->state, memory_order_acquire) == SUMMARY_READY) {
        scan->stream.bias = summary->bias;
        scan->any = summary->any;
    } else {
        scan_blocks(sketch, scan);
    }
    compact_scale(&sketch->blocks, &scan->stream);
}

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

/* Of a list: its entry, or what the cap says if that is less. Where fewer than one item of twenty can share its
 * print, that is the count for at least 95 % of the items: all three are the same. */
static lego_estimate answer_listed(const struct blocks *blocks, const struct reading *reading)
{
    int64_t upper = reading_upper(reading);
    lego_estimate estimate = {(double)upper, upper, upper};
    if (upper <= 0 || 20 * (uint64_t)reading->entries < reading->width[0]) return estimate;
    double slack = slack_of(blocks, reading);
    estimate.lower = slack < (double)upper ? upper - (int64_t)slack : 0;
    return estimate;
}

/* The bound itself where the network has next to nothing against it: there it is exact more often than not, and a
 * network far from what it was trained on, with kilobytes a key, says 0.999 as easily as 1. */
static inline double nearly_one(double h)
{
    return h < 0.98 ? h : 2 * h - 0.98; /* 1 from 0.99 on */
}

/* Of shared cells: the least is the bound. The network lowers it: not below 1, since who asks for an item has mostly
 * seen it, and a cell that is not empty cannot say that it was not there. */
static inline lego_estimate answer_shared(const struct blocks *blocks, const struct reading *reading,
                                          const lego_asking *asking, float h)
{
    (void)asking; /* LEAD (issue 18): here it arrives; the network knows nothing of it, the posterior will */
    int64_t upper = reading_upper(reading);
    if (upper <= 0) return (lego_estimate){(double)upper, upper, upper};
    double slack = slack_of(blocks, reading), bound = (double)upper, value = nearly_one((double)h) * bound;
    int64_t lower = slack < bound ? upper - (int64_t)slack : 0;
    value = value > 1 ? value : 1; /* also if it is not a number */
    value = value < bound ? value : bound;
    return (lego_estimate){value, value < (double)lower ? (int64_t)value : lower, upper};
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash, const lego_asking *asking)
{
    const struct blocks *blocks = &sketch->blocks;
    struct reading reading;
    struct scanned scan;
    struct decode_items items;
    float h[DECODE_MOST] = {1};
    blocks_read(blocks, spot_of(blocks->blocks, hash), &reading);
    if (step_lists(reading.step)) return answer_listed(blocks, &reading);
    scan_start(&scan, sketch);
    compact_put(&reading, &items, 0);
    if (scan.any) decode_kernels_best()->decode(sketch->model->decoder, &scan.stream, &items, 1, h);
    return answer_shared(blocks, &reading, asking, h[0]);
}

/* ---- many items -------------------------------------------------------------------------------------------------- */

/* Items of blocks that share, on their way through the decoder. */
struct shared {
    const lego_asking *asking;
    struct scanned scan;
    bool is_scanned;
    unsigned n;
    size_t index[DECODE_MOST];
    struct reading reading[DECODE_MOST];
    struct decode_items items;
};

static void answer_all_shared(const lego_sketch *sketch, struct shared *shared, lego_estimate *estimates)
{
    float h[DECODE_MOST];
    if (shared->n == 0) return;
    if (!shared->is_scanned) scan_start(&shared->scan, sketch);
    shared->is_scanned = true;
    for (unsigned i = 0; i < DECODE_MOST; i++) h[i] = 1;
    if (shared->scan.any)
        decode_kernels_best()->decode(sketch->model->decoder, &shared->scan.stream, &shared->items, shared->n, h);
    for (unsigned i = 0; i < shared->n; i++)
        estimates[shared->index[i]] = answer_shared(&sketch->blocks, &shared->reading[i], shared->asking, h[i]);
    shared->n = 0;
}

enum { AHEAD = 16 }; /* items whose blocks are on their way while those before them are answered */

/* Items from `first` on. */
static void answer_some(const lego_sketch *sketch, const struct spot spot[], unsigned n, size_t first,
                        struct shared *shared, lego_estimate *estimates)
{
    struct reading reading[AHEAD];
    blocks_read_many(&sketch->blocks, spot, n, reading);
    for (unsigned i = 0; i < n; i++) {
        if (step_lists(reading[i].step)) {
            estimates[first + i] = answer_listed(&sketch->blocks, &reading[i]);
            continue;
        }
        shared->index[shared->n] = first + i;
        shared->reading[shared->n] = reading[i];
        compact_put(&reading[i], &shared->items, shared->n);
        if (++shared->n == DECODE_MOST) answer_all_shared(sketch, shared, estimates);
    }
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
                        const lego_asking *asking, lego_estimate *estimates)
{
    struct spot spot[2][AHEAD];
    struct shared shared = {.asking = asking};
    unsigned before = 0;
    for (size_t start = first, turn = 0; start < end || before > 0; turn ^= 1) {
        unsigned n = end - start < AHEAD ? (unsigned)(end - start) : AHEAD;
        place_items(sketch, items, start, n, spot[turn]);
        answer_some(sketch, spot[turn ^ 1], before, start - before, &shared, estimates);
        start += n;
        before = n;
    }
    answer_all_shared(sketch, &shared, estimates);
}
