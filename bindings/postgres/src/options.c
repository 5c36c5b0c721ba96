/* What a sketch is to be like, out of a function's arguments; see options.h.
 *
 * SPDX-License-Identifier: MIT */
#include "options.h"

#include "arguments.h"
#include "errors.h"
#include "secrets.h"
#include "utils/memutils.h"

static const lego_model *find_model(const char *name)
{
    const lego_model *model = lego_model_builtin(name);
    if (model == NULL)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: there is no model \"%s\"", name),
                errhint("There are compact and paper."));
    return model;
}

static const char *const names[] = {"budget", "seed", "model"};
static const char *const defaults[] = {"1 MB", "the secret one of the database", "compact"};

/* A number of bytes that a value may have. */
static uint64_t read_budget(FunctionCallInfo fcinfo, int argument)
{
    int64 bytes = argument_size(PG_GETARG_DATUM(argument), argument_type(fcinfo, argument), names[0]);
    if (bytes > (int64)MaxAllocSize)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: the budget is above 1 GB"),
                errhint("Values have at most 1 GB."));
    if (bytes < LEGO_BUDGET_MIN) require_ok(LEGO_ERR_BUDGET);
    return (uint64_t)bytes;
}

lego_options options_default(void)
{
    lego_options options = LEGO_OPTIONS_INIT;
    options.secret = secrets_for_new();
    return options;
}

lego_options options_read(FunctionCallInfo fcinfo, int first, int end, bool top)
{
    int seed = first + 1, model = first + 2;
    for (int i = first; i < end; i++)
        if (i != seed && PG_ARGISNULL(i))
            ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("legosketch: the %s is null", names[i - first]),
                    errhint("Where none is given it is %s.", defaults[i - first]));
    bool seeded = seed < end && !PG_ARGISNULL(seed);
    lego_options options = seeded ? (lego_options)LEGO_OPTIONS_INIT : options_default();
    if (first < end) options.budget = read_budget(fcinfo, first);
    options.top = top ? options.budget / 8 : 0;
    if (seeded) options.seed = (uint64_t)argument_integer(PG_GETARG_DATUM(seed), argument_type(fcinfo, seed), names[1]);
    if (model < end)
        options.model = find_model(argument_name(PG_GETARG_DATUM(model), argument_type(fcinfo, model), names[2]));
    return options;
}

void options_require_same(const lego_options *a, const lego_options *b)
{
    bool same[] = {a->budget == b->budget, a->seed == b->seed && a->secret == b->secret, a->model == b->model};
    for (int i = 0; i < lengthof(same); i++)
        if (!same[i])
            ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("legosketch: the %s is not the same in all rows", names[i]),
                    errhint("GROUP BY it makes a sketch of each."));
}
