/* What a sketch is: single figures, a line to be read, and all of it as jsonb.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "cache.h"
#include "rows.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include <inttypes.h>
#include <math.h>

SQL_FUNCTION(total)
{
    PG_RETURN_INT64(lego_total(cache_read(fcinfo)->sketch));
}

SQL_FUNCTION(distinct)
{
    PG_RETURN_INT64((int64)rint(sketch_info(cache_read(fcinfo)->sketch).distinct));
}

/* (absolute, relative), null where the sketch can not tell. */
SQL_FUNCTION(expected_error)
{
    lego_info info = sketch_info(cache_read(fcinfo)->sketch);
    Datum values[] = {Float8GetDatum(info.expected_aae), Float8GetDatum(info.expected_are)};
    bool nulls[] = {isnan(info.expected_aae), isnan(info.expected_are)};
    return rows_one(fcinfo, values, nulls);
}

static const char *const kinds[] = {"none", "bytes", "integers", "mixed"};

/* One line for people; the text of the type is for COPY and pg_dump, and has all bytes. */
SQL_FUNCTION(show)
{
    lego_info info = sketch_info(cache_read(fcinfo)->sketch);
    const char *error = info.exact                 ? ", exact"
                        : isnan(info.expected_are) ? ""
                                                   : psprintf(", error about %.2g %%", 100 * info.expected_are);
    PG_RETURN_TEXT_P(cstring_to_text(psprintf("%.0f distinct items (%s), " INT64_FORMAT " in all%s%s, " UINT64_FORMAT
                                              " of at most " UINT64_FORMAT " bytes",
                                              info.distinct, kinds[info.items], info.total, error,
                                              info.top_budget != 0 ? ", keeps a top" : "", info.bytes, info.budget)));
}

/* As JSON has it, where what is not a number is null. */
static const char *real(double number)
{
    return isnan(number) ? "null" : psprintf("%.6g", number);
}

/* As JSON has it: a number, or of a secret one a string, which can not be taken for a seed. */
static const char *seed(const lego_info *info)
{
    return info->secret ? psprintf("\"secret:%016" PRIx64 "\"", info->seed) : psprintf(UINT64_FORMAT, info->seed);
}

/* Names are those of legosketch.h. All are numbers, or true and false, but the model's, the kind of items and a secret
 * seed, whose letters JSON takes as they are. */
SQL_FUNCTION(info)
{
    lego_info info = sketch_info(cache_read(fcinfo)->sketch);
    lego_model_info model;
    lego_model_describe(info.model, &model);
    char *json =
        psprintf("{\"model\": \"%s\", \"seed\": %s, \"total\": " INT64_FORMAT
                 ", \"items\": \"%s\", \"distinct\": %.0f, \"exact\": %s, \"listing\": %g, \"expected_aae\": %s, "
                 "\"expected_are\": %s, "
                 "\"bytes\": " UINT64_FORMAT ", \"budget\": " UINT64_FORMAT
                 ", \"blocks\": %u, \"columns\": %u, \"top_bytes\": " UINT64_FORMAT ", \"top_budget\": " UINT64_FORMAT
                 ", \"top_total\": " INT64_FORMAT "}",
                 model.name, seed(&info), info.total, kinds[info.items], info.distinct, info.exact ? "true" : "false",
                 floor(10000 * info.listing) / 10000, real(info.expected_aae), real(info.expected_are), info.bytes,
                 info.budget, info.blocks, info.columns, info.top_bytes, info.top_budget, info.top_total);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json));
}
