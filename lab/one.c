/* The trivial answer: every item occurred once. It needs no memory, and on streams of rare items it is hard to beat,
 * so every table needs it as a measure of the others. */
#include "estimator.h"

static lego_status add(void *self, const void *item, size_t size, int64_t count)
{
    (void)self, (void)item, (void)size, (void)count;
    return LEGO_OK;
}

static lego_status estimate(const void *self, const void *item, size_t size, double *value)
{
    (void)self, (void)item, (void)size;
    *value = 1;
    return LEGO_OK;
}

const estimator_kind estimator_one = {"one", .seedless = true, .add = add, .estimate = estimate};
