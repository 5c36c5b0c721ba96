/* What a sketch is: its total, and all of it as jsonb.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "cache.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

SQL_FUNCTION(total)
{
    PG_RETURN_INT64(sketch_total(cache_sketch(fcinfo, 0)));
}

/* Names are those of legosketch.h, of which everything is a number but the model's name, of letters that need no care. */
SQL_FUNCTION(info)
{
    const struct sketch *sketch = cache_sketch(fcinfo, 0);
    lego_sketch_info light;
    lego_model_info model;
    lego_sketch_describe(sketch_light(sketch), &light);
    lego_model_describe(light.model, &model);
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfo(&json,
                     "{\"model\": \"%s\", \"seed\": " UINT64_FORMAT ", \"total\": " INT64_FORMAT ", \"bricks\": %u, "
                     "\"bricks_now\": %u, \"rows\": %u, \"cells\": " UINT64_FORMAT,
                     model.name, light.seed, sketch_total(sketch), light.bricks, light.bricks_now, light.rows, light.cells);
    if (sketch->elastic == NULL) {
        appendStringInfo(&json, ", \"bytes\": " UINT64_FORMAT ", \"top\": false}", light.bytes);
    } else {
        lego_elastic_info heavy;
        lego_elastic_describe(sketch->elastic, &heavy);
        appendStringInfo(&json,
                         ", \"bytes\": " UINT64_FORMAT ", \"top\": true, \"heavy_bytes\": " UINT64_FORMAT
                         ", \"heavy_total\": " INT64_FORMAT ", \"residents\": " UINT64_FORMAT
                         ", \"exact\": " UINT64_FORMAT "}",
                         heavy.bytes, heavy.heavy_bytes, heavy.heavy_total, heavy.residents, heavy.exact);
    }
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}
