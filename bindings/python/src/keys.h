/* Many items, from whatever holds them: arrays, Arrow columns, anything that can be iterated over. They are read in
 * chunks that the batch functions of the library take as they are.
 *
 *     numpy, array.array, memoryview ...   keys_buffer.c    integers of 64 bits stay where they are
 *     Arrow, pandas, polars                keys_arrow.c     so does the text of strings
 *     lists, generators, mappings          keys_objects.c   one by one
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <Python.h>
#include "legosketch.h"
#include <stdbool.h>
#include <stdint.h>

/* Rows, and bytes of text, that are gathered at once where they can not stay where they are. The library likes large
 * batches: 1.2 MB take in 14 million items a second in batches of 2^16, 37 million in batches of 2^21 and 53 million in
 * one of 2^23; so many rows are 64 MB, as the library itself may use meanwhile. */
#define KEYS_CHUNK ((size_t)1 << 23)
#define KEYS_TEXT ((size_t)32 << 20)

struct chunk {
    size_t rows;         /* of the input, those that are null included */
    lego_items items;    /* in them; counts are those of pairs */
    const uint32_t *row; /* in which row of the chunk item i is; NULL: in row i */
};

/* What does not stay where it is: arrays of `rows` and one more each, NULL until they are
 * used, and text with `room` bytes. */
struct gathered {
    size_t rows, room;
    uint64_t *numbers;
    uint64_t *offsets;
    int64_t *counts;
    uint32_t *row;
    char *text;
};

struct keys {
    /* 1; 0: there is no more; -1: it failed, for the reason in `failure`, or NULL: an exception is set, or memory. */
    int (*next)(struct keys *keys, struct chunk *chunk);
    void (*close)(struct keys *keys);
    const char *failure;
    Py_ssize_t length;   /* rows in all; -1: nobody knows */
    unsigned kinds;      /* ITEM_ values, of all items seen so far */
    bool python;         /* next() needs the GIL, and runs code of others */
    bool is_signed;      /* of numbers: they were int64_t */
    PyObject *iterator;  /* keys_objects.c */
    bool pairs;          /* ... it gives items with their counts */
    Py_buffer view;      /* keys_buffer.c */
    struct arrow *arrow; /* keys_arrow.c */
    size_t at;           /* the next row */
    struct gathered gathered;
};

/* How to read an iterable: as it comes, with its length known from the start, or as pairs of an item and its count. */
typedef enum keys_as { KEYS_STREAM, KEYS_SIZED, KEYS_PAIRS } keys_as;

/* 0, or -1 with an exception. */
int keys_open(struct keys *keys, PyObject *object, keys_as as);
void keys_close(struct keys *keys);

/* Gives each chunk to use(), without the GIL, until there is no more or use() returns not LEGO_OK; that or an exception
 * of the keys' is raised: 0, or -1. */
int keys_each(struct keys *keys, int (*use)(void *context, const struct chunk *chunk), void *context);

/* Whether there is such an attribute; one that raises is none. */
bool keys_has(PyObject *object, const char *attribute);

/* The sources: 1 if the object is of that kind, 0 if it is not, -1 with an exception. */
int keys_open_buffer(struct keys *keys, PyObject *object);
int keys_open_arrow(struct keys *keys, PyObject *object);
int keys_open_objects(struct keys *keys, PyObject *object, keys_as as);

/* Makes room in those arrays of keys->gathered, and behind the text: false if there is no memory. */
enum { KEYS_NUMBERS = 1, KEYS_OFFSETS = 2, KEYS_COUNTS = 4, KEYS_ROW = 8 };
bool keys_room(struct gathered *gathered, unsigned arrays, size_t rows);
bool keys_room_text(struct gathered *gathered, size_t used, size_t more);

/* Integers of `size` bytes, `stride` bytes apart, as 64 bits each. */
void keys_widen(uint64_t *numbers, const char *from, size_t n, Py_ssize_t stride, size_t size, bool is_signed);
