/* What functions return that return a row, or a set of them; see rows.h.
 *
 * SPDX-License-Identifier: MIT */
#include "rows.h"

#include "miscadmin.h"
#include "utils/tuplestore.h"

static TupleDesc columns_of(FunctionCallInfo fcinfo)
{
    TupleDesc columns;
    if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE) elog(ERROR, "legosketch: no row type");
    return BlessTupleDesc(columns);
}

Datum rows_one(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
    return HeapTupleGetDatum(heap_form_tuple(columns_of(fcinfo), values, nulls));
}

/* PostgreSQL 15 has this as InitMaterializedSRF(). */
void rows_start(FunctionCallInfo fcinfo)
{
    ReturnSetInfo *result = (ReturnSetInfo *)fcinfo->resultinfo;
    if (result == NULL || !IsA(result, ReturnSetInfo) || !(result->allowedModes & SFRM_Materialize))
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("legosketch: a function that returns rows stands where none can be taken"),
                errhint("Call it in FROM."));
    MemoryContext before = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
    result->returnMode = SFRM_Materialize;
    result->setDesc = columns_of(fcinfo);
    result->setResult = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
    MemoryContextSwitchTo(before);
}

void rows_add(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
    ReturnSetInfo *result = (ReturnSetInfo *)fcinfo->resultinfo;
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}
