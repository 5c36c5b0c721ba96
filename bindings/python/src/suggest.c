/* What budget an error takes; see sketch.h.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"

/* suggest(counts or None, skew, distinct, error): (budget, expected error). Counts are a buffer of int64_t, as
 * legosketch/_sizing.py makes them. */
PyObject *sketch_suggest(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *counts;
    Py_buffer view = {0};
    lego_wish wish = {0};
    if (!PyArg_ParseTuple(arguments, "Oddd:suggest", &counts, &wish.skew, &wish.distinct, &wish.error)) return NULL;
    if (counts != Py_None) {
        if (PyObject_GetBuffer(counts, &view, PyBUF_SIMPLE) < 0) return NULL;
        wish.counts = view.buf;
        wish.n = (size_t)view.len / sizeof *wish.counts;
    }
    uint64_t budget;
    double expected;
    PyThreadState *released = PyEval_SaveThread();
    lego_status status = lego_suggest(&wish, NULL, &budget, &expected);
    PyEval_RestoreThread(released);
    if (counts != Py_None) PyBuffer_Release(&view);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return Py_BuildValue("Kd", (unsigned long long)budget, expected);
}
