/* Python.h, with what Python 3.9 lacks of it.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include <Python.h>

#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *Py_NewRef(PyObject *object)
{
    Py_INCREF(object);
    return object;
}
#endif
