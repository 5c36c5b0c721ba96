/* Count-Min with conservative update (Estan and Varghese, SIGCOMM 2002): 3 rows of 4-byte cells, of which an addition
 * raises only those that must grow for the least to become least + count. Never below the truth, and closer to it than
 * Count-Min, but nothing can be taken out again and the result depends on the order of the stream. */
#include "counters.h"

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    rows *table = self;
    uint64_t cells[ROWS];
    if (count < 0) return LEGO_ERR_ARGUMENT;
    rows_locate(table, item, size, cells);
    uint32_t raised = add_u32(rows_least(table, cells), count);
    for (unsigned row = 0; row < ROWS; row++) {
        if (table->cells[cells[row]] < raised) table->cells[cells[row]] = raised;
    }
    return LEGO_OK;
}

const estimator_kind estimator_cu = {
    "cu", TABLE_OF_ROWS, .in_order = true, .insert_only = true, .add = add, .estimate = rows_estimate_least};
