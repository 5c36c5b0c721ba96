/* The type Sketch: its life, one item, two sketches; see sketch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"
#include "item.h"
#include "model.h"
#include "sketch_docs.h"

PyTypeObject *sketch_type;

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

void lock_read(Sketch *sketch)
{
    if (pthread_rwlock_tryrdlock(&sketch->lock) == 0) return;
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_rdlock(&sketch->lock);
    PyEval_RestoreThread(released);
}

void lock_write(Sketch *sketch)
{
    if (pthread_rwlock_trywrlock(&sketch->lock) == 0) return;
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_wrlock(&sketch->lock);
    PyEval_RestoreThread(released);
}

void unlock(Sketch *sketch)
{
    pthread_rwlock_unlock(&sketch->lock);
}

const lego_sketch *sketch_light(const Sketch *sketch)
{
    return sketch->plain != NULL ? sketch->plain : lego_elastic_light(sketch->elastic);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

PyObject *sketch_wrap(PyTypeObject *type, lego_sketch *plain, lego_elastic *elastic, PyObject *model)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Sketch *sketch = (Sketch *)alloc(type, 0);
    if (sketch == NULL) {
        lego_sketch_destroy(plain);
        lego_elastic_destroy(elastic);
        return NULL;
    }
    sketch->plain = plain;
    sketch->elastic = elastic;
    sketch->model = Py_XNewRef(model);
    sketch->threads = 1;
    sketch->has_lock = pthread_rwlock_init(&sketch->lock, NULL) == 0;
    if (sketch->has_lock) return (PyObject *)sketch;
    Py_DECREF((PyObject *)sketch);
    return PyErr_NoMemory();
}

int sketch_set_threads(Sketch *sketch, PyObject *object)
{
    unsigned long threads = PyLong_AsUnsignedLong(object);
    if (threads == (unsigned long)-1 && PyErr_Occurred()) return -1;
    if (threads < 1 || threads > UINT16_MAX) /* the library takes fewer than that as well */
        return PyErr_SetString(PyExc_ValueError, "threads are 1 to 65535"), -1;
    if (sketch->plain == NULL) return 0; /* those with heavy items have one */
    lock_write(sketch);
    lego_sketch_set_threads(sketch->plain, (unsigned)threads);
    unlock(sketch);
    sketch->threads = (unsigned)threads;
    return 0;
}

/* Sketch(budget, model, seed, heavy, flat, threads), all of them given: the defaults are in legosketch/__init__.py. */
static PyObject *sketch_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"budget", "model", "seed", "heavy", "flat", "threads", NULL};
    PyObject *budget, *model, *seed, *heavy, *threads;
    int flat;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!OO!OpO:Sketch", names, &PyLong_Type, &budget, &model,
                                     &PyLong_Type, &seed, &heavy, &flat, &threads))
        return NULL;
    lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
    options.light.packing = flat ? LEGO_FLAT : LEGO_DENSE;
    options.light.budget = PyLong_AsUnsignedLongLong(budget);
    if (!PyErr_Occurred()) options.light.seed = PyLong_AsUnsignedLongLong(seed);
    if (!PyErr_Occurred() && heavy != Py_None) options.heavy = PyLong_AsUnsignedLongLong(heavy);
    if (PyErr_Occurred() || model_find(model, &options.light.model) < 0) return NULL;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    PyThreadState *released = PyEval_SaveThread();
    lego_status status =
        heavy == Py_None ? lego_sketch_create(&options.light, &plain) : lego_elastic_create(&options, &elastic);
    PyEval_RestoreThread(released);
    if (status != LEGO_OK) return raise_status(status), NULL;
    PyObject *self = sketch_wrap(type, plain, elastic, PyCapsule_CheckExact(model) ? model : NULL);
    if (self != NULL && sketch_set_threads((Sketch *)self, threads) < 0) Py_CLEAR(self);
    return self;
}

