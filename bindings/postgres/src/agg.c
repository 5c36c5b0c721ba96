/* The aggregates: a row into a state, states of several processes into one, and the value in the end. The arguments of
 * lego_agg and lego_top_agg are (item), (item, budget) or (item, count, budget [, seed [, model]]); before them, a
 * function has the state.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "arguments.h"
#include "nodes/primnodes.h"
#include "options.h"
#include "state.h"

static MemoryContext aggregate_context(FunctionCallInfo fcinfo)
{
    MemoryContext context;
    if (AggCheckCallContext(fcinfo, &context) == 0) elog(ERROR, "legosketch: this is part of an aggregate");
    return context;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What is known of one place in a statement where an aggregate of items stands. */
struct site {
    const struct item_type *type;
    Oid count_type; /* InvalidOid: an item comes once */
    int budget;     /* the number of that argument; the last one ends the options */
    bool top;       /* the most frequent items are kept */
    bool fixed;     /* the options are the same in all rows */
    bool warned;    /* that an item is too long for the most frequent */
    lego_options options;
    struct pool pool;
};

/* Whether the arguments from `first` on are constants of the statement: then no row need look at them. In a window,
 * which has no Aggref, it is not known. */
static bool are_constant(FunctionCallInfo fcinfo, int first)
{
    const Aggref *aggregate = AggGetAggref(fcinfo);
    for (int i = first; i < PG_NARGS(); i++) {
        const Node *node = aggregate == NULL ? NULL : (Node *)((TargetEntry *)list_nth(aggregate->args, i - 1))->expr;
        if (node == NULL) return false;
        if (!IsA(node, Const) && !(IsA(node, Param) && ((const Param *)node)->paramkind == PARAM_EXTERN)) return false;
    }
    return true;
}

static struct site *make_site(FunctionCallInfo fcinfo, bool top)
{
    int given = PG_NARGS() - 2;
    if (given > 4 || get_fn_expr_variadic(fcinfo->flinfo))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: these are not the arguments of the aggregate"),
                errhint("They are item, or item and budget, or item, count, budget, seed and model."));
    struct site *site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *site);
    site->type = item_type_of_argument(fcinfo, 1);
    site->count_type = given > 1 ? argument_type(fcinfo, 2) : InvalidOid;
    site->budget = given > 1 ? 3 : 2;
    site->top = top;
    site->options = options_read(fcinfo, site->budget, PG_NARGS(), top);
    site->fixed = are_constant(fcinfo, site->budget);
    return fcinfo->flinfo->fn_extra = site;
}

static inline struct site *site_of(FunctionCallInfo fcinfo, bool top)
{
    struct site *site = fcinfo->flinfo->fn_extra;
    return likely(site != NULL) ? site : make_site(fcinfo, top);
}

static struct state *start(FunctionCallInfo fcinfo, struct site *site)
{
    if (!site->fixed) site->options = options_read(fcinfo, site->budget, PG_NARGS(), site->top);
    return state_start(aggregate_context(fcinfo), &site->pool, &site->options, site->type->kind != LEGO_ITEMS_INTEGERS,
                       OidIsValid(site->count_type));
}

/* The item and the count of a row; false: it has none, and is passed over. */
static inline bool read_row(FunctionCallInfo fcinfo, const struct site *site, struct item *item, int64_t *count)
{
    *count = 1;
    if (PG_ARGISNULL(1) || (OidIsValid(site->count_type) && PG_ARGISNULL(2))) return false;
    if (OidIsValid(site->count_type)) *count = argument_integer(PG_GETARG_DATUM(2), site->count_type, "count");
    return site->type->read(PG_GETARG_DATUM(1), item);
}

static inline void add_row(FunctionCallInfo fcinfo, struct site *site, struct state *state, const struct item *item,
                           int64_t count)
{
    if (unlikely(!site->fixed)) {
        lego_options options = options_read(fcinfo, site->budget, PG_NARGS(), site->top);
        options_require_same(&options, &state->options);
    }
    if (unlikely(site->top && !site->warned && item_is_long(item))) {
        item_warn_of_length();
        site->warned = true;
    }
    state_add(state, item, count);
}

/* What is returned for a row that is passed over: the state as it was. */
static Datum unchanged(FunctionCallInfo fcinfo)
{
    if (PG_ARGISNULL(0)) PG_RETURN_NULL();
    return PG_GETARG_DATUM(0);
}

