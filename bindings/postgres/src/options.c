/* What a sketch is to be like, out of a function's arguments; see options.h.
 *
 * SPDX-License-Identifier: MIT */
#include "options.h"

#include "errors.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

static const lego_model *find_model(const text *name)
{
    char *letters = text_to_cstring(name);
    const lego_model *model = lego_model_builtin(letters);
    if (model == NULL)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: there is no model \"%s\"", letters),
                errhint("There are compact, paper and rule."));
    pfree(letters);
    return model;
}

lego_elastic_options options_read(FunctionCallInfo fcinfo, int budget)
{
    lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
    for (int i = budget; i < PG_NARGS(); i++)
        if (PG_ARGISNULL(i))
            ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("legosketch: the %s is null", i == budget ? "budget" : i == budget + 1 ? "seed" : "model"));
    options.light.budget = (uint64_t)PG_GETARG_INT64(budget);
    if (PG_GETARG_INT64(budget) > (int64)MaxAllocSize)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: the budget is above 1 GB"),
                errhint("Values have at most 1 GB."));
    if (PG_GETARG_INT64(budget) < LEGO_BUDGET_MIN) require_ok(LEGO_ERR_BUDGET);
    if (PG_NARGS() > budget + 1) {
        options.light.seed = (uint64_t)PG_GETARG_INT64(budget + 1);
        options.light.model = find_model(PG_GETARG_TEXT_PP(budget + 2));
    }
    return options;
}
