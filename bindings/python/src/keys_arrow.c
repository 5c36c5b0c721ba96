/* Items from Arrow columns: integers, strings and binaries of every layout, also where a dictionary holds the values.
 * Whatever lies outside an array can not be seen from here, so the sizes of buffers are believed; offsets, indices and
 * views are checked.
 *
 * SPDX-License-Identifier: MIT */
#include "arrow.h"
#include "item.h"
#include "keys.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* How the values of a column lie in memory. */
enum layout {
    INTEGERS, /* each in `size` bytes */
    FIXED,    /* texts of `size` bytes */
    OFFSETS,  /* texts between offsets of `size` bytes, 4 or 8 */
    VIEWS,    /* texts in 16 bytes each, or the place where they are */
    NOTHING,  /* nulls only */
};

struct type {
    enum layout layout;
    size_t size;
    bool is_signed;
    unsigned kind; /* ITEM_ */
};

/* One array of a column, with what is used of it. */
struct column {
    struct type type;
    size_t length, offset;
    const uint8_t *valid; /* a bit for each row and the offset; NULL: all are */
    const void *values;   /* integers, fixed texts, offsets or views */
    const char *text;
    const void *const *parts; /* of views: the buffers that they point into, and their sizes */
    const int64_t *part_sizes;
    size_t n_parts;
};

struct arrow {
    struct ArrowSchema schema;
    struct ArrowArray *arrays;
    size_t n, room, at;       /* the array that is read next from */
    struct type type, values; /* of the rows; and if these are indices, of the dictionary's values */
    bool dictionary;
};

/* ---- what a column has ------------------------------------------------------------------------------------------- */

