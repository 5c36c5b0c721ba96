/* scan: see scan.h for the network. */
#include "scan.h"

#include "network.h"

static void scan_row(const struct lego_model *model, const struct memory *memory, const struct row *row, uint32_t n,
                     double mean[])
{
    double scale = (double)model->rows / model->quantum;
    memset(mean, 0, LAYER_WIDTH_MAX * sizeof *mean);
    for (uint32_t c = 0; c < n; c++) {
        double x = (double)cells_value(row, &memory->spill, c) * scale, a[8], b[16], y[32];
        network_layer(model, SCAN_CELL_0, NETWORK_RELU, &x, a);
        network_layer(model, SCAN_CELL_1, NETWORK_RELU, a, b);
        network_layer(model, SCAN_CELL_2, NETWORK_RELU, b, y);
        for (int i = 0; i < 32; i++) mean[i] += y[i] / n;
    }
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

static struct stream scan_cells(const struct lego_model *model, const struct memory *memory, const struct brick *brick)
{
    struct stream stream = {0, 0, {0}};
    uint32_t rows = model->rows, n = brick->level->columns.d / 10;
    if (n == 0) n = 1;
    for (uint32_t k = 0; k < rows; k++) {
        struct row row = brick_row(memory, brick, k);
        double mean[LAYER_WIDTH_MAX], a[16], b[8], implicit[SCAN_IMPLICIT];
        scan_row(model, memory, &row, n, mean);
        network_layer(model, SCAN_IMPLICIT_0, NETWORK_LEAKY, mean, a);
        network_layer(model, SCAN_IMPLICIT_1, NETWORK_LEAKY, a, b);
        network_layer(model, SCAN_IMPLICIT_2, NETWORK_LEAKY, b, implicit);
        for (int i = 0; i < SCAN_IMPLICIT; i++) stream.implicit[i] += implicit[i] / rows;
        stream.skew += scan_head(model, SCAN_SKEW_0, mean) / rows;
        stream.distinct += scan_head(model, SCAN_DISTINCT_0, mean) / rows;
    }
    return stream;
}

struct stream scan_brick(const struct lego_model *model, const struct memory *memory, const struct brick *brick)
{
    struct summary *summary = &memory->summaries[brick->number];
    if (atomic_load_explicit(&summary->state, memory_order_acquire) == SUMMARY_READY) return summary->stream;

    struct stream stream = scan_cells(model, memory, brick);
    uint32_t empty = SUMMARY_EMPTY;
    if (atomic_compare_exchange_strong(&summary->state, &empty, SUMMARY_BUSY)) {
        summary->stream = stream;
        atomic_store_explicit(&summary->state, SUMMARY_READY, memory_order_release);
    }
    return stream;
}
