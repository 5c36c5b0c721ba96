/* The most frequent items, of sketches that keep them.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

/* What lego_top() tells, kept until Python objects can be made of it. */
struct list {
    lego_top_item *all; /* with copies of the items */
    size_t n, room;
    bool failed;
};

static int keep(void *context, const lego_top_item *item)
{
    struct list *list = context;
    if (list->n == list->room) {
        size_t room = 2 * list->room + 16;
        lego_top_item *all = realloc(list->all, room * sizeof *all);
        if (all == NULL) return list->failed = true, 1;
        list->all = all;
        list->room = room;
    }
    char *copy = malloc(item->size + 1); /* one more, so that an empty item is no failure */
    if (copy == NULL) return list->failed = true, 1;
    memcpy(copy, item->item, item->size);
    list->all[list->n] = *item;
    list->all[list->n++].item = copy;
    return 0;
}

PyObject *sketch_top(PyObject *self, PyObject *object)
{
    Sketch *sketch = (Sketch *)self;
    size_t most = PyLong_AsSize_t(object);
    if (most == (size_t)-1 && PyErr_Occurred()) return NULL;
    struct list list = {0};
    PyThreadState *released = begin_read(sketch);
    lego_status status = lego_top(sketch->handle, most, keep, &list);
    end(sketch, released);
    if (list.failed) status = LEGO_ERR_MEMORY;
    if (status == LEGO_ERR_ARGUMENT)
        raise_refused("this sketch does not keep its most frequent items: make it with Sketch(..., top=True)");
    else if (status != LEGO_OK) raise_status(status);
    PyObject *result = status == LEGO_OK ? PyList_New((Py_ssize_t)list.n) : NULL;
    for (size_t i = 0; i < list.n; i++) {
        const lego_top_item *next = &list.all[i];
        PyObject *entry = result == NULL
                              ? NULL
                              : Py_BuildValue("y#dLLLO", next->item, (Py_ssize_t)next->size, next->estimate.value,
                                              (long long)next->estimate.lower, (long long)next->estimate.upper,
                                              (long long)next->estimate.likely, next->exact ? Py_True : Py_False);
        if (entry == NULL) Py_CLEAR(result);
        else PyList_SetItem(result, (Py_ssize_t)i, entry);
        free((void *)next->item);
    }
    free(list.all);
    return result;
}
