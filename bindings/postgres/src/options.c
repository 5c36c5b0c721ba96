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
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: there is no model \"%s\"", letters), errhint("There are compact and paper."));
    pfree(letters);
    return model;
}

static const char *const names[] = {"budget", "seed", "model"};

lego_options options_read(FunctionCallInfo fcinfo, int budget, bool top)
{
    lego_options options = LEGO_OPTIONS_INIT;
    for (int i = budget; i < PG_NARGS(); i++)
        if (PG_ARGISNULL(i))
            ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                    errmsg("legosketch: the %s is null", names[i - budget]));
    int64 bytes = PG_GETARG_INT64(budget);
    if (bytes > (int64)MaxAllocSize)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("legosketch: the budget is above 1 GB"),
                errhint("Values have at most 1 GB."));
    if (bytes < LEGO_BUDGET_MIN) require_ok(LEGO_ERR_BUDGET);
    options.budget = (uint64_t)bytes;
    options.top = top ? options.budget / 8 : 0;
    if (PG_NARGS() > budget + 1) {
        options.seed = (uint64_t)PG_GETARG_INT64(budget + 1);
        options.model = find_model(PG_GETARG_TEXT_PP(budget + 2));
    }
    return options;
}

void options_require_same(const lego_options *a, const lego_options *b)
{
    bool same[] = {a->budget == b->budget, a->seed == b->seed, a->model == b->model};
    for (int i = 0; i < lengthof(same); i++)
        if (!same[i])
            ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("legosketch: the %s is not the same in all rows", names[i]));
}
