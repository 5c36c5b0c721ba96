/* The type Sketch: what its functions share.
 *
 * The lock is waited for without the GIL only, and while it is held no Python object is made or freed: that could run
 * code of others, which may use this very sketch.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "compat.h"
#include "legosketch.h"
#include <pthread.h>
#include <stdbool.h>

typedef struct Sketch {
    PyObject_HEAD lego_sketch *handle; /* from the start to the end */
    PyObject *model;                   /* as model_find() takes it; a capsule owns the model that the handle uses */
    bool has_lock;
    unsigned threads;
    pthread_rwlock_t lock;
} Sketch;

extern PyTypeObject *sketch_type;
extern PyType_Spec sketch_spec;

/* For a moment, with the GIL: it is let go only while somebody else has the lock. */
void lock_read(Sketch *sketch);
void lock_write(Sketch *sketch);
void unlock(Sketch *sketch);

/* For longer: the GIL is let go until the end. */
PyThreadState *begin_read(Sketch *sketch);
PyThreadState *begin_write(Sketch *sketch);
void end(Sketch *sketch, PyThreadState *released);

/* copy(), to which nothing is passed. */
PyObject *sketch_copy(PyObject *self, PyObject *unused);

/* A Python object around a handle, which it takes, also if it fails. */
PyObject *sketch_wrap(PyTypeObject *type, lego_sketch *handle, PyObject *model, unsigned threads);

/* For "O&" of PyArg_ParseTuple(): a number of threads, an unsigned. 1, or 0 with an exception. */
int sketch_read_threads(PyObject *number, void *threads);
/* ... a secret seed, a const void *, alive as long as the object: bytes, or None. */
int sketch_read_secret(PyObject *bytes, void *secret);

/* Methods. Those of many items: sketch_many.c */
PyObject *sketch_add_many(PyObject *self, PyObject *arguments, PyObject *keywords);
PyObject *sketch_update(PyObject *self, PyObject *items);
/* (keys, absent): a bytearray with a double for each; or three, with an int64_t: lower, upper, likely. */
PyObject *sketch_estimate_many(PyObject *self, PyObject *arguments);
PyObject *sketch_bounds_many(PyObject *self, PyObject *arguments);

/* The most frequent: sketch_top.c. A list of (bytes, estimate, lower, upper, likely, exact) */
PyObject *sketch_top(PyObject *self, PyObject *n);

/* Other sketches, merged into one: sketch_merge.c */
PyObject *sketch_combine(PyObject *self, PyObject *arguments);
PyObject *sketch_merge_many(PyObject *self, PyObject *arguments);

/* sketch_bytes.c; from_bytes(bytes, model, secret, threads) is a class method. Functions of the module, of the first
 * bytes: saved_length(head); saved_fingerprint(head), of the secret seed that they ask for. */
PyObject *sketch_saved_length(PyObject *module, PyObject *head);
PyObject *sketch_saved_fingerprint(PyObject *module, PyObject *head);
PyObject *sketch_to_bytes(PyObject *self, PyObject *unused);
PyObject *sketch_from_bytes(PyObject *type, PyObject *arguments);

extern PyGetSetDef sketch_facts[]; /* sketch_facts.c */

/* As 16 hex digits. */
PyObject *sketch_show_fingerprint(uint64_t fingerprint);

/* suggest.c, a function of the module */
PyObject *sketch_suggest(PyObject *module, PyObject *arguments);
