/* Count-Mean-Min (Deng and Rafiei, "New estimation algorithms for streaming data: Count-min can do more", 2007): the
 * cells of Count-Min, but from each is taken what the other items are expected to have left there, the mean of the rest
 * of its row; the answer is the median of the rows, at least 0 and at most what Count-Min says. */
#include "counters.h"

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    rows *table = self;
    uint64_t cells[ROWS];
    rows_locate(table, item, size, cells);
    uint32_t before = table->cells[cells[0]];
    rows_add(table, cells, count);
    table->total += (int64_t)table->cells[cells[0]] - before; /* of what a row holds, should a cell be full */
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const rows *table = self;
    uint64_t cells[ROWS];
    rows_locate(table, item, size, cells);
    double least = rows_least(table, cells);
    double others = table->of.units > 1 ? (double)(table->of.units - 1) : 1; /* cells that share the rest of a row */
    double reads[ROWS];
    for (unsigned row = 0; row < ROWS; row++) {
        double cell = table->cells[cells[row]];
        reads[row] = cell - ((double)table->total - cell) / others;
    }
    double median = median_of_3(reads[0], reads[1], reads[2]);
    *value = median < 0 ? 0 : median > least ? least : median;
    return LEGO_OK;
}

const estimator_kind estimator_cmm = {"cmm", TABLE_OF_ROWS, .add = add, .estimate = estimate};
