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
#include <stdbool.h>

typedef struct Sketch {
    PyObject_HEAD lego_sketch *plain; /* one of the two is there from the start to the end, the other is NULL */
    lego_elastic *elastic;            /* with heavy items */
    PyObject *model;                  /* a capsule, owner of a model that is not built in; else NULL */
    bool has_lock;
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

/* A Python object around one of the two, which it takes, also if it fails. */
PyObject *sketch_wrap(PyTypeObject *type, lego_sketch *plain, lego_elastic *elastic, PyObject *model);

/* Those that a Python number asks for; 0, or -1 with an exception. */
int sketch_set_threads(Sketch *sketch, PyObject *threads);

/* Methods. Those of many items: sketch_many.c */
PyObject *sketch_add_many(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *sketch_update(PyObject *self, PyObject *items);
PyObject *sketch_estimate_many(PyObject *self, PyObject *keys); /* a bytearray with a double for each */
PyObject *sketch_bounds_many(PyObject *self, PyObject *keys);   /* two, with an int64_t */

/* The most frequent: sketch_top.c. A list of (bytes, estimate, lower, upper, exact) */
PyObject *sketch_top(PyObject *self, PyObject *n);

/* sketch_bytes.c; from_bytes(data, model, flat, threads) is a class method, for both kinds of sketch. */
PyObject *sketch_to_bytes(PyObject *self, PyObject *unused);
PyObject *sketch_from_bytes(PyObject *type, PyObject *arguments);
PyObject *sketch_compare(PyObject *self, PyObject *other, int operation);

extern PyGetSetDef sketch_facts[]; /* sketch_facts.c */

#endif
