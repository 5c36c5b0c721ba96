/* A column of Arrow's; see column.h.
 *
 * SPDX-License-Identifier: MIT */
#include "column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ------------------------------------------------------------------------------------------------------- */

static uint32_t parts_of(char unit)
{
    return unit == 's' ? 1 : unit == 'm' ? 1000 : unit == 'u' ? 1000000 : unit == 'n' ? 1000000000 : 0;
}

/* d:PRECISION,SCALE and, if they are not 128, ,BITS */
static bool read_decimal(const char *format, struct type *type)
{
    int precision, scale, bits = 128, end = 0;
    if (sscanf(format, "d:%d,%d%n,%d%n", &precision, &scale, &end, &bits, &end) < 2 || format[end] != '\0' ||
        bits < 32 || bits > 256 || bits % 32 != 0 || abs(scale) > 1000)
        return false;
    *type = (struct type){.layout = DECIMALS, .size = (size_t)bits / 8, .scale = scale};
    return true;
}

/* td?, tt? and ts?:ZONE */
static bool read_time(const char *format, struct type *type)
{
    *type = (struct type){.parts = parts_of(format[2]), .size = 8, .layout = INSTANTS};
    if (strcmp(format, "tdD") == 0) return type->layout = DATES, type->size = 4, true;
    if (strcmp(format, "tdm") == 0) return type->layout = DATES, true;
    if (type->parts == 0) return false;
    if (format[1] == 't' && format[3] == '\0')
        return type->layout = TIMES, type->size = type->parts <= 1000 ? 4 : 8, true;
    type->is_utc = format[3] == ':' && format[4] != '\0';
    return format[1] == 's' && format[3] == ':';
}

static bool read_size(const char *digits, size_t *size)
{
    char *end;
    long read = strtol(digits, &end, 10);
    *size = (size_t)read;
    return read >= 0 && read <= INT32_MAX && end > digits && *end == '\0';
}