static inline Datum add(FunctionCallInfo fcinfo, bool top)
{
    struct site *site = site_of(fcinfo, top);
    struct item item;
    int64_t count;
    if (unlikely(!read_row(fcinfo, site, &item, &count))) return unchanged(fcinfo);
    struct state *state = unlikely(PG_ARGISNULL(0)) ? start(fcinfo, site) : (struct state *)PG_GETARG_POINTER(0);
    add_row(fcinfo, site, state, &item, count);
    PG_RETURN_POINTER(state);
}

SQL_FUNCTION(agg)
{
    return add(fcinfo, false);
}

SQL_FUNCTION(top_agg)
{
    return add(fcinfo, true);
}

/* ---- sketches, and states of several processes ------------------------------------------------------------------- */

static Datum merge(FunctionCallInfo fcinfo, const struct varlena *value, bool same_shape)
{
    struct state *state =
        PG_ARGISNULL(0) ? state_of_sketches(aggregate_context(fcinfo)) : (struct state *)PG_GETARG_POINTER(0);
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

/* ---- moving windows ----------------------------------------------------------------------------------------------
 *
 * Rows that leave a window are taken out of the sketch while that is exact: then it is the sketch of the others, byte
 * for byte. Where it is not, NULL tells the server to begin anew with the rows that are left. */

/* A window of no items has a state too: the server asks for one. */
SQL_FUNCTION(moving_agg)
{
    struct site *site = site_of(fcinfo, false);
    struct state *state = PG_ARGISNULL(0) ? start(fcinfo, site) : (struct state *)PG_GETARG_POINTER(0);
    struct item item;
    int64_t count;
    if (read_row(fcinfo, site, &item, &count)) {
        add_row(fcinfo, site, state, &item, count);
        state->rows++;
    }
    PG_RETURN_POINTER(state);
}

/* Whether a row leaves no trace, not even in what kind the items are: numbers could be of both. */
static bool can_leave(const struct site *site, struct state *state)
{
    if (site->type->kind == LEGO_ITEMS_MIXED) return false;
    if (state->buffer.n > 0) state_flush(state);
    return sketch_info(state->sketch).exact;
}

SQL_FUNCTION(moving_agg_undo)
{
    struct site *site = site_of(fcinfo, false);
    struct state *state = (struct state *)PG_GETARG_POINTER(0);
    struct item item;
    int64_t count;
    if (read_row(fcinfo, site, &item, &count)) {
        if (!can_leave(site, state) || count == PG_INT64_MIN) PG_RETURN_NULL();
        lego_status status = item.integer ? lego_add_u64(state->sketch, item.key, -count)
                                          : lego_add(state->sketch, item.bytes, item.size, -count);
        if (status != LEGO_OK) PG_RETURN_NULL();
        state->rows--;
    }
    PG_RETURN_POINTER(state);
}

SQL_FUNCTION(moving_merge_agg)
{
    struct state *state =
        PG_ARGISNULL(0) ? state_of_sketches(aggregate_context(fcinfo)) : (struct state *)PG_GETARG_POINTER(0);
    if (!PG_ARGISNULL(1)) {
        state_merge(state, PG_GETARG_VARLENA_PP(1), false);
        state->rows++;
    }
    PG_RETURN_POINTER(state);
}

/* Sketches leave as rows do if all have one budget and one kind of items, which the sum would keep. */
SQL_FUNCTION(moving_merge_agg_undo)
{
    struct state *state = (struct state *)PG_GETARG_POINTER(0);
    if (!PG_ARGISNULL(1)) {
        state_flush(state);
        lego_info sum = sketch_info(state->sketch);
        if (!sum.exact || sum.top_budget != 0 || state->uneven || --state->rows == 0) PG_RETURN_NULL();
        lego_sketch *leaving = sketch_load(PG_GETARG_VARLENA_PP(1), CurrentMemoryContext);
        if (lego_subtract(state->sketch, leaving) != LEGO_OK) PG_RETURN_NULL();
        lego_destroy(leaving);
    }
    PG_RETURN_POINTER(state);
}

SQL_FUNCTION(moving_final)
{
    struct state *state = PG_ARGISNULL(0) ? NULL : (struct state *)PG_GETARG_POINTER(0);
    if (state == NULL || state->rows == 0) PG_RETURN_NULL();
    PG_RETURN_POINTER(state_save(state));
}
