/* The most frequent items, of sketches that keep them: as bytes, or as the text or the integers that they were.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "errors.h"
#include "mb/pg_wchar.h"
#include "rows.h"
#include "sketch.h"
#include "utils/builtins.h"

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

static uint64_t key_in(const struct varlena *item)
{
    uint64_t key = 0;
    for (int i = 8; i-- > 0;) key = key << 8 | (unsigned char)VARDATA(item)[i];
    return key;
}

static Datum bytes_of(struct varlena *item, lego_kind kind)
{
    return PointerGetDatum(item);
}

/* Integers as their digits, where there is nothing else. */
static Datum text_of(struct varlena *item, lego_kind kind)
{
    if (kind == LEGO_ITEMS_INTEGERS)
        return PointerGetDatum(cstring_to_text(psprintf(INT64_FORMAT, (int64)key_in(item))));
    pg_verifymbstr(VARDATA(item), (int)(VARSIZE(item) - VARHDRSZ), false);
    return PointerGetDatum(item);
}

static Datum key_of(struct varlena *item, lego_kind kind)
{
    if (kind == LEGO_ITEMS_BYTES || VARSIZE(item) - VARHDRSZ != 8)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: the items of this sketch are not integers, or not all of them are"),
                errhint("lego_top() lists items as bytea, lego_top_text() as text."));
    return Int64GetDatum((int64)key_in(item));
}

/* Rows of (item, estimate, lower, upper, likely, exact), at most argument 1 of them. */
static Datum list_top(FunctionCallInfo fcinfo, Datum (*datum_of)(struct varlena *item, lego_kind kind))
{
    int64 most = PG_GETARG_INT64(1);
    if (most < 0)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: a negative number of items"),
                errhint("Without a number it lists all that are kept."));
    lego_sketch *sketch = sketch_load(PG_GETARG_VARLENA_PP(0), CurrentMemoryContext);
    lego_info info = sketch_measure(sketch);
    if (info.top_bytes == 0)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: this sketch does not keep its most frequent items"),
                errhint("Sketches of lego_top_agg() and lego_empty(top => true) do."));
    struct list list = {.end = &list.first};
    lego_status status = lego_top(sketch, (size_t)most, keep, &list);
    require_ok(list.failed ? LEGO_ERR_MEMORY : status);
    lego_destroy(sketch);

    rows_start(fcinfo);
    for (const struct listed *next = list.first; next != NULL; next = next->next) {
        Datum values[] = {datum_of(next->item, info.items),     Float8GetDatum(next->estimate.value),
                          Int64GetDatum(next->estimate.lower),  Int64GetDatum(next->estimate.upper),
                          Int64GetDatum(next->estimate.likely), BoolGetDatum(next->exact)};
        bool nulls[] = {false, false, false, false, false, false};
        rows_add(fcinfo, values, nulls);
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
