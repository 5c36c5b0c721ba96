/* fuzz_arrow: any bytes, as a column behind the Arrow C data interface, are counted or refused by the Python package:
 * nothing but what was handed over is read, and that is released once; a column has the items of its rows one by one.
 *
 * Buffers have just the bytes that the specification promises to a reader, who can not see their sizes. What a reader
 * can see may be wrong here: lengths, numbers of children and buffers, offsets, indices, views, what is missing. */
#include "arrow.h"
#include "binary.h"
#include "compat.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

PyMODINIT_FUNC PyInit__core(void);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1"; /* which a length that can not be asks for */
}

/* ---- what the bytes say ------------------------------------------------------------------------------------------ */

static struct {
    const uint8_t *at, *end; /* of what was not drawn yet; after the end come zeros */
    int schemas, arrays;     /* handed over and not released */
} now;

static uint8_t byte(void)
{
    return now.at < now.end ? *now.at++ : 0;
}

/* One of `n`, at most 256. */
static unsigned choose(unsigned n)
{
    return byte() % n;
}

static bool rarely(void)
{
    return choose(32) == 31;
}

/* At the edges of what 64 bits hold, or near 0. */
static int64_t edge(void)
{
    static const int64_t edges[] = {-1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MAX / 64, INT64_MAX / 8, -64};
    unsigned which = choose(16);
    return which < 8 ? edges[which] : (int64_t)which - 10;
}

/* Exactly so many bytes to look at, of which the first may be anywhere; the last is the last of its allocation. */
struct buffer {
    char *start;
    void *memory;
};

static struct buffer buffer_of(size_t size)
{
    size_t before = choose(8) == 7 ? 1 + choose(7) : 0; /* not aligned */
    char *memory = malloc(size + before);
    CHECK(memory != NULL || size + before == 0);
    return (struct buffer){memory == NULL ? NULL : memory + before, memory};
}

