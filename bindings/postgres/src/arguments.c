/* Numbers, names and sizes out of arguments that SQL may give in several types; see arguments.h.
 *
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

Oid argument_type(FunctionCallInfo fcinfo, int argument)
{
    return getBaseType(get_fn_expr_argtype(fcinfo->flinfo, argument));
}

static void refuse(Oid type, const char *name, const char *wanted, const char *cast)
{
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("legosketch: the %s is %s, not of type %s", name, wanted, format_type_be(type)),
            errhint("Cast it to %s.", cast));
}

static int64 whole(Datum number, const char *name)
{
    int64 rounded = DatumGetInt64(DirectFunctionCall1(numeric_int8, number));
    if (!DatumGetBool(
            DirectFunctionCall2(numeric_eq, number, DirectFunctionCall1(int8_numeric, Int64GetDatum(rounded)))))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: the %s %s is no integer", name,
                       DatumGetCString(DirectFunctionCall1(numeric_out, number))),
                errhint("round() makes it one."));
    return rounded;
}

int64 argument_integer(Datum value, Oid type, const char *name)
{
    switch (type) {
    case INT8OID: return DatumGetInt64(value);
    case INT4OID: return DatumGetInt32(value);
    case INT2OID: return DatumGetInt16(value);
    case NUMERICOID: return whole(value, name);
    default: refuse(type, name, "an integer", "bigint");
    }
    return 0;
}

static bool is_text(Oid type)
{
    return type == TEXTOID || type == VARCHAROID || type == UNKNOWNOID;
}

char *argument_name(Datum value, Oid type, const char *name)
{
    if (!is_text(type)) refuse(type, name, "text", "text");
    return type == UNKNOWNOID ? pstrdup(DatumGetCString(value)) : TextDatumGetCString(value);
}

int64 argument_size(Datum value, Oid type, const char *name)
{
    if (!is_text(type)) return argument_integer(value, type, name);
    text *letters = cstring_to_text(argument_name(value, type, name));
    return DatumGetInt64(DirectFunctionCall1(pg_size_bytes, PointerGetDatum(letters)));
}
