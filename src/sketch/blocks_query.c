/* blocks_query: see blocks_query.h. */
#include "sketch/blocks_query.h"

#include <math.h>
#include <string.h>

#include "model/bounds.h"

/* ---- the scan ---------------------------------------------------------------------------------------------------- */

void query_bias(const lego_model *model, const struct compact_counts *counts, float bias[DECODE_HIDDEN_ROOM])
{
    struct compact_view view;
    double stream[COMPACT_STREAM];
    compact_look(counts, &view);
    compact_scan(model->weights, &view, stream);
    compact_bias(model->weights, stream, bias);
}

/* Several readers may find that there is no scan, or that it lags behind its counts. Each makes its own; the first to
 * be done writes it down. */
static __attribute__((noinline)) void scan_blocks(const lego_sketch *sketch, float bias[DECODE_HIDDEN_ROOM])
{
    struct blocks_summary *summary = sketch->summary;
    struct compact_counts made;
    uint32_t state = atomic_load_explicit(&summary->state, memory_order_acquire);
    bool is_counted = state == SUMMARY_COUNTED; /* then nobody writes to the counts */
    if (!is_counted) compact_count(&sketch->dense, &made);
    query_bias(sketch->model, is_counted ? &summary->counts : &made, bias);
    if (state == SUMMARY_BUSY || !atomic_compare_exchange_strong(&summary->state, &state, SUMMARY_BUSY)) return;
    if (!is_counted) summary->counts = made;
    memcpy(summary->bias, bias, sizeof summary->bias);
    summary->lag = 0;
    atomic_store_explicit(&summary->state, SUMMARY_READY, memory_order_release);
}

/* The first layer's bias, from the cache if it is there; else `made`. */
static inline const float *find_bias(const lego_sketch *sketch, float made[DECODE_HIDDEN_ROOM])
{
    struct blocks_summary *summary = sketch->summary;
    if (atomic_load_explicit(&summary->state, memory_order_acquire) == SUMMARY_READY) return summary->bias;
    scan_blocks(sketch, made);
    return made;
}

enum { LAG_MOST = 64 }; /* stores without a question, after which it is cheaper to count again when there is one */