static bool read_type(const char *format, struct type *type)
{
    static const struct {
        const char *format;
        struct type type;
    } known[] = {
        {"c", {INTEGERS, 1, true, ITEM_INT}},   {"C", {INTEGERS, 1, false, ITEM_INT}},
        {"s", {INTEGERS, 2, true, ITEM_INT}},   {"S", {INTEGERS, 2, false, ITEM_INT}},
        {"i", {INTEGERS, 4, true, ITEM_INT}},   {"I", {INTEGERS, 4, false, ITEM_INT}},
        {"l", {INTEGERS, 8, true, ITEM_INT}},   {"L", {INTEGERS, 8, false, ITEM_INT}},
        {"u", {OFFSETS, 4, false, ITEM_STR}},   {"U", {OFFSETS, 8, false, ITEM_STR}},
        {"z", {OFFSETS, 4, false, ITEM_BYTES}}, {"Z", {OFFSETS, 8, false, ITEM_BYTES}},
        {"vu", {VIEWS, 16, false, ITEM_STR}},   {"vz", {VIEWS, 16, false, ITEM_BYTES}},
        {"n", {NOTHING, 0, false, 0}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(format, known[i].format) == 0) return *type = known[i].type, true;
    if (strncmp(format, "w:", 2) != 0) return false;
    char *end;
    long size = strtol(format + 2, &end, 10);
    *type = (struct type){FIXED, (size_t)size, false, ITEM_BYTES};
    return size >= 0 && size <= INT32_MAX && *end == '\0';
}

/* NULL, or what is wrong with the array. */
static const char *read_column(const struct ArrowArray *array, struct type type, struct column *column)
{
    static const int64_t buffers[] = {[INTEGERS] = 2, [FIXED] = 2, [OFFSETS] = 3, [VIEWS] = 3, [NOTHING] = 0};
    if (array->length < 0 || array->offset < 0 || array->offset > PY_SSIZE_T_MAX / 16 - array->length)
        return "an Arrow array has an impossible length";
    *column = (struct column){.type = type, .length = (size_t)array->length, .offset = (size_t)array->offset};
    if (type.layout == NOTHING || array->length == 0) return NULL;
    if (array->n_buffers < buffers[type.layout] || array->buffers == NULL || array->buffers[1] == NULL)
        return "an Arrow array lacks a buffer";
    if (array->null_count != 0) column->valid = array->buffers[0];
    column->values = array->buffers[1];
    if (type.layout == OFFSETS) column->text = array->buffers[2];
    if (type.layout == VIEWS) {
        column->n_parts = (size_t)array->n_buffers - 3;
        column->parts = array->buffers + 2;
        column->part_sizes = array->buffers[array->n_buffers - 1];
        if (column->n_parts > 0 && column->part_sizes == NULL) return "an Arrow array lacks a buffer";
    }
    return NULL;
}

static bool is_valid(const struct column *column, size_t row)
{
    size_t bit = column->offset + row;
    return column->type.layout != NOTHING && (column->valid == NULL || (column->valid[bit / 8] >> bit % 8 & 1) != 0);
}

static uint64_t number_at(const struct column *column, size_t row)
{
    uint64_t number;
    size_t size = column->type.size;
    keys_widen(&number, (const char *)column->values + (column->offset + row) * size, 1, (Py_ssize_t)size, size,
               column->type.is_signed);
    return number;
}

/* The offset before a row; that of a row after the last is the end. Negative ones get very large. */
static uint64_t offset_at(const struct column *column, size_t row)
{
    const char *at = (const char *)column->values + (column->offset + row) * column->type.size;
    int64_t wide;
    int32_t narrow;
    if (column->type.size == 8) return memcpy(&wide, at, sizeof wide), (uint64_t)wide;
    memcpy(&narrow, at, sizeof narrow);
    return (uint64_t)narrow;
}

static const char bad_offsets[] = "the offsets of an Arrow array fall, or there is nothing where they point";
static const char bad_view[] = "a view of an Arrow array points outside its buffers";

static bool offsets_hold(const struct column *column, uint64_t from, uint64_t to)
{
    return from <= to && to <= INT64_MAX && (column->text != NULL || to == from);
}

static const char *view_at(const struct column *column, size_t row, const char **text, size_t *size)
{
    const char *at = (const char *)column->values + (column->offset + row) * 16;
    int32_t view[4]; /* size; if that is above 12: the first letters, which part, where in it */
    memcpy(view, at, sizeof view);
    *size = (size_t)view[0];
    *text = at + 4;
    if (view[0] < 0) return bad_view;
    if (view[0] <= 12) return NULL;
    if (view[2] < 0 || (size_t)view[2] >= column->n_parts || view[3] < 0 || column->parts[view[2]] == NULL ||
        (int64_t)view[3] + view[0] > column->part_sizes[view[2]])
        return bad_view;
    *text = (const char *)column->parts[view[2]] + view[3];
    return NULL;
}

/* NULL, or what is wrong with it. */
static const char *text_at(const struct column *column, size_t row, const char **text, size_t *size)
{
    if (column->type.layout == VIEWS) return view_at(column, row, text, size);
    if (column->type.layout == FIXED) {
        *size = column->type.size;
        *text = (const char *)column->values + (column->offset + row) * *size;
        return NULL;
    }
    uint64_t from = offset_at(column, row), to = offset_at(column, row + 1);
    if (!offsets_hold(column, from, to)) return bad_offsets;
    *text = column->text == NULL ? "" : column->text + from;
    *size = to - from;
    return NULL;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* Where all rows are valid and lie as the library wants them, or nearly. */
static int next_whole(struct keys *keys, const struct column *column, size_t from, struct chunk *chunk)
{
    struct gathered *to = &keys->gathered;
    if (column->type.layout == INTEGERS) {
        const char *at = (const char *)column->values + (column->offset + from) * column->type.size;
        chunk->items.integers = (const uint64_t *)(const void *)at;
        if (column->type.size == 8 && (uintptr_t)at % alignof(uint64_t) == 0) { /* the rest of the array, where it is */
            chunk->rows = column->length - from;
        } else {
            if (!keys_room(to, KEYS_NUMBERS, chunk->rows)) return -1;
            keys_widen(to->numbers, at, chunk->rows, (Py_ssize_t)column->type.size, column->type.size,
                       column->type.is_signed);
            chunk->items.integers = to->numbers;
        }
    } else {
        bool in_place = column->type.size == 8 && (uintptr_t)column->values % alignof(uint64_t) == 0, hold = true;
        if (in_place) chunk->rows = column->length - from;
        else if (!keys_room(to, KEYS_OFFSETS, chunk->rows)) return -1;
        uint64_t before = offset_at(column, from);
        for (size_t i = 0; i <= chunk->rows; i++) {
            uint64_t next = offset_at(column, from + i);
            hold &= offsets_hold(column, before, next);
            if (!in_place) to->offsets[i] = next;
            before = next;
        }
        if (!hold) return keys->failure = bad_offsets, -1;
        chunk->items.bytes = column->text == NULL ? "" : column->text;
        chunk->items.offsets = in_place ? (const uint64_t *)column->values + column->offset + from : to->offsets;
    }
    chunk->items.n = chunk->rows;
    return 1;
}

/* Row by row: rows without the null ones, out of dictionaries and views. */
static int next_picked(struct keys *keys, const struct column *column, const struct column *values, size_t from,
                       struct chunk *chunk)
{
    struct gathered *to = &keys->gathered;
    const struct column *source = values == NULL ? column : values;
    bool integers = source->type.layout == INTEGERS || source->type.layout == NOTHING;
    if (!keys_room(to, KEYS_ROW | (integers ? KEYS_NUMBERS : KEYS_OFFSETS), chunk->rows)) return -1;
    size_t used = 0, n = 0, most = chunk->rows;
    for (chunk->rows = 0; chunk->rows < most && used < KEYS_TEXT; chunk->rows++) {
        size_t row = from + chunk->rows;
        if (!is_valid(column, row)) continue;
        if (values != NULL) {
            row = number_at(column, row);
            if (row >= values->length)
                return keys->failure = "an index of an Arrow array is outside its dictionary", -1;
            if (!is_valid(values, row)) continue;
        }
        to->row[n] = (uint32_t)chunk->rows;
        if (integers) {
            to->numbers[n++] = number_at(source, row);
            continue;
        }
        const char *text;
        size_t size;
        keys->failure = text_at(source, row, &text, &size);
        if (keys->failure != NULL || !keys_room_text(to, used, size)) return -1;
        if (size > 0) memcpy(to->text + used, text, size);
        to->offsets[n++] = used;
        used += size;
    }
    chunk->items.n = n;
    chunk->row = n < chunk->rows ? to->row : NULL;
    if (integers) return chunk->items.integers = to->numbers, 1;
    to->offsets[n] = used;
    chunk->items.bytes = to->text == NULL ? "" : to->text;
    chunk->items.offsets = to->offsets;
    return 1;
}

static int next_arrow(struct keys *keys, struct chunk *chunk)
{
    struct arrow *arrow = keys->arrow;
    while (arrow->at < arrow->n && keys->at == (size_t)arrow->arrays[arrow->at].length) {
        arrow->at++;
        keys->at = 0;
    }
    if (arrow->at == arrow->n) return 0;
    const struct ArrowArray *array = &arrow->arrays[arrow->at];
    struct column column, values;
    keys->failure = read_column(array, arrow->type, &column);
    if (keys->failure == NULL && arrow->dictionary)
        keys->failure = array->dictionary == NULL ? "an Arrow array lacks its dictionary"
                                                  : read_column(array->dictionary, arrow->values, &values);
    if (keys->failure != NULL) return -1;
    size_t from = keys->at, left = column.length - from;
    chunk->rows = left < KEYS_CHUNK ? left : KEYS_CHUNK;
    enum layout layout = column.type.layout;
    bool whole = !arrow->dictionary && column.valid == NULL && (layout == INTEGERS || layout == OFFSETS);
    int got = whole ? next_whole(keys, &column, from, chunk)
                    : next_picked(keys, &column, arrow->dictionary ? &values : NULL, from, chunk);
    keys->at += chunk->rows;
    return got;
}

/* ---- taking a column over ---------------------------------------------------------------------------------------- */

static void close_arrow(struct keys *keys)
{
    struct arrow *arrow = keys->arrow;
    for (size_t i = 0; i < arrow->n; i++)
        if (arrow->arrays[i].release != NULL) arrow->arrays[i].release(&arrow->arrays[i]);
    if (arrow->schema.release != NULL) arrow->schema.release(&arrow->schema);
    free(arrow->arrays);
    free(arrow);
    keys->arrow = NULL;
}

/* Takes an array, or releases it: 0, or -1 with an exception. */
static int keep(struct arrow *arrow, struct ArrowArray *array)
{
    if (arrow->n == arrow->room) {
        size_t room = 2 * arrow->room + 4;
        struct ArrowArray *arrays = realloc(arrow->arrays, room * sizeof *arrays);
        if (arrays == NULL) return array->release(array), PyErr_NoMemory(), -1;
        arrow->arrays = arrays;
        arrow->room = room;
    }
    arrow->arrays[arrow->n++] = *array;
    array->release = NULL;
    return 0;
}

/* The result of __arrow_c_array__(): the capsules of a schema and of an array. */
static int take_array(struct arrow *arrow, PyObject *result)
{
    if (!PyTuple_Check(result) || PyTuple_Size(result) != 2)
        return PyErr_SetString(PyExc_TypeError, "__arrow_c_array__() must return two capsules"), -1;
    struct ArrowSchema *schema = PyCapsule_GetPointer(PyTuple_GetItem(result, 0), "arrow_schema");
    struct ArrowArray *array = schema == NULL ? NULL : PyCapsule_GetPointer(PyTuple_GetItem(result, 1), "arrow_array");
    if (array == NULL) return -1;
    if (schema->release == NULL || array->release == NULL)
        return PyErr_SetString(PyExc_ValueError, "the Arrow array was released"), -1;
    arrow->schema = *schema;
    schema->release = NULL;
    return keep(arrow, array);
}

static int stream_failed(struct ArrowArrayStream *stream)
{
    const char *error = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s", error == NULL ? "it does not say why" : error);
    return -1;
}

/* The result of __arrow_c_stream__(): the capsule of a stream, all of whose arrays are taken at once. */
static int take_stream(struct arrow *arrow, PyObject *result)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(result, "arrow_array_stream");
    if (stream == NULL) return -1;
    if (stream->release == NULL) return PyErr_SetString(PyExc_ValueError, "the Arrow stream was released"), -1;
    if (stream->get_schema(stream, &arrow->schema) != 0) return arrow->schema.release = NULL, stream_failed(stream);
    for (;;) {
        struct ArrowArray array = {0};
        if (stream->get_next(stream, &array) != 0) return stream_failed(stream);
        if (array.release == NULL) return 0;
        if (keep(arrow, &array) < 0) return -1;
    }
}

static int take(struct keys *keys, PyObject *result, int (*how)(struct arrow *arrow, PyObject *result))
{
    struct arrow *arrow = keys->arrow;
    if (how(arrow, result) < 0) return -1;
    const struct ArrowSchema *schema = &arrow->schema, *values = schema->dictionary;
    arrow->dictionary = values != NULL;
    const char *format = values != NULL ? values->format : schema->format;
    if (schema->format == NULL || format == NULL || !read_type(schema->format, &arrow->type) ||
        (values != NULL && (arrow->type.layout != INTEGERS || values->dictionary != NULL ||
                            !read_type(values->format, &arrow->values)))) {
        PyErr_Format(PyExc_TypeError, "items are integers, strings or binaries, not an Arrow column of format '%s'%s",
                     format == NULL ? "" : format,
                     format != NULL && format[0] == '+' ? ": give one column of plain values"
                                                        : ": cast it to one of these");
        return -1;
    }
    keys->kinds = (values != NULL ? arrow->values : arrow->type).kind;
    keys->is_signed = (values != NULL ? arrow->values : arrow->type).is_signed;
    for (size_t i = 0; i < arrow->n; i++) {
        int64_t length = arrow->arrays[i].length;
        if (length < 0 || length > PY_SSIZE_T_MAX - keys->length)
            return PyErr_SetString(PyExc_ValueError, "an Arrow array has an impossible length"), -1;
        keys->length += length;
    }
    return 1;
}

int keys_open_arrow(struct keys *keys, PyObject *object)
{
    static const struct {
        const char *method;
        int (*how)(struct arrow *arrow, PyObject *result);
    } ways[] = {{"__arrow_c_array__", take_array}, {"__arrow_c_stream__", take_stream}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!keys_has((PyObject *)Py_TYPE(object), ways[i].method)) continue;
        PyObject *result = PyObject_CallMethod(object, ways[i].method, NULL);
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
        int taken = take(keys, result, ways[i].how);
        Py_DECREF(result);
        return taken;
    }
    return 0;
}
