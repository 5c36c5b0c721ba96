/* What went wrong, as a Python exception; see errors.h.
 *
 * SPDX-License-Identifier: MIT */
#include "errors.h"

/* Kept for as long as the process lives; the module says that it has such state (m_size in module.c). */
static PyObject *lego_error;

int errors_start(PyObject *module)
{
    lego_error = PyErr_NewExceptionWithDoc("legosketch.LegoError",
                                           "What the library refuses, in its own words. `status` is its number, as in "
                                           "legosketch.h.",
                                           PyExc_ValueError, NULL);
    if (lego_error == NULL) return -1;
    return PyModule_AddObject(module, "LegoError", Py_NewRef(lego_error)); /* which takes it, unless it fails */
}

static void raise_with(const char *message, lego_status status)
{
    PyObject *error = PyObject_CallFunction(lego_error, "s", message);
    PyObject *number = PyLong_FromLong(status);
    if (error != NULL && number != NULL && PyObject_SetAttrString(error, "status", number) == 0)
        PyErr_SetObject(lego_error, error);
    Py_XDECREF(number);
    Py_XDECREF(error);
}

void raise_status(lego_status status)
{
    if (status == LEGO_ERR_MEMORY) PyErr_NoMemory();
    else raise_with(lego_status_message(status), status);
}

void raise_unanswered(lego_status status)
{
    if (status == LEGO_ERR_ARGUMENT) raise_with("absent is from 0 to below 1", status);
    else if (status == LEGO_ERR_MODEL)
        raise_with("sketches of the paper's model have one way to answer: leave absent out", status);
    else raise_status(status);
}

void raise_refused(const char *message)
{
    raise_with(message, LEGO_ERR_ARGUMENT);
}
