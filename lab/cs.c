/* The Count sketch (Charikar, Chen and Farach-Colton, ICALP 2002): 3 rows of signed 4-byte cells that fill the budget;
 * every item has a sign of its own in each row, so that others cancel out on average, and the answer is the median of
 * the three signed reads. `cs` gives it as it is, negative ones too, as in the figures published for the Lego sketch;
 * `cs-clipped` answers at least 1, which is fairer where only items that occurred are asked for. */
#include "counters.h"

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    rows *table = self;
    signed_add((int32_t *)table->cells, table->of.units, hash_item(item, size, table->of.seed), 0, count);
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    const rows *table = self;
    *value = signed_read((const int32_t *)table->cells, table->of.units, hash_item(item, size, table->of.seed), 0);
    return LEGO_OK;
}

static lego_status estimate_clipped(const void *self, const void *item, size_t size, double *value)
{
    estimate(self, item, size, value);
    *value = *value < 1 ? 1 : *value;
    return LEGO_OK;
}

const estimator_kind estimator_cs = {"cs", TABLE_OF_ROWS, .add = add, .estimate = estimate};

const estimator_kind estimator_cs_clipped = {"cs-clipped", TABLE_OF_ROWS, .add = add, .estimate = estimate_clipped};
