/* stream: see stream.h for the network and for who writes what. */
#include "paper/stream.h"

#include <math.h>

#include "model/network.h"

/* Adds what g_scan makes of a cell's value, times sign, in units of 2^-20. What is beyond 2^90, which no cell can make
 * with weights of any sense, counts as that: so the sum over a row fits 128 bits. */
static void add_cell(const struct lego_model *model, int64_t value, int sign, scan_sum sum[SCAN_SET])
{
    static const double unit = 0x1p20, most = 0x1p90;
    double x = (double)value * ((double)model->rows / model->quantum), a[8], b[16], y[SCAN_SET];
    network_layer(model, SCAN_CELL_0, NETWORK_RELU, &x, a);
    network_layer(model, SCAN_CELL_1, NETWORK_RELU, a, b);
    network_layer(model, SCAN_CELL_2, NETWORK_RELU, b, y);
    for (int i = 0; i < SCAN_SET; i++) sum[i] += sign * (scan_sum)rint((y[i] < most ? y[i] : most) * unit);
}

static void sum_row(const struct lego_model *model, const struct cells *cells, scan_sum sum[SCAN_SET])
{
    memset(sum, 0, SCAN_SET * sizeof *sum);
    for (uint32_t i = 0; i < scan_cells(cells->n); i++) add_cell(model, row_get(cells, i), 1, sum);
}

/* The head that starts at this layer: 32 -> 16 -> 16 -> 8 -> 1. */
static double see_head(const struct lego_model *model, enum layer first, const double mean[])
{
    double a[16], b[16], c[8], y;
    network_layer(model, first, NETWORK_LEAKY, mean, a);
    network_layer(model, first + 1, NETWORK_LEAKY, a, b);
    network_layer(model, first + 2, NETWORK_LEAKY, b, c);
    network_layer(model, first + 3, NETWORK_LINEAR, c, &y);
    return y;
}

/* What the networks make of a row's sums over n cells. */
static struct stream see_row(const struct lego_model *model, const scan_sum sum[SCAN_SET], uint32_t n)
{
    struct stream stream;
    double mean[SCAN_SET], a[16], b[8];
    for (int i = 0; i < SCAN_SET; i++) mean[i] = (double)sum[i] / 0x1p20 / n;
    network_layer(model, SCAN_IMPLICIT_0, NETWORK_LEAKY, mean, a);
    network_layer(model, SCAN_IMPLICIT_1, NETWORK_LEAKY, a, b);
    network_layer(model, SCAN_IMPLICIT_2, NETWORK_LEAKY, b, stream.implicit);
    stream.skew = see_head(model, SCAN_SKEW_0, mean);
    stream.distinct = see_head(model, SCAN_DISTINCT_0, mean);
    return stream;
}

static struct stream mean_of(const struct scan_row *const row[], uint32_t rows)
{
    struct stream mean = {0, 0, {0}};
    for (uint32_t k = 0; k < rows; k++) {
        for (int i = 0; i < SCAN_IMPLICIT; i++) mean.implicit[i] += row[k]->seen.implicit[i] / rows;
        mean.skew += row[k]->seen.skew / rows;
        mean.distinct += row[k]->seen.distinct / rows;
    }
    return mean;
}

/* Writes down what a reader has made, if no other was first since the reader saw this state. */
static void keep(struct scan *scan, uint32_t state, uint32_t behind, uint32_t rows, const struct scan_row made[])
{
    if (state == SCAN_BUSY || !atomic_compare_exchange_strong(&scan->state, &state, SCAN_BUSY)) return;
    for (uint32_t k = 0; k < rows; k++) {
        if (state == SCAN_NONE) scan->row[k] = made[k];
        else if (behind >> k & 1) scan->row[k].seen = made[k].seen;
    }
    scan->lag = 0;
    atomic_store_explicit(&scan->state, SCAN_SUMS, memory_order_release);
}

struct stream scan_stream(const struct lego_model *model, const struct cells rows[], struct scan *scan)
{
    uint32_t state = atomic_load_explicit(&scan->state, memory_order_acquire);
    bool summed = state >= SCAN_SUMS;
    uint32_t behind = summed ? state / SCAN_BEHIND : UINT32_MAX;
    struct scan_row made[ROWS_MAX];
    const struct scan_row *row[ROWS_MAX];
    for (uint32_t k = 0; k < model->rows; k++) {
        row[k] = behind >> k & 1 ? &made[k] : &scan->row[k];
        if (!summed) sum_row(model, &rows[k], made[k].sum);
        if (behind >> k & 1)
            made[k].seen = see_row(model, summed ? scan->row[k].sum : made[k].sum, scan_cells(rows[k].n));
    }
    struct stream stream = mean_of(row, model->rows);
    if (behind) keep(scan, state, behind, model->rows, made);
    return stream;
}

bool scan_follows(struct scan *scan)
{
    enum { LAG_MOST = 64 }; /* stores without a question, after which it is cheaper to scan again when there is one */
    if (atomic_load_explicit(&scan->state, memory_order_relaxed) == SCAN_NONE) return false;
    if (scan->lag++ < LAG_MOST) return true;
    scan_forget(scan);
    return false;
}

void scan_follow(const struct lego_model *model, struct scan *scan, uint32_t row, int64_t before, int64_t after)
{
    add_cell(model, before, -1, scan->row[row].sum);
    add_cell(model, after, 1, scan->row[row].sum);
    atomic_fetch_or_explicit(&scan->state, (uint32_t)SCAN_BEHIND << row, memory_order_relaxed);
}
