/* What the library refuses, as an error of PostgreSQL's; see errors.h.
 *
 * SPDX-License-Identifier: MIT */
#include "errors.h"

static int code_of(lego_status status)
{
    switch (status) {
    case LEGO_ERR_MEMORY: return ERRCODE_OUT_OF_MEMORY;
    case LEGO_ERR_RANGE: return ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
    case LEGO_ERR_MAGIC:
    case LEGO_ERR_VERSION:
    case LEGO_ERR_TRUNCATED:
    case LEGO_ERR_CHECKSUM:
    case LEGO_ERR_CORRUPT: return ERRCODE_INVALID_BINARY_REPRESENTATION;
    default: return ERRCODE_INVALID_PARAMETER_VALUE;
    }
}

static const char *hint_of(lego_status status)
{
    switch (status) {
    case LEGO_ERR_BUDGET: return "A budget is a number of bytes, or a size as '64kB'.";
    case LEGO_ERR_MODEL:
        return "Sketches of the built-in models compact and paper are taken, and of one model at a time.";
    case LEGO_ERR_SEED:
        return "lego_info() shows the seed of each. Sketches that were given none have the secret one of their "
               "database; with SET legosketch.secret_seeds = off they have 0, as those of other programs.";
    case LEGO_ERR_TOP: return "Sketches of lego_agg are subtracted, not those of lego_top_agg.";
    case LEGO_ERR_MAGIC:
    case LEGO_ERR_VERSION:
    case LEGO_ERR_TRUNCATED:
    case LEGO_ERR_CHECKSUM:
    case LEGO_ERR_CORRUPT: return "A value is the bytes of a sketch as the library saves it, all of them.";
    case LEGO_ERR_RANGE:
        return "All counts of a sketch, without their signs, come to less than 2^61, or of paper 2^53: count in larger "
               "units.";
    case LEGO_ERR_MEMORY: return "A smaller budget takes less of it.";
    default: return NULL;
    }
}

void require_ok(lego_status status)
{
    if (status == LEGO_OK) return;
    const char *hint = hint_of(status);
    ereport(ERROR, errcode(code_of(status)), errmsg("legosketch: %s", lego_status_message(status)),
            hint == NULL ? 0 : errhint("%s", hint));
}
