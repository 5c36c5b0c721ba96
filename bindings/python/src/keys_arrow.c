/* Items from Arrow columns, and from tables of one, through the PyCapsule interface.
 *
 * SPDX-License-Identifier: MIT */
#include "column.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct arrow {
    struct ArrowSchema schema;
    struct ArrowArrayStream stream; /* where more arrays come from; released: there are none */
    struct ArrowArray *arrays;      /* those that are there */
    size_t n, room, at;             /* the array that is read next from, */
    struct column column;           /* and what it has, if that is open */
    struct type type;
    bool is_table; /* whose only column has the items */
};

static const struct type *item_type(const struct arrow *arrow)
{
    return arrow->is_table ? &arrow->type.children[0] : &arrow->type;
}

/* ---- letting go -------------------------------------------------------------------------------------------------- */

/* Whoever made a column may run Python when it is released. What was raised before that stays, and what is raised there
 * is printed, like what __del__() raises. */
struct quiet {
    PyGILState_STATE python; /* slices are read without it */
    PyObject *type, *value, *trace;
};

static struct quiet begin_quiet(void)
{
    struct quiet before = {.python = PyGILState_Ensure()};
    PyErr_Fetch(&before.type, &before.value, &before.trace);
    return before;
}

static void end_quiet(struct quiet before)
{
    if (PyErr_Occurred()) PyErr_WriteUnraisable(NULL);
    PyErr_Restore(before.type, before.value, before.trace);
    PyGILState_Release(before.python);
}

/* A schema, an array or a stream, unless it is released. */
#define RELEASE(thing)                                                                                                 \
    do {                                                                                                               \
        struct quiet before = begin_quiet();                                                                           \
        if ((thing)->release != NULL) (thing)->release(thing);                                                         \
        end_quiet(before);                                                                                             \
    } while (0)

/* ---- slices ------------------------------------------------------------------------------------------------------ */

/* Where all rows are valid and lie as the library wants them, or nearly. */
static int next_whole(struct keys *keys, const struct column *column, struct slice *slice)
{
    struct gathered *to = &keys->gathered;
    size_t from = keys->at, size = column->type->size;
    const char *at = column->values + (column->offset + from) * size;
    bool in_place = size == 8 && (uintptr_t)at % alignof(uint64_t) == 0;
    if (column->type->layout == INTEGERS) {
        slice->items.integers = (const uint64_t *)(const void *)at;
        if (!in_place) {
            if (!keys_room(to, KEYS_NUMBERS, slice->rows)) return -1;
            keys_widen(to->numbers, at, slice->rows, (Py_ssize_t)size, size, column->type->is_signed);
            slice->items.integers = to->numbers;
        }
    } else {
        bool hold = true;
        if (!in_place && !keys_room(to, KEYS_OFFSETS, slice->rows)) return -1;
        uint64_t before = column_offset(column, from);
        for (size_t i = 0; i <= slice->rows; i++) {
            uint64_t next = column_offset(column, from + i);
            hold &= column_offsets_hold(column, before, next);
            if (!in_place) to->offsets[i] = next;
            before = next;
        }
        if (!hold) return keys->failure = column_bad_offsets, -1;
        slice->items.bytes = column->text == NULL ? "" : column->text;
        slice->items.offsets = in_place ? (const uint64_t *)(const void *)at : to->offsets;
    }
    slice->items.n = slice->rows;
    return 1;
}

/* Row by row: what is no null, out of dictionaries and views, or has to be written down. */
static int next_picked(struct keys *keys, const struct column *column, struct slice *slice)
{
    struct gathered *to = &keys->gathered;
    size_t most = slice->rows < KEYS_GATHERED ? slice->rows : KEYS_GATHERED, rows = 0;
    if (!keys_start(to)) return -1;
    for (; rows < most && to->text.size < KEYS_TEXT; rows++) {
        const char *wrong = column_put(column, keys->at + rows, to, rows);
        if (wrong == NULL) continue;
        keys->failure = wrong[0] == '\0' ? NULL : wrong;
        return -1;
    }
    keys_finish(to, rows, false, slice);
    return 1;
}

