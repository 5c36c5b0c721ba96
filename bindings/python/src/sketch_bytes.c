/* Sketches as bytes: to_bytes(), and back again.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

struct memory {
    char *bytes;
    size_t size;
};

static int append(void *context, const void *bytes, size_t size)
{
    struct memory *memory = context;
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    return 0;
}

PyObject *sketch_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    Sketch *sketch = (Sketch *)self;
    struct memory memory = {0};
    PyThreadState *released = begin_read(sketch);
    uint64_t size = lego_saved_size(sketch->handle);
    memory.bytes = size <= PY_SSIZE_T_MAX ? malloc(size) : NULL;
    lego_status status = memory.bytes == NULL ? LEGO_ERR_MEMORY : lego_save(sketch->handle, append, &memory);
    end(sketch, released);
    PyObject *bytes = status == LEGO_OK ? PyBytes_FromStringAndSize(memory.bytes, (Py_ssize_t)memory.size) : NULL;
    if (status != LEGO_OK) raise_status(status);
    free(memory.bytes);
    return bytes;
}

/* Only of `bytes`, which nobody can change between the library's check and its use. */
PyObject *sketch_from_bytes(PyObject *type, PyObject *arguments)
{
    PyObject *bytes, *model;
    unsigned threads;
    lego_options options = LEGO_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "SOO&O&:from_bytes", &bytes, &model, sketch_read_secret, &options.secret,
                          sketch_read_threads, &threads) ||
        model_find(model, &options.model) < 0)
        return NULL;
    lego_sketch *handle;
    const char *saved = PyBytes_AsString(bytes);
    size_t size = (size_t)PyBytes_Size(bytes);
    PyThreadState *released = PyEval_SaveThread();
    lego_status status = lego_load(saved, size, &options, &handle);
    PyEval_RestoreThread(released);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return sketch_wrap((PyTypeObject *)type, handle, model, threads);
}

PyObject *sketch_saved_length(PyObject *module, PyObject *head)
{
    (void)module;
    uint64_t length;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(head, &bytes, &size) < 0) return NULL;
    lego_status status = lego_saved_length(bytes, (size_t)size, &length);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return PyLong_FromUnsignedLongLong(length);
}

PyObject *sketch_saved_fingerprint(PyObject *module, PyObject *head)
{
    (void)module;
    uint64_t seed;
    int secret;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(head, &bytes, &size) < 0) return NULL;
    lego_status status = lego_saved_seed(bytes, (size_t)size, &seed, &secret);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return secret ? sketch_show_fingerprint(seed) : Py_NewRef(Py_None);
}
