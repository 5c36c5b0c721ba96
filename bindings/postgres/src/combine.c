/* Sketches out of sketches: sums, differences, folds, and the empty one to begin with.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "arguments.h"
#include "errors.h"
#include "memory.h"
#include "options.h"
#include "sketch.h"

static lego_sketch *load_argument(FunctionCallInfo fcinfo, int argument)
{
    return sketch_load(PG_GETARG_VARLENA_PP(argument), CurrentMemoryContext);
}

static Datum save_and_destroy(lego_sketch *sketch)
{
    struct varlena *value = sketch_save(sketch);
    lego_destroy(sketch);
    return PointerGetDatum(value);
}

static Datum combine(FunctionCallInfo fcinfo, lego_status (*function)(lego_sketch *into, const lego_sketch *from))
{
    lego_sketch *into = load_argument(fcinfo, 0), *from = load_argument(fcinfo, 1);
    sketch_require_ok(function(into, from), into, from);
    lego_destroy(from);
    return save_and_destroy(into);
}

SQL_FUNCTION(plus)
{
    return combine(fcinfo, lego_merge);
}

SQL_FUNCTION(minus)
{
    return combine(fcinfo, lego_subtract);
}

SQL_FUNCTION(fold)
{
    lego_sketch *sketch = load_argument(fcinfo, 0);
    int64 blocks = PG_GETARG_INT64(1);
    lego_status status = LEGO_ERR_SHAPE;
    if (blocks > 0 && blocks <= UINT32_MAX) status = lego_fold(sketch, (uint32_t)blocks);
    if (status == LEGO_ERR_SHAPE)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: a sketch of %u blocks folds to a divisor of that", sketch_info(sketch).blocks),
                errhint("lego_fold_within() takes a number of bytes instead."));
    require_ok(status);
    return save_and_destroy(sketch);
}

SQL_FUNCTION(fold_within)
{
    lego_sketch *sketch = load_argument(fcinfo, 0);
    int64 budget = argument_size(PG_GETARG_DATUM(1), argument_type(fcinfo, 1), "budget");
    lego_status status = budget < 0 ? LEGO_ERR_BUDGET : lego_fold_within(sketch, (uint64_t)budget);
    if (status == LEGO_ERR_SHAPE)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: no fold of this sketch has " INT64_FORMAT " bytes or fewer", budget),
                errhint("lego_fold(sketch, 1) is the smallest."));
    require_ok(status);
    return save_and_destroy(sketch);
}

/* Null but for a null seed, which is as none. */
SQL_FUNCTION(empty)
{
    if (PG_ARGISNULL(0) || PG_ARGISNULL(2) || PG_ARGISNULL(3)) PG_RETURN_NULL();
    lego_allocator allocator = memory_in(CurrentMemoryContext);
    lego_options options = options_read(fcinfo, 0, 3, PG_GETARG_BOOL(3));
    options.allocator = &allocator;
    lego_sketch *sketch;
    require_ok(lego_create(&options, &sketch));
    return save_and_destroy(sketch);
}
