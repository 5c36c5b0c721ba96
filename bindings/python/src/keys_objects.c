/* Items from anything that can be iterated over, of any types in any mixture. None and NaN are null.
 *
 * SPDX-License-Identifier: MIT */
#include "item.h"
#include "keys.h"
#include "sketch.h"

/* The item of a pair and its count. */
static PyObject *split(PyObject *pair, int64_t *count)
{
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "the items() of a mapping are pairs of an item and its count");
        return NULL;
    }
    *count = PyLong_AsLongLong(PyTuple_GetItem(pair, 1));
    return *count == -1 && PyErr_Occurred() ? NULL : PyTuple_GetItem(pair, 0);
}

static int put(struct keys *keys, PyObject *object, size_t row, int64_t count)
{
    struct gathered *to = &keys->gathered;
    struct item item;
    if (item_read_or_null(object, &item) < 0) return -1;
    bool room = true;
    if (item.kind == ITEM_NUMBER) room = keys_put_number(to, row, count, item.number);
    if (item.kind == ITEM_TEXT) room = text_add(&to->text, item.text, item.size) && keys_put_text(to, row, count);
    item_release(&item);
    return room ? 0 : (PyErr_NoMemory(), -1);
}

static int next_objects(struct keys *keys, struct slice *slice)
{
    struct gathered *to = &keys->gathered;
    size_t rows = 0, most = keys->most < KEYS_GATHERED ? keys->most : KEYS_GATHERED;
    if (!keys_start(to)) return -1;
    while (rows < most && to->text.size < KEYS_TEXT) {
        PyObject *next = PyIter_Next(keys->iterator);
        if (next == NULL) break;
        int64_t count = 1;
        PyObject *object = keys->pairs ? split(next, &count) : next;
        int failed = object == NULL ? -1 : put(keys, object, rows, count);
        rows++;
        Py_DECREF(next);
        if (failed) return -1;
    }
    if (PyErr_Occurred()) return -1;
    keys_finish(to, rows, keys->pairs, slice);
    return rows > 0;
}

static void close_objects(struct keys *keys)
{
    Py_CLEAR(keys->iterator);
}

/* What can not be iterated over is one item, or none. */
static int refuse(PyObject *object)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError) || keys_has(object, "__iter__")) return -1;
    PyErr_Format(PyExc_TypeError,
                 "many items are a list, an array, a column ...; add() and estimate() are for one, as %R", object);
    return -1;
}

int keys_open_objects(struct keys *keys, PyObject *object, keys_as as)
{
    if (PyObject_TypeCheck(object, sketch_type))
        return PyErr_SetString(PyExc_TypeError, "a Sketch is no items: merge() adds it to another"), -1;
    if (keys_has(object, "columns")) {
        PyErr_SetString(PyExc_TypeError, "items are one column, and this is a table: select one of its columns");
        return -1;
    }
    keys->python = true;
    keys->close = close_objects;
    keys->next = next_objects;
    keys->pairs = as == KEYS_PAIRS;
    keys->length = -1;
    if (as == KEYS_SIZED) { /* in a tuple, which nobody changes while it is read */
        PyObject *all = PySequence_Tuple(object);
        if (all == NULL) return refuse(object);
        keys->length = PyTuple_Size(all);
        keys->iterator = PyObject_GetIter(all);
        Py_DECREF(all);
    } else {
        keys->iterator = PyObject_GetIter(object);
    }
    return keys->iterator == NULL ? refuse(object) : 1;
}