/* The same with bytes that are drawn, or made of one that is. */
static struct buffer filled(size_t size)
{
    struct buffer buffer = buffer_of(size);
    uint32_t random = byte();
    bool drawn_each = random % 2 == 0;
    for (size_t i = 0; i < size; i++) buffer.start[i] = (char)(drawn_each ? byte() : drawn(&random, 256));
    return buffer;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

enum kind { OTHER, NONE, BITS, WIDE, TEXTS, VIEWS, STRUCT, LIST, FIXED_LIST };

/* Formats, where # is a number from 0 to 39 and % one with a sign; width 0: that number, in bytes. */
static const struct form {
    const char *format;
    enum kind kind;
    unsigned width;
} forms[] = {
    {"l", WIDE, 8},
    {"u", TEXTS, 4},
    {"U", TEXTS, 8},
    {"n", NONE, 0},
    {"b", BITS, 0},
    {"c", WIDE, 1},
    {"C", WIDE, 1},
    {"s", WIDE, 2},
    {"S", WIDE, 2},
    {"i", WIDE, 4},
    {"I", WIDE, 4},
    {"L", WIDE, 8},
    {"f", WIDE, 4},
    {"g", WIDE, 8},
    {"z", TEXTS, 4},
    {"Z", TEXTS, 8},
    {"vu", VIEWS, 16},
    {"vz", VIEWS, 16},
    {"d:%,%", WIDE, 16},
    {"d:#,%,32", WIDE, 4},
    {"d:#,%,64", WIDE, 8},
    {"d:#,%,256", WIDE, 32},
    {"w:16", WIDE, 16},
    {"w:#", WIDE, 0},
    {"tdD", WIDE, 4},
    {"tdm", WIDE, 8},
    {"tts", WIDE, 4},
    {"ttm", WIDE, 4},
    {"ttu", WIDE, 8},
    {"ttn", WIDE, 8},
    {"tss:", WIDE, 8},
    {"tsm:UTC", WIDE, 8},
    {"tsu:", WIDE, 8},
    {"tsn:Asia/Kolkata", WIDE, 8},
    {"+s", STRUCT, 0},
    {"+l", LIST, 4},
    {"+L", LIST, 8},
    {"+w:#", FIXED_LIST, 0},
    /* which are no items */
    {"e", OTHER, 0},
    {"+m", OTHER, 0},
    {"+us:0,1", OTHER, 0},
    {"tiD", OTHER, 0},
    {"+vl", OTHER, 0},
};

enum { FORMAT = 32, CHILDREN = 3, PARTS = 3, DEEP = 4 };

/* A schema and an array for it. Both own their parts, and have nothing in common, so one may be released first. */
struct node {
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct form form;
    char format[FORMAT];
    void *metadata;
    struct ArrowSchema *schemas[CHILDREN];
    struct ArrowArray *arrays[CHILDREN];
    const void *buffers[PARTS + 3];
    struct buffer held[PARTS + 3];
    struct node *children[CHILDREN], *dictionary;
    int owners; /* the schema and the array, or what holds them */
};

static void put_format(struct node *node, const struct form *form)
{
    size_t size = 0;
    for (const char *at = form->format; *at != '\0'; at++) {
        if (*at != '#' && *at != '%') node->format[size++] = *at;
        else {
            int number = *at == '#' ? (int)choose(40) : ((int)choose(256) - 128) * (rarely() ? 9 : 1);
            size += (size_t)snprintf(node->format + size, FORMAT - size, "%d", number);
            if (form->width == 0) node->form.width = (unsigned)number;
        }
    }
    node->format[size] = '\0';
}

/* Pairs of a name and a value, one of which may say that it is a UUID. */
static void *metadata_of(void)
{
    static const char uuid[] = "ARROW:extension:namearrow.uuid";
    int32_t size[3] = {2, 20, 10};
    bool good = choose(2) == 0;
    char *bytes = malloc(4 + 8 + 30 + 8 + 3), *at = bytes;
    if (!good) size[0] = rarely() ? -1 : 1, size[1] = rarely() ? (int32_t)edge() : 20;
    if (size[1] > 20) size[1] = 20; /* there is no more */
    memcpy(at, size, 4);
    at += 4;
    if (good) {
        static const int32_t other[2] = {1, 2};
        memcpy(at, &other[0], 4), at[4] = 'a', memcpy(at + 5, &other[1], 4), memcpy(at + 9, "bc", 2);
        at += 11;
    }
    memcpy(at, &size[1], 4), memcpy(at + 4, uuid, 20), memcpy(at + 24, &size[2], 4), memcpy(at + 28, uuid + 20, 10);
    return bytes;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static void put_offset(char *at, unsigned width, size_t i, int64_t value)
{
    int32_t narrow = (int32_t)value;
    memcpy(at + i * width, width == 8 ? (const void *)&value : (const void *)&narrow, width);
}

/* They rise, to at most `most`, but for one that may fall, or be negative. Returns the largest. */
static int64_t fill_offsets(char *at, unsigned width, size_t rows, int64_t most)
{
    int64_t value = 0;
    size_t wrong = choose(8) == 7 ? choose(32) : SIZE_MAX;
    for (size_t i = 0; i <= rows; i++) {
        if (i > 0) value += choose(6);
        if (value > most) value = most;
        put_offset(at, width, i, i == wrong ? (choose(2) ? -(int64_t)choose(256) : value / 2) : value);
    }
    return value;
}

static void hold(struct node *node, unsigned i, struct buffer buffer)
{
    node->held[i] = buffer;
    node->buffers[i] = buffer.start;
}

/* Views of 16 bytes: text in them, or where it is; or anything. */
static void fill_views(struct node *node, size_t rows)
{
    unsigned parts = choose(PARTS + 1);
    struct buffer views = filled(rows * 16), sizes = buffer_of(parts * sizeof(int64_t));
    for (unsigned part = 0; part < parts; part++) {
        int64_t size = choose(64);
        hold(node, 2 + part, filled((size_t)size));
        if (rarely()) node->buffers[2 + part] = NULL;
        memcpy(sizes.start + part * sizeof size, &size, sizeof size);
    }
    for (size_t i = 0; i < rows && choose(4) < 3; i++) {
        int32_t view[4] = {(int32_t)choose(40), 0, (int32_t)choose(parts + 1), (int32_t)choose(32)};
        if (view[0] > 12) memcpy(views.start + i * 16, view, sizeof view);
        else memcpy(views.start + i * 16, view, sizeof *view);
    }
    hold(node, 1, views);
    hold(node, 2 + parts, sizes);
    node->array.n_buffers = 3 + parts;
}

/* Numbers; of a dictionary mostly such as are in it. */
static void fill_numbers(struct node *node, size_t rows)
{
    unsigned width = node->form.width;
    struct buffer numbers = filled(rows * width);
    hold(node, 1, numbers);
    if (node->dictionary == NULL || node->dictionary->array.length <= 0) return;
    for (size_t i = 0; i < rows * width && width <= 8; i++)
        numbers.start[i] = i % width == 0 ? (char)((uint8_t)numbers.start[i] % node->dictionary->array.length) : 0;
    if (rarely() && rows * width > 0) numbers.start[0] = (char)byte();
}

static void fill(struct node *node)
{
    struct ArrowArray *array = &node->array;
    size_t rows = (size_t)(array->length + array->offset);
    if (node->form.kind == OTHER || node->form.kind == NONE) return;
    if (choose(2)) hold(node, 0, filled((rows + 7) / 8));
    array->n_buffers = 1;
    if (node->form.kind == STRUCT || node->form.kind == FIXED_LIST) return;
    array->n_buffers = 2;
    if (node->form.kind == BITS) hold(node, 1, filled((rows + 7) / 8));
    if (node->form.kind == WIDE) fill_numbers(node, rows);
    if (node->form.kind == VIEWS) fill_views(node, rows);
    if (node->form.kind != LIST && node->form.kind != TEXTS) return;
    hold(node, 1, buffer_of((rows + 1) * node->form.width));
    int64_t most = node->form.kind == TEXTS || rarely() ? INT32_MAX : node->children[0]->array.length;
    int64_t end = fill_offsets(node->held[1].start, node->form.width, rows, most < 0 ? 0 : most);
    if (node->form.kind == LIST) return;
    hold(node, 2, filled((size_t)end));
    array->n_buffers = 3;
    if (rarely()) node->buffers[2] = NULL;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static void free_node(struct node *node)
{
    if (node == NULL || --node->owners > 0) return;
    for (int i = 0; i < CHILDREN; i++) {
        if (node->children[i] != NULL) node->children[i]->owners = 1;
        free_node(node->children[i]);
    }
    if (node->dictionary != NULL) node->dictionary->owners = 1;
    free_node(node->dictionary);
    free(node->metadata);
    free(node);
}

/* Its buffers, and those below it, so that whoever reads on reads what is freed. */
static void free_buffers(struct node *node)
{
    if (node == NULL) return;
    for (int i = 0; i < PARTS + 3; i++) free(node->held[i].memory), node->held[i].memory = NULL;
    for (int i = 0; i < CHILDREN; i++) free_buffers(node->children[i]);
    free_buffers(node->dictionary);
}

static void release_schema(struct ArrowSchema *schema)
{
    CHECK(schema->release == release_schema);
    schema->release = NULL;
    now.schemas--;
    free_node(schema->private_data);
}

static void release_array(struct ArrowArray *array)
{
    CHECK(array->release == release_array);
    array->release = NULL;
    now.arrays--;
    free_buffers(array->private_data);
    free_node(array->private_data);
}

/* What says how much of it there is may be wrong, as long as a reader can see that. */
static void damage(struct node *node)
{
    struct ArrowArray *array = &node->array;
    switch (choose(14)) {
    case 0: array->length = edge() | INT64_MIN; break;
    case 1: array->offset = INT64_MAX - choose(64); break;
    case 2: array->length = INT64_MAX / 32 + choose(64); break;
    case 3: array->n_buffers = (int64_t)choose(3) - 1; break;
    case 4: array->buffers = NULL; break;
    case 5: node->buffers[1] = NULL; break;
    case 6: array->n_children = edge(); break;
    case 7: array->children = NULL; break;
    case 8: node->arrays[0] = NULL; break;
    case 9: array->dictionary = NULL; break;
    case 10: node->schema.children = NULL; break;
    case 11: node->schemas[0] = &node->schema; break; /* it has no end */
    case 12: node->schema.dictionary = &node->schema; break;
    default: node->schemas[0] = NULL; break;
    }
}

static struct node *build(int depth);

/* Of any format: such a column has no rows, and no buffers. */
static void any_format(struct node *node)
{
    size_t size = choose(FORMAT);
    for (size_t i = 0; i < size; i++) node->format[i] = (char)byte();
    node->form = (struct form){.kind = OTHER};
}

static void put_children(struct node *node, int depth)
{
    enum kind kind = node->form.kind;
    unsigned n = kind == STRUCT ? choose(CHILDREN + 1) : kind == LIST || kind == FIXED_LIST ? 1 : 0;
    if (depth < DEEP && rarely()) n = choose(CHILDREN + 1);
    if (kind == LIST && n == 0) n = 1; /* fill() looks at it */
    for (unsigned i = 0; i < n; i++) {
        node->children[i] = build(depth + 1);
        node->schemas[i] = &node->children[i]->schema;
        node->arrays[i] = &node->children[i]->array;
    }
    node->schema.n_children = node->array.n_children = n;
    if (kind != WIDE || depth == DEEP || choose(6) < 5) return;
    node->dictionary = build(depth + 1);
    node->schema.dictionary = &node->dictionary->schema;
    node->array.dictionary = &node->dictionary->array;
}

static struct node *build(int depth)
{
    struct node *node = calloc(1, sizeof *node);
    CHECK(node != NULL);
    node->owners = 2;
    node->schema = (struct ArrowSchema){.format = node->format,
                                        .name = "column",
                                        .children = node->schemas,
                                        .release = release_schema,
                                        .private_data = node};
    node->array = (struct ArrowArray){.null_count = (int64_t)choose(4) - 1,
                                      .buffers = node->buffers,
                                      .children = node->arrays,
                                      .release = release_array,
                                      .private_data = node};
    const struct form *form = &forms[choose(sizeof forms / sizeof *forms)];
    if (depth == DEEP) form = &forms[choose(3)];
    node->form = *form;
    put_format(node, form);
    if (rarely()) any_format(node);
    if (node->form.kind == WIDE && choose(4) == 0) node->schema.metadata = node->metadata = metadata_of();
    put_children(node, depth);
    if (node->form.kind != OTHER) node->array.length = choose(24), node->array.offset = choose(3) ? 0 : choose(12);
    fill(node);
    if (rarely()) damage(node);
    return node;
}

/* ---- Python ------------------------------------------------------------------------------------------------------ */

static PyObject *sketch_class, *array_class, *stream_class, *table_class;

static void check_python(PyObject *object)
{
    if (object == NULL) PyErr_Print();
    CHECK(object != NULL);
}

static void start(void)
{
    static const char program[] = "class Array:\n"
                                  "    def __init__(self, result): self.result = result\n"
                                  "    def __arrow_c_array__(self): return self.result\n"
                                  "class Table(Array):\n"
                                  "    columns = ()\n"
                                  "class Stream:\n"
                                  "    def __init__(self, result): self.result = result\n"
                                  "    def __arrow_c_stream__(self): return self.result\n";
    PyPreConfig before;
    PyConfig config;
    PyPreConfig_InitIsolatedConfig(&before);
    before.allocator = PYMEM_ALLOCATOR_MALLOC; /* which the sanitizer sees */
    CHECK(!PyStatus_Exception(Py_PreInitialize(&before)));
    PyConfig_InitIsolatedConfig(&config);
    config.site_import = 0;
    CHECK(!PyStatus_Exception(PyConfig_SetBytesString(&config, &config.home, PYTHON_HOME)));
    PyImport_AppendInittab("_core", PyInit__core);
    CHECK(!PyStatus_Exception(Py_InitializeFromConfig(&config)));
    PyConfig_Clear(&config);
    PyObject *core = PyImport_ImportModule("_core"), *names = PyDict_New();
    check_python(core);
    check_python(PyRun_String(program, Py_file_input, names, names));
    sketch_class = PyObject_GetAttrString(core, "Sketch");
    array_class = PyDict_GetItemString(names, "Array");
    table_class = PyDict_GetItemString(names, "Table");
    stream_class = PyDict_GetItemString(names, "Stream");
}

static PyObject *new_sketch(void)
{
    PyObject *sketch = PyObject_CallFunction(sketch_class, "iiOiOi", 1 << 16, 0, Py_None, 0, Py_None, 1);
    check_python(sketch);
    return sketch;
}

/* What the interface asks of whoever made a capsule: nobody may have taken what is in it. */
static void end_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release != NULL) schema->release(schema);
    free(schema);
}

static void end_array(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release != NULL) array->release(array);
    free(array);
}

