/* Many items at once: counting them, asking for them.
 *
 * SPDX-License-Identifier: MIT */
#include "errors.h"
#include "item.h"
#include "keys.h"
#include "sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts: one for each key ------------------------------------------------------------------------------------ */

struct counts {
    const int64_t *all;
    struct keys in_place; /* where they are, or the copy: */
    int64_t *copy;
};

static int refuse_counts(void)
{
    PyErr_SetString(PyExc_TypeError, "counts are integers, one for each key and none of them null");
    return -1;
}

/* Numbers of the library's items have no sign; what was a large uint64 is no count. */
static int copy_counts(struct counts *counts, size_t length)
{
    struct keys *from = &counts->in_place;
    struct slice slice = {0};
    for (size_t at = 0; at < length; at += slice.rows) {
        slice = (struct slice){0};
        if (from->next(from, &slice) <= 0)
            return from->failure == NULL ? PyErr_NoMemory() : PyErr_Format(PyExc_ValueError, "%s", from->failure), -1;
        if (slice.items.integers == NULL || slice.items.n < slice.rows) return refuse_counts();
        for (size_t i = 0; i < slice.items.n && !from->is_signed; i++)
            if (slice.items.integers[i] > INT64_MAX)
                return PyErr_SetString(PyExc_OverflowError, "a count is below 2**63"), -1;
        if (slice.rows == length) { /* all at once, so they can stay */
            counts->all = (const int64_t *)slice.items.integers;
            return 0;
        }
        if (counts->copy == NULL) counts->copy = malloc(length * sizeof *counts->copy);
        if (counts->copy == NULL) return PyErr_NoMemory(), -1;
        memcpy(counts->copy + at, slice.items.integers, slice.rows * sizeof *slice.items.integers);
    }
    counts->all = counts->copy;
    return 0;
}

static int copy_count_objects(struct counts *counts, size_t length)
{
    counts->all = counts->copy = malloc((length + 1) * sizeof *counts->copy);
    if (counts->copy == NULL) return PyErr_NoMemory(), -1;
    for (size_t i = 0; i < length; i++) {
        PyObject *count = PyIter_Next(counts->in_place.iterator);
        int failed = count == NULL ? -1 : item_read_count(count, &counts->copy[i]);
        Py_XDECREF(count);
        if (failed) return -1;
    }
    return 0;
}

static int counts_open(struct counts *counts, PyObject *object, size_t length)
{
    memset(counts, 0, sizeof *counts);
    if (keys_open(&counts->in_place, object, KEYS_SIZED) < 0)
        return PyErr_ExceptionMatches(PyExc_TypeError) ? refuse_counts() : -1; /* it spoke of items */
    if ((size_t)counts->in_place.length != length) {
        PyErr_Format(PyExc_ValueError, "keys and counts differ in length: %zu and %zd", length,
                     counts->in_place.length);
        return -1;
    }
    counts->in_place.most = SIZE_MAX;
    return counts->in_place.iterator != NULL ? copy_count_objects(counts, length) : copy_counts(counts, length);
}

