/* Items from anything with the buffer protocol: integers of every width, floats, numpy's 'S' and 'U' of a fixed length,
 * and its dates, which are integers here.
 *
 * SPDX-License-Identifier: MIT */
#include "keys.h"

#include <ctype.h>
#include <stdalign.h>
#include <string.h>

static const char *row_at(const struct keys *keys, size_t row)
{
    return (const char *)keys->view.buf + (Py_ssize_t)row * keys->view.strides[0];
}

static size_t rows_left(const struct keys *keys, size_t most)
{
    size_t left = (size_t)keys->length - keys->at;
    return left < most ? left : most;
}

/* Where they are. */
static int next_in_place(struct keys *keys, struct slice *slice)
{
    slice->rows = slice->items.n = rows_left(keys, keys->most);
    slice->items.integers = (const uint64_t *)keys->view.buf + keys->at;
    keys->at += slice->rows;
    return slice->rows > 0;
}

static int next_widened(struct keys *keys, struct slice *slice)
{
    size_t n = rows_left(keys, keys->most);
    if (!keys_room(&keys->gathered, KEYS_NUMBERS, n)) return -1;
    uint64_t *numbers = keys->gathered.numbers;
    keys_widen(numbers, row_at(keys, keys->at), n, keys->view.strides[0], (size_t)keys->view.itemsize, keys->is_signed);
    for (size_t i = 0; keys->is_bool && i < n; i++) numbers[i] = numbers[i] != 0;
    keys->at += n;
    slice->rows = n;
    slice->items = (lego_items){.n = n, .integers = numbers};
    return n > 0;
}

static int next_floats(struct keys *keys, struct slice *slice)
{
    size_t n = rows_left(keys, keys->most < KEYS_GATHERED ? keys->most : KEYS_GATHERED);
    if (!keys_start(&keys->gathered)) return -1;
    for (size_t i = 0; i < n; i++) {
        const char *at = row_at(keys, keys->at + i);
        double wide;
        float narrow;
        if (keys->view.itemsize == sizeof wide) memcpy(&wide, at, sizeof wide);
        else wide = text_widened(*(float *)memcpy(&narrow, at, sizeof narrow));
        if (!keys_put_float(&keys->gathered, i, wide)) return -1;
    }
    keys_finish(&keys->gathered, n, false, slice);
    keys->at += n;
    return n > 0;
}

static int next_times(struct keys *keys, struct slice *slice)
{
    struct gathered *to = &keys->gathered;
    size_t n = rows_left(keys, keys->most < KEYS_GATHERED ? keys->most : KEYS_GATHERED);
    if (!keys_start(to)) return -1;
    for (size_t i = 0; i < n; i++) {
        int64_t value;
        memcpy(&value, row_at(keys, keys->at + i), sizeof value);
        if (value == INT64_MIN) continue; /* numpy's NaT, a null */
        struct instant instant = {value, keys->parts};
        if (!(keys->parts == 0 ? text_date(&to->text, value) : text_instant(&to->text, instant, false, false)) ||
            !keys_put_text(to, i, 1))
            return -1;
    }
    keys_finish(to, n, false, slice);
    keys->at += n;
    return n > 0;
}

