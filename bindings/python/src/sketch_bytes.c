/* Sketches as bytes: to_bytes(), back again, and whether two are equal.
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

/* The canonical bytes, to be freed. */
static lego_status serialize(Sketch *sketch, struct memory *memory)
{
    lego_status status = LEGO_ERR_MEMORY;
    memory->size = 0;
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_rdlock(&sketch->lock);
    uint64_t size =
        sketch->plain != NULL ? lego_sketch_saved_size(sketch->plain) : lego_elastic_saved_size(sketch->elastic);
    memory->bytes = size <= PY_SSIZE_T_MAX ? malloc(size) : NULL;
    if (memory->bytes != NULL)
        status = sketch->plain != NULL ? lego_sketch_save(sketch->plain, append, memory)
                                       : lego_elastic_save(sketch->elastic, append, memory);
    pthread_rwlock_unlock(&sketch->lock);
    PyEval_RestoreThread(released);
    return status;
}

PyObject *sketch_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct memory memory;
    lego_status status = serialize((Sketch *)self, &memory);
    PyObject *bytes = status == LEGO_OK ? PyBytes_FromStringAndSize(memory.bytes, (Py_ssize_t)memory.size) : NULL;
    if (status != LEGO_OK) raise_status(status);
    free(memory.bytes);
    return bytes;
}

PyObject *sketch_from_bytes(PyObject *type, PyObject *arguments)
{
    Py_buffer bytes;
    PyObject *model, *threads;
    int flat;
    if (!PyArg_ParseTuple(arguments, "y*OpO:from_bytes", &bytes, &model, &flat, &threads)) return NULL;
    const lego_model *known;
    if (model_find(model, &known) < 0) return PyBuffer_Release(&bytes), NULL;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    PyThreadState *released = PyEval_SaveThread();
    lego_status status = lego_sketch_load(bytes.buf, (size_t)bytes.len, known, NULL, &plain);
    if (status == LEGO_ERR_MAGIC) status = lego_elastic_load(bytes.buf, (size_t)bytes.len, known, NULL, &elastic);
    if (plain != NULL && flat) status = lego_sketch_convert(plain, LEGO_FLAT);
    PyEval_RestoreThread(released);
    PyBuffer_Release(&bytes);
    if (status != LEGO_OK || (elastic != NULL && flat)) {
        lego_sketch_destroy(plain);
        lego_elastic_destroy(elastic);
        if (status != LEGO_OK) raise_status(status);
        else raise_refused("a sketch with heavy items can not become flat");
        return NULL;
    }
    PyObject *self = sketch_wrap((PyTypeObject *)type, plain, elastic, PyCapsule_CheckExact(model) ? model : NULL);
    if (self != NULL && sketch_set_threads((Sketch *)self, threads) < 0) Py_CLEAR(self);
    return self;
}

PyObject *sketch_compare(PyObject *self, PyObject *other, int operation)
{
    if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(other, sketch_type))
        return Py_NewRef(Py_NotImplemented);
    struct memory left, right = {0};
    lego_status status = serialize((Sketch *)self, &left);
    if (status == LEGO_OK) status = serialize((Sketch *)other, &right);
    bool equal = status == LEGO_OK && left.size == right.size && memcmp(left.bytes, right.bytes, left.size) == 0;
    free(left.bytes);
    free(right.bytes);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return PyBool_FromLong(equal == (operation == Py_EQ));
}
