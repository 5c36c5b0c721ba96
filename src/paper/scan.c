/* scan: see scan.h for the network. */
#include "paper/scan.h"

#include <math.h>

#include "model/network.h"

/* Sums are of integers, 2^-20, so that they are the same however a brick came to its content. What is beyond 2^90,
 * which no cell can make with weights of any sense, counts as that: so the sum over a row fits 128 bits. */
static const double fixed_point = 0x1p20, most = 0x1p90;

__extension__ typedef __int128 signed_128;

static void add_fixed(struct fixed *sum, double value, int sign)
{
    signed_128 rounded = (signed_128)rint((value < most ? value : most) * fixed_point);
    lego_u128 was = (lego_u128)sum->high << 64 | sum->low, is = was + (lego_u128)(sign * rounded);
    *sum = (struct fixed){(uint64_t)is, (uint64_t)(is >> 64)};
}

static double from_fixed(const struct fixed *sum)
{
    return (double)(signed_128)((lego_u128)sum->high << 64 | sum->low) / fixed_point;
}

/* How many cells of a row are looked at. */
static uint32_t scanned(const struct brick *brick)
{
    uint32_t n = brick->level->columns.d / 10;
    return n > 0 ? n : 1;
}

/* Adds what g_scan makes of a cell's value, times sign. */
static void add_cell(const struct lego_model *model, int64_t value, int sign, struct fixed sum[SCAN_SET])
{
    double x = (double)value * ((double)model->rows / model->quantum), a[8], b[16], y[SCAN_SET];
    network_layer(model, SCAN_CELL_0, NETWORK_RELU, &x, a);
    network_layer(model, SCAN_CELL_1, NETWORK_RELU, a, b);
    network_layer(model, SCAN_CELL_2, NETWORK_RELU, b, y);
    for (int i = 0; i < SCAN_SET; i++) add_fixed(&sum[i], y[i], sign);
}

static void sum_row(const struct lego_model *model, const struct memory *memory, const struct brick *brick, uint32_t k,
                    struct fixed sum[SCAN_SET])
{
    struct row row = brick_row(memory, brick, k);
    memset(sum, 0, SCAN_SET * sizeof *sum);
    for (uint32_t c = 0; c < scanned(brick); c++) add_cell(model, cells_value(&row, &memory->spill, c), 1, sum);
}

/* The head that starts at this layer: 32 -> 16 -> 16 -> 8 -> 1. */
static double scan_head(const struct lego_model *model, enum layer first, const double mean[])
{
    double a[16], b[16], c[8], y;
    network_layer(model, first, NETWORK_LEAKY, mean, a);
    network_layer(model, first + 1, NETWORK_LEAKY, a, b);
    network_layer(model, first + 2, NETWORK_LEAKY, b, c);
    network_layer(model, first + 3, NETWORK_LINEAR, c, &y);
    return y;
}

/* What the networks make of a row's sums over n cells. */
static struct stream see_row(const struct lego_model *model, const struct fixed sum[SCAN_SET], uint32_t n)
{
    struct stream stream;
    double mean[SCAN_SET], a[16], b[8];
    for (int i = 0; i < SCAN_SET; i++) mean[i] = from_fixed(&sum[i]) / n;
    network_layer(model, SCAN_IMPLICIT_0, NETWORK_LEAKY, mean, a);
    network_layer(model, SCAN_IMPLICIT_1, NETWORK_LEAKY, a, b);
    network_layer(model, SCAN_IMPLICIT_2, NETWORK_LEAKY, b, stream.implicit);
    stream.skew = scan_head(model, SCAN_SKEW_0, mean);
    stream.distinct = scan_head(model, SCAN_DISTINCT_0, mean);
    return stream;
}

static void add_seen(struct stream *mean, const struct stream *row, uint32_t rows)
{
    for (int i = 0; i < SCAN_IMPLICIT; i++) mean->implicit[i] += row->implicit[i] / rows;
    mean->skew += row->skew / rows;
    mean->distinct += row->distinct / rows;
}

/* Brings a summary that this reader alone may write up to date. */
static void refresh(const struct lego_model *model, const struct memory *memory, const struct brick *brick,
                    bool counted, struct summary *summary)
{
    summary->stream = (struct stream){0, 0, {0}};
    for (uint32_t k = 0; k < model->rows; k++) {
        struct summary_row *row = &summary->row[k];
        if (!counted) sum_row(model, memory, brick, k, row->sum);
        if (!counted || summary->behind >> k & 1) row->seen = see_row(model, row->sum, scanned(brick));
        add_seen(&summary->stream, &row->seen, model->rows);
    }
    summary->behind = summary->lag = 0;
}

/* Meanwhile another one makes its own, of the sums if these are there: no reader changes them then. */
static struct stream scan_aside(const struct lego_model *model, const struct memory *memory, const struct brick *brick,
                                bool counted, const struct summary *summary)
{
    struct stream stream = {0, 0, {0}};
    for (uint32_t k = 0; k < model->rows; k++) {
        struct fixed sum[SCAN_SET];
        if (!counted) sum_row(model, memory, brick, k, sum);
        struct stream seen = see_row(model, counted ? summary->row[k].sum : sum, scanned(brick));
        add_seen(&stream, &seen, model->rows);
    }
    return stream;
}

struct stream scan_brick(const struct lego_model *model, const struct memory *memory, const struct brick *brick)
{
    struct summary *summary = brick_summary(memory, brick->number);
    uint32_t state = atomic_load_explicit(&summary->state, memory_order_acquire);
    if (state == SUMMARY_READY) return summary->stream;
    bool counted = state == SUMMARY_COUNTED;
    if (state == SUMMARY_BUSY || !atomic_compare_exchange_strong(&summary->state, &state, SUMMARY_BUSY))
        return scan_aside(model, memory, brick, counted, summary);
    refresh(model, memory, brick, counted, summary);
    struct stream stream = summary->stream;
    atomic_store_explicit(&summary->state, SUMMARY_READY, memory_order_release);
    return stream;
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */

enum { LAG_MOST = 64 }; /* stores without a question, after which it is cheaper to scan again when there is one */

struct scan_follow scan_before(const struct memory *memory, const struct place *place)
{
    struct scan_follow follow = {.brick = brick_of(memory, place->brick), .state = SUMMARY_EMPTY};
    if (!memory->summaries) return follow;
    follow.state = atomic_load_explicit(&brick_summary(memory, follow.brick.number)->state, memory_order_relaxed);
    if (follow.state != SUMMARY_EMPTY) brick_read(memory, &follow.brick, place, follow.value);
    return follow;
}

void scan_after(const struct lego_model *model, struct memory *memory, const struct place *place,
                const struct scan_follow *follow)
{
    struct brick now = brick_of(memory, place->brick);
    struct summary *summary = brick_summary(memory, now.number);
    int64_t value[LEGO_ROWS_MAX];
    if (now.level != follow->brick.level || summary->lag++ == LAG_MOST) return;
    brick_read(memory, &now, place, value);
    for (uint32_t k = 0; k < model->rows; k++) {
        if (divisor_mod(now.level->columns, place->column[k]) >= scanned(&now)) continue;
        add_cell(model, follow->value[k], -1, summary->row[k].sum);
        add_cell(model, value[k], 1, summary->row[k].sum);
        summary->behind |= 1u << k;
    }
    uint32_t state = summary->behind ? SUMMARY_COUNTED : SUMMARY_READY;
    atomic_store_explicit(&summary->state, state, memory_order_relaxed);
}
