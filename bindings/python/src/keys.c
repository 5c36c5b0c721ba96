/* Many items, from whatever holds them; see keys.h.
 *
 * SPDX-License-Identifier: MIT */
#include "keys.h"

#include "errors.h"

#include <stdlib.h>
#include <string.h>

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

bool keys_room_text(struct gathered *gathered, size_t used, size_t more)
{
    if (more <= gathered->room - used) return true;
    if (more > SIZE_MAX / 4 - used) return false;
    size_t room = 2 * (used + more);
    char *text = realloc(gathered->text, room);
    if (text == NULL) return false;
    gathered->text = text;
    gathered->room = room;
    return true;
}

bool keys_has(PyObject *object, const char *attribute)
{
    PyObject *found = PyObject_GetAttrString(object, attribute);
    PyErr_Clear();
    Py_XDECREF(found);
    return found != NULL;
}

/* A pandas Series of one of numpy's types is the array below it, which is not converted to Arrow. */
static PyObject *unwrap(PyObject *object)
{
    PyObject *type = keys_has(object, "to_numpy") ? PyObject_GetAttrString(object, "dtype") : NULL;
    PyErr_Clear();
    bool numpy = type != NULL && keys_has(type, "isnative"); /* only numpy's types have that */
    Py_XDECREF(type);
    return numpy ? PyObject_CallMethod(object, "to_numpy", NULL) : Py_NewRef(object);
}

int keys_open(struct keys *keys, PyObject *object, keys_as as)
{
    memset(keys, 0, sizeof *keys);
    if (PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object)) {
        PyErr_SetString(PyExc_TypeError,
                        "str and bytes are one item, for add() and estimate(); many are a list or an array");
        return -1;
    }
    PyObject *array = as == KEYS_PAIRS ? Py_NewRef(object) : unwrap(object);
    if (array == NULL) return -1;
    int found = 0;
    if (as != KEYS_PAIRS) found = keys_open_arrow(keys, array);
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
    free(keys->gathered.text);
    memset(&keys->gathered, 0, sizeof keys->gathered);
}

int keys_each(struct keys *keys, int (*use)(void *context, const struct chunk *chunk), void *context)
{
    PyThreadState *released = keys->python ? NULL : PyEval_SaveThread();
    int status = LEGO_OK, got;
    for (;;) {
        struct chunk chunk = {0};
        got = keys->next(keys, &chunk);
        if (got <= 0) break;
        if (keys->python) released = PyEval_SaveThread();
        status = use(context, &chunk);
        if (keys->python) PyEval_RestoreThread(released);
        if (status != LEGO_OK) break;
        if (keys->python && PyErr_CheckSignals() < 0) return -1;
    }
    if (!keys->python) PyEval_RestoreThread(released);
    if (status != LEGO_OK) raise_status((lego_status)status);
    else if (got < 0 && keys->failure != NULL) PyErr_SetString(PyExc_ValueError, keys->failure);
    else if (got < 0 && !PyErr_Occurred()) PyErr_NoMemory();
    return status != LEGO_OK || got < 0 ? -1 : 0;
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
