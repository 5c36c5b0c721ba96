/* Many items, from whatever holds them: arrays, Arrow columns, anything that can be iterated over. They are read in
 * slices that the batch functions of the library take as they are.
 *
 *     numpy, array.array, memoryview ...   keys_buffer.c    integers of 64 bits stay where they are
 *     Arrow, pandas, polars, duckdb        keys_arrow.c     so does the text of strings
 *     lists, generators, mappings          keys_objects.c   one by one
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <Python.h>
#include "legosketch.h"
#include "text.h"

/* Rows of the first slice; the following ones are as long as takes a tenth of a second or less, since between two of
 * them Ctrl-C is looked for. The library likes large batches, of 2^20 items or more. Where items have to be written
 * down first it takes longer, and fewer are gathered. */
#define KEYS_FIRST ((size_t)1 << 20)
#define KEYS_MOST ((size_t)1 << 23)
#define KEYS_GATHERED ((size_t)1 << 19)
#define KEYS_WRITTEN ((size_t)1 << 16)
#define KEYS_TEXT ((size_t)32 << 20) /* bytes of text */

/* What does not stay where it is: arrays of `rows` and one more each, NULL until they are used, and text. */
struct gathered {
    size_t rows;
    uint64_t *numbers;
    uint64_t *offsets;
    int64_t *counts;
    uint32_t *row;
    struct text text;
    size_t n;       /* of what comes one by one: items, */
    lego_kind kind; /* and what they are */
};

/* The next rows, which the library gets at once. */
struct slice {
    size_t first, rows;  /* of the input, those that are null included */
    lego_items items;    /* in them; counts are those of pairs */
    const uint32_t *row; /* in which row of the slice item i is; NULL: in row i */
};

struct keys {
    /* 1; 0: there is no more; -1: it failed, for the reason in `failure`, or NULL: an exception is set, or memory. */
    int (*next)(struct keys *keys, struct slice *slice);
    void (*close)(struct keys *keys);
    const char *failure;
    Py_ssize_t length;   /* rows in all; -1: nobody knows */
    size_t most;         /* rows of the next slice, at most */
    bool python;         /* next() needs the GIL */
    bool is_signed;      /* of numbers: they were int64_t, */
    bool is_bool;        /* or of any value but 0 each is true */
    PyObject *iterator;  /* keys_objects.c */
    bool pairs;          /* ... it gives items with their counts */
    Py_buffer view;      /* keys_buffer.c */
    struct arrow *arrow; /* keys_arrow.c */
    bool is_points;      /* ... texts are code points of 4 bytes */
    bool is_time;        /* ... numbers are times, */
    uint32_t parts;      /* in so many parts of a second, or 0: dates, in days */
    size_t at;           /* the next row */
    struct gathered gathered;
};

/* How to read an iterable: as it comes, with its length known from the start, or as pairs of an item and its count. */
typedef enum keys_as { KEYS_STREAM, KEYS_SIZED, KEYS_PAIRS } keys_as;

/* 0, or -1 with an exception. */
int keys_open(struct keys *keys, PyObject *object, keys_as as);
void keys_close(struct keys *keys);

/* Gives each slice to use(), without the GIL, until there is no more or use() returns not LEGO_OK; that, an exception
 * of the keys' or of a signal's handler is raised: 0, or -1. */
int keys_each(struct keys *keys, int (*use)(void *context, const struct slice *slice), void *context);

/* Whether there is such an attribute; one that raises is none. */
bool keys_has(PyObject *object, const char *attribute);

/* The sources: 1 if the object is of that kind, 0 if it is not, -1 with an exception. */
int keys_open_buffer(struct keys *keys, PyObject *object);
int keys_open_arrow(struct keys *keys, PyObject *object, keys_as as);
int keys_open_objects(struct keys *keys, PyObject *object, keys_as as);

/* Makes room in those arrays of keys->gathered: false if there is no memory. */
enum { KEYS_NUMBERS = 1, KEYS_OFFSETS = 2, KEYS_COUNTS = 4, KEYS_ROW = 8 };
bool keys_room(struct gathered *gathered, unsigned arrays, size_t rows);

/* Integers of `size` bytes, `stride` bytes apart, as 64 bits each. */
void keys_widen(uint64_t *numbers, const char *from, size_t n, Py_ssize_t stride, size_t size, bool is_signed);

/* One by one: start, put what is no null, finish. A number is put as its 8 bytes; a text is what was added to
 * gathered->text before. */
bool keys_start(struct gathered *gathered);
bool keys_put_number(struct gathered *gathered, size_t row, int64_t count, uint64_t number);
bool keys_put_text(struct gathered *gathered, size_t row, int64_t count);
void keys_finish(struct gathered *gathered, size_t rows, bool pairs, struct slice *slice);

/* A float, which is either, or NaN, a null. With the GIL. */
bool keys_put_float(struct gathered *gathered, size_t row, double value);
