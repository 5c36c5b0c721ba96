/* Models as Python has them: None, the name of a built-in one, or a capsule that owns one from a file.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "compat.h"
#include "legosketch.h"

/* The model that an object stands for, NULL for None; 0, or -1 with an exception. */
int model_find(PyObject *object, const lego_model **model);

/* Functions of the module. is_model(name); load_model(bytes): a capsule; model_bytes(capsule): the bytes again. */
PyObject *model_is_builtin(PyObject *module, PyObject *name);
PyObject *model_load(PyObject *module, PyObject *bytes);
PyObject *model_bytes(PyObject *module, PyObject *capsule);
