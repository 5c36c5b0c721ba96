/* The type Sketch: what its functions share.
 *
 * The lock is waited for without the GIL only (lock_read, lock_write), and while it is held no Python object is made or
 * freed: that could run code of others, which may use this very sketch.
 *
 * SPDX-License-Identifier: MIT */
#ifndef PYTHON_SKETCH_H
#define PYTHON_SKETCH_H

#include <Python.h>
#include "legosketch.h"
#include <pthread.h>

typedef struct Sketch {
    PyObject_HEAD lego_sketch *plain; /* one of the two is there from the start to the end, the other is NULL */
    lego_elastic *elastic;            /* with heavy items */
    PyObject *model;                  /* a capsule, owner of a model that is not built in; else NULL */
    unsigned threads;
    unsigned kinds; /* ITEM_ values: of all items that were added; 0 if that is not known */
    pthread_rwlock_t lock;
} Sketch;

extern PyTypeObject *sketch_type;

/* For a moment, with the GIL: it is let go while somebody else has the lock. */
void lock_read(Sketch *sketch);
void lock_write(Sketch *sketch);
void unlock(Sketch *sketch);

/* The plain sketch, or the light part of the other kind. */
const lego_sketch *sketch_light(const Sketch *sketch);

/* Methods of many items at once; sketch_many.c has what they do. */
PyObject *sketch_add_many(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *sketch_update(PyObject *self, PyObject *items);
PyObject *sketch_estimate_many(PyObject *self, PyObject *keys);
PyObject *sketch_bounds_many(PyObject *self, PyObject *keys);

#endif
