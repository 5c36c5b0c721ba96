/* lego_add(): one item into a sketch that is a value.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "arguments.h"
#include "catalog/pg_type.h"
#include "errors.h"
#include "item.h"
#include "memory.h"
#include "options.h"
#include "sketch.h"

/* As array_append() does, it begins with an empty one where there is none. */
static lego_sketch *load_or_create(FunctionCallInfo fcinfo)
{
    if (!PG_ARGISNULL(0)) return sketch_load(PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    lego_allocator allocator = memory_in(CurrentMemoryContext);
    lego_options options = options_default();
    options.allocator = &allocator;
    lego_sketch *sketch;
    require_ok(lego_create(&options, &sketch));
    return sketch;
}

/* Where there is no item or no count the sketch stays as it is: SET sketch = lego_add(sketch, NULL) loses nothing. */
SQL_FUNCTION(add)
{
    struct item item;
    const struct item_type *type = item_type_of_argument(fcinfo, 1);
    if (PG_ARGISNULL(1) || PG_ARGISNULL(2) || !type->read(PG_GETARG_DATUM(1), &item)) {
        if (PG_ARGISNULL(0)) PG_RETURN_NULL();
        return PG_GETARG_DATUM(0);
    }
    int64 count = argument_integer(PG_GETARG_DATUM(2), NUMERICOID, "count");
    lego_sketch *sketch = load_or_create(fcinfo);
    lego_info info = sketch_measure(sketch);
    item_fit(&item, type, info.items);
    if (info.top_budget != 0 && item_is_long(&item)) item_warn_of_length();
    require_ok(item.integer ? lego_add_u64(sketch, item.key, count) : lego_add(sketch, item.bytes, item.size, count));
    struct varlena *value = sketch_save(sketch);
    lego_destroy(sketch);
    return PointerGetDatum(value);
}