static void *copy_of(const void *from, size_t size)
{
    void *to = malloc(size);
    CHECK(to != NULL);
    return memcpy(to, from, size);
}

static PyObject *array_of(struct node *node, PyObject *class)
{
    now.schemas++, now.arrays++;
    PyObject *schema = PyCapsule_New(copy_of(&node->schema, sizeof node->schema), "arrow_schema", end_schema);
    PyObject *array = PyCapsule_New(copy_of(&node->array, sizeof node->array), "arrow_array", end_array);
    PyObject *object = PyObject_CallFunction(class, "((NN))", schema, array);
    check_python(object);
    return object;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* Arrays of one schema; which may fail, or say something else than the first. */
struct source {
    const uint8_t *start; /* of what is drawn for the type, and for each array again */
    unsigned left;
    bool fails;
};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct source *source = stream->private_data;
    if (source->fails && source->left == 0) return 5;
    now.at = source->start;
    struct node *node = build(0);
    now.schemas++, now.arrays++;
    *schema = node->schema;
    release_array(&node->array);
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct source *source = stream->private_data;
    *array = (struct ArrowArray){0};
    if (source->left == 0) return source->fails ? 5 : 0;
    source->left--;
    now.at = source->start;
    struct node *node = build(0);
    now.schemas++, now.arrays++;
    *array = node->array;
    release_schema(&node->schema);
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    return ((struct source *)stream->private_data)->left % 2 ? NULL : "no more of it";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    CHECK(stream->release == release_stream);
    stream->release = NULL;
    free(stream->private_data);
}

