/* How often did an item occur? One item, or an array of them.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "cache.h"
#include "catalog/pg_type.h"
#include "errors.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"

#include <string.h>

/* Arguments 2 and 3 of every question say how it is meant. Of what it is given, only they can be wrong. */
static void ask(FunctionCallInfo fcinfo, const lego_sketch *sketch, const lego_items *items, lego_estimate *estimates)
{
    lego_asking asking = {PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3)};
    lego_status status = lego_query_items(sketch, items, &asking, estimates);
    if (status == LEGO_ERR_ARGUMENT)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: absent is from 0 to below 1, and relative from 0 to 1"));
    if (status == LEGO_ERR_MODEL)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: a sketch of the model paper has one way to answer"),
                errhint("Leave absent and relative out."));
    require_ok(status);
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

static lego_estimate ask_key(FunctionCallInfo fcinfo)
{
    const lego_sketch *sketch = cache_sketch(fcinfo, 0);
    uint64_t key = (uint64_t)PG_GETARG_INT64(1);
    lego_estimate estimate;
    ask(fcinfo, sketch, &(lego_items){.n = 1, .integers = &key}, &estimate);
    return estimate;
}

static lego_estimate ask_bytes(FunctionCallInfo fcinfo)
{
    const lego_sketch *sketch = cache_sketch(fcinfo, 0);
    struct varlena *item = PG_GETARG_VARLENA_PP(1);
    lego_estimate estimate;
    uint64_t offsets[] = {0, VARSIZE_ANY_EXHDR(item)};
    ask(fcinfo, sketch, &(lego_items){.n = 1, .bytes = VARDATA_ANY(item), .offsets = offsets}, &estimate);
    return estimate;
}

SQL_FUNCTION(estimate_key)
{
    PG_RETURN_FLOAT8(ask_key(fcinfo).value);
}

SQL_FUNCTION(estimate_bytes)
{
    PG_RETURN_FLOAT8(ask_bytes(fcinfo).value);
}

static Datum bounds(FunctionCallInfo fcinfo, lego_estimate estimate)
{
    TupleDesc columns;
    if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE) elog(ERROR, "lego_bounds returns a row");
    Datum values[] = {Int64GetDatum(estimate.lower), Int64GetDatum(estimate.upper)};
    bool nulls[] = {false, false};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}

SQL_FUNCTION(bounds_key)
{
    return bounds(fcinfo, ask_key(fcinfo));
}

SQL_FUNCTION(bounds_bytes)
{
    return bounds(fcinfo, ask_bytes(fcinfo));
}

/* ---- many items -------------------------------------------------------------------------------------------------- */

enum { BATCH = 1 << 14 }; /* items asked for at once; between two batches a statement can be cancelled */

struct array {
    ArrayType *whole;
    Datum *items;
    bool *nulls;
    int n;
};

static struct array read_array(FunctionCallInfo fcinfo, int16 length, bool by_value, char align)
{
    struct array array = {.whole = PG_GETARG_ARRAYTYPE_P(1)};
    deconstruct_array(array.whole, ARR_ELEMTYPE(array.whole), length, by_value, align, &array.items, &array.nulls,
                      &array.n);
    return array;
}

/* An array of the same shape, null where there is no item. */
static Datum answer(const struct array *array, const lego_estimate *estimates)
{
    Datum *values = palloc((size_t)array->n * sizeof *values);
    for (int i = 0; i < array->n; i++) values[i] = Float8GetDatum(array->nulls[i] ? 0 : estimates[i].value);
    return PointerGetDatum(construct_md_array(values, array->nulls, ARR_NDIM(array->whole), ARR_DIMS(array->whole),
                                              ARR_LBOUND(array->whole), FLOAT8OID, 8, FLOAT8PASSBYVAL,
                                              TYPALIGN_DOUBLE));
}

static lego_estimate *room_for(const struct array *array)
{
    return palloc_extended((size_t)array->n * sizeof(lego_estimate), MCXT_ALLOC_HUGE);
}

/* A null is asked for as 0, and the answer not looked at. */
SQL_FUNCTION(estimates_key)
{
    const lego_sketch *sketch = cache_sketch(fcinfo, 0);
    struct array array = read_array(fcinfo, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
    lego_estimate *estimates = room_for(&array);
    uint64_t *keys = palloc(BATCH * sizeof *keys);
    int first = 0;
    do { /* at least once: also of no items, a question can be wrong */
        size_t n = (size_t)Min(array.n - first, BATCH);
        CHECK_FOR_INTERRUPTS();
        for (size_t i = 0; i < n; i++)
            keys[i] = array.nulls[first + i] ? 0 : (uint64_t)DatumGetInt64(array.items[first + i]);
        ask(fcinfo, sketch, &(lego_items){.n = n, .integers = keys}, estimates + first);
    } while ((first += BATCH) < array.n);
    return answer(&array, estimates);
}

/* ... or as the empty item. */
SQL_FUNCTION(estimates_bytes)
{
    const lego_sketch *sketch = cache_sketch(fcinfo, 0);
    struct array array = read_array(fcinfo, -1, false, TYPALIGN_INT);
    lego_estimate *estimates = room_for(&array);
    uint64_t *offsets = palloc((BATCH + 1) * sizeof *offsets);
    StringInfoData bytes;
    initStringInfo(&bytes);
    int first = 0;
    do { /* at least once: also of no items, a question can be wrong */
        size_t n = (size_t)Min(array.n - first, BATCH);
        CHECK_FOR_INTERRUPTS();
        resetStringInfo(&bytes);
        offsets[0] = 0;
        for (size_t i = 0; i < n; i++) {
            const struct varlena *item =
                array.nulls[first + i] ? NULL : PG_DETOAST_DATUM_PACKED(array.items[first + i]);
            if (item != NULL) appendBinaryStringInfo(&bytes, VARDATA_ANY(item), (int)VARSIZE_ANY_EXHDR(item));
            offsets[i + 1] = (uint64_t)bytes.len;
        }
        ask(fcinfo, sketch, &(lego_items){.n = n, .bytes = bytes.data, .offsets = offsets}, estimates + first);
    } while ((first += BATCH) < array.n);
    return answer(&array, estimates);
}
