/* The type Sketch: its life, one item, its size; see sketch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"
#include "item.h"
#include "model.h"
#include "sketch_docs.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject *sketch_type;

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

void lock_read(Sketch *sketch)
{
    if (pthread_rwlock_tryrdlock(&sketch->lock) != 0) PyEval_RestoreThread(begin_read(sketch));
}

void lock_write(Sketch *sketch)
{
    if (pthread_rwlock_trywrlock(&sketch->lock) != 0) PyEval_RestoreThread(begin_write(sketch));
}

void unlock(Sketch *sketch)
{
    pthread_rwlock_unlock(&sketch->lock);
}

PyThreadState *begin_read(Sketch *sketch)
{
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_rdlock(&sketch->lock);
    return released;
}

PyThreadState *begin_write(Sketch *sketch)
{
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_wrlock(&sketch->lock);
    return released;
}

void end(Sketch *sketch, PyThreadState *released)
{
    unlock(sketch);
    PyEval_RestoreThread(released);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

PyObject *sketch_wrap(PyTypeObject *type, lego_sketch *handle, PyObject *model, unsigned threads)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Sketch *sketch = (Sketch *)alloc(type, 0);
    if (sketch == NULL) return lego_destroy(handle), NULL;
    lego_set_threads(handle, threads);
    sketch->handle = handle;
    sketch->model = Py_NewRef(model);
    sketch->threads = threads;
    sketch->has_lock = pthread_rwlock_init(&sketch->lock, NULL) == 0;
    if (sketch->has_lock) return (PyObject *)sketch;
    Py_DECREF((PyObject *)sketch);
    return PyErr_NoMemory();
}

int sketch_read_threads(PyObject *number, void *threads)
{
    unsigned long asked = PyLong_AsUnsignedLong(number);
    if (asked == (unsigned long)-1 && PyErr_Occurred()) return 0;
    if (asked < 1 || asked > UINT16_MAX) /* the library takes fewer than that as well */
        return PyErr_SetString(PyExc_ValueError, "threads are 1 to 65535"), 0;
    *(unsigned *)threads = (unsigned)asked;
    return 1;
}

int sketch_read_secret(PyObject *bytes, void *secret)
{
    const void **found = secret;
    *found = NULL;
    if (bytes == Py_None) return 1;
    if (!PyBytes_Check(bytes) || PyBytes_Size(bytes) != LEGO_SECRET_SIZE)
        return PyErr_SetString(PyExc_TypeError, "a secret seed is 16 bytes here, or None"), 0;
    *found = PyBytes_AsString(bytes);
    return 1;
}

/* Sketch(budget, top, model, seed, secret, threads), all of them given: legosketch/__init__.py has the defaults and
 * ranges. */
static PyObject *sketch_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    unsigned long long budget, top, seed;
    unsigned threads;
    PyObject *model;
    lego_options options = LEGO_OPTIONS_INIT;
    if (!PyArg_ParseTuple(arguments, "KKOKO&O&:Sketch", &budget, &top, &model, &seed, sketch_read_secret,
                          &options.secret, sketch_read_threads, &threads) ||
        model_find(model, &options.model) < 0)
        return NULL;
    options.budget = budget;
    options.top = top;
    options.seed = seed;
    lego_sketch *handle;
    PyThreadState *released = PyEval_SaveThread();
    lego_status status = lego_create(&options, &handle);
    PyEval_RestoreThread(released);
    return status == LEGO_OK ? sketch_wrap(type, handle, model, threads) : (raise_status(status), NULL);
}

