/* The most frequent items, of sketches that keep them: as bytes, or as the text or the integers that they were.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "errors.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "sketch.h"
#include "utils/tuplestore.h"

#include <string.h>

/* What lego_top() tells, kept until rows can be made of it: an error there would jump past the library. */
struct listed {
    struct listed *next;
    lego_estimate estimate;
    bool exact;
    struct varlena *item;
};

struct list {
    struct listed *first, **end; /* end is where the next is linked */
    bool failed;
};

static int keep(void *context, const lego_top_item *top)
{
    struct list *list = context;
    struct listed *made = palloc_extended(sizeof *made + VARHDRSZ + top->size, MCXT_ALLOC_NO_OOM);
    if (made == NULL) return list->failed = true, 1;
    *made = (struct listed){NULL, top->estimate, top->exact != 0, (struct varlena *)(made + 1)};
    SET_VARSIZE(made->item, VARHDRSZ + top->size);
    memcpy(VARDATA(made->item), top->item, top->size);
    *list->end = made;
    list->end = &made->next;
    return 0;
}

static Datum bytes_of(struct varlena *item)
{
    return PointerGetDatum(item);
}

static Datum text_of(struct varlena *item)
{
    pg_verifymbstr(VARDATA(item), (int)(VARSIZE(item) - VARHDRSZ), false);
    return PointerGetDatum(item);
}

static Datum key_of(struct varlena *item)
{
    if (VARSIZE(item) - VARHDRSZ != 8)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: an item of %d bytes is no integer, which has 8", (int)(VARSIZE(item) - VARHDRSZ)),
                errhint("lego_top() lists items as bytea, lego_top_text() as text."));
    uint64_t key = 0;
    for (int i = 8; i-- > 0;) key = key << 8 | (unsigned char)VARDATA(item)[i];
    return Int64GetDatum((int64)key);
}

/* Rows of (item, estimate, lower, upper, exact): all of them, or argument 1 of them. */
static Datum list_top(FunctionCallInfo fcinfo, Datum (*datum_of)(struct varlena *item))
{
    int64 most = PG_NARGS() > 1 ? PG_GETARG_INT64(1) : PG_INT64_MAX;
    if (most < 0)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: a negative number of items"));
    lego_sketch *sketch = sketch_load(PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    if (sketch_info(sketch).top_bytes == 0)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: this sketch does not keep its most frequent items"),
                errhint("Sketches of lego_top_agg do."));
    struct list list = {.end = &list.first};
    lego_status status = lego_top(sketch, (size_t)most, keep, &list);
    require_ok(list.failed ? LEGO_ERR_MEMORY : status);
    lego_destroy(sketch);

    InitMaterializedSRF(fcinfo, 0);
    ReturnSetInfo *result = (ReturnSetInfo *)fcinfo->resultinfo;
    for (const struct listed *next = list.first; next != NULL; next = next->next) {
        Datum values[] = {datum_of(next->item), Float8GetDatum(next->estimate.value),
                          Int64GetDatum(next->estimate.lower), Int64GetDatum(next->estimate.upper),
                          BoolGetDatum(next->exact)};
        bool nulls[] = {false, false, false, false, false};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return (Datum)0;
}

SQL_FUNCTION(top)
{
    return list_top(fcinfo, bytes_of);
}

SQL_FUNCTION(top_text)
{
    return list_top(fcinfo, text_of);
}

SQL_FUNCTION(top_int)
{
    return list_top(fcinfo, key_of);
}
