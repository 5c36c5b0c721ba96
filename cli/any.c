/* A sketch, plain or elastic; see any.h.
 *
 * SPDX-License-Identifier: MIT */
#include "any.h"

#include "output.h"

void any_destroy(any_sketch *any)
{
    lego_sketch_destroy(any->plain);
    lego_elastic_destroy(any->elastic);
    *any = (any_sketch){NULL, NULL};
}

const lego_sketch *any_light(const any_sketch *any)
{
    return any->elastic != NULL ? lego_elastic_light(any->elastic) : any->plain;
}

lego_status any_add(const any_sketch *any, const void *item, size_t size, int64_t count)
{
    return any->elastic != NULL ? lego_elastic_add(any->elastic, item, size, count)
                                : lego_sketch_add(any->plain, item, size, count);
}

lego_status any_add_batch(const any_sketch *any, const item_batch *batch)
{
    if (any->elastic != NULL && batch->keys != NULL)
        return lego_elastic_add_u64s(any->elastic, batch->keys, batch->counts, batch->n);
    if (any->elastic != NULL)
        return lego_elastic_add_batch(any->elastic, batch->bytes, batch->offsets, batch->counts, batch->n);
    if (batch->keys != NULL)
        return lego_sketch_add_u64s(any->plain, batch->keys, batch->counts, batch->n);
    return lego_sketch_add_batch(any->plain, batch->bytes, batch->offsets, batch->counts, batch->n);
}

lego_status any_estimate(const any_sketch *any, const item_batch *batch, lego_estimate *answers)
{
    if (any->elastic != NULL && batch->keys != NULL)
        return lego_elastic_estimate_u64s(any->elastic, batch->keys, batch->n, answers);
    if (any->elastic != NULL)
        return lego_elastic_estimate_batch(any->elastic, batch->bytes, batch->offsets, batch->n, answers);
    if (batch->keys != NULL)
        return lego_sketch_estimate_u64s(any->plain, batch->keys, batch->n, answers);
    return lego_sketch_estimate_batch(any->plain, batch->bytes, batch->offsets, batch->n, answers);
}

lego_status any_merge(const any_sketch *into, const any_sketch *from)
{
    if ((into->elastic != NULL) != (from->elastic != NULL))
        return LEGO_ERR_ARGUMENT;
    return into->elastic != NULL ? lego_elastic_merge(into->elastic, from->elastic)
                                 : lego_sketch_merge(into->plain, from->plain);
}

static lego_status save_elastic(const void *elastic, lego_write write, void *context)
{
    return lego_elastic_save(elastic, write, context);
}

bool any_output(const char *path, const any_sketch *any)
{
    return any->elastic != NULL ? output_file(path, save_elastic, any->elastic) : output_sketch(path, any->plain);
}
