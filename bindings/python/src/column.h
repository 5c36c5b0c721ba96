/* A column of Arrow's: of which type its rows are, and a row as an item. Whatever lies outside an array can not be seen
 * from here, so the sizes of buffers are believed; offsets, indices and views are checked.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "arrow.h"
#include "keys.h"

/* How the values of a column lie in memory, and what they are. */
enum layout {
    NOTHING,     /* nulls only */
    BITS,        /* booleans */
    INTEGERS,    /* these up to times are each in `size` bytes */
    FLOATS,      /*   4 or 8 */
    DECIMALS,    /*   over 10^scale */
    DATES,       /*   days, or so many parts of a second */
    TIMES,       /*   of a day */
    INSTANTS,    /*   a date and a time */
    FIXED,       /* texts of `size` bytes */
    UUIDS,       /*   16 of them */
    OFFSETS,     /* texts between offsets of `size` bytes, 4 or 8 */
    VIEWS,       /* texts in 16 bytes each, or the place where they are */
    STRUCTS,     /* the children's values of the row */
    LISTS,       /* the child's values between offsets of `size` bytes */
    FIXED_LISTS, /* `size` of the child's values */
};

struct type {
    enum layout layout;
    size_t size;
    bool is_signed; /* of integers */
    bool is_binary; /* of texts */
    uint32_t parts; /* of a second */
    bool is_utc;
    int scale;
    struct type *values; /* the rows are indices of these: a dictionary */
    struct type *children;
    size_t n_children;
};

/* Frees with type_free() what it has made, also if it fails: 0, or -1 with an exception. */
int type_read(struct type *type, const struct ArrowSchema *schema);
void type_free(struct type *type);

/* Whether the GIL is needed to write values down. */
bool type_needs_python(const struct type *type);

/* An array of a column, with what is used of it. */
struct column {
    const struct type *type;
    size_t length, offset;
    const uint8_t *valid; /* a bit for each row and the offset; NULL: all are */
    const char *values;   /* numbers, fixed texts, offsets or views */
    const char *text;
    const void *const *parts; /* of views: the buffers that they point into, and their sizes */
    const char *part_sizes;   /* int64_t each, which need not be aligned */
    size_t n_parts;
    struct column *dictionary, *children;
};

/* NULL, or what is wrong with the array. column_free() in either case. */
const char *column_read(struct column *column, const struct ArrowArray *array, const struct type *type);
void column_free(struct column *column);

/* The offset before a row; that of a row after the last is the end. Negative ones get very large. */
uint64_t column_offset(const struct column *column, size_t row);
bool column_offsets_hold(const struct column *column, uint64_t from, uint64_t to);

bool column_has_no_null(const struct column *column, size_t from, size_t rows);

/* Puts a row as the item of `place`; a null is not put. NULL, or what is wrong; "" is memory. */
const char *column_put(const struct column *column, size_t row, struct gathered *to, size_t place);

extern const char column_bad_offsets[];