/* Opens the next array: 1; 0 if there is none; -1. */
static int open_next(struct keys *keys)
{
    struct arrow *arrow = keys->arrow;
    if (arrow->column.type != NULL) { /* the one before: it is not needed any more */
        column_free(&arrow->column);
        RELEASE(&arrow->arrays[arrow->at]);
        arrow->at++;
    }
    if (arrow->at == arrow->n && arrow->stream.release != NULL) {
        arrow->at = arrow->n = 0;
        PyThreadState *released =
            keys->python ? PyEval_SaveThread() : NULL; /* a stream may have threads that want it */
        int failed = arrow->stream.get_next(&arrow->stream, &arrow->arrays[0]);
        if (released != NULL) PyEval_RestoreThread(released);
        const char *error = failed ? arrow->stream.get_last_error(&arrow->stream) : NULL;
        if (failed) return keys->failure = error == NULL ? "the Arrow stream failed" : error, -1;
        if (arrow->arrays[0].release == NULL) return 0;
        arrow->n = 1;
    }
    if (arrow->at == arrow->n) return 0;
    const struct ArrowArray *array = &arrow->arrays[arrow->at];
    const char *wrong = column_read(&arrow->column, array, &arrow->type);
    if (wrong != NULL) return keys->failure = wrong[0] == '\0' ? NULL : wrong, -1;
    keys->at = 0;
    return 1;
}

/* The column with the items: a table's only one has the table's rows. */
static const char *find_column(const struct arrow *arrow, struct column *column)
{
    *column = arrow->column;
    if (!arrow->is_table) return NULL;
    size_t length = column->length, offset = column->offset;
    *column = column->children[0];
    if (length > column->length || offset > column->length - length) return "a column of an Arrow table is too short";
    column->length = length;
    column->offset += offset;
    return NULL;
}

static int next_arrow(struct keys *keys, struct slice *slice)
{
    struct arrow *arrow = keys->arrow;
    while (arrow->column.type == NULL || keys->at == arrow->column.length) {
        int opened = open_next(keys);
        if (opened <= 0) return opened;
    }
    struct column column;
    keys->failure = find_column(arrow, &column);
    if (keys->failure != NULL) return -1;
    size_t left = column.length - keys->at;
    slice->rows = left < keys->most ? left : keys->most;
    bool whole = column.dictionary == NULL && column_has_no_null(&column, keys->at, slice->rows) &&
                 (column.type->layout == INTEGERS || column.type->layout == OFFSETS);
    int got = whole ? next_whole(keys, &column, slice) : next_picked(keys, &column, slice);
    keys->at += slice->rows;
    return got;
}

/* ---- capsules ---------------------------------------------------------------------------------------------------- */

static void close_arrow(struct keys *keys)
{
    struct arrow *arrow = keys->arrow;
    column_free(&arrow->column);
    for (size_t i = arrow->at; i < arrow->n; i++) RELEASE(&arrow->arrays[i]);
    RELEASE(&arrow->stream);
    type_free(&arrow->type);
    RELEASE(&arrow->schema);
    free(arrow->arrays);
    free(arrow);
    keys->arrow = NULL;
}

/* Room for one more array: 0, or -1 with an exception. */
static int make_room(struct arrow *arrow)
{
    if (arrow->n < arrow->room) return 0;
    size_t room = 2 * arrow->room + 4;
    struct ArrowArray *arrays = realloc(arrow->arrays, room * sizeof *arrays);
    if (arrays == NULL) return PyErr_NoMemory(), -1;
    arrow->arrays = arrays;
    arrow->room = room;
    return 0;
}

/* How many rows there are, unless an array can not have so many. */
static int add_length(struct keys *keys, const struct ArrowArray *array)
{
    if (array->length < 0 || array->length > PY_SSIZE_T_MAX / 64 - keys->length)
        return PyErr_SetString(PyExc_ValueError, "an Arrow array has an impossible length"), -1;
    keys->length += array->length;
    return 0;
}

/* The result of __arrow_c_array__(): the capsules of a schema and of an array. */
static int take_array(struct keys *keys, PyObject *result)
{
    struct arrow *arrow = keys->arrow;
    if (!PyTuple_Check(result) || PyTuple_Size(result) != 2)
        return PyErr_SetString(PyExc_TypeError, "__arrow_c_array__() must return two capsules"), -1;
    struct ArrowSchema *schema = PyCapsule_GetPointer(PyTuple_GetItem(result, 0), "arrow_schema");
    struct ArrowArray *array = schema == NULL ? NULL : PyCapsule_GetPointer(PyTuple_GetItem(result, 1), "arrow_array");
    if (array == NULL) return -1;
    if (schema->release == NULL || array->release == NULL)
        return PyErr_SetString(PyExc_ValueError, "the Arrow array was released"), -1;
    if (make_room(arrow) < 0) return -1;
    arrow->schema = *schema;
    schema->release = NULL;
    arrow->arrays[arrow->n++] = *array;
    array->release = NULL;
    return add_length(keys, &arrow->arrays[0]);
}

