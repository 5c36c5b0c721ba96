/* Sketches merged into one: another, or many at once.
 *
 * SPDX-License-Identifier: MIT */
#include "errors.h"
#include "item.h"
#include "sketch.h"

#include <stdlib.h>

/* What is merged. The objects stay alive as long as the list that it was read from. */
struct merge {
    Sketch *into;
    Sketch **in_order; /* into and all others, in the order of their addresses */
    const lego_sketch **from;
    int64_t *weights; /* NULL: 1 each */
    size_t n;
};

static int compare_addresses(const void *a, const void *b)
{
    uintptr_t one = (uintptr_t) * (Sketch *const *)a, other = (uintptr_t) * (Sketch *const *)b;
    return one < other ? -1 : one > other;
}

/* All calls that hold several locks take them in the order of addresses, each once, so none waits for another in a
 * circle. Only `into` is written to. */
static void lock_all(const struct merge *merge)
{
    for (size_t i = 0; i <= merge->n; i++) {
        Sketch *sketch = merge->in_order[i];
        if (i > 0 && sketch == merge->in_order[i - 1]) continue;
        if (sketch == merge->into) pthread_rwlock_wrlock(&sketch->lock);
        else pthread_rwlock_rdlock(&sketch->lock);
    }
}

static void unlock_all(const struct merge *merge)
{
    for (size_t i = 0; i <= merge->n; i++)
        if (i == 0 || merge->in_order[i] != merge->in_order[i - 1]) unlock(merge->in_order[i]);
}

/* _combine(other, subtract) */
PyObject *sketch_combine(PyObject *self, PyObject *arguments)
{
    PyObject *other;
    int subtract;
    if (!PyArg_ParseTuple(arguments, "O!p:combine", sketch_type, &other, &subtract)) return NULL;
    PyObject *from = self == other ? sketch_copy(other, NULL) : Py_NewRef(other);
    if (from == NULL) return NULL;
    Sketch *into = (Sketch *)self, *both[] = {into, (Sketch *)from};
    struct merge merge = {.into = into, .in_order = both, .n = 1};
    qsort(both, 2, sizeof *both, compare_addresses);
    PyThreadState *released = PyEval_SaveThread();
    lock_all(&merge);
    lego_status status = subtract ? lego_subtract(into->handle, ((Sketch *)from)->handle)
                                  : lego_merge(into->handle, ((Sketch *)from)->handle);
    unlock_all(&merge);
    PyEval_RestoreThread(released);
    Py_DECREF(from);
    return status == LEGO_OK ? Py_NewRef(Py_None) : (raise_status(status), NULL);
}

/* `others` has sketches alone, and not the one that is merged into: legosketch/__init__.py sees to both. */
static int read_others(struct merge *merge, PyObject *others, PyObject *weights)
{
    merge->in_order = malloc((merge->n + 1) * sizeof *merge->in_order);
    merge->from = malloc((merge->n + 1) * sizeof *merge->from);
    if (weights != Py_None) merge->weights = malloc((merge->n + 1) * sizeof *merge->weights);
    if (merge->in_order == NULL || merge->from == NULL || (weights != Py_None && merge->weights == NULL))
        return PyErr_NoMemory(), -1;
    for (size_t i = 0; i < merge->n; i++) {
        PyObject *other = PyTuple_GetItem(others, (Py_ssize_t)i);
        int is_sketch = PyObject_IsInstance(other, (PyObject *)sketch_type);
        if (is_sketch <= 0 || (Sketch *)other == merge->into)
            return is_sketch < 0 ? -1 : (PyErr_SetString(PyExc_TypeError, "merge_many() takes other sketches"), -1);
        merge->in_order[i] = (Sketch *)other;
        merge->from[i] = merge->in_order[i]->handle;
        if (merge->weights != NULL && item_read_count(PyTuple_GetItem(weights, (Py_ssize_t)i), &merge->weights[i]) < 0)
            return -1;
    }
    merge->in_order[merge->n] = merge->into;
    qsort(merge->in_order, merge->n + 1, sizeof *merge->in_order, compare_addresses);
    return 0;
}

/* _merge_many(others, weights): tuples, of one length; weights may be None */
PyObject *sketch_merge_many(PyObject *self, PyObject *arguments)
{
    PyObject *others, *weights;
    if (!PyArg_ParseTuple(arguments, "O!O:merge_many", &PyTuple_Type, &others, &weights)) return NULL;
    struct merge merge = {.into = (Sketch *)self, .n = (size_t)PyTuple_Size(others)};
    if (weights != Py_None && (!PyTuple_Check(weights) || PyTuple_Size(weights) != PyTuple_Size(others)))
        return PyErr_SetString(PyExc_ValueError, "sketches and weights differ in length"), NULL;
    int failed = read_others(&merge, others, weights);
    lego_status status = LEGO_OK;
    if (!failed) {
        PyThreadState *released = PyEval_SaveThread();
        lock_all(&merge);
        status = lego_merge_many(merge.into->handle, merge.from, merge.weights, merge.n);
        unlock_all(&merge);
        PyEval_RestoreThread(released);
    }
    free(merge.in_order);
    free(merge.from);
    free(merge.weights);
    if (failed) return NULL;
    return status == LEGO_OK ? Py_NewRef(Py_None) : (raise_status(status), NULL);
}
