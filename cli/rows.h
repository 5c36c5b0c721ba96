/* Rows of answers on standard output: aligned for people, or for programs in tabs, CSV or JSON.
 *
 *     tabs     items as in shown.h, so that a line is a row
 *     CSV      as in RFC 4180, but that lines end in LF: what has a comma, a quote or a line end is quoted; on a
 *              terminal items are as in shown.h before that
 *     JSON     an object a line; an item that is not UTF-8 text is "item_hex"; control characters are \u001b
 *     people   columns one below the other, under their titles; items as in shown.h, last */
#pragma once

#include "json.h"
#include "options.h"
#include "text.h"

typedef enum rows_form { ROWS_TABS, ROWS_CSV, ROWS_JSON, ROWS_PEOPLE } rows_form;

/* What options say of it. */
typedef struct rows_options {
    bool csv, json, header;
} rows_options;

#define OPTIONS_ROWS(given)                                                                                            \
    {"csv", 0, OPTION_FLAG, NULL, &(given).csv, "print CSV"},                                                          \
        {"json", 0, OPTION_FLAG, NULL, &(given).json, "print an object a line"},                                       \
    {                                                                                                                  \
        "header", 0, OPTION_FLAG, NULL, &(given).header, "print the names of columns first, in tabs and CSV"           \
    }

/* Whether the options go together; if not, says what is wrong with the command line. */
bool rows_check(const command *self, const rows_options *given);

typedef struct rows_column {
    const char *name;  /* NULL ends them; the item, if there is one, is the first */
    const char *title; /* NULL: not for people */
} rows_column;

typedef struct rows {
    rows_form form;
    bool terminal; /* is where they go */
    const rows_column *columns;
    size_t column; /* that comes next */
    size_t count;  /* rows, with that of the titles */
    text cells;    /* the row; for people all of them, each cell ended by a zero */
    text shown;    /* an item of CSV on a terminal */
    json_line object;
} rows;

/* people: whom it is for on a terminal, if options say nothing. */
rows rows_begin(const rows_options *how, bool people, const rows_column *columns);

/* Cells, in the order of the columns. */
void rows_item(rows *self, const void *bytes, size_t size, bool is_number); /* a number has 8 bytes */
void rows_estimate(rows *self, double value);
void rows_i64(rows *self, int64_t value);
void rows_share(rows *self, double share); /* what is not a number is nothing */
void rows_bool(rows *self, bool value);
void rows_word(rows *self, const char *word);

/* The row is complete. Says what went wrong before it returns false, as the next does. */
bool rows_next(rows *self);
bool rows_end(rows *self);
