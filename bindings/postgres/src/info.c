/* What a sketch is: its total, and all of it as jsonb.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "cache.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include <math.h>

SQL_FUNCTION(total)
{
    PG_RETURN_INT64(lego_total(cache_sketch(fcinfo, 0)));
}

/* As JSON has it, where what is not a number is null. */
static const char *real(double number)
{
    return isnan(number) ? "null" : psprintf("%.6g", number);
}

/* Names are those of legosketch.h. All are numbers, or true and false, but the model's, whose letters JSON takes as
 * they are. */
SQL_FUNCTION(info)
{
    lego_info info = sketch_info(cache_sketch(fcinfo, 0));
    lego_model_info model;
    lego_model_describe(info.model, &model);
    char *json =
        psprintf("{\"model\": \"%s\", \"seed\": " UINT64_FORMAT ", \"total\": " INT64_FORMAT
                 ", \"distinct\": %.0f, \"exact\": %s, \"listing\": %g, \"expected_aae\": %s, \"expected_are\": %s, "
                 "\"bytes\": " UINT64_FORMAT ", \"budget\": " UINT64_FORMAT
                 ", \"blocks\": %u, \"columns\": %u, \"top_bytes\": " UINT64_FORMAT ", \"top_budget\": " UINT64_FORMAT
                 ", \"top_total\": " INT64_FORMAT "}",
                 model.name, info.seed, info.total, info.distinct, info.exact ? "true" : "false",
                 floor(10000 * info.listing) / 10000, real(info.expected_aae), real(info.expected_are), info.bytes,
                 info.budget, info.blocks, info.columns, info.top_bytes, info.top_budget, info.top_total);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json));
}
