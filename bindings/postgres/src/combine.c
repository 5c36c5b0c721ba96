/* Sketches out of sketches: sums, differences, folds, and the empty one to begin with.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "errors.h"
#include "memory.h"
#include "options.h"
#include "sketch.h"

static Datum save_and_destroy(struct sketch *sketch)
{
    struct varlena *value = sketch_save(sketch);
    sketch_destroy(sketch);
    return PointerGetDatum(value);
}

SQL_FUNCTION(plus)
{
    struct sketch into = sketch_load(PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    struct sketch from = sketch_load(PG_GETARG_VARLENA_PP(1), CurrentMemoryContext);
    sketch_merge(&into, &from);
    sketch_destroy(&from);
    return save_and_destroy(&into);
}

static void require_plain(const struct sketch *sketch, const char *what)
{
    if (sketch->plain == NULL)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: a sketch of lego_top_agg can not be %s", what),
                errhint("Sketches of lego_agg can."));
}

SQL_FUNCTION(minus)
{
    struct sketch into = sketch_load(PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    struct sketch from = sketch_load(PG_GETARG_VARLENA_PP(1), CurrentMemoryContext);
    require_plain(&into, "subtracted from");
    require_plain(&from, "subtracted");
    sketch_require_near(&into, &from);
    require_ok(lego_sketch_subtract(into.plain, from.plain));
    sketch_destroy(&from);
    return save_and_destroy(&into);
}

SQL_FUNCTION(fold)
{
    struct sketch sketch = sketch_load(PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    int64 bricks = PG_GETARG_INT64(1);
    require_plain(&sketch, "folded");
    lego_status status = LEGO_ERR_SHAPE;
    if (bricks > 0 && bricks <= UINT32_MAX) status = lego_sketch_fold(sketch.plain, (uint32_t)bricks);
    if (status == LEGO_ERR_SHAPE)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: a sketch folds to a divisor of its bricks"),
                errhint("lego_info(sketch)->'bricks' says how many there are."));
    require_ok(status);
    return save_and_destroy(&sketch);
}

SQL_FUNCTION(empty)
{
    lego_allocator allocator = memory_in(CurrentMemoryContext);
    lego_elastic_options options = options_read(fcinfo, 0);
    options.light.allocator = &allocator;
    struct sketch sketch = {NULL, NULL};
    require_ok(lego_sketch_create(&options.light, &sketch.plain));
    return save_and_destroy(&sketch);
}