static void sketch_dealloc(PyObject *self)
{
    Sketch *sketch = (Sketch *)self;
    PyTypeObject *type = Py_TYPE(self);
    lego_destroy(sketch->handle);
    Py_XDECREF(sketch->model); /* after all that uses it */
    if (sketch->has_lock) pthread_rwlock_destroy(&sketch->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

PyObject *sketch_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    Sketch *sketch = (Sketch *)self;
    lego_sketch *handle;
    PyThreadState *released = begin_read(sketch);
    lego_status status = lego_copy(sketch->handle, &handle);
    end(sketch, released);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return sketch_wrap(Py_TYPE(self), handle, sketch->model, sketch->threads);
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

static PyObject *sketch_add(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names)
{
    Sketch *sketch = (Sketch *)self;
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    if (named > 1 || n + named > 2 || n < 1 ||
        (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "count") != 0)) {
        PyErr_SetString(PyExc_TypeError, "add() takes an item and a count: add(item, count=1)");
        return NULL;
    }
    int64_t count = 1;
    if (n + named == 2 && item_read_count(arguments[1], &count) < 0) return NULL;
    struct item item;
    if (item_read(arguments[0], &item) < 0) return NULL;
    lock_write(sketch);
    lego_status status = item.kind == ITEM_NUMBER ? lego_add_u64(sketch->handle, item.number, count)
                                                  : lego_add(sketch->handle, item.text, item.size, count);
    unlock(sketch);
    item_release(&item);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return Py_NewRef(Py_None);
}

/* What a question is given by name, behind its item. */
static int read_asking(PyObject *const *values, PyObject *names, lego_asking *asking)
{
    if (names == NULL || PyTuple_Size(names) == 0) return 0;
    PyObject *name = PyTuple_GetItem(names, 0);
    if (PyTuple_Size(names) > 1 || PyUnicode_CompareWithASCIIString(name, "absent") != 0)
        return PyErr_Format(PyExc_TypeError, "a question takes an item and absent, not %R", names), -1;
    asking->absent = PyFloat_AsDouble(values[0]);
    return PyErr_Occurred() ? -1 : 0;
}

/* (item, *, absent) */
static int ask_one(Sketch *sketch, PyObject *const *arguments, Py_ssize_t n, PyObject *names, lego_estimate *estimate)
{
    struct item item = {.size = 0};
    lego_asking asking = LEGO_ASKING_INIT;
    if (n != 1) return PyErr_SetString(PyExc_TypeError, "a question takes one item; absent is named"), -1;
    if (read_asking(arguments + 1, names, &asking) < 0 || item_read(arguments[0], &item) < 0) return -1;
    lego_items items = {.n = 1, .integers = &item.number};
    uint64_t offsets[] = {0, item.size};
    if (item.kind != ITEM_NUMBER) items = (lego_items){.n = 1, .bytes = item.text, .offsets = offsets};
    lock_read(sketch);
    lego_status status = lego_query_items(sketch->handle, &items, &asking, estimate);
    unlock(sketch);
    item_release(&item);
    return status == LEGO_OK ? 0 : (raise_unanswered(status), -1);
}

static PyObject *sketch_estimate(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names)
{
    lego_estimate estimate;
    if (ask_one((Sketch *)self, arguments, n, names, &estimate) < 0) return NULL;
    return PyFloat_FromDouble(estimate.value);
}

static PyObject *sketch_bounds(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names)
{
    lego_estimate estimate;
    if (ask_one((Sketch *)self, arguments, n, names, &estimate) < 0) return NULL;
    return Py_BuildValue("LLL", (long long)estimate.lower, (long long)estimate.upper, (long long)estimate.likely);
}

/* sketch[item] */
static PyObject *sketch_subscript(PyObject *self, PyObject *item)
{
    return sketch_estimate(self, &item, 1, NULL);
}

/* item in sketch: whether it may have come */
static int sketch_contains(PyObject *self, PyObject *item)
{
    lego_estimate estimate;
    if (ask_one((Sketch *)self, &item, 1, NULL, &estimate) < 0) return -1;
    return estimate.lower != 0 || estimate.upper != 0;
}

/* ---- the size of one ----------------------------------------------------------------------------------------------
 * */

/* _fold(size, within): to so many blocks, or within so many bytes */
static PyObject *sketch_fold(PyObject *self, PyObject *arguments)
{
    Sketch *sketch = (Sketch *)self;
    unsigned long long size;
    int within;
    if (!PyArg_ParseTuple(arguments, "Kp:fold", &size, &within)) return NULL;
    PyThreadState *released = begin_write(sketch);
    lego_status status = within               ? lego_fold_within(sketch->handle, size)
                         : size <= UINT32_MAX ? lego_fold(sketch->handle, (uint32_t)size)
                                              : LEGO_ERR_SHAPE;
    end(sketch, released);
    return status == LEGO_OK ? Py_NewRef(Py_None) : (raise_status(status), NULL);
}

static PyObject *sketch_clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    Sketch *sketch = (Sketch *)self;
    PyThreadState *released = begin_write(sketch);
    lego_clear(sketch->handle);
    end(sketch, released);
    return Py_NewRef(Py_None);
}

/* ---- the type ---------------------------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"add", (PyCFunction)(void (*)(void))sketch_add, METH_FASTCALL | METH_KEYWORDS, add_doc},
    {"update", sketch_update, METH_O, update_doc},
    {"add_many", (PyCFunction)(void (*)(void))sketch_add_many, METH_VARARGS | METH_KEYWORDS, add_many_doc},
    {"estimate", (PyCFunction)(void (*)(void))sketch_estimate, METH_FASTCALL | METH_KEYWORDS, estimate_doc},
    {"bounds", (PyCFunction)(void (*)(void))sketch_bounds, METH_FASTCALL | METH_KEYWORDS, bounds_doc},
    {"_estimate_many", sketch_estimate_many, METH_VARARGS, NULL},
    {"_bounds_many", sketch_bounds_many, METH_VARARGS, NULL},
    {"_top", sketch_top, METH_O, NULL},
    {"_combine", sketch_combine, METH_VARARGS, NULL},
    {"_merge_many", sketch_merge_many, METH_VARARGS, NULL},
    {"_fold", sketch_fold, METH_VARARGS, NULL},
    {"clear", sketch_clear, METH_NOARGS, clear_doc},
    {"to_bytes", sketch_to_bytes, METH_NOARGS, to_bytes_doc},
    {"_from_bytes", sketch_from_bytes, METH_VARARGS | METH_CLASS, NULL},
    {"copy", sketch_copy, METH_NOARGS, "copy()\n--\n\nA sketch of its own with the same content.\n"},
    {"__copy__", sketch_copy, METH_NOARGS, NULL},
    {"__deepcopy__", sketch_copy, METH_O, NULL},
    {0},
};

static PyMemberDef members[] = {
    {"_model", T_OBJECT_EX, offsetof(Sketch, model), READONLY, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, sketch_new},           {Py_tp_dealloc, sketch_dealloc},
    {Py_tp_methods, methods},          {Py_tp_members, members},
    {Py_tp_getset, sketch_facts},      {Py_mp_subscript, sketch_subscript},
    {Py_sq_contains, sketch_contains}, {0},
};

PyType_Spec sketch_spec = {
    .name = "legosketch._core.Sketch",
    .basicsize = sizeof(Sketch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
