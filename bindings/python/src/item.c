/* One item: a Python object as the bytes that are hashed; see item.h.
 *
 * SPDX-License-Identifier: MIT */
#include "item.h"

#include "legosketch.h"

#include <math.h>
#include <stdlib.h>

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* 1; 0 if it takes more than 64 bits; -1. */
static int read_integer(PyObject *integer, uint64_t *number)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (value == -1 && PyErr_Occurred()) return -1;
    *number = (uint64_t)value;
    if (overflow > 0) {
        *number = PyLong_AsUnsignedLongLong(integer);
        overflow = *number == UINT64_MAX && PyErr_Occurred();
        PyErr_Clear();
    }
    return overflow == 0;
}

/* What a str has as UTF-8, alive as long as it. */
static int read_str(PyObject *object, const char **text, size_t *size)
{
    Py_ssize_t length;
    *text = PyUnicode_AsUTF8AndSize(object, &length);
    *size = (size_t)length;
    return *text == NULL ? -1 : 0;
}

/* The digits of an integer of any size. */
static int add_digits(struct text *to, PyObject *integer)
{
    PyObject *shown = PyNumber_ToBase(integer, 10);
    const char *text;
    size_t size;
    int failed = shown == NULL ? -1 : read_str(shown, &text, &size);
    if (!failed && !text_add(to, text, size)) PyErr_NoMemory(), failed = -1;
    Py_XDECREF(shown);
    return failed;
}

/* What legosketch/_items.py makes of an object that is of none of the types here. */
static PyObject *made_of(PyObject *object, const char *function)
{
    PyObject *module = PyImport_ImportModule("legosketch._items");
    PyObject *made = module == NULL ? NULL : PyObject_CallMethod(module, function, "O", object);
    Py_XDECREF(module);
    return made;
}

/* ---- tuples: what jsonb would print ------------------------------------------------------------------------------ */

static int write_json(struct text *to, PyObject *object);

static int write_elements(struct text *to, PyObject *object)
{
    PyObject *all = PySequence_Tuple(object); /* of a list, too: it stays as it is while code of others runs */
    if (all == NULL || Py_EnterRecursiveCall(" in a tuple that is an item")) return Py_XDECREF(all), -1;
    Py_ssize_t n = PyTuple_Size(all);
    bool room = text_add(to, "[", 1);
    int failed = 0;
    for (Py_ssize_t i = 0; i < n && room && !failed; i++) {
        room = i == 0 || text_add(to, ", ", 2);
        if (room) failed = write_json(to, PyTuple_GetItem(all, i));
    }
    if (!failed) room = room && text_add(to, "]", 1);
    if (!room) PyErr_NoMemory();
    Py_LeaveRecursiveCall();
    Py_DECREF(all);
    return failed || !room ? -1 : 0;
}

/* A str of theirs is a string, bytes are JSON already. */
static int write_made(struct text *to, PyObject *object)
{
    PyObject *made = made_of(object, "nested");
    if (made == NULL) return -1;
    int failed = 0;
    if (PyBytes_Check(made)) {
        if (!text_add(to, PyBytes_AsString(made), (size_t)PyBytes_Size(made))) PyErr_NoMemory(), failed = -1;
    } else {
        failed = write_json(to, made);
    }
    Py_DECREF(made);
    return failed;
}

static int write_json(struct text *to, PyObject *object)
{
    bool room;
    if (PyUnicode_Check(object)) {
        const char *text;
        size_t size;
        if (read_str(object, &text, &size) < 0) return -1;
        room = text_quoted(to, text, size);
    } else if (object == Py_None) {
        room = text_add(to, "null", 4);
    } else if (PyBool_Check(object)) {
        room = object == Py_True ? text_add(to, "true", 4) : text_add(to, "false", 5);
    } else if (PyLong_Check(object)) {
        return add_digits(to, object);
    } else if (PyFloat_Check(object)) {
        uint64_t number;
        double value = PyFloat_AsDouble(object);
        room = isnan(value)                 ? text_add(to, "null", 4)
               : text_whole(value, &number) ? text_integer(to, number, value < 0)
                                            : text_float(to, value, true);
    } else if (PyTuple_Check(object) || PyList_Check(object)) {
        return write_elements(to, object);
    } else if (PyIndex_Check(object)) {
        PyObject *integer = PyNumber_Index(object);
        int failed = integer == NULL ? -1 : add_digits(to, integer);
        Py_XDECREF(integer);
        return failed;
    } else {
        return write_made(to, object);
    }
    return room ? 0 : (PyErr_NoMemory(), -1);
}

/* ---- an item ----------------------------------------------------------------------------------------------------- */

