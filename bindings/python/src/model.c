/* Models as Python has them; see model.h.
 *
 * SPDX-License-Identifier: MIT */
#include "model.h"

#include "errors.h"

static const char capsule_name[] = "legosketch.model";

int model_find(PyObject *object, const lego_model **model)
{
    *model = NULL;
    if (object == Py_None) return 0;
    if (PyUnicode_Check(object)) {
        const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
        if (name == NULL) return -1;
        *model = lego_model_builtin(name);
        if (*model == NULL) PyErr_Format(PyExc_LookupError, "there is no built-in model '%U'", object);
    } else {
        *model = PyCapsule_GetPointer(object, capsule_name);
    }
    return *model == NULL ? -1 : 0;
}

PyObject *model_is_builtin(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    return text == NULL ? NULL : PyBool_FromLong(lego_model_builtin(text) != NULL);
}

static void destroy(PyObject *capsule)
{
    lego_model_destroy(PyCapsule_GetPointer(capsule, capsule_name));
}

/* Only of `bytes`, which nobody can change between the library's check and its use. */
PyObject *model_load(PyObject *module, PyObject *bytes)
{
    (void)module;
    lego_model *model;
    if (!PyBytes_Check(bytes)) return PyErr_SetString(PyExc_TypeError, "a model is loaded from bytes"), NULL;
    lego_status status = lego_model_load(PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes), NULL, &model);
    if (status != LEGO_OK) return raise_status(status), NULL;
    PyObject *capsule = PyCapsule_New(model, capsule_name, destroy);
    if (capsule == NULL) lego_model_destroy(model);
    return capsule;
}

static int append(void *list, const void *bytes, size_t size)
{
    PyObject *part = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    int failed = part == NULL || PyList_Append(list, part) < 0;
    Py_XDECREF(part);
    return failed;
}

PyObject *model_bytes(PyObject *module, PyObject *capsule)
{
    (void)module;
    const lego_model *model;
    if (model_find(capsule, &model) < 0) return NULL;
    PyObject *parts = PyList_New(0), *nothing = PyBytes_FromStringAndSize(NULL, 0), *bytes = NULL;
    lego_status status = parts == NULL || nothing == NULL ? LEGO_ERR_WRITE : lego_model_save(model, append, parts);
    if (status == LEGO_OK) bytes = PyObject_CallMethod(nothing, "join", "O", parts);
    else if (status != LEGO_ERR_WRITE) raise_status(status); /* else Python has said why */
    Py_XDECREF(parts);
    Py_XDECREF(nothing);
    return bytes;
}
