/* What a value of SQL is as an item; see item.h. Nothing here depends on settings of a session, such as DateStyle.
 *
 * SPDX-License-Identifier: MIT */
#include "item.h"

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include <math.h>
#include <string.h>

static bool integer(struct item *item, uint64_t key)
{
    item->integer = true;
    item->key = key;
    return true;
}

static bool bytes(struct item *item, const char *first, size_t size)
{
    item->integer = false;
    item->bytes = first;
    item->size = size;
    return true;
}

static bool letters(struct item *item, const char *shown)
{
    return bytes(item, shown, strlen(shown));
}

/* ---- integers ---------------------------------------------------------------------------------------------------- */

static bool read_int8(Datum value, struct item *item)
{
    return integer(item, (uint64_t)DatumGetInt64(value));
}

static bool read_int4(Datum value, struct item *item)
{
    return integer(item, (uint64_t)(int64_t)DatumGetInt32(value));
}

static bool read_int2(Datum value, struct item *item)
{
    return integer(item, (uint64_t)(int64_t)DatumGetInt16(value));
}

static bool read_bool(Datum value, struct item *item)
{
    return integer(item, DatumGetBool(value));
}

/* The integer that digits, without a sign, a space or a zero too many, say; false if it takes more than 64 bits. */
static bool read_digits(const char *shown, size_t size, uint64_t *number)
{
    if (size == 0 || (shown[0] == '0' && size > 1)) return false;
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        if (shown[i] < '0' || shown[i] > '9' || *number > (UINT64_MAX - (uint64_t)(shown[i] - '0')) / 10) return false;
        *number = 10 * *number + (uint64_t)(shown[i] - '0');
    }
    return true;
}

/* An integer as it is printed, from -2^63 to 2^64 - 1. */
static bool read_printed(const char *shown, size_t size, uint64_t *number)
{
    if (size == 0 || shown[0] != '-') return read_digits(shown, size, number);
    if (!read_digits(shown + 1, size - 1, number) || *number == 0 || *number > (uint64_t)1 << 63) return false;
    *number = -*number;
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Whether it has the value of an integer, from -2^63 to 2^64 - 1. */
static bool read_whole(double number, struct item *item)
{
    if (number != floor(number) || number < -0x1p63 || number >= 0x1p64) return false;
    return integer(item, number < 0 ? (uint64_t)(int64_t)number : (uint64_t)number);
}

static bool read_double(double number, struct item *item)
{
    if (isnan(number)) return false;
    if (read_whole(number, item)) return true;
    char *shown = palloc(DOUBLE_SHORTEST_DECIMAL_LEN);
    double_to_shortest_decimal_buf(number, shown);
    return letters(item, shown);
}

static bool read_float8(Datum value, struct item *item)
{
    return read_double(DatumGetFloat8(value), item);
}

/* What is no integer is the number that its shortest text is, so that 0.1 is 0.1. */
static bool read_float4(Datum value, struct item *item)
{
    float number = DatumGetFloat4(value);
    if (read_whole(number, item)) return true;
    char shown[FLOAT_SHORTEST_DECIMAL_LEN];
    float_to_shortest_decimal_buf(number, shown);
    return read_double(strtod(shown, NULL), item);
}

static bool read_numeric(Datum value, struct item *item)
{
    if (numeric_is_nan(DatumGetNumeric(value))) return false;
    const char *shown =
        DatumGetCString(DirectFunctionCall1(numeric_out, DirectFunctionCall1(numeric_trim_scale, value)));
    uint64_t number;
    return read_printed(shown, strlen(shown), &number) ? integer(item, number) : letters(item, shown);
}

/* ---- bytes and text ---------------------------------------------------------------------------------------------- */

static bool read_varlena(Datum value, struct item *item)
{
    const struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
    return bytes(item, VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed));
}

/* Of char(n), spaces at the end are no part, as where it is cast to text. */
static bool read_bpchar(Datum value, struct item *item)
{
    read_varlena(value, item);
    return bytes(item, item->bytes, (size_t)bpchartruelen(unconstify(char *, item->bytes), (int)item->size));
}

static bool read_name(Datum value, struct item *item)
{
    return letters(item, NameStr(*DatumGetName(value)));
}

static bool read_enum(Datum value, struct item *item)
{
    return letters(item, DatumGetCString(DirectFunctionCall1(enum_out, value)));
}

static bool read_uuid(Datum value, struct item *item)
{
    return letters(item, DatumGetCString(DirectFunctionCall1(uuid_out, value)));
}

static bool read_jsonb(Datum value, struct item *item)
{
    Jsonb *json = DatumGetJsonbP(value);
    return letters(item, JsonbToCString(NULL, &json->root, (int)VARSIZE(json)));
}

/* ---- dates and times, as DateStyle ISO prints them --------------------------------------------------------------- */

static bool read_date(Datum value, struct item *item)
{
    DateADT date = DatumGetDateADT(value);
    char *shown = palloc(MAXDATELEN + 1);
    struct pg_tm parts = {0};
    if (DATE_NOT_FINITE(date)) {
        EncodeSpecialDate(date, shown);
    } else {
        j2date(date + POSTGRES_EPOCH_JDATE, &parts.tm_year, &parts.tm_mon, &parts.tm_mday);
        EncodeDateOnly(&parts, USE_ISO_DATES, shown);
    }
    return letters(item, shown);
}