/* UTF-8 of what numpy holds as code points; the size, or 0 for what has none. */
static size_t encode(char *text, uint32_t point)
{
    if (point < 0x80) return text[0] = (char)point, 1;
    if (point < 0x800) {
        text[0] = (char)(0xc0 | point >> 6);
        text[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0;
    size_t size = point < 0x10000 ? 3 : 4;
    text[0] = (char)(size == 3 ? 0xe0 | point >> 12 : 0xf0 | point >> 18);
    for (size_t i = 1; i < size; i++) text[i] = (char)(0x80 | (point >> 6 * (size - 1 - i) & 0x3f));
    return size;
}

static int next_texts(struct keys *keys, struct slice *slice)
{
    struct gathered *to = &keys->gathered;
    size_t width = (size_t)keys->view.itemsize, most = KEYS_TEXT / (width + 1) + 1;
    size_t n = rows_left(keys, most < keys->most ? most : keys->most);
    bool points = keys->is_points; /* in UTF-8 none is longer than in the 4 bytes that it has here */
    to->text.size = 0;
    if (!keys_room(to, KEYS_OFFSETS, n) || !text_room(&to->text, n * width + 1)) return -1;
    char *text = to->text.bytes;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const char *from = row_at(keys, keys->at + i);
        size_t size = width;
        to->offsets[i] = used;
        while (size > 0 && from[size - 1] == 0) /* numpy fills up with zeros, which are no part of the item */
            size--;
        if (!points) {
            memcpy(text + used, from, size);
            used += size;
            continue;
        }
        for (size_t j = 0; j < size; j += 4) {
            uint32_t point;
            memcpy(&point, from + j, sizeof point);
            size_t more = encode(text + used, point);
            used += more;
            if (more == 0) return keys->failure = "a str of the array has a surrogate, which can not be UTF-8", -1;
        }
    }
    to->offsets[n] = used;
    keys->at += n;
    slice->rows = n;
    slice->items = (lego_items){.n = n, .bytes = text, .offsets = to->offsets};
    return n > 0;
}

static void close_buffer(struct keys *keys)
{
    PyBuffer_Release(&keys->view);
}

static int refuse(const char *format, const char *advice)
{
    PyErr_Format(PyExc_TypeError, "items are numbers, strings or dates, not an array of format '%s'%s", format, advice);
    return -1;
}

/* 1, 0 if it has to be read object by object, -1. */
static int choose(struct keys *keys, const char *format)
{
    const Py_buffer *view = &keys->view;
    size_t size = (size_t)view->itemsize;
    uint16_t one = 1;
    bool little = *(const char *)&one == 1, swapped = false;
    const char *letter = format;
    if (*letter != '\0' && strchr("@=<>!", *letter) != NULL) {
        swapped = strchr(little ? ">!" : "<", *letter) != NULL;
        letter++;
    }
    const char *digits = letter;
    while (isdigit((unsigned char)*letter)) letter++;
    if (*letter == 'T') return 0; /* the structs of an array are tuples */
    if (*letter == '\0' || letter[1] != '\0') return refuse(format, "");
    if (*letter == 'O' || (swapped && size > 1 && *letter != 's'))
        return 0; /* one by one, with the numbers' own int() */
    if (strchr("eg", *letter) != NULL) return refuse(format, ": convert it, as in keys.astype('f8')");
    if (strchr("fd", *letter) != NULL && digits == letter) {
        keys->python = true;
        keys->most = KEYS_WRITTEN;
        keys->next = next_floats;
        return 1;
    }
    if (*letter == 's' || (*letter == 'w' && size % 4 == 0)) {
        keys->is_points = *letter == 'w';
        keys->next = next_texts;
        return 1;
    }
    if (digits != letter || strchr("?bBhHiIlLqQnN", *letter) == NULL || size == 0 || size > 8 ||
        (size & (size - 1)) != 0)
        return refuse(format, "");
    keys->is_signed = islower((unsigned char)*letter);
    keys->is_bool = *letter == '?';
    if (keys->is_time) {
        keys->most = KEYS_WRITTEN;
        keys->next = next_times;
        return 1;
    }
    bool in_place = size == 8 && view->strides[0] == 8 && (uintptr_t)view->buf % alignof(uint64_t) == 0;
    keys->next = in_place ? next_in_place : next_widened;
    return 1;
}

int keys_open_buffer(struct keys *keys, PyObject *object)
{
    if (!PyObject_CheckBuffer(object)) return 0;
    if (PyObject_GetBuffer(object, &keys->view, PyBUF_RECORDS_RO) < 0) {
        /* numpy has types that no buffer can have, dates and strings of any length: they are read one by one */
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError)) return -1;
        PyErr_Clear();
        return 0;
    }
    keys->close = close_buffer;
    const char *format = keys->view.format == NULL ? "B" : keys->view.format;
    if (keys->view.ndim != 1 || keys->view.shape == NULL || keys->view.strides == NULL) {
        PyErr_Format(PyExc_TypeError, "an array of items has one dimension, not %d: give keys.ravel()",
                     keys->view.ndim);
        return -1;
    }
    keys->length = keys->view.shape[0];
    int chosen = choose(keys, format);
    if (chosen == 0) {
        close_buffer(keys);
        keys->close = NULL;
    }
    return chosen;
}
