/* The aggregates: a row into a state, states of several processes into one, and the value in the end. The arguments are
 * those of lego_agg and lego_top_agg: (item, budget), (item, count, budget) or (item, count, budget, seed, model).
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "options.h"
#include "state.h"

static MemoryContext aggregate_context(FunctionCallInfo fcinfo)
{
    MemoryContext context;
    if (AggCheckCallContext(fcinfo, &context) == 0) elog(ERROR, "legosketch: this is part of an aggregate");
    return context;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Whether the rows have counts: without one there are three arguments, the state, the item and the budget. */
static inline bool is_counted(FunctionCallInfo fcinfo)
{
    return PG_NARGS() > 3;
}

static inline int64 count_of_row(FunctionCallInfo fcinfo)
{
    return is_counted(fcinfo) ? PG_GETARG_INT64(2) : 1;
}

/* The state of a row's group, made if there is none yet. NULL: the row has no item or no count, and is passed over. */
static inline struct state *state_of_row(FunctionCallInfo fcinfo, bool bytes, bool top)
{
    bool counted = is_counted(fcinfo);
    int budget = counted ? 3 : 2;
    struct state *state = PG_ARGISNULL(0) ? NULL : (struct state *)PG_GETARG_POINTER(0);
    if (PG_ARGISNULL(1) || (counted && PG_ARGISNULL(2))) return NULL;
    /* One comparison, where the budget is all there is to compare. */
    if (likely(state != NULL && PG_NARGS() == budget + 1 && !PG_ARGISNULL(budget) &&
               (uint64_t)PG_GETARG_INT64(budget) == state->options.budget))
        return state;
    lego_options options = options_read(fcinfo, budget, top);
    if (state == NULL) return state_start(aggregate_context(fcinfo), &options, bytes, counted);
    options_require_same(&options, &state->options);
    return state;
}

/* What is returned for a row that is passed over: the state as it was. */
static Datum unchanged(FunctionCallInfo fcinfo)
{
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
}

static inline Datum add_key(FunctionCallInfo fcinfo, bool top)
{
    struct state *state = state_of_row(fcinfo, false, top);
    if (unlikely(state == NULL)) return unchanged(fcinfo);
    state_add_key(state, (uint64_t)PG_GETARG_INT64(1), count_of_row(fcinfo));
    PG_RETURN_POINTER(state);
}

static inline Datum add_bytes(FunctionCallInfo fcinfo, bool top)
{
    struct state *state = state_of_row(fcinfo, true, top);
    if (unlikely(state == NULL)) return unchanged(fcinfo);
    struct varlena *item = PG_GETARG_VARLENA_PP(1);
    state_add_bytes(state, VARDATA_ANY(item), VARSIZE_ANY_EXHDR(item), count_of_row(fcinfo));
    PG_RETURN_POINTER(state);
}

SQL_FUNCTION(agg_key)
{
    return add_key(fcinfo, false);
}

SQL_FUNCTION(agg_bytes)
{
    return add_bytes(fcinfo, false);
}

SQL_FUNCTION(top_agg_key)
{
    return add_key(fcinfo, true);
}

SQL_FUNCTION(top_agg_bytes)
{
    return add_bytes(fcinfo, true);
}

/* ---- sketches, and states of several processes ------------------------------------------------------------------- */

static Datum merge(FunctionCallInfo fcinfo, const struct varlena *value, bool same_shape)
{
    if (PG_ARGISNULL(0)) PG_RETURN_POINTER(state_load(aggregate_context(fcinfo), value));
    struct state *state = (struct state *)PG_GETARG_POINTER(0);
    state_merge(state, value, same_shape);
    PG_RETURN_POINTER(state);
}

/* The rows of lego_merge_agg. */
SQL_FUNCTION(merge_agg)
{
    return PG_ARGISNULL(1) ? unchanged(fcinfo) : merge(fcinfo, PG_GETARG_VARLENA_PP(1), false);
}

static Datum combine(FunctionCallInfo fcinfo, bool same_shape)
{
    if (PG_ARGISNULL(1)) return unchanged(fcinfo);
    struct state *other = (struct state *)PG_GETARG_POINTER(1);
    return merge(fcinfo, other->saved != NULL ? other->saved : state_save(other), same_shape);
}

SQL_FUNCTION(agg_combine)
{
    return combine(fcinfo, true);
}

SQL_FUNCTION(merge_agg_combine)
{
    return combine(fcinfo, false);
}

/* The result, and also what goes from one process to another. */
SQL_FUNCTION(agg_final)
{
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    PG_RETURN_POINTER(state_save((struct state *)PG_GETARG_POINTER(0)));
}

/* The sketch is loaded where it is combined: only there is the memory that it may stay in. */
SQL_FUNCTION(agg_deserial)
{
    struct state *state = palloc0(sizeof *state);
    state->saved = PG_GETARG_VARLENA_PP(0);
    PG_RETURN_POINTER(state);
}