static void end_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release != NULL) stream->release(stream);
    free(stream);
}

static PyObject *stream_of(unsigned arrays, bool fails)
{
    struct source *source = malloc(sizeof *source);
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, source};
    CHECK(source != NULL);
    *source = (struct source){now.at, arrays, fails};
    PyObject *capsule = PyCapsule_New(copy_of(&stream, sizeof stream), "arrow_array_stream", end_stream);
    PyObject *object = PyObject_CallFunction(stream_class, "N", capsule);
    check_python(object);
    return object;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Calls sketch.method(object, ...), and lets go of both: the result, or NULL after an error that it may have. */
static PyObject *ask(PyObject *sketch, const char *method, PyObject *arguments)
{
    PyObject *bound = PyObject_GetAttrString(sketch, method), *result = PyObject_CallObject(bound, arguments);
    Py_DECREF(bound);
    Py_DECREF(arguments);
    if (result == NULL) {
        CHECK(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
              PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_MemoryError) ||
              PyErr_ExceptionMatches(PyExc_RecursionError));
        PyErr_Clear();
    }
    CHECK(!PyErr_Occurred());
    CHECK(now.schemas == 0 && now.arrays == 0);
    return result;
}

static bool add(PyObject *sketch, PyObject *column)
{
    PyObject *result = ask(sketch, "add_many", Py_BuildValue("(N)", column));
    Py_XDECREF(result);
    return result != NULL;
}