static void counts_close(struct counts *counts)
{
    keys_close(&counts->in_place);
    free(counts->copy);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

struct adding {
    Sketch *sketch;
    const int64_t *counts;
    int64_t *picked; /* counts of those rows of a slice that are not null */
};

static int add_slice(void *context, const struct slice *slice)
{
    struct adding *adding = context;
    Sketch *sketch = adding->sketch;
    lego_items items = slice->items;
    if (adding->counts != NULL) items.counts = adding->counts + slice->first;
    if (adding->counts != NULL && slice->row != NULL) {
        int64_t *picked = realloc(adding->picked, (items.n + 1) * sizeof *picked);
        if (picked == NULL) return LEGO_ERR_MEMORY;
        for (size_t i = 0; i < items.n; i++) picked[i] = items.counts[slice->row[i]];
        items.counts = adding->picked = picked;
    }
    pthread_rwlock_wrlock(&sketch->lock);
    lego_status status = lego_add_items(sketch->handle, &items);
    unlock(sketch);
    return (int)status;
}

static PyObject *add_all(Sketch *sketch, struct keys *keys, const int64_t *counts)
{
    struct adding adding = {.sketch = sketch, .counts = counts};
    lego_info info;
    lock_read(sketch);
    lego_measure(sketch->handle, &info);
    unlock(sketch);
    if (info.top_bytes > 0 && keys->most > KEYS_FIRST / 4) keys->most = KEYS_FIRST / 4; /* they are slower */
    int failed = keys_each(keys, add_slice, &adding);
    free(adding.picked);
    return failed ? NULL : Py_NewRef(Py_None);
}

/* As dict.update() does: what has keys() is a mapping. A pandas Series has them too, and a DataFrame, so these come
 * first; Arrow's arrays of maps have keys that are no function. */
static bool is_mapping(PyObject *object)
{
    if (PyDict_Check(object)) return true;
    if (keys_has(object, "dtype") || keys_has(object, "columns")) return false;
    PyObject *keys = PyObject_GetAttrString(object, "keys");
    bool is = keys != NULL && PyCallable_Check(keys);
    PyErr_Clear();
    Py_XDECREF(keys);
    return is;
}

PyObject *sketch_update(PyObject *self, PyObject *items)
{
    struct keys keys;
    bool mapping = is_mapping(items);
    PyObject *pairs = mapping ? PyObject_CallMethod(items, "items", NULL) : Py_NewRef(items);
    if (pairs == NULL) return NULL;
    int failed = keys_open(&keys, pairs, mapping ? KEYS_PAIRS : KEYS_STREAM);
    Py_DECREF(pairs);
    if (failed) return NULL;
    PyObject *result = add_all((Sketch *)self, &keys, NULL);
    keys_close(&keys);
    return result;
}

PyObject *sketch_add_many(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"keys", "counts", NULL};
    PyObject *object, *count = Py_None, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:add_many", names, &object, &count)) return NULL;
    if (count == Py_None) return sketch_update(self, object);
    if (is_mapping(object)) {
        PyErr_SetString(PyExc_TypeError, "a mapping has the counts of its items already: leave counts out, or give its "
                                         "keys, as in add_many(list(mapping), counts)");
        return NULL;
    }
    struct keys keys;
    if (keys_open(&keys, object, KEYS_SIZED) < 0) return NULL;
    struct counts counts;
    if (counts_open(&counts, count, (size_t)keys.length) == 0) result = add_all((Sketch *)self, &keys, counts.all);
    counts_close(&counts);
    keys_close(&keys);
    return result;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

/* Estimates that are held at a time, before what was asked for of them is written out. */
#define ESTIMATES ((size_t)1 << 14)

struct question {
    Sketch *sketch;
    lego_asking asking;
    double *value; /* this is written, or all three that follow */
    int64_t *lower, *upper, *likely;
    lego_estimate *estimates;
    bool unbounded; /* bounds were asked for of a null */
};

static void write_out(const struct question *question, size_t row, const lego_estimate *estimate)
{
    if (question->value != NULL) {
        question->value[row] = estimate->value;
    } else {
        question->lower[row] = estimate->lower;
        question->upper[row] = estimate->upper;
        question->likely[row] = estimate->likely;
    }
}

static int ask_slice(void *context, const struct slice *slice)
{
    struct question *question = context;
    if (slice->row != NULL && question->value == NULL) {
        question->unbounded = true;
        return LEGO_ERR_ARGUMENT;
    }
    lego_status status = LEGO_OK;
    pthread_rwlock_rdlock(&question->sketch->lock);
    for (size_t from = 0; from < slice->items.n && status == LEGO_OK; from += ESTIMATES) {
        lego_items part = slice->items;
        part.n = part.n - from < ESTIMATES ? part.n - from : ESTIMATES;
        if (part.integers != NULL) part.integers += from;
        else part.offsets += from;
        status = lego_query_items(question->sketch->handle, &part, &question->asking, question->estimates);
        for (size_t i = 0; i < part.n && status == LEGO_OK; i++)
            write_out(question, slice->first + (slice->row == NULL ? from + i : slice->row[from + i]),
                      &question->estimates[i]);
    }
    unlock(question->sketch);
    return (int)status;
}

/* Asked for no items, the library says whether it would answer: before a key is looked at, and if there is none. */
static bool can_answer(Sketch *sketch, const lego_asking *asking)
{
    lock_read(sketch);
    lego_status status = lego_query_items(sketch->handle, &(lego_items){.n = 0}, asking, NULL);
    unlock(sketch);
    if (status != LEGO_OK) raise_unanswered(status);
    return status == LEGO_OK;
}

/* Where the answers go: 8 bytes for each row, in a bytearray, which holds them for arrays of every kind; or in three.
 * */
static PyObject *make_answers(struct question *question, Py_ssize_t rows, bool bounds)
{
    PyObject *each[3] = {0}, *answers = NULL;
    int n = bounds ? 3 : 1, made = 0;
    while (made < n && (each[made] = PyByteArray_FromStringAndSize(NULL, rows * 8)) != NULL) made++;
    if (made == n && bounds) {
        question->lower = (int64_t *)PyByteArray_AsString(each[0]);
        question->upper = (int64_t *)PyByteArray_AsString(each[1]);
        question->likely = (int64_t *)PyByteArray_AsString(each[2]);
        answers = PyTuple_Pack(3, each[0], each[1], each[2]);
    } else if (made == n) {
        question->value = (double *)PyByteArray_AsString(each[0]);
        for (Py_ssize_t i = 0; i < rows; i++) question->value[i] = NAN; /* what a null has */
        answers = Py_NewRef(each[0]);
    }
    for (int i = 0; i < made; i++) Py_DECREF(each[i]);
    return answers;
}

static PyObject *ask_all(Sketch *sketch, PyObject *arguments, bool bounds)
{
    struct keys keys;
    struct question question = {.sketch = sketch};
    PyObject *object, *answers = NULL;
    if (!PyArg_ParseTuple(arguments, "Od", &object, &question.asking.absent) || !can_answer(sketch, &question.asking) ||
        keys_open(&keys, object, KEYS_SIZED) < 0)
        return NULL;
    size_t held = (size_t)keys.length < ESTIMATES ? (size_t)keys.length : ESTIMATES;
    question.estimates = malloc((held + 1) * sizeof(lego_estimate));
    if (question.estimates == NULL || keys.length > PY_SSIZE_T_MAX / 8) PyErr_NoMemory();
    else answers = make_answers(&question, keys.length, bounds);
    if (keys.most > ESTIMATES) keys.most = ESTIMATES; /* to begin with */
    if (answers != NULL && keys_each(&keys, ask_slice, &question) != 0) {
        Py_CLEAR(answers);
        if (question.unbounded) {
            PyErr_Clear();
            raise_refused("a null has no bounds: drop the nulls, or ask for estimates, which are NaN then");
        }
    }
    free(question.estimates);
    keys_close(&keys);
    return answers;
}

PyObject *sketch_estimate_many(PyObject *self, PyObject *arguments)
{
    return ask_all((Sketch *)self, arguments, false);
}

PyObject *sketch_bounds_many(PyObject *self, PyObject *arguments)
{
    return ask_all((Sketch *)self, arguments, true);
}