static void sketch_dealloc(PyObject *self)
{
    Sketch *sketch = (Sketch *)self;
    PyTypeObject *type = Py_TYPE(self);
    lego_sketch_destroy(sketch->plain);
    lego_elastic_destroy(sketch->elastic);
    Py_XDECREF(sketch->model); /* after all that uses it */
    if (sketch->has_lock) pthread_rwlock_destroy(&sketch->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *sketch_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    Sketch *sketch = (Sketch *)self;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_rdlock(&sketch->lock);
    lego_status status =
        sketch->plain != NULL ? lego_sketch_copy(sketch->plain, &plain) : lego_elastic_copy(sketch->elastic, &elastic);
    pthread_rwlock_unlock(&sketch->lock);
    PyEval_RestoreThread(released);
    if (status != LEGO_OK) return raise_status(status), NULL;
    PyObject *copy = sketch_wrap(Py_TYPE(self), plain, elastic, sketch->model);
    if (copy == NULL) return NULL;
    if (plain != NULL) lego_sketch_set_threads(plain, sketch->threads);
    ((Sketch *)copy)->threads = sketch->threads;
    ((Sketch *)copy)->kinds = sketch->kinds;
    return copy;
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
    int64_t count = n + named == 2 ? PyLong_AsLongLong(arguments[1]) : 1;
    if (count == -1 && PyErr_Occurred()) return NULL;
    struct item item;
    if (item_read(arguments[0], &item) < 0) return NULL;
    lego_status status;
    lock_write(sketch);
    if (item.kind == ITEM_INT)
        status = sketch->plain != NULL ? lego_sketch_add_u64(sketch->plain, item.number, count)
                                       : lego_elastic_add_u64(sketch->elastic, item.number, count);
    else
        status = sketch->plain != NULL ? lego_sketch_add(sketch->plain, item.text, item.size, count)
                                       : lego_elastic_add(sketch->elastic, item.text, item.size, count);
    unlock(sketch);
    item_release(&item);
    if (status != LEGO_OK) return raise_status(status), NULL;
    sketch->kinds |= (unsigned)item.kind;
    return Py_NewRef(Py_None);
}

static int ask_one(Sketch *sketch, PyObject *object, lego_estimate *estimate)
{
    struct item item;
    if (item_read(object, &item) < 0) return -1;
    lego_status status;
    lock_read(sketch);
    if (item.kind == ITEM_INT)
        status = sketch->plain != NULL ? lego_sketch_estimate_u64(sketch->plain, item.number, estimate)
                                       : lego_elastic_estimate_u64(sketch->elastic, item.number, estimate);
    else
        status = sketch->plain != NULL ? lego_sketch_estimate(sketch->plain, item.text, item.size, estimate)
                                       : lego_elastic_estimate(sketch->elastic, item.text, item.size, estimate);
    unlock(sketch);
    item_release(&item);
    return status == LEGO_OK ? 0 : (raise_status(status), -1);
}

static PyObject *sketch_estimate(PyObject *self, PyObject *object)
{
    lego_estimate estimate;
    return ask_one((Sketch *)self, object, &estimate) < 0 ? NULL : PyFloat_FromDouble(estimate.value);
}

static PyObject *sketch_bounds(PyObject *self, PyObject *object)
{
    lego_estimate estimate;
    if (ask_one((Sketch *)self, object, &estimate) < 0) return NULL;
    return Py_BuildValue("LL", (long long)estimate.lower, (long long)estimate.upper);
}

/* ---- two sketches ------------------------------------------------------------------------------------------------ */

/* into, to write, and from, to read, are locked in the order of their addresses, so that two such calls never wait for
 * each other. */
static lego_status combine_locked(Sketch *into, Sketch *from, bool subtract)
{
    if ((uintptr_t)into < (uintptr_t)from) pthread_rwlock_wrlock(&into->lock);
    pthread_rwlock_rdlock(&from->lock);
    if ((uintptr_t)into > (uintptr_t)from) pthread_rwlock_wrlock(&into->lock);
    lego_status status = into->elastic != NULL ? lego_elastic_merge(into->elastic, from->elastic)
                         : subtract            ? lego_sketch_subtract(into->plain, from->plain)
                                               : lego_sketch_merge(into->plain, from->plain);
    pthread_rwlock_unlock(&into->lock);
    pthread_rwlock_unlock(&from->lock);
    return status;
}

static int combine(Sketch *into, Sketch *from, bool subtract)
{
    if ((into->elastic == NULL) != (from->elastic == NULL))
        return raise_refused("a sketch with heavy items goes only with another such"), -1;
    if (subtract && into->elastic != NULL) return raise_refused("sketches with heavy items can not be subtracted"), -1;
    PyObject *twin = into == from ? sketch_copy((PyObject *)from, NULL) : Py_NewRef((PyObject *)from);
    if (twin == NULL) return -1;
    PyThreadState *released = PyEval_SaveThread();
    lego_status status = combine_locked(into, (Sketch *)twin, subtract);
    PyEval_RestoreThread(released);
    Py_DECREF(twin);
    if (status != LEGO_OK) return raise_status(status), -1;
    into->kinds |= from->kinds;
    return 0;
}

static PyObject *sketch_merge(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, sketch_type))
        return PyErr_SetString(PyExc_TypeError, "merge() takes another Sketch"), NULL;
    return combine((Sketch *)self, (Sketch *)other, false) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *operate(PyObject *left, PyObject *right, bool in_place, bool subtract)
{
    if (!PyObject_TypeCheck(left, sketch_type) || !PyObject_TypeCheck(right, sketch_type))
        return Py_NewRef(Py_NotImplemented);
    PyObject *result = in_place ? Py_NewRef(left) : sketch_copy(left, NULL);
    if (result != NULL && combine((Sketch *)result, (Sketch *)right, subtract) < 0) Py_CLEAR(result);
    return result;
}