static int read_float(double value, struct item *item)
{
    if (isnan(value)) return item->kind = ITEM_NULL, 0;
    item->kind = ITEM_NUMBER;
    if (text_whole(value, &item->number)) return 0;
    item->kind = ITEM_TEXT;
    return text_float(&item->made, value, false) ? 0 : (PyErr_NoMemory(), -1);
}

static int read_any_integer(PyObject *integer, struct item *item)
{
    int fits = read_integer(integer, &item->number);
    item->kind = fits == 1 ? ITEM_NUMBER : ITEM_TEXT;
    return fits != 0 ? (fits < 0 ? -1 : 0) : add_digits(&item->made, integer);
}

static int read_view(PyObject *object, struct item *item)
{
    item->kind = ITEM_TEXT;
    if (PyObject_GetBuffer(object, &item->view, PyBUF_SIMPLE) < 0) return item->view.obj = NULL, -1;
    item->text = item->view.buf;
    item->size = (size_t)item->view.len;
    return 0;
}

/* Everything but what only _items.py knows, which is 0. */
static int read_known(PyObject *object, struct item *item, bool *known)
{
    *known = true;
    if (PyUnicode_Check(object)) {
        item->kind = ITEM_TEXT;
        return read_str(object, &item->text, &item->size);
    }
    if (PyBytes_Check(object)) {
        item->kind = ITEM_TEXT;
        item->text = PyBytes_AsString(object);
        item->size = (size_t)PyBytes_Size(object);
        return 0;
    }
    if (PyLong_Check(object)) return read_any_integer(object, item);
    if (PyFloat_Check(object)) return read_float(PyFloat_AsDouble(object), item);
    if (object == Py_None) return item->kind = ITEM_NULL, 0;
    if (PyTuple_Check(object)) return item->kind = ITEM_TEXT, write_elements(&item->made, object);
    if (PyByteArray_Check(object) || PyMemoryView_Check(object)) return read_view(object, item);
    if (PyIndex_Check(object)) { /* integers of numpy */
        PyObject *integer = PyNumber_Index(object);
        int failed = integer == NULL ? -1 : read_any_integer(integer, item);
        Py_XDECREF(integer);
        return failed;
    }
    *known = false;
    return 0;
}

int item_read_or_null(PyObject *object, struct item *item)
{
    bool known;
    item->view.obj = NULL;
    item->holder = NULL;
    item->made = (struct text){NULL, 0, 0};
    item->text = NULL;
    int failed = read_known(object, item, &known);
    if (!failed && !known) {
        item->holder = made_of(object, "item");
        failed = item->holder == NULL ? -1 : read_known(item->holder, item, &known);
        if (!failed && !known) PyErr_SetString(PyExc_TypeError, "legosketch._items makes no item"), failed = -1;
    }
    if (failed) return item_release(item), -1;
    if (item->kind != ITEM_NUMBER && item->text == NULL) {
        item->text = item->made.bytes;
        item->size = item->made.size;
    }
    return 0;
}

int item_read(PyObject *object, struct item *item)
{
    if (item_read_or_null(object, item) < 0) return -1;
    if (item->kind != ITEM_NULL) return 0;
    item_release(item);
    PyErr_Format(PyExc_TypeError, "%R is no item: in batches it is left out; count a str for it, as 'none'", object);
    return -1;
}

void item_release(struct item *item)
{
    if (item->view.obj != NULL) PyBuffer_Release(&item->view);
    free(item->made.bytes);
    Py_XDECREF(item->holder);
}

void item_write_number(char bytes[8], uint64_t number)
{
    for (int i = 0; i < 8; i++) bytes[i] = (char)(number >> 8 * i);
}

PyObject *item_bytes(PyObject *module, PyObject *object)
{
    (void)module;
    struct item item;
    if (item_read(object, &item) < 0) return NULL;
    char number[8];
    if (item.kind == ITEM_NUMBER) {
        item_write_number(number, item.number);
        item.text = number;
        item.size = sizeof number;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(item.text, (Py_ssize_t)item.size);
    item_release(&item);
    return bytes;
}

/* The defaults, and what the numbers may be, are in legosketch/__init__.py. */
PyObject *item_group(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *object;
    unsigned int groups;
    unsigned long long seed;
    struct item item;
    if (!PyArg_ParseTuple(arguments, "OIK:group", &object, &groups, &seed) || item_read(object, &item) < 0) return NULL;
    uint32_t group = item.kind == ITEM_NUMBER ? lego_group_u64(item.number, seed, groups)
                                              : lego_group(item.text, item.size, seed, groups);
    item_release(&item);
    return PyLong_FromUnsignedLong(group);
}