static int64_t total(PyObject *sketch)
{
    PyObject *number = PyObject_GetAttrString(sketch, "total");
    int64_t total = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return total;
}

static bool same(PyObject *one, PyObject *other)
{
    PyObject *a = PyObject_CallMethod(one, "to_bytes", NULL), *b = PyObject_CallMethod(other, "to_bytes", NULL);
    int same = PyObject_RichCompareBool(a, b, Py_EQ);
    Py_DECREF(a);
    Py_DECREF(b);
    return same == 1;
}

/* Where a row is null, and where it is an item that was counted. */
static void check_estimates(PyObject *sketch, PyObject *column, bool counted)
{
    PyObject *found = ask(sketch, "_estimate_many", Py_BuildValue("(Nd)", column, 0.0));
    CHECK((found != NULL) == counted);
    if (found == NULL) return;
    int64_t items = 0;
    for (Py_ssize_t i = 0; i < PyByteArray_Size(found) / 8; i++) {
        double value;
        memcpy(&value, PyByteArray_AsString(found) + 8 * i, sizeof value);
        CHECK(isnan(value) || (value >= 1 && value <= (double)total(sketch)));
        items += !isnan(value);
    }
    Py_DECREF(found);
    CHECK(items == total(sketch));
}

/* The nulls of a column of plain values that are null in its own bits alone. */
static int64_t expected(const struct node *node)
{
    int64_t items = 0;
    const uint8_t *bits = node->array.null_count == 0 ? NULL : node->buffers[0];
    for (int64_t i = node->array.offset; i < node->array.offset + node->array.length; i++)
        items += bits == NULL || bits[i / 8] >> i % 8 & 1;
    return node->form.kind == NONE ? 0 : items;
}

