/* One column of a table in CSV, as RFC 4180 has it, from blocks of any size.
 *
 *     Fields are separated by a delimiter, records by LF or CR LF. A field that begins with a double quote ends at the
 *     next one, and may hold delimiters and line ends; two of them stand for one. In a field that does not begin with
 *     one, a quote is a byte like any other. A line with nothing on it is no record.
 *
 *     table self = {.column = "city", .delimiter = ','};
 *     for each block:
 *         while ((event = table_next(&self, &at, end)) != TABLE_MORE)   ...use self.field or self.bad...
 *     while ((event = table_end(&self)) != TABLE_MORE)                  ...the same...
 *     table_close(&self); */
#pragma once

#include "text.h"

#include <stdint.h>

typedef enum table_event {
    TABLE_MORE,     /* everything given has been taken in */
    TABLE_FIELD,    /* the field of the next record is there, until the next call */
    TABLE_BAD,      /* a record that is left out; bad says why */
    TABLE_REFUSED,  /* there is no such column; bad says which there are */
    TABLE_NO_MEMORY /* it can only be closed */
} table_event;

typedef struct table {
    const char *column; /* its name, or its number from 1 on; NULL only asks for a refusal that names them */
    char delimiter;
    bool no_header; /* the first record is one like the others */

    text field;
    struct {
        uint64_t line; /* the first is 1 */
        const char *what;
    } bad;

    /* The rest is its own. */
    enum { TABLE_FIELD_BEGINS, TABLE_PLAIN, TABLE_QUOTED, TABLE_QUOTE_SEEN, TABLE_CR_SEEN, TABLE_DISCARDING } at;
    bool begun;      /* the first record has */
    bool ended;      /* a record has, and the next begins */
    bool in_header;  /* of which all fields are kept, one after another */
    bool quoted;     /* the field began with a quote */
    bool blank;      /* nothing is on the line so far, or a CR */
    bool blank_cr;   /* that CR; another would be the first byte of an item */
    bool too_long;   /* the field that is kept */
    uint64_t wanted; /* the column's number; 0 before it is known */
    uint64_t number; /* of the field */
    uint64_t lines;  /* that have ended */
    uint64_t first;  /* line of the record */
    uint64_t opened; /* line of the last quote that began a field */
    text names, message;
} table;

table_event table_next(table *self, const unsigned char **at, const unsigned char *end);

/* At the end of the table: the last record needs no line end. To be called until it returns TABLE_MORE. */
table_event table_end(table *self);
void table_close(table *self);
