/* Items from anything that can be iterated over: str, bytes and int in any mixture. None and NaN are null.
 *
 * SPDX-License-Identifier: MIT */
#include "errors.h"
#include "item.h"
#include "keys.h"

#include <math.h>
#include <string.h>

/* Rows at a time. A list takes longer to read than the library to count, so a part of the room will do. */
#define KEYS_OBJECTS (KEYS_CHUNK / 16)

static bool is_null(PyObject *object)
{
    return object == Py_None || (PyFloat_Check(object) && isnan(PyFloat_AsDouble(object)));
}

/* The item of a pair and its count. */
static PyObject *split(PyObject *pair, int64_t *count)
{
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "the items() of a mapping are pairs of an item and its count");
        return NULL;
    }
    *count = PyLong_AsLongLong(PyTuple_GetItem(pair, 1));
    return *count == -1 && PyErr_Occurred() ? NULL : PyTuple_GetItem(pair, 0);
}

/* Copies an item behind the text so far, which it makes longer, and adds what it is. */
static int append(struct keys *keys, PyObject *object, size_t *used, lego_kind *kind)
{
    struct gathered *to = &keys->gathered;
    struct item item;
    if (item_read(object, &item) < 0) return -1;
    size_t size = item.kind == ITEM_INT ? 8 : item.size;
    bool room = keys_room_text(to, *used, size + 1); /* never nothing, which memcpy() could not get */
    if (room && item.kind == ITEM_INT) item_write_number(to->text + *used, item.number);
    else if (room) memcpy(to->text + *used, item.text, size);
    item_release(&item);
    if (!room) return PyErr_NoMemory(), -1;
    keys->kinds |= (unsigned)item.kind;
    *kind |= item.kind == ITEM_INT ? LEGO_ITEMS_INTEGERS : LEGO_ITEMS_BYTES;
    *used += size;
    return 0;
}

static int next_objects(struct keys *keys, struct chunk *chunk)
{
    struct gathered *to = &keys->gathered;
    unsigned arrays = KEYS_OFFSETS | KEYS_ROW | (keys->pairs ? KEYS_COUNTS : 0);
    size_t used = 0, n = 0, rows = 0;
    while (rows < KEYS_OBJECTS && used < KEYS_TEXT) {
        if (rows == to->rows && !keys_room(to, arrays, 2 * rows + 64)) return PyErr_NoMemory(), -1;
        PyObject *next = PyIter_Next(keys->iterator);
        if (next == NULL) break;
        PyObject *object = keys->pairs ? split(next, &to->counts[n]) : next;
        int failed = object == NULL ? -1 : 0;
        if (object != NULL && !is_null(object)) {
            to->offsets[n] = used;
            to->row[n] = (uint32_t)rows;
            failed = append(keys, object, &used, &chunk->items.kind);
            n++;
        }
        rows++;
        Py_DECREF(next);
        if (failed) return -1;
    }
    if (PyErr_Occurred()) return -1;
    to->offsets[n] = used; /* there is room: at least one was asked for */
    chunk->rows = rows;
    chunk->items.n = n;
    chunk->items.bytes = to->text == NULL ? "" : to->text;
    chunk->items.offsets = to->offsets;
    chunk->row = n < rows ? to->row : NULL;
    chunk->items.counts = keys->pairs ? to->counts : NULL;
    return rows > 0;
}

static void close_objects(struct keys *keys)
{
    Py_CLEAR(keys->iterator);
}

int keys_open_objects(struct keys *keys, PyObject *object, keys_as as)
{
    keys->python = true;
    keys->close = close_objects;
    keys->next = next_objects;
    keys->pairs = as == KEYS_PAIRS;
    keys->length = -1;
    if (as == KEYS_SIZED) { /* in a tuple, which nobody changes while it is read */
        PyObject *all = PySequence_Tuple(object);
        if (all == NULL) return -1;
        keys->length = PyTuple_Size(all);
        keys->iterator = PyObject_GetIter(all);
        Py_DECREF(all);
    } else {
        keys->iterator = PyObject_GetIter(object);
    }
    return keys->iterator == NULL ? -1 : 1;
}