/* zone: it is an instant, printed as in UTC. */
static bool read_instant(Timestamp instant, bool zone, struct item *item)
{
    char *shown = palloc(MAXDATELEN + 1);
    struct pg_tm parts;
    fsec_t part;
    if (TIMESTAMP_NOT_FINITE(instant)) {
        EncodeSpecialTimestamp(instant, shown);
    } else {
        if (timestamp2tm(instant, NULL, &parts, &part, NULL, NULL) != 0)
            ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range"));
        parts.tm_isdst = zone ? 0 : -1; /* without one, no zone is printed */
        EncodeDateTime(&parts, part, zone, 0, NULL, USE_ISO_DATES, shown);
    }
    return letters(item, shown);
}

static bool read_timestamp(Datum value, struct item *item)
{
    return read_instant(DatumGetTimestamp(value), false, item);
}

static bool read_timestamptz(Datum value, struct item *item)
{
    return read_instant(DatumGetTimestampTz(value), true, item);
}

static bool read_time(Datum value, struct item *item)
{
    char *shown = palloc(MAXDATELEN + 1);
    struct pg_tm parts;
    fsec_t part;
    time2tm(DatumGetTimeADT(value), &parts, &part);
    EncodeTimeOnly(&parts, part, false, 0, USE_ISO_DATES, shown);
    return letters(item, shown);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static const struct item_type types[] = {
    {INT8OID, LEGO_ITEMS_INTEGERS, read_int8},        {INT4OID, LEGO_ITEMS_INTEGERS, read_int4},
    {INT2OID, LEGO_ITEMS_INTEGERS, read_int2},        {BOOLOID, LEGO_ITEMS_INTEGERS, read_bool},
    {TEXTOID, LEGO_ITEMS_BYTES, read_varlena},        {VARCHAROID, LEGO_ITEMS_BYTES, read_varlena},
    {BPCHAROID, LEGO_ITEMS_BYTES, read_bpchar},       {NAMEOID, LEGO_ITEMS_BYTES, read_name},
    {BYTEAOID, LEGO_ITEMS_BYTES, read_varlena},       {FLOAT8OID, LEGO_ITEMS_MIXED, read_float8},
    {FLOAT4OID, LEGO_ITEMS_MIXED, read_float4},       {NUMERICOID, LEGO_ITEMS_MIXED, read_numeric},
    {UUIDOID, LEGO_ITEMS_BYTES, read_uuid},           {DATEOID, LEGO_ITEMS_BYTES, read_date},
    {TIMESTAMPOID, LEGO_ITEMS_BYTES, read_timestamp}, {TIMESTAMPTZOID, LEGO_ITEMS_BYTES, read_timestamptz},
    {TIMEOID, LEGO_ITEMS_BYTES, read_time},           {JSONBOID, LEGO_ITEMS_BYTES, read_jsonb},
};

static const struct item_type enumeration = {ANYENUMOID, LEGO_ITEMS_BYTES, read_enum};

const struct item_type *item_type(Oid type)
{
    Oid base = getBaseType(type); /* of a domain */
    for (int i = 0; i < lengthof(types); i++)
        if (types[i].oid == base) return &types[i];
    if (type_is_enum(base)) return &enumeration;
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("legosketch: a value of type %s is no item", format_type_be(type)),
            errhint("Cast it to text; several values are one item as jsonb_build_array(...)."));
}

const struct item_type *item_type_of_argument(FunctionCallInfo fcinfo, int argument)
{
    return item_type(get_fn_expr_argtype(fcinfo->flinfo, argument));
}

/* ---- items and sketches ------------------------------------------------------------------------------------------ */

/* Of bytea it is the 8 bytes of an integer that fit, of all else its digits. */
static void fit_integers(struct item *item, const struct item_type *type)
{
    if (type->oid == BYTEAOID ? item->size == sizeof item->key : read_printed(item->bytes, item->size, &item->key)) {
        item->integer = type->oid != BYTEAOID;
        return;
    }
    const char *shown = type->oid == BYTEAOID
                            ? psprintf("a bytea of %zu bytes", item->size)
                            : psprintf("\"%.*s\"", pg_mbcliplen(item->bytes, (int)item->size, 60), item->bytes);
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("legosketch: the items of this sketch are integers, and %s is none", shown),
            errhint("An integer is bigint, or its digits as text, or its 8 little-endian bytes as bytea."));
}

void item_fit(struct item *item, const struct item_type *type, lego_kind kind)
{
    if (kind == LEGO_ITEMS_INTEGERS && type->kind == LEGO_ITEMS_BYTES) fit_integers(item, type);
    if (kind == LEGO_ITEMS_BYTES && type->kind == LEGO_ITEMS_INTEGERS)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: the items of this sketch are text or bytes, and " INT64_FORMAT " is an integer",
                       (int64)item->key),
                errhint("Cast it to the type that was counted, as " INT64_FORMAT "::text.", (int64)item->key));
}

void item_warn_of_length(void)
{
    ereport(WARNING, errmsg("legosketch: an item of more than %u bytes is counted, but lego_top() never lists it",
                            LEGO_TOP_ITEM_MAX));
}

void item_write_key(char bytes_of_key[8], uint64_t key)
{
    for (int i = 0; i < 8; i++) bytes_of_key[i] = (char)(key >> 8 * i);
}
