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

/* What lego_elastic_top() tells, kept until rows can be made of it: an error there would jump past the library. */
struct listed {
    struct varlena *item;
    lego_estimate estimate;
    bool exact;
};

struct list {
    struct listed *all;
    size_t n, room;
    bool failed;
};

static int keep(void *context, const lego_top *top)
{
    struct list *list = context;
    struct varlena *item = palloc_extended(VARHDRSZ + top->size, MCXT_ALLOC_NO_OOM);
    if (item == NULL || list->n == list->room) return list->failed = true, 1;
    SET_VARSIZE(item, VARHDRSZ + top->size);
    memcpy(VARDATA(item), top->item, top->size);
    list->all[list->n++] = (struct listed){item, top->estimate, top->exact != 0};
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
    struct sketch sketch = sketch_load(PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    if (sketch.elastic == NULL)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: this sketch does not keep its most frequent items"),
                errhint("Sketches of lego_top_agg do."));
    lego_elastic_info info;
    lego_elastic_describe(sketch.elastic, &info);
    struct list list = {.room = Min(info.residents, (uint64_t)most)};
    list.all = palloc_extended(list.room * sizeof *list.all, MCXT_ALLOC_HUGE);
    lego_status status = lego_elastic_top(sketch.elastic, list.room, keep, &list);
    require_ok(list.failed ? LEGO_ERR_MEMORY : status);
    sketch_destroy(&sketch);

    InitMaterializedSRF(fcinfo, 0);
    ReturnSetInfo *result = (ReturnSetInfo *)fcinfo->resultinfo;
    for (size_t i = 0; i < list.n; i++) {
        const struct listed *next = &list.all[i];
        Datum values[] = {datum_of(next->item), Float8GetDatum(next->estimate.value), Int64GetDatum(next->estimate.lower),
                          Int64GetDatum(next->estimate.upper), BoolGetDatum(next->exact)};
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
