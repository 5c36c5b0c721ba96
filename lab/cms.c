/* Count-Min (Cormode and Muthukrishnan, J. Algorithms 2005) as the paper evaluates it: 3 rows of 4-byte cells that fill
 * the budget. Cells saturate instead of wrapping, at both ends, so that a heavy item or a deletion cannot make nonsense
 * of others. */
#include "counters.h"

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    uint64_t cells[ROWS];
    rows_locate(self, item, size, cells);
    rows_add(self, cells, count);
    return LEGO_OK;
}

const estimator_kind estimator_cms = {"cms", TABLE_OF_ROWS, .add = add, .estimate = rows_estimate_least};
