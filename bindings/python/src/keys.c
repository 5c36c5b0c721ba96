/* Many items, from whatever holds them; see keys.h.
 *
 * SPDX-License-Identifier: MIT */
#include "keys.h"

#include "errors.h"
#include "item.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLICE 0.06 /* seconds that one should take */

/* ---- what is gathered -------------------------------------------------------------------------------------------- */

/* An array that is asked for, or there already, gets longer if it is too short. */
#define GROW(flag, array)                                                                                              \
    (((arrays & (flag)) == 0 && gathered->array == NULL) || (gathered->array != NULL && rows <= gathered->rows) ||     \
     ((longer = realloc(gathered->array, (most + 1) * sizeof *gathered->array)) != NULL &&                             \
      (gathered->array = longer, true)))

bool keys_room(struct gathered *gathered, unsigned arrays, size_t rows)
{
    void *longer;
    size_t most = rows > gathered->rows ? rows : gathered->rows;
    if (!GROW(KEYS_NUMBERS, numbers) || !GROW(KEYS_OFFSETS, offsets) || !GROW(KEYS_COUNTS, counts) ||
        !GROW(KEYS_ROW, row))
        return false;
    gathered->rows = most;
    return true;
}

#define ONE_BY_ONE (KEYS_OFFSETS | KEYS_COUNTS | KEYS_ROW)

bool keys_start(struct gathered *gathered)
{
    gathered->n = gathered->text.size = 0;
    gathered->kind = LEGO_ITEMS_NONE;
    return keys_room(gathered, ONE_BY_ONE, 64);
}

/* What was added to the text is the next item. */
static bool put(struct gathered *gathered, size_t row, int64_t count, lego_kind kind)
{
    size_t n = gathered->n;
    if (n >= gathered->rows && !keys_room(gathered, ONE_BY_ONE, 2 * n)) return false;
    gathered->counts[n] = count;
    gathered->row[n] = (uint32_t)row;
    gathered->offsets[n + 1] = gathered->text.size;
    gathered->kind |= kind;
    gathered->n++;
    return true;
}

bool keys_put_number(struct gathered *gathered, size_t row, int64_t count, uint64_t number)
{
    char bytes[8];
    item_write_number(bytes, number);
    return text_add(&gathered->text, bytes, sizeof bytes) && put(gathered, row, count, LEGO_ITEMS_INTEGERS);
}

bool keys_put_text(struct gathered *gathered, size_t row, int64_t count)
{
    return put(gathered, row, count, LEGO_ITEMS_BYTES);
}

bool keys_put_float(struct gathered *gathered, size_t row, double value)
{
    uint64_t number;
    if (isnan(value)) return true;
    if (text_whole(value, &number)) return keys_put_number(gathered, row, 1, number);
    return text_float(&gathered->text, value, false) && keys_put_text(gathered, row, 1);
}

void keys_finish(struct gathered *gathered, size_t rows, bool pairs, struct slice *slice)
{
    gathered->offsets[0] = 0;
    slice->rows = rows;
    slice->items = (lego_items){.n = gathered->n,
                                .bytes = gathered->text.bytes == NULL ? "" : gathered->text.bytes,
                                .offsets = gathered->offsets,
                                .counts = pairs ? gathered->counts : NULL,
                                .kind = gathered->kind};
    slice->row = gathered->n < rows ? gathered->row : NULL;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

bool keys_has(PyObject *object, const char *attribute)
{
    PyObject *found = PyObject_GetAttrString(object, attribute);
    PyErr_Clear();
    Py_XDECREF(found);
    return found != NULL;
}

static bool is_kind(PyObject *type, const char *kind)
{
    PyObject *found = PyObject_GetAttrString(type, "kind");
    bool is = found != NULL && PyUnicode_Check(found) && PyUnicode_CompareWithASCIIString(found, kind) == 0;
    PyErr_Clear();
    Py_XDECREF(found);
    return is;
}

/* numpy's dates have no buffer: legosketch/_items.py tells their numbers, and what parts of a second these are. */
static PyObject *unwrap_times(struct keys *keys, PyObject *array)
{
    PyObject *module = PyImport_ImportModule("legosketch._items"), *numbers = NULL;
    PyObject *found = module == NULL ? NULL : PyObject_CallMethod(module, "times", "O", array);
    if (found != NULL && PyArg_ParseTuple(found, "OI", &numbers, &keys->parts)) Py_INCREF(numbers);
    else numbers = NULL;
    keys->is_time = numbers != NULL;
    Py_XDECREF(found);
    Py_XDECREF(module);
    return numbers;
}

/* A pandas Series of one of numpy's types is the array below it, which is not converted to Arrow. */
static PyObject *unwrap(struct keys *keys, PyObject *object)
{
    PyObject *type = PyObject_GetAttrString(object, "dtype"), *array = NULL, *times = NULL;
    PyErr_Clear();
    bool numpy = type != NULL && keys_has(type, "alignment"); /* only numpy's types have that */
    bool is_time = numpy && is_kind(type, "M");
    Py_XDECREF(type);
    array = numpy && keys_has(object, "to_numpy") ? PyObject_CallMethod(object, "to_numpy", NULL) : Py_NewRef(object);
    if (!is_time || array == NULL) return array;
    times = unwrap_times(keys, array);
    Py_DECREF(array);
    return times;
}

int keys_open(struct keys *keys, PyObject *object, keys_as as)
{
    memset(keys, 0, sizeof *keys);
    keys->most = KEYS_FIRST;
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object)) {
        PyErr_SetString(PyExc_TypeError,
                        "str and bytes are one item, for add() and estimate(); many are a list or an array");
        return -1;
    }
    PyObject *array = as == KEYS_PAIRS ? Py_NewRef(object) : unwrap(keys, object);
    if (array == NULL) return -1;
    int found = 0;
    if (as != KEYS_PAIRS) found = keys_open_arrow(keys, array, as);
    if (found == 0 && as != KEYS_PAIRS) found = keys_open_buffer(keys, array);
    if (found == 0) found = keys_open_objects(keys, array, as);
    if (found < 0) keys_close(keys);
    Py_DECREF(array);
    return found < 0 ? -1 : 0;
}