static bool is_float(const struct node *node)
{
    return strcmp(node->format, "f") == 0 || strcmp(node->format, "g") == 0;
}

/* A column as a whole has the items of its rows, each handed over alone. */
static void check_array(void)
{
    const uint8_t *const start = now.at;
    PyObject *whole = new_sketch(), *pieces = new_sketch();
    struct node *node = build(0);
    int64_t length = node->array.length, items = -1;
    bool possible = length >= 0 && length < 256 && node->array.offset >= 0 && node->array.offset < 256, all = true;
    if (possible && node->array.buffers != NULL && node->dictionary == NULL && !is_float(node)) items = expected(node);
    bool counted = add(whole, array_of(node, array_class));
    CHECK(!counted || items < 0 || items == total(whole));
    for (int64_t i = 0; i < length && possible; i++) {
        now.at = start;
        node = build(0);
        node->array.offset += i;
        node->array.length = 1;
        all &= add(pieces, array_of(node, array_class));
    }
    CHECK(!possible || length == 0 || counted == all);
    CHECK(!counted || same(whole, pieces));
    now.at = start;
    check_estimates(whole, array_of(build(0), array_class), counted);
    Py_DECREF(whole);
    Py_DECREF(pieces);
}

/* Counts, which may be a column too. */
static void check_counts(void)
{
    PyObject *sketch = new_sketch(), *column = array_of(build(0), array_class);
    PyObject *counts = array_of(build(0), array_class);
    PyObject *result = ask(sketch, "add_many", Py_BuildValue("(NN)", column, counts));
    Py_XDECREF(result);
    Py_DECREF(sketch);
}

/* As a stream, whose arrays are read one after the other, or all at once, before a question. */
static void check_stream(void)
{
    unsigned arrays = choose(4);
    bool fails = choose(8) == 7;
    const uint8_t *const start = now.at;
    PyObject *sketch = new_sketch();
    bool counted = add(sketch, stream_of(arrays, fails));
    now.at = start;
    CHECK(!counted || !fails);
    check_estimates(sketch, stream_of(arrays, fails), counted);
    Py_DECREF(sketch);
}

static void check_table(void)
{
    PyObject *sketch = new_sketch();
    add(sketch, array_of(build(0), table_class));
    Py_DECREF(sketch);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const checks[])(void) = {check_array,  check_array, check_array,
                                           check_stream, check_table, check_counts};
    if (sketch_class == NULL) start();
    now.at = bytes;
    now.end = bytes + size;
    checks[choose(sizeof checks / sizeof *checks)]();
    CHECK(now.schemas == 0 && now.arrays == 0);
    return 0;
}
