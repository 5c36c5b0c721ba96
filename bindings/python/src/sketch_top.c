/* The most frequent items, of sketches that keep them.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

/* What lego_elastic_top() tells, kept until Python objects can be made of it. */
struct list {
    struct listed {
        char *item;
        size_t size;
        lego_estimate estimate;
        int exact;
    } * all;
    size_t n, room;
    bool failed;
};

static int keep(void *context, const lego_top *top)
{
    struct list *list = context;
    if (list->n == list->room) {
        size_t room = 2 * list->room + 16;
        struct listed *all = realloc(list->all, room * sizeof *all);
        if (all == NULL) return list->failed = true, 1;
        list->all = all;
        list->room = room;
    }
    struct listed *next = &list->all[list->n];
    next->item = malloc(top->size + 1); /* one more, so that an empty item is no failure */
    if (next->item == NULL) return list->failed = true, 1;
    memcpy(next->item, top->item, top->size);
    next->size = top->size;
    next->estimate = top->estimate;
    next->exact = top->exact;
    list->n++;
    return 0;
}

PyObject *sketch_top(PyObject *self, PyObject *object)
{
    Sketch *sketch = (Sketch *)self;
    size_t most = PyLong_AsSize_t(object);
    if (most == (size_t)-1 && PyErr_Occurred()) return NULL;
    if (sketch->elastic == NULL) {
        raise_refused("this sketch does not keep its most frequent items: make it with Sketch(..., heavy=True)");
        return NULL;
    }
    struct list list = {0};
    PyThreadState *released = PyEval_SaveThread();
    pthread_rwlock_rdlock(&sketch->lock);
    lego_status status = lego_elastic_top(sketch->elastic, most, keep, &list);
    pthread_rwlock_unlock(&sketch->lock);
    PyEval_RestoreThread(released);
    if (list.failed) status = LEGO_ERR_MEMORY;
    if (status != LEGO_OK) raise_status(status);
    PyObject *result = status == LEGO_OK ? PyList_New((Py_ssize_t)list.n) : NULL;
    for (size_t i = 0; i < list.n; i++) {
        const struct listed *next = &list.all[i];
        PyObject *entry = result == NULL
                              ? NULL
                              : Py_BuildValue("y#dLLO", next->item, (Py_ssize_t)next->size, next->estimate.value,
                                              (long long)next->estimate.lower, (long long)next->estimate.upper,
                                              next->exact ? Py_True : Py_False);
        if (entry == NULL) Py_CLEAR(result);
        else PyList_SetItem(result, (Py_ssize_t)i, entry);
        free(next->item);
    }
    free(list.all);
    return result;
}