static PyObject *sketch_plus(PyObject *left, PyObject *right)
{
    return operate(left, right, false, false);
}

static PyObject *sketch_minus(PyObject *left, PyObject *right)
{
    return operate(left, right, false, true);
}

static PyObject *sketch_plus_in_place(PyObject *left, PyObject *right)
{
    return operate(left, right, true, false);
}

static PyObject *sketch_minus_in_place(PyObject *left, PyObject *right)
{
    return operate(left, right, true, true);
}

/* ---- one sketch -------------------------------------------------------------------------------------------------- */

static PyObject *sketch_fold(PyObject *self, PyObject *object)
{
    Sketch *sketch = (Sketch *)self;
    unsigned long bricks = PyLong_AsUnsignedLong(object);
    if (bricks == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    if (sketch->plain == NULL) return raise_refused("a sketch with heavy items can not be folded"), NULL;
    lego_status status = LEGO_ERR_SHAPE;
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_wrlock(&sketch->lock);
    if (bricks <= UINT32_MAX) status = lego_sketch_fold(sketch->plain, (uint32_t)bricks);
    pthread_rwlock_unlock(&sketch->lock);
    PyEval_RestoreThread(released);
    return status == LEGO_OK ? Py_NewRef(Py_None) : (raise_status(status), NULL);
}

static PyObject *sketch_scan(PyObject *self, PyObject *object)
{
    Sketch *sketch = (Sketch *)self;
    unsigned long brick = PyLong_AsUnsignedLong(object);
    if (brick == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    lego_scan scan;
    lock_read(sketch);
    lego_status status =
        brick <= UINT32_MAX ? lego_sketch_scan(sketch_light(sketch), (uint32_t)brick, &scan) : LEGO_ERR_ARGUMENT;
    unlock(sketch);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return Py_BuildValue("Ldd", (long long)scan.total, scan.distinct, scan.skew);
}

static PyObject *sketch_clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    Sketch *sketch = (Sketch *)self;
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_wrlock(&sketch->lock);
    if (sketch->plain != NULL) lego_sketch_clear(sketch->plain);
    else lego_elastic_clear(sketch->elastic);
    pthread_rwlock_unlock(&sketch->lock);
    PyEval_RestoreThread(released);
    sketch->kinds = 0;
    return Py_NewRef(Py_None);
}

/* _model(): the capsule of a model that is not built in, or None. */
static PyObject *sketch_model(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *model = ((Sketch *)self)->model;
    return Py_NewRef(model == NULL ? Py_None : model);
}

static PyMethodDef methods[] = {
    {"add", (PyCFunction)(void (*)(void))sketch_add, METH_FASTCALL | METH_KEYWORDS, add_doc},
    {"update", sketch_update, METH_O, update_doc},
    {"add_many", (PyCFunction)(void (*)(void))sketch_add_many, METH_VARARGS | METH_KEYWORDS, add_many_doc},
    {"estimate", sketch_estimate, METH_O, estimate_doc},
    {"bounds", sketch_bounds, METH_O, bounds_doc},
    {"_estimate_many", sketch_estimate_many, METH_O, NULL},
    {"_bounds_many", sketch_bounds_many, METH_O, NULL},
    {"_top", sketch_top, METH_O, NULL},
    {"merge", sketch_merge, METH_O, merge_doc},
    {"fold", sketch_fold, METH_O, fold_doc},
    {"scan", sketch_scan, METH_O, scan_doc},
    {"clear", sketch_clear, METH_NOARGS, clear_doc},
    {"to_bytes", sketch_to_bytes, METH_NOARGS, to_bytes_doc},
    {"_from_bytes", sketch_from_bytes, METH_VARARGS | METH_CLASS, NULL},
    {"_model", sketch_model, METH_NOARGS, NULL},
    {"copy", sketch_copy, METH_NOARGS, "copy()\n--\n\nA sketch of its own with the same content.\n"},
    {"__copy__", sketch_copy, METH_NOARGS, NULL},
    {"__deepcopy__", sketch_copy, METH_O, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, sketch_new},
    {Py_tp_dealloc, sketch_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, sketch_facts},
    {Py_tp_richcompare, sketch_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_nb_add, sketch_plus},
    {Py_nb_subtract, sketch_minus},
    {Py_nb_inplace_add, sketch_plus_in_place},
    {Py_nb_inplace_subtract, sketch_minus_in_place},
    {0},
};

PyType_Spec sketch_spec = {
    .name = "legosketch._core.Sketch",
    .basicsize = sizeof(Sketch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