static bool read_format(const char *format, struct type *type)
{
    static const struct {
        const char *format;
        struct type type;
    } known[] = {
        {"n", {.layout = NOTHING}},
        {"b", {.layout = BITS}},
        {"c", {.layout = INTEGERS, .size = 1, .is_signed = true}},
        {"C", {.layout = INTEGERS, .size = 1}},
        {"s", {.layout = INTEGERS, .size = 2, .is_signed = true}},
        {"S", {.layout = INTEGERS, .size = 2}},
        {"i", {.layout = INTEGERS, .size = 4, .is_signed = true}},
        {"I", {.layout = INTEGERS, .size = 4}},
        {"l", {.layout = INTEGERS, .size = 8, .is_signed = true}},
        {"L", {.layout = INTEGERS, .size = 8}},
        {"f", {.layout = FLOATS, .size = 4}},
        {"g", {.layout = FLOATS, .size = 8}},
        {"u", {.layout = OFFSETS, .size = 4}},
        {"U", {.layout = OFFSETS, .size = 8}},
        {"z", {.layout = OFFSETS, .size = 4, .is_binary = true}},
        {"Z", {.layout = OFFSETS, .size = 8, .is_binary = true}},
        {"vu", {.layout = VIEWS, .size = 16}},
        {"vz", {.layout = VIEWS, .size = 16, .is_binary = true}},
        {"+s", {.layout = STRUCTS}},
        {"+l", {.layout = LISTS, .size = 4}},
        {"+L", {.layout = LISTS, .size = 8}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(format, known[i].format) == 0) return *type = known[i].type, true;
    if (format[0] == 'd') return read_decimal(format, type);
    if (format[0] == 't' && format[1] != '\0' && strchr("dts", format[1]) != NULL) return read_time(format, type);
    *type = (struct type){.layout = FIXED_LISTS};
    if (strncmp(format, "+w:", 3) == 0) return read_size(format + 3, &type->size);
    *type = (struct type){.layout = FIXED, .is_binary = true};
    return strncmp(format, "w:", 2) == 0 && read_size(format + 2, &type->size);
}

/* Whether the metadata, pairs of a name and a value, each behind its length, say that it is a UUID. */
static bool is_uuid(const char *metadata)
{
    static const char pair[] = "ARROW:extension:namearrow.uuid";
    int32_t n = 0, size[2];
    if (metadata != NULL) memcpy(&n, metadata, sizeof n), metadata += sizeof n;
    for (; n > 0; n--) {
        const char *name = metadata + sizeof *size;
        memcpy(&size[0], metadata, sizeof *size);
        if (size[0] < 0) return false;
        memcpy(&size[1], name + size[0], sizeof *size);
        if (size[1] < 0) return false;
        const char *value = name + size[0] + sizeof *size;
        if (size[0] == 20 && size[1] == 10 && memcmp(name, pair, 20) == 0 && memcmp(value, pair + 20, 10) == 0)
            return true;
        metadata = value + size[1];
    }
    return false;
}

static int refuse(const char *format)
{
    const char *advice = format[0] == '+' ? ": give a column of plain values, or of structs or lists of these"
                                          : ": cast it to one of these";
    PyErr_Format(PyExc_TypeError, "items are numbers, strings, dates and times, not an Arrow column of format '%s'%s",
                 format, advice);
    return -1;
}

static int lacks_column(void)
{
    return PyErr_SetString(PyExc_ValueError, "an Arrow schema lacks one of its columns"), -1;
}

static int read_children(struct type *type, const struct ArrowSchema *schema)
{
    if (schema->n_children < 0 || (type->layout != STRUCTS && schema->n_children != 1)) return refuse(schema->format);
    if (schema->n_children > 0 && schema->children == NULL) return lacks_column();
    type->children = calloc((size_t)schema->n_children + 1, sizeof *type->children);
    int failed = type->children == NULL ? (PyErr_NoMemory(), -1) : 0;
    for (int64_t i = 0; i < schema->n_children && !failed; i++, type->n_children++)
        failed = schema->children[i] == NULL ? lacks_column() : type_read(&type->children[i], schema->children[i]);
    return failed;
}

static int read_type(struct type *type, const struct ArrowSchema *schema)
{
    if (schema->format == NULL || !read_format(schema->format, type))
        return refuse(schema->format == NULL ? "" : schema->format);
    if (type->layout >= STRUCTS) return read_children(type, schema);
    if (type->layout == FIXED && type->size == 16 && is_uuid(schema->metadata)) {
        type->layout = UUIDS;
    }
    if (schema->dictionary == NULL) return 0;
    if (type->layout != INTEGERS) return refuse(schema->format);
    type->values = calloc(1, sizeof *type->values);
    if (type->values == NULL) return PyErr_NoMemory(), -1;
    return type_read(type->values, schema->dictionary);
}

int type_read(struct type *type, const struct ArrowSchema *schema)
{
    if (Py_EnterRecursiveCall(" in an Arrow schema")) return -1;
    int failed = read_type(type, schema);
    Py_LeaveRecursiveCall();
    return failed;
}

void type_free(struct type *type)
{
    for (size_t i = 0; type->children != NULL && i < type->n_children; i++) type_free(&type->children[i]);
    if (type->values != NULL) type_free(type->values);
    free(type->children);
    free(type->values);
}

bool type_needs_python(const struct type *type)
{
    bool needs = type->layout == FLOATS || (type->values != NULL && type_needs_python(type->values));
    for (size_t i = 0; i < type->n_children && !needs; i++) needs = type_needs_python(&type->children[i]);
    return needs;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const char lacks[] = "an Arrow array lacks a buffer, or one of its columns";
static const char no_memory[] = "";

static const char *read_columns(struct column *column, const struct ArrowArray *array, const struct type *type)
{
    if (array->n_children != (int64_t)type->n_children || (array->n_children > 0 && array->children == NULL))
        return lacks;
    column->children = calloc(type->n_children + 1, sizeof *column->children);
    if (column->children == NULL) return no_memory;
    for (size_t i = 0; i < type->n_children; i++) {
        if (array->children[i] == NULL) return lacks;
        const char *wrong = column_read(&column->children[i], array->children[i], &type->children[i]);
        if (wrong != NULL) return wrong;
    }
    return NULL;
}

const char *column_read(struct column *column, const struct ArrowArray *array, const struct type *type)
{
    *column = (struct column){.type = type, .length = (size_t)array->length, .offset = (size_t)array->offset};
    if (array->length < 0 || array->offset < 0 || array->offset > PY_SSIZE_T_MAX / 64 - array->length)
        return "an Arrow array has an impossible length";
    if (type->layout >= STRUCTS) {
        const char *wrong = read_columns(column, array, type);
        if (wrong != NULL) return wrong;
    }
    if (type->layout == NOTHING || array->length == 0) return NULL;
    bool has_values = type->layout != STRUCTS && type->layout != FIXED_LISTS;
    int64_t buffers = !has_values ? 1 : type->layout == OFFSETS || type->layout == VIEWS ? 3 : 2;
    if (array->n_buffers < buffers || array->buffers == NULL || (has_values && array->buffers[1] == NULL)) return lacks;
    if (array->null_count != 0) column->valid = array->buffers[0];
    if (has_values) column->values = array->buffers[1];
    if (type->layout == OFFSETS) column->text = array->buffers[2];
    if (type->layout == VIEWS) {
        column->n_parts = (size_t)array->n_buffers - 3;
        column->parts = array->buffers + 2;
        column->part_sizes = array->buffers[array->n_buffers - 1];
        if (column->n_parts > 0 && column->part_sizes == NULL) return lacks;
    }
    if (type->values == NULL) return NULL;
    if (array->dictionary == NULL) return lacks;
    column->dictionary = calloc(1, sizeof *column->dictionary);
    return column->dictionary == NULL ? no_memory : column_read(column->dictionary, array->dictionary, type->values);
}

void column_free(struct column *column)
{
    for (size_t i = 0; column->children != NULL && i < column->type->n_children; i++)
        if (column->children[i].type != NULL) column_free(&column->children[i]);
    if (column->dictionary != NULL) column_free(column->dictionary);
    free(column->children);
    free(column->dictionary);
    *column = (struct column){0};
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

const char column_bad_offsets[] = "the offsets of an Arrow array fall, or there is nothing where they point";
static const char bad_view[] = "a view of an Arrow array points outside its buffers";
static const char bad_index[] = "an index of an Arrow array is outside its dictionary";
static const char bad_child[] = "a row of an Arrow array is outside the values it is made of";

static bool bit_at(const uint8_t *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

static bool is_valid(const struct column *column, size_t row)
{
    return column->type->layout != NOTHING && (column->valid == NULL || bit_at(column->valid, column->offset + row));
}

bool column_has_no_null(const struct column *column, size_t from, size_t rows)
{
    size_t bit = column->offset + from, end = bit + rows;
    if (column->type->layout == NOTHING) return rows == 0;
    if (column->valid == NULL) return true;
    for (; bit % 8 != 0 && bit < end; bit++)
        if (!bit_at(column->valid, bit)) return false;
    for (; bit + 8 <= end; bit += 8)
        if (column->valid[bit / 8] != 0xff) return false;
    for (; bit < end; bit++)
        if (!bit_at(column->valid, bit)) return false;
    return true;
}

static const char *value_at(const struct column *column, size_t row)
{
    return column->values + (column->offset + row) * column->type->size;
}

static uint64_t number_at(const struct column *column, size_t row)
{
    uint64_t number;
    size_t size = column->type->size;
    if (column->type->layout == BITS) return bit_at((const uint8_t *)column->values, column->offset + row);
    bool is_signed = column->type->layout != INTEGERS || column->type->is_signed;
    keys_widen(&number, value_at(column, row), 1, (Py_ssize_t)size, size, is_signed);
    return number;
}

static double float_at(const struct column *column, size_t row)
{
    double wide;
    float narrow;
    if (column->type->size == sizeof wide) return memcpy(&wide, value_at(column, row), sizeof wide), wide;
    memcpy(&narrow, value_at(column, row), sizeof narrow);
    return text_widened(narrow);
}

uint64_t column_offset(const struct column *column, size_t row)
{
    int64_t wide;
    int32_t narrow;
    if (column->type->size == 8) return memcpy(&wide, value_at(column, row), sizeof wide), (uint64_t)wide;
    memcpy(&narrow, value_at(column, row), sizeof narrow);
    return (uint64_t)narrow;
}

bool column_offsets_hold(const struct column *column, uint64_t from, uint64_t to)
{
    return from <= to && to <= INT64_MAX && (column->text != NULL || to == from);
}

static int64_t part_size(const struct column *column, size_t part)
{
    int64_t size;
    memcpy(&size, column->part_sizes + part * sizeof size, sizeof size);
    return size;
}

static const char *view_at(const struct column *column, size_t row, const char **text, size_t *size)
{
    const char *at = value_at(column, row);
    int32_t view[4]; /* size; if that is above 12: the first letters, which part, where in it */
    memcpy(view, at, sizeof view);
    *size = (size_t)view[0];
    *text = at + 4;
    if (view[0] < 0) return bad_view;
    if (view[0] <= 12) return NULL;
    if (view[2] < 0 || (size_t)view[2] >= column->n_parts || view[3] < 0 || column->parts[view[2]] == NULL ||
        (int64_t)view[3] + view[0] > part_size(column, (size_t)view[2]))
        return bad_view;
    *text = (const char *)column->parts[view[2]] + view[3];
    return NULL;
}

/* NULL, or what is wrong with it. */
static const char *text_at(const struct column *column, size_t row, const char **text, size_t *size)
{
    if (column->type->layout == VIEWS) return view_at(column, row, text, size);
    if (column->type->layout == FIXED) return *text = value_at(column, row), *size = column->type->size, NULL;
    uint64_t from = column_offset(column, row), to = column_offset(column, row + 1);
    if (!column_offsets_hold(column, from, to)) return column_bad_offsets;
    *text = column->text == NULL ? "" : column->text + from;
    *size = to - from;
    return NULL;
}

/* A row of a dictionary's indices is one of its values. NULL, or what is wrong; *column NULL for a null. */
static const char *find(const struct column **column, size_t *row)
{
    for (;;) {
        if (!is_valid(*column, *row)) return *column = NULL, NULL;
        if ((*column)->dictionary == NULL) return NULL;
        *row = number_at(*column, *row);
        *column = (*column)->dictionary;
        if (*row >= (*column)->length) return bad_index;
    }
}

/* ---- texts of values --------------------------------------------------------------------------------------------- */

static bool write_time(struct text *to, const struct column *column, size_t row, bool is_nested)
{
    const struct type *type = column->type;
    int64_t value = (int64_t)number_at(column, row), day = (int64_t)86400 * type->parts;
    struct instant instant = {value, type->parts};
    if (type->layout == INSTANTS) return text_instant(to, instant, type->is_utc, is_nested);
    if (type->layout == TIMES) return text_time(to, instant);
    return text_date(to, type->parts == 0 ? value : value / day - (value % day < 0));
}

static const char *write_json(struct text *to, const struct column *column, size_t row);

static const char *write_elements(struct text *to, const struct column *column, size_t row)
{
    size_t n = column->type->n_children, first = 0;
    if (column->type->layout == LISTS) {
        first = column_offset(column, row);
        n = column_offset(column, row + 1) - first;
        if (first > INT64_MAX || n > INT64_MAX) return column_bad_offsets;
    } else if (column->type->layout == FIXED_LISTS) {
        n = column->type->size;
        first = (column->offset + row) * n;
    }
    const char *wrong = text_add(to, "[", 1) ? NULL : no_memory;
    for (size_t i = 0; i < n && wrong == NULL; i++) {
        bool of_struct = column->type->layout == STRUCTS;
        const struct column *child = &column->children[of_struct ? i : 0];
        size_t at = of_struct ? column->offset + row : first + i;
        if (at >= child->length) return bad_child;
        wrong = i == 0 || text_add(to, ", ", 2) ? write_json(to, child, at) : no_memory;
    }
    return wrong != NULL || text_add(to, "]", 1) ? wrong : no_memory;
}

/* As item.c writes what tuples have. */
static const char *write_json(struct text *to, const struct column *column, size_t row)
{
    const char *wrong = find(&column, &row), *text;
    size_t size;
    uint64_t number;
    bool room;
    if (wrong != NULL) return wrong;
    if (column == NULL) return text_add(to, "null", 4) ? NULL : no_memory;
    const struct type *type = column->type;
    switch (type->layout) {
    case BITS: room = number_at(column, row) != 0 ? text_add(to, "true", 4) : text_add(to, "false", 5); break;
    case INTEGERS: room = text_integer(to, number_at(column, row), type->is_signed); break;
    case FLOATS: {
        double value = float_at(column, row);
        room = isnan(value)                 ? text_add(to, "null", 4)
               : text_whole(value, &number) ? text_integer(to, number, value < 0)
                                            : text_float(to, value, true);
        break;
    }
    case DECIMALS:
        room = text_decimal(to, (const unsigned char *)value_at(column, row), type->size, type->scale);
        break;
    case DATES:
    case TIMES:
    case INSTANTS:
    case UUIDS:
        room = text_add(to, "\"", 1);
        if (room && type->layout == UUIDS) room = text_uuid(to, (const unsigned char *)value_at(column, row));
        else room = room && write_time(to, column, row, true);
        room = room && text_add(to, "\"", 1);
        break;
    case STRUCTS:
    case LISTS:
    case FIXED_LISTS: return write_elements(to, column, row);
    default:
        wrong = text_at(column, row, &text, &size);
        if (wrong != NULL) return wrong;
        room = type->is_binary ? text_hex(to, text, size) : text_quoted(to, text, size);
        break;
    }
    return room ? NULL : no_memory;
}

const char *column_put(const struct column *column, size_t row, struct gathered *to, size_t place)
{
    const char *wrong = find(&column, &row), *text;
    size_t size;
    uint64_t number;
    bool room;
    if (wrong != NULL || column == NULL) return wrong;
    const struct type *type = column->type;
    const unsigned char *bytes;
    switch (type->layout) {
    case BITS:
    case INTEGERS: return keys_put_number(to, place, 1, number_at(column, row)) ? NULL : no_memory;
    case FLOATS: return keys_put_float(to, place, float_at(column, row)) ? NULL : no_memory;
    case DECIMALS:
        bytes = (const unsigned char *)value_at(column, row);
        if (text_decimal_whole(bytes, type->size, type->scale, &number))
            return keys_put_number(to, place, 1, number) ? NULL : no_memory;
        room = text_decimal(&to->text, bytes, type->size, type->scale);
        break;
    case DATES:
    case TIMES:
    case INSTANTS: room = write_time(&to->text, column, row, false); break;
    case UUIDS: room = text_uuid(&to->text, (const unsigned char *)value_at(column, row)); break;
    case STRUCTS:
    case LISTS:
    case FIXED_LISTS:
        wrong = write_elements(&to->text, column, row);
        room = true;
        break;
    default:
        wrong = text_at(column, row, &text, &size);
        room = wrong != NULL || text_add(&to->text, text, size);
        break;
    }
    if (wrong != NULL) return wrong;
    return room && keys_put_text(to, place, 1) ? NULL : no_memory;
}
