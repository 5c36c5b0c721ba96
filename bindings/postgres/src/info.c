/* What a sketch is: single figures, a line to be read, and all of it as jsonb.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "cache.h"
#include "lib/stringinfo.h"
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

/* (absolute, relative, absolute_error, relative_error), null where the sketch can not tell. */
SQL_FUNCTION(expected_error)
{
    lego_info info = sketch_info(cache_read(fcinfo)->sketch);
    double told[] = {info.expected_aae, info.expected_are, info.expected_aae_error, info.expected_are_error};
    Datum values[lengthof(told)];
    bool nulls[lengthof(told)];
    for (int i = 0; i < lengthof(told); i++) {
        values[i] = Float8GetDatum(told[i]);
        nulls[i] = isnan(told[i]);
    }
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

/* Of each class that has items: from which count to which, about how many items it has, and the standard error of
 * that. As JSON has it, null where it is not known. */
static const char *classes(const lego_info *info)
{
    if (isnan(info->classes[0])) return "null";
    StringInfoData json;
    initStringInfo(&json);
    for (int k = 0; k < LEGO_CLASSES; k++) {
        if (info->classes[k] == 0) continue;
        uint64_t most = (uint64_t)1 << k;
        appendStringInfo(&json,
                         "%s{\"low\": " UINT64_FORMAT ", \"high\": " UINT64_FORMAT ", \"items\": %.0f, \"error\": %s}",
                         json.len == 0 ? "[" : ", ", most / 2 + 1, most, info->classes[k], real(info->class_errors[k]));
    }
    return json.len == 0 ? "[]" : (appendStringInfoChar(&json, ']'), json.data);
}

/* Names are those of legosketch.h. All are numbers, or true and false, but the model's, the kind of items and a secret
 * seed, whose letters JSON takes as they are. */
SQL_FUNCTION(info)
{
    lego_info info = sketch_info(cache_read(fcinfo)->sketch);
    lego_model_info model;
    lego_model_describe(info.model, &model);
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfo(&json,
                     "{\"model\": \"%s\", \"seed\": %s, \"total\": " INT64_FORMAT
                     ", \"items\": \"%s\", \"exact\": %s, \"keeping\": %g, ",
                     model.name, seed(&info), info.total, kinds[info.items], info.exact ? "true" : "false",
                     ceil(10000 * info.keeping) / 10000);
    appendStringInfo(&json,
                     "\"distinct\": %.0f, \"distinct_error\": %s, \"expected_aae\": %s, \"expected_aae_error\": %s, ",
                     info.distinct, real(info.distinct_error), real(info.expected_aae), real(info.expected_aae_error));
    appendStringInfo(&json, "\"expected_are\": %s, \"expected_are_error\": %s, \"classes\": %s, ",
                     real(info.expected_are), real(info.expected_are_error), classes(&info));
    appendStringInfo(&json,
                     "\"bytes\": " UINT64_FORMAT ", \"budget\": " UINT64_FORMAT
                     ", \"blocks\": %u, \"columns\": %u, \"top_bytes\": " UINT64_FORMAT
                     ", \"top_budget\": " UINT64_FORMAT ", \"top_total\": " INT64_FORMAT "}",
                     info.bytes, info.budget, info.blocks, info.columns, info.top_bytes, info.top_budget,
                     info.top_total);
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
