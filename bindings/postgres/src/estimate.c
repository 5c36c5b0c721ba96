/* How often did an item occur? One item, or an array of them.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "buffer.h"
#include "cache.h"
#include "catalog/pg_type.h"
#include "errors.h"
#include "miscadmin.h"
#include "rows.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

/* Argument 2 of every question says how it is meant. Of what it is given, only that can be wrong. */
static void ask(FunctionCallInfo fcinfo, const lego_sketch *sketch, const lego_items *items, lego_estimate *estimates)
{
    lego_asking asking = {.absent = PG_GETARG_FLOAT8(2)};
    lego_status status = lego_query_items(sketch, items, &asking, estimates);
    if (status == LEGO_ERR_ARGUMENT)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: absent is from 0 to below 1"),
                errhint("It is how likely it is that the item never came; without it, it is 0."));
    if (status == LEGO_ERR_MODEL)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: a sketch of the model paper has one way to answer"), errhint("Leave absent out."));
    require_ok(status);
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

/* False: argument 1 is no item, as NaN. */
static bool ask_one(FunctionCallInfo fcinfo, lego_estimate *estimate)
{
    struct cache *cache = cache_read(fcinfo);
    if (cache->type == NULL) cache->type = item_type_of_argument(fcinfo, 1);
    struct item item;
    if (!cache->type->read(PG_GETARG_DATUM(1), &item)) return false;
    item_fit(&item, cache->type, cache->kind);
    uint64_t offsets[] = {0, item.size};
    lego_items items = {.n = 1};
    if (item.integer) items.integers = &item.key;
    else items.bytes = item.bytes, items.offsets = offsets;
    ask(fcinfo, cache->sketch, &items, estimate);
    return true;
}

SQL_FUNCTION(estimate)
{
    lego_estimate estimate;
    if (!ask_one(fcinfo, &estimate)) PG_RETURN_NULL();
    PG_RETURN_FLOAT8(estimate.value);
}

SQL_FUNCTION(bounds)
{
    lego_estimate estimate;
    if (!ask_one(fcinfo, &estimate)) PG_RETURN_NULL();
    Datum values[] = {Int64GetDatum(estimate.lower), Int64GetDatum(estimate.upper), Int64GetDatum(estimate.likely)};
    bool nulls[] = {false, false, false};
    return rows_one(fcinfo, values, nulls);
}

/* ---- many items -------------------------------------------------------------------------------------------------- */

enum { BATCH = 1 << 14 }; /* items asked for at once; between two batches a statement can be cancelled */

struct array {
    ArrayType *whole;
    Datum *items;
    bool *nulls; /* and of what is no item, as NaN */
    int n;
    lego_estimate *estimates; /* one for each; of nulls, any */
};

static struct array read_array(FunctionCallInfo fcinfo)
{
    struct array array = {.whole = PG_GETARG_ARRAYTYPE_P(1)};
    int16 length;
    bool by_value;
    char align;
    get_typlenbyvalalign(ARR_ELEMTYPE(array.whole), &length, &by_value, &align);
    deconstruct_array(array.whole, ARR_ELEMTYPE(array.whole), length, by_value, align, &array.items, &array.nulls,
                      &array.n);
    array.estimates = palloc_extended((size_t)array.n * sizeof(lego_estimate), MCXT_ALLOC_HUGE);
    return array;
}

/* What is none is asked for all the same, as 0, so that answers have the places of items. */
static void read_item(const struct cache *cache, struct array *array, int i, struct item *item)
{
    if (!array->nulls[i]) array->nulls[i] = !cache->type->read(array->items[i], item);
    if (array->nulls[i]) *item = (struct item){.integer = true};
    else item_fit(item, cache->type, cache->kind);
}

static struct array ask_many(FunctionCallInfo fcinfo)
{
    struct cache *cache = cache_read(fcinfo);
    struct array array = read_array(fcinfo);
    cache->type = item_type(ARR_ELEMTYPE(array.whole));
    struct buffer buffer;
    buffer_start(&buffer, CurrentMemoryContext, cache->type->kind != LEGO_ITEMS_INTEGERS, false);
    int first = 0;
    do { /* at least once: also of no items, a question can be wrong */
        int end = Min(array.n, first + BATCH);
        CHECK_FOR_INTERRUPTS();
        buffer_clear(&buffer);
        for (int i = first; i < end; i++) {
            struct item item;
            read_item(cache, &array, i, &item);
            if (buffer.n == buffer.room) buffer_grow(&buffer);
            buffer_add(&buffer, &item, 1);
        }
        lego_items items = buffer_items(&buffer);
        ask(fcinfo, cache->sketch, &items, array.estimates + first);
    } while ((first += BATCH) < array.n);
    return array;
}

/* An array of the same shape, null where there is no item. */
SQL_FUNCTION(estimates)
{
    struct array array = ask_many(fcinfo);
    Datum *values = palloc_extended((size_t)array.n * sizeof *values, MCXT_ALLOC_HUGE);
    for (int i = 0; i < array.n; i++) values[i] = Float8GetDatum(array.nulls[i] ? 0 : array.estimates[i].value);
    return PointerGetDatum(construct_md_array(values, array.nulls, ARR_NDIM(array.whole), ARR_DIMS(array.whole),
                                              ARR_LBOUND(array.whole), FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Rows of (item, estimate, lower, upper, likely), without those that are no item. */
SQL_FUNCTION(decode)
{
    struct array array = ask_many(fcinfo);
    rows_start(fcinfo);
    for (int i = 0; i < array.n; i++) {
        if (array.nulls[i]) continue;
        Datum values[] = {array.items[i], Float8GetDatum(array.estimates[i].value),
                          Int64GetDatum(array.estimates[i].lower), Int64GetDatum(array.estimates[i].upper),
                          Int64GetDatum(array.estimates[i].likely)};
        bool nulls[] = {false, false, false, false, false};
        rows_add(fcinfo, values, nulls);
    }
    return (Datum)0;
}
