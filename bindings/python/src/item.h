/* One item: a Python object as the bytes that are hashed, by the table of docs/python.md.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <Python.h>
#include "text.h"

enum item_kind { ITEM_NULL, ITEM_TEXT, ITEM_NUMBER };

struct item {
    enum item_kind kind;
    uint64_t number;
    const char *text; /* or this, alive as long as the object and until item_release() */
    size_t size;
    struct text made; /* of values that have to be written down first */
    PyObject *holder; /* of what legosketch/_items.py made */
    Py_buffer view;   /* of bytearrays and memoryviews, which could change their size meanwhile; else without obj */
};

/* 0, or -1 with TypeError, ValueError or UnicodeEncodeError. May run code of the object's class. A null, as None and
 * NaN are, is an item of no kind, or a TypeError. Released it has to be only after a 0. */
int item_read(PyObject *object, struct item *item);
int item_read_or_null(PyObject *object, struct item *item);
void item_release(struct item *item);

/* The 8 little-endian bytes that a number is as an item. */
void item_write_number(char bytes[8], uint64_t number);

/* Functions of the module: item_bytes(item) and group(item, groups, seed). */
PyObject *item_bytes(PyObject *module, PyObject *object);
PyObject *item_group(PyObject *module, PyObject *arguments);