void blocks_add_scanned(lego_sketch *sketch, const struct half *half, unsigned which, int64_t count)
{
    struct dense *dense = &sketch->dense;
    struct blocks_summary *summary = sketch->summary;
    const struct block *block = &dense->block[half->block];
    uint32_t state = atomic_load_explicit(&summary->state, memory_order_relaxed);
    unsigned step = block_step(block);
    int64_t before = 0;
    if (state != SUMMARY_EMPTY) before = dense->kernels->get(block, block_place(step, which, half->column[0]));
    dense_add_half(dense, half, which, count);
    if (state == SUMMARY_EMPTY) return;
    bool follows = block_step(block) == step && ++summary->lag <= LAG_MOST &&
                   compact_recount(&summary->counts, which, block_columns[step][which], before, before + count);
    state = follows ? SUMMARY_COUNTED : SUMMARY_EMPTY;
    atomic_store_explicit(&summary->state, state, memory_order_relaxed);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

double query_slack(const struct dense *dense, uint32_t widths)
{
    struct reads reads = {.total = dense->total};
    for (; widths; widths >>= 4)
        reads.noise[reads.rows++] = fmax(0, (double)dense->total) / ((double)dense->blocks * (1u << (widths & 15)));
    return decode_slack(&reads);
}

/* The bound itself where the network has next to nothing against it: there it is exact more often than not, and a
 * network far from what it was trained on, with kilobytes a key, says 0.999 as easily as 1. */
static inline double nearly_one(double h)
{
    return h < 0.98 ? h : 2 * h - 0.98; /* 1 from 0.99 on */
}

/* The least read is the bound. The network lowers it: not below 1, since who asks for an item has mostly seen it, and a
 * cell that is not empty cannot say that it was not there. */
static inline lego_estimate answer(int64_t upper, double slack, float h)
{
    double bound = (double)upper, value = nearly_one((double)h) * bound;
    int64_t lower = slack < bound ? upper - (int64_t)slack : 0;
    value = value > 1 ? value : 1; /* also if it is not a number */
    value = value < bound ? value : bound;
    if (value < (double)lower) lower = (int64_t)value;
    return upper > 0 ? (lego_estimate){value, lower, upper} : (lego_estimate){bound, upper, upper};
}

/* What a sketch is asked with while it does not change. */
struct query {
    const lego_sketch *sketch;
    struct decode_stream stream;
    float bias[DECODE_HIDDEN_ROOM];         /* if the sketch has none that is ready */
    double slack[BLOCK_STEPS][BLOCK_STEPS]; /* by the steps of an item's blocks; below 0: not known yet */
};

static void look_up(const struct query *query, const struct decode_places *place, unsigned n,
                    struct decode_items *items, float h[DECODE_MOST])
{
    const struct dense *dense = &query->sketch->dense;
    dense->kernels->read_items(dense->block, place, n, items);
    dense->decoder->decode(query->sketch->model->decoder, &query->stream, items, n, h);
}

static void query_start(struct query *query, const lego_sketch *sketch)
{
    query->sketch = sketch;
    query->stream.bias = find_bias(sketch, query->bias);
    compact_scale(&sketch->dense, &query->stream);
    for (unsigned i = 0; i < BLOCK_STEPS * BLOCK_STEPS; i++) query->slack[i / BLOCK_STEPS][i % BLOCK_STEPS] = -1;
}

static void query_answer(struct query *query, const struct decode_places *place, unsigned n, lego_estimate estimates[])
{
    struct decode_items items;
    float h[DECODE_MOST];
    look_up(query, place, n, &items, h);
    for (unsigned i = 0; i < n; i++) {
        double *slack = &query->slack[items.step[0][i]][items.step[1][i]];
        if (*slack < 0) *slack = query_slack(&query->sketch->dense, items.widths[i]);
        estimates[i] = answer(items.key[0][i] >> 2, *slack, h[i]);
    }
}

static void fetch_blocks(const struct dense *dense, const struct decode_places *place, unsigned n)
{
    for (unsigned which = 0; which < 2; which++)
        for (unsigned i = 0; i < n; i++) __builtin_prefetch(&dense->block[place->block[which][i]]);
}

/* While the blocks of some items are on their way, the items before them are answered. */
void blocks_query_items(const lego_sketch *sketch, const lego_items *items, size_t first, size_t end,
                        lego_estimate *estimates)
{
    struct query query;
    struct decode_places place[2];
    query_start(&query, sketch);
    size_t before = 0;
    for (size_t start = first, turn = 0; start < end || before > 0; turn ^= 1) {
        size_t size = end - start < DECODE_MOST ? end - start : DECODE_MOST;
        items_place(items, start, (unsigned)size, sketch, &place[turn]);
        fetch_blocks(&sketch->dense, &place[turn], (unsigned)size);
        if (before > 0) query_answer(&query, &place[turn ^ 1], (unsigned)before, estimates + start - before);
        start += size;
        before = size;
    }
}

lego_estimate blocks_query(const lego_sketch *sketch, struct hash hash)
{
    struct query query; /* without slacks */
    struct decode_places place;
    struct decode_items items;
    float h[DECODE_MOST];
    query.sketch = sketch;
    for (unsigned which = 0; which < 2; which++) {
        struct half half = dense_half(&sketch->dense, hash, which);
        __builtin_prefetch(&sketch->dense.block[half.block]);
        place.block[which][0] = half.block;
        place.column[which][0][0] = half.column[0];
        place.column[which][1][0] = half.column[1];
    }
    query.stream.bias = find_bias(sketch, query.bias);
    compact_scale(&sketch->dense, &query.stream);
    look_up(&query, &place, 1, &items, h);
    return answer(items.key[0][0] >> 2, query_slack(&sketch->dense, items.widths[0]), h[0]);
}
