/* The type legosketch: the bytes that the library saves, and nothing else. Every way in checks them whole, but where
 * their secret seed is not known here: then a cast refuses them, and text and the binary protocol take what has the
 * right checksum, since a dump may have tables before the one with its secrets. What needs no check (sending, the cast
 * to bytea, comparing) the server's functions for bytea do: sql/legosketch--1.0.sql names them.
 *
 * SPDX-License-Identifier: MIT */
#include "module.h"

#include "libpq/pqformat.h"
#include "sketch.h"
#include "utils/builtins.h"

#include <string.h>

static Datum restored(struct varlena *value)
{
    lego_destroy(sketch_load_if_known(value, CurrentMemoryContext));
    return PointerGetDatum(value);
}

/* The text is \x and hexadecimal digits, as bytea is printed, but whatever bytea_output says. */
SQL_FUNCTION(in)
{
    const char *hex = PG_GETARG_CSTRING(0);
    if (strncmp(hex, "\\x", 2) != 0)
        ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                errmsg("invalid input syntax for type %s: it does not begin with \\x", "legosketch"),
                errhint("The text is \\x and the bytes of a sketch in hexadecimal digits; "
                        "lego_agg() makes a sketch of items."));
    size_t digits = strlen(hex + 2);
    struct varlena *value = palloc(VARHDRSZ + digits / 2);
    SET_VARSIZE(value, VARHDRSZ + hex_decode(hex + 2, digits, VARDATA(value)));
    return restored(value);
}

SQL_FUNCTION(out)
{
    const struct varlena *value = PG_GETARG_VARLENA_PP(0);
    size_t size = VARSIZE_ANY_EXHDR(value);
    char *hex = palloc(2 + 2 * size + 1);
    memcpy(hex, "\\x", 2);
    hex[2 + hex_encode(VARDATA_ANY(value), size, hex + 2)] = '\0';
    PG_RETURN_CSTRING(hex);
}

SQL_FUNCTION(recv)
{
    StringInfo message = (StringInfo)PG_GETARG_POINTER(0);
    int size = message->len - message->cursor;
    struct varlena *value = palloc(VARHDRSZ + size);
    SET_VARSIZE(value, VARHDRSZ + size);
    pq_copymsgbytes(message, VARDATA(value), size);
    return restored(value);
}

SQL_FUNCTION(from_bytea)
{
    struct varlena *value = PG_GETARG_VARLENA_PP(0);
    lego_destroy(sketch_load(value, CurrentMemoryContext));
    return PointerGetDatum(value);
}
