/* One item: a Python object as the bytes that are hashed; see item.h.
 *
 * SPDX-License-Identifier: MIT */
#include "item.h"

#include "legosketch.h"

#include <stdbool.h>

static int read_integer(PyObject *integer, uint64_t *number)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(integer, &overflow);
    if (value == -1 && PyErr_Occurred()) return -1;
    *number = (uint64_t)value;
    if (overflow > 0) {
        *number = PyLong_AsUnsignedLongLong(integer);
        overflow = *number == UINT64_MAX && PyErr_Occurred();
    }
    if (overflow == 0) return 0;
    PyErr_SetString(PyExc_OverflowError,
                    "an integer item is from -2**63 to 2**64 - 1; give larger ones as str or bytes");
    return -1;
}

int item_read(PyObject *object, struct item *item)
{
    item->view.obj = NULL;
    if (PyUnicode_Check(object)) {
        Py_ssize_t size;
        item->kind = ITEM_STR;
        item->text = PyUnicode_AsUTF8AndSize(object, &size);
        item->size = (size_t)size;
        return item->text == NULL ? -1 : 0;
    }
    if (PyBytes_Check(object)) {
        item->kind = ITEM_BYTES;
        item->text = PyBytes_AsString(object);
        item->size = (size_t)PyBytes_Size(object);
        return 0;
    }
    item->kind = ITEM_INT;
    if (!PyBool_Check(object)) {
        if (PyLong_Check(object)) return read_integer(object, &item->number);
        if (PyIndex_Check(object)) { /* integers of numpy */
            PyObject *integer = PyNumber_Index(object);
            int failed = integer == NULL ? -1 : read_integer(integer, &item->number);
            Py_XDECREF(integer);
            return failed;
        }
    }
    if (PyByteArray_Check(object) || PyMemoryView_Check(object)) {
        item->kind = ITEM_BYTES;
        if (PyObject_GetBuffer(object, &item->view, PyBUF_SIMPLE) < 0) {
            item->view.obj = NULL;
            return -1;
        }
        item->text = item->view.buf;
        item->size = (size_t)item->view.len;
        return 0;
    }
    PyObject *name = PyType_GetName(Py_TYPE(object));
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "an item is str, bytes or int, not %U%s", name,
                     PyBool_Check(object)    ? ": count int(item) or str(item)"
                     : PyFloat_Check(object) ? ": count int(item) or repr(item)"
                                             : "");
    Py_XDECREF(name);
    return -1;
}

void item_release(struct item *item)
{
    if (item->view.obj != NULL) PyBuffer_Release(&item->view);
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
    if (item.kind == ITEM_INT) {
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
    uint32_t group = item.kind == ITEM_INT ? lego_group_u64(item.number, seed, groups)
                                           : lego_group(item.text, item.size, seed, groups);
    item_release(&item);
    return PyLong_FromUnsignedLong(group);
}