void keys_close(struct keys *keys)
{
    if (keys->close != NULL) keys->close(keys);
    keys->close = NULL;
    free(keys->gathered.numbers);
    free(keys->gathered.offsets);
    free(keys->gathered.row);
    free(keys->gathered.counts);
    free(keys->gathered.text.bytes);
    memset(&keys->gathered, 0, sizeof keys->gathered);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* So that the next slice takes as long as one should. */
static void pace(struct keys *keys, size_t rows, double seconds)
{
    double most = (double)rows * SLICE / (seconds + 1e-9), least = 1 << 14;
    if (most > 8 * (double)keys->most) most = 8 * (double)keys->most;
    if (most > (double)KEYS_MOST) most = (double)KEYS_MOST;
    keys->most = (size_t)(most < least ? least : most);
}

int keys_each(struct keys *keys, int (*use)(void *context, const struct slice *slice), void *context)
{
    for (size_t first = 0;;) {
        struct slice slice = {.first = first};
        double start = now();
        PyThreadState *released = keys->python ? NULL : PyEval_SaveThread();
        int status = LEGO_OK, got = keys->next(keys, &slice);
        if (keys->python && got > 0) released = PyEval_SaveThread();
        if (got > 0) status = use(context, &slice);
        if (released != NULL) PyEval_RestoreThread(released);
        if (status != LEGO_OK) raise_status((lego_status)status);
        else if (got < 0 && keys->failure != NULL) PyErr_SetString(PyExc_ValueError, keys->failure);
        else if (got < 0 && !PyErr_Occurred()) PyErr_NoMemory();
        if (status != LEGO_OK || got <= 0) return status != LEGO_OK || got < 0 ? -1 : 0;
        if (PyErr_CheckSignals() < 0) return -1;
        first += slice.rows;
        pace(keys, slice.rows, now() - start);
    }
}

/* One loop for each width; memcpy, since numbers need not be aligned. */
#define WIDEN(type)                                                                                                    \
    do {                                                                                                               \
        if (stride == (Py_ssize_t)sizeof(type)) /* known to the compiler, so in vectors */                             \
            for (size_t i = 0; i < n; i++) {                                                                           \
                type value;                                                                                            \
                memcpy(&value, from + i * sizeof value, sizeof value);                                                 \
                numbers[i] = (uint64_t)value;                                                                          \
            }                                                                                                          \
        else                                                                                                           \
            for (size_t i = 0; i < n; i++) {                                                                           \
                type value;                                                                                            \
                memcpy(&value, from + (Py_ssize_t)i * stride, sizeof value);                                           \
                numbers[i] = (uint64_t)value;                                                                          \
            }                                                                                                          \
    } while (0)

void keys_widen(uint64_t *numbers, const char *from, size_t n, Py_ssize_t stride, size_t size, bool is_signed)
{
    switch (is_signed ? 0 - (int)size : (int)size) {
    case -1: WIDEN(int8_t); break;
    case -2: WIDEN(int16_t); break;
    case -4: WIDEN(int32_t); break;
    case 1: WIDEN(uint8_t); break;
    case 2: WIDEN(uint16_t); break;
    case 4: WIDEN(uint32_t); break;
    default: WIDEN(uint64_t); break;
    }
}