static int stream_failed(struct ArrowArrayStream *stream)
{
    const char *error = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", error == NULL ? "it does not say why" : error);
    return -1;
}

/* All arrays of a stream at once, where its length has to be known before it is read. */
static int take_all(struct keys *keys)
{
    struct arrow *arrow = keys->arrow;
    for (;;) {
        if (make_room(arrow) < 0) return -1;
        struct ArrowArray *array = &arrow->arrays[arrow->n];
        PyThreadState *released = PyEval_SaveThread();
        int failed = arrow->stream.get_next(&arrow->stream, array);
        PyEval_RestoreThread(released);
        if (failed) return stream_failed(&arrow->stream);
        if (array->release == NULL) break;
        arrow->n++;
        if (add_length(keys, array) < 0) return -1;
    }
    RELEASE(&arrow->stream);
    return 0;
}

/* The result of __arrow_c_stream__(): the capsule of a stream. */
static int take_stream(struct keys *keys, PyObject *result)
{
    struct arrow *arrow = keys->arrow;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(result, "arrow_array_stream");
    if (stream == NULL) return -1;
    if (stream->release == NULL) return PyErr_SetString(PyExc_ValueError, "the Arrow stream was released"), -1;
    arrow->stream = *stream;
    stream->release = NULL;
    if (arrow->stream.get_schema(&arrow->stream, &arrow->schema) != 0)
        return arrow->schema.release = NULL, stream_failed(&arrow->stream);
    keys->length = -1;
    return make_room(arrow);
}

static int refuse_table(const struct ArrowSchema *schema)
{
    PyObject *names = PyList_New(0);
    for (int64_t i = 0; i < schema->n_children && names != NULL; i++) {
        PyObject *name = PyUnicode_FromString(schema->children[i]->name == NULL ? "" : schema->children[i]->name);
        if (name == NULL || PyList_Append(names, name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    if (names != NULL)
        PyErr_Format(PyExc_TypeError,
                     "items are one column, and this table has %zd, %R: select one, or make tuples of them, as "
                     "pyarrow's to_struct_array() does",
                     PyList_Size(names), names);
    Py_XDECREF(names);
    return -1;
}

static int take(struct keys *keys, PyObject *result, keys_as as, bool is_stream, bool is_table)
{
    struct arrow *arrow = keys->arrow;
    if ((is_stream ? take_stream : take_array)(keys, result) < 0) return -1;
    const struct ArrowSchema *schema = &arrow->schema;
    arrow->is_table = is_table && schema->format != NULL && strcmp(schema->format, "+s") == 0;
    if (arrow->is_table && schema->n_children != 1) return refuse_table(schema);
    if (type_read(&arrow->type, schema) < 0) return -1;
    const struct type *type = item_type(arrow);
    keys->is_signed = type->values == NULL && type->layout == INTEGERS && type->is_signed;
    keys->python = type_needs_python(type);
    if (type->layout > INTEGERS && type->layout != OFFSETS && type->layout != VIEWS && type->layout != FIXED)
        keys->most = KEYS_WRITTEN;
    if (!is_stream || as == KEYS_STREAM) return 1;
    keys->length = 0;
    return take_all(keys) < 0 ? -1 : 1;
}

int keys_open_arrow(struct keys *keys, PyObject *object, keys_as as)
{
    static const char *const methods[] = {"__arrow_c_array__", "__arrow_c_stream__"};
    for (int is_stream = 0; is_stream < 2; is_stream++) {
        if (!keys_has((PyObject *)Py_TYPE(object), methods[is_stream])) continue;
        bool is_table = keys_has(object, "columns") || keys_has(object, "schema");
        PyObject *result = PyObject_CallMethod(object, methods[is_stream], NULL);
        if (result == NULL && PyErr_ExceptionMatches(PyExc_ImportError)) { /* pandas without pyarrow: one by one */
            PyErr_Clear();
            return 0;
        }
        keys->arrow = result == NULL ? NULL : calloc(1, sizeof *keys->arrow);
        if (keys->arrow == NULL) {
            if (result != NULL) PyErr_NoMemory();
            Py_XDECREF(result);
            return -1;
        }
        keys->close = close_arrow;
        keys->next = next_arrow;
        int taken = take(keys, result, as, is_stream, is_table);
        Py_DECREF(result);
        return taken;
    }
    return 0;
}
