/* The type Sketch: its life, one item, whole sketches; sketch_many.c has the functions of many items.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "errors.h"
#include "item.h"
#include "model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *sketch_type;

/* ---- the lock ----------------------------------------------------------------------------------------------------- */

void lock_read(Sketch *sketch)
{
    if (pthread_rwlock_tryrdlock(&sketch->lock) == 0) return;
    Py_BEGIN_ALLOW_THREADS pthread_rwlock_rdlock(&sketch->lock);
    Py_END_ALLOW_THREADS
}

void lock_write(Sketch *sketch)
{
    if (pthread_rwlock_trywrlock(&sketch->lock) == 0) return;
    Py_BEGIN_ALLOW_THREADS pthread_rwlock_wrlock(&sketch->lock);
    Py_END_ALLOW_THREADS
}

void unlock(Sketch *sketch)
{
    pthread_rwlock_unlock(&sketch->lock);
}

const lego_sketch *sketch_light(const Sketch *sketch)
{
    return sketch->plain != NULL ? sketch->plain : lego_elastic_light(sketch->elastic);
}

/* ---- life --------------------------------------------------------------------------------------------------------- */

/* A Python object around one of the two, which it takes, also if it fails. */
static PyObject *wrap(PyTypeObject *type, lego_sketch *plain, lego_elastic *elastic, PyObject *model)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Sketch *sketch = (Sketch *)alloc(type, 0);
    if (sketch == NULL || pthread_rwlock_init(&sketch->lock, NULL) != 0) {
        lego_sketch_destroy(plain);
        lego_elastic_destroy(elastic);
        if (sketch != NULL) {
            /* dealloc ends a lock, which this one has not got */
            freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
            release(sketch);
            Py_DECREF(type);
            PyErr_NoMemory();
        }
        return NULL;
    }
    sketch->plain = plain;
    sketch->elastic = elastic;
    sketch->model = Py_XNewRef(model);
    sketch->threads = 1;
    return (PyObject *)sketch;
}

static void set_threads(Sketch *sketch, unsigned threads)
{
    if (sketch->plain == NULL) return; /* those with heavy items have one */
    sketch->threads = threads;
    lego_sketch_set_threads(sketch->plain, threads);
}

/* Sketch(budget, model, seed, heavy, flat, threads), all of them given: the defaults are in legosketch/__init__.py. */
static PyObject *sketch_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"budget", "model", "seed", "heavy", "flat", "threads", NULL};
    PyObject *budget, *model, *seed, *heavy;
    int flat;
    unsigned threads;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!OO!OpI:Sketch", names, &PyLong_Type, &budget, &model,
                                     &PyLong_Type, &seed, &heavy, &flat, &threads))
        return NULL;
    lego_elastic_options options = LEGO_ELASTIC_OPTIONS_INIT;
    options.light.packing = flat ? LEGO_FLAT : LEGO_DENSE;
    options.light.budget = PyLong_AsUnsignedLongLong(budget);
    if (!PyErr_Occurred()) options.light.seed = PyLong_AsUnsignedLongLong(seed);
    if (!PyErr_Occurred() && heavy != Py_None) options.heavy = PyLong_AsUnsignedLongLong(heavy);
    if (PyErr_Occurred() || model_find(model, &options.light.model) < 0) return NULL;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    lego_status status;
    Py_BEGIN_ALLOW_THREADS status =
        heavy == Py_None ? lego_sketch_create(&options.light, &plain) : lego_elastic_create(&options, &elastic);
    Py_END_ALLOW_THREADS if (status != LEGO_OK) return raise_status(status), NULL;
    PyObject *self = wrap(type, plain, elastic, PyCapsule_CheckExact(model) ? model : NULL);
    if (self != NULL) set_threads((Sketch *)self, threads);
    return self;
}

static void sketch_dealloc(PyObject *self)
{
    Sketch *sketch = (Sketch *)self;
    PyTypeObject *type = Py_TYPE(self);
    lego_sketch_destroy(sketch->plain);
    lego_elastic_destroy(sketch->elastic);
    Py_XDECREF(sketch->model); /* after all that uses it */
    pthread_rwlock_destroy(&sketch->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *sketch_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    Sketch *sketch = (Sketch *)self;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    lego_status status;
    Py_BEGIN_ALLOW_THREADS pthread_rwlock_rdlock(&sketch->lock);
    status =
        sketch->plain != NULL ? lego_sketch_copy(sketch->plain, &plain) : lego_elastic_copy(sketch->elastic, &elastic);
    pthread_rwlock_unlock(&sketch->lock);
    Py_END_ALLOW_THREADS if (status != LEGO_OK) return raise_status(status), NULL;
    PyObject *copy = wrap(Py_TYPE(self), plain, elastic, sketch->model);
    if (copy == NULL) return NULL;
    set_threads((Sketch *)copy, sketch->threads);
    ((Sketch *)copy)->kinds = sketch->kinds;
    return copy;
}

/* ---- one item ----------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(add_doc, "add(item, count=1)\n--\n\n"
                      "Count an item `count` times more; a negative count takes it away again.\n\n"
                      "    >>> s = Sketch()\n"
                      "    >>> s.add('apple', 3)\n"
                      "    >>> s.add('apple', -1)\n"
                      "    >>> s.estimate('apple')\n"
                      "    2.0\n");

static PyObject *sketch_add(PyObject *self, PyObject *const *arguments, Py_ssize_t n, PyObject *names)
{
    Sketch *sketch = (Sketch *)self;
    Py_ssize_t named = names == NULL ? 0 : PyTuple_Size(names);
    if (named > 1 || n + named > 2 || n < 1 ||
        (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, 0), "count") != 0)) {
        PyErr_SetString(PyExc_TypeError, "add() takes an item and a count: add(item, count=1)");
        return NULL;
    }
    int64_t count = n + named == 2 ? PyLong_AsLongLong(arguments[1]) : 1;
    if (count == -1 && PyErr_Occurred()) return NULL;
    item item;
    if (item_read(arguments[0], &item) < 0) return NULL;
    lego_status status;
    lock_write(sketch);
    if (item.kind == ITEM_INT)
        status = sketch->plain != NULL ? lego_sketch_add_u64(sketch->plain, item.number, count)
                                       : lego_elastic_add_u64(sketch->elastic, item.number, count);
    else
        status = sketch->plain != NULL ? lego_sketch_add(sketch->plain, item.text, item.size, count)
                                       : lego_elastic_add(sketch->elastic, item.text, item.size, count);
    unlock(sketch);
    item_release(&item);
    if (status != LEGO_OK) return raise_status(status), NULL;
    sketch->kinds |= (unsigned)item.kind;
    return Py_NewRef(Py_None);
}

static int ask_one(Sketch *sketch, PyObject *object, lego_estimate *estimate)
{
    item item;
    if (item_read(object, &item) < 0) return -1;
    lego_status status;
    lock_read(sketch);
    if (item.kind == ITEM_INT)
        status = sketch->plain != NULL ? lego_sketch_estimate_u64(sketch->plain, item.number, estimate)
                                       : lego_elastic_estimate_u64(sketch->elastic, item.number, estimate);
    else
        status = sketch->plain != NULL ? lego_sketch_estimate(sketch->plain, item.text, item.size, estimate)
                                       : lego_elastic_estimate(sketch->elastic, item.text, item.size, estimate);
    unlock(sketch);
    item_release(&item);
    if (status == LEGO_OK) return 0;
    raise_status(status);
    return -1;
}

PyDoc_STRVAR(estimate_doc, "estimate(item)\n--\n\n"
                           "How often the item was counted, about: a float, never above the upper bound.\n\n"
                           "    >>> s = Sketch()\n"
                           "    >>> s.update(['pear', 'apple', 'pear'])\n"
                           "    >>> s.estimate('pear'), s.estimate('plum')\n"
                           "    (2.0, 0.0)\n");

static PyObject *sketch_estimate(PyObject *self, PyObject *object)
{
    lego_estimate estimate;
    return ask_one((Sketch *)self, object, &estimate) < 0 ? NULL : PyFloat_FromDouble(estimate.value);
}

PyDoc_STRVAR(bounds_doc,
             "bounds(item)\n--\n\n"
             "(lower, upper): the true count is never above upper, if no item was taken away more often than "
             "counted,\nand for at least 95 % of the items not below lower.\n\n"
             "    >>> s = Sketch()\n"
             "    >>> s.add(b'key', 5)\n"
             "    >>> s.bounds(b'key')\n"
             "    (5, 5)\n");

static PyObject *sketch_bounds(PyObject *self, PyObject *object)
{
    lego_estimate estimate;
    if (ask_one((Sketch *)self, object, &estimate) < 0) return NULL;
    return Py_BuildValue("LL", (long long)estimate.lower, (long long)estimate.upper);
}

/* ---- the most frequent items -------------------------------------------------------------------------------------- */

/* What lego_elastic_top() tells, kept until Python objects can be made of it. */
struct list {
    struct listed {
        char *item;
        size_t size;
        lego_estimate estimate;
        int exact;
    } * all;
    size_t n, room;
    bool failed;
};

static int keep(void *context, const lego_top *top)
{
    struct list *list = context;
    if (list->n == list->room) {
        size_t room = 2 * list->room + 16;
        struct listed *all = realloc(list->all, room * sizeof *all);
        if (all == NULL) return list->failed = true, 1;
        list->all = all;
        list->room = room;
    }
    struct listed *next = &list->all[list->n];
    next->item = malloc(top->size + 1); /* one more, so that an empty item is no failure */
    if (next->item == NULL) return list->failed = true, 1;
    memcpy(next->item, top->item, top->size);
    next->size = top->size;
    next->estimate = top->estimate;
    next->exact = top->exact;
    list->n++;
    return 0;
}

/* _top(n): a list of (bytes, estimate, lower, upper, exact). */
static PyObject *sketch_top(PyObject *self, PyObject *object)
{
    Sketch *sketch = (Sketch *)self;
    size_t most = PyLong_AsSize_t(object);
    if (most == (size_t)-1 && PyErr_Occurred()) return NULL;
    if (sketch->elastic == NULL) {
        raise_refused("this sketch does not keep its most frequent items: make it with Sketch(..., heavy=True)");
        return NULL;
    }
    struct list list = {0};
    lego_status status;
    Py_BEGIN_ALLOW_THREADS pthread_rwlock_rdlock(&sketch->lock);
    status = lego_elastic_top(sketch->elastic, most, keep, &list);
    pthread_rwlock_unlock(&sketch->lock);
    Py_END_ALLOW_THREADS if (list.failed) status = LEGO_ERR_MEMORY;
    if (status != LEGO_OK) raise_status(status);
    PyObject *result = status == LEGO_OK ? PyList_New((Py_ssize_t)list.n) : NULL;
    for (size_t i = 0; i < list.n; i++) {
        const struct listed *next = &list.all[i];
        PyObject *entry = result == NULL
                              ? NULL
                              : Py_BuildValue("y#dLLO", next->item, (Py_ssize_t)next->size, next->estimate.value,
                                              (long long)next->estimate.lower, (long long)next->estimate.upper,
                                              next->exact ? Py_True : Py_False);
        if (entry == NULL) Py_CLEAR(result);
        else PyList_SetItem(result, (Py_ssize_t)i, entry);
        free(next->item);
    }
    free(list.all);
    return result;
}

/* ---- two sketches ------------------------------------------------------------------------------------------------- */

/* into, to write, and from, to read, are locked in the order of their addresses, so that two such calls never wait for
 * each other. */
static lego_status combine_locked(Sketch *into, Sketch *from, bool subtract)
{
    Sketch *first = into < from ? into : from;
    for (int i = 0; i < 2; i++) {
        Sketch *next = (i == 0) == (first == into) ? into : from;
        if (next == into) pthread_rwlock_wrlock(&into->lock);
        else pthread_rwlock_rdlock(&from->lock);
    }
    lego_status status = into->elastic != NULL ? lego_elastic_merge(into->elastic, from->elastic)
                         : subtract            ? lego_sketch_subtract(into->plain, from->plain)
                                               : lego_sketch_merge(into->plain, from->plain);
    pthread_rwlock_unlock(&into->lock);
    pthread_rwlock_unlock(&from->lock);
    return status;
}

static int combine(Sketch *into, Sketch *from, bool subtract)
{
    if ((into->elastic == NULL) != (from->elastic == NULL))
        return raise_refused("a sketch with heavy items goes only with another such"), -1;
    if (subtract && into->elastic != NULL) return raise_refused("sketches with heavy items can not be subtracted"), -1;
    PyObject *twin = into == from ? sketch_copy((PyObject *)from, NULL) : Py_NewRef(from);
    if (twin == NULL) return -1;
    lego_status status;
    Py_BEGIN_ALLOW_THREADS status = combine_locked(into, (Sketch *)twin, subtract);
    Py_END_ALLOW_THREADS into->kinds |= from->kinds;
    Py_DECREF(twin);
    if (status == LEGO_OK) return 0;
    raise_status(status);
    return -1;
}

PyDoc_STRVAR(merge_doc,
             "merge(other)\n--\n\n"
             "Become the sketch of both streams, byte for byte as if this one had counted them all. Model and "
             "seed must agree.\nOf sketches of different sizes the result has the largest that both fold to.\n\n"
             "    >>> monday, tuesday = Sketch(), Sketch()\n"
             "    >>> monday.add('apple'); tuesday.add('apple')\n"
             "    >>> monday.merge(tuesday)\n"
             "    >>> monday.estimate('apple')\n"
             "    2.0\n");

static PyObject *sketch_merge(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(other, sketch_type))
        return PyErr_SetString(PyExc_TypeError, "merge() takes another Sketch"), NULL;
    return combine((Sketch *)self, (Sketch *)other, false) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *operate(PyObject *left, PyObject *right, bool in_place, bool subtract)
{
    if (!PyObject_TypeCheck(left, sketch_type) || !PyObject_TypeCheck(right, sketch_type))
        return Py_NewRef(Py_NotImplemented);
    PyObject *result = in_place ? Py_NewRef(left) : sketch_copy(left, NULL);
    if (result != NULL && combine((Sketch *)result, (Sketch *)right, subtract) < 0) Py_CLEAR(result);
    return result;
}

static PyObject *sketch_plus(PyObject *left, PyObject *right)
{
    return operate(left, right, false, false);
}

static PyObject *sketch_minus(PyObject *left, PyObject *right)
{
    return operate(left, right, false, true);
}

static PyObject *sketch_plus_in_place(PyObject *left, PyObject *right)
{
    return operate(left, right, true, false);
}

static PyObject *sketch_minus_in_place(PyObject *left, PyObject *right)
{
    return operate(left, right, true, true);
}

/* ---- bytes -------------------------------------------------------------------------------------------------------- */

struct memory {
    char *bytes;
    size_t size;
};

static int append(void *context, const void *bytes, size_t size)
{
    struct memory *memory = context;
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    return 0;
}

/* The canonical bytes, to be freed. */
static lego_status serialize(Sketch *sketch, struct memory *memory)
{
    lego_status status = LEGO_ERR_MEMORY;
    memory->size = 0;
    Py_BEGIN_ALLOW_THREADS pthread_rwlock_rdlock(&sketch->lock);
    uint64_t size =
        sketch->plain != NULL ? lego_sketch_saved_size(sketch->plain) : lego_elastic_saved_size(sketch->elastic);
    memory->bytes = size <= PY_SSIZE_T_MAX ? malloc(size) : NULL;
    if (memory->bytes != NULL)
        status = sketch->plain != NULL ? lego_sketch_save(sketch->plain, append, memory)
                                       : lego_elastic_save(sketch->elastic, append, memory);
    pthread_rwlock_unlock(&sketch->lock);
    Py_END_ALLOW_THREADS return status;
}

PyDoc_STRVAR(to_bytes_doc,
             "to_bytes()\n--\n\n"
             "The bytes of a .sketch file, as docs/format.md has them. Equal sketches have equal bytes.\n\n"
             "    >>> s = Sketch('4K')\n"
             "    >>> Sketch.from_bytes(s.to_bytes()) == s\n"
             "    True\n");

static PyObject *sketch_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct memory memory;
    lego_status status = serialize((Sketch *)self, &memory);
    PyObject *bytes = status == LEGO_OK ? PyBytes_FromStringAndSize(memory.bytes, (Py_ssize_t)memory.size) : NULL;
    if (status != LEGO_OK) raise_status(status);
    free(memory.bytes);
    return bytes;
}

/* _from_bytes(bytes, model, flat, threads), a class method: of either kind. */
static PyObject *sketch_from_bytes(PyObject *type, PyObject *arguments)
{
    Py_buffer bytes;
    PyObject *model;
    int flat;
    unsigned threads;
    if (!PyArg_ParseTuple(arguments, "y*OpI:from_bytes", &bytes, &model, &flat, &threads)) return NULL;
    const lego_model *known;
    if (model_find(model, &known) < 0) return PyBuffer_Release(&bytes), NULL;
    lego_sketch *plain = NULL;
    lego_elastic *elastic = NULL;
    lego_status status;
    Py_BEGIN_ALLOW_THREADS status = lego_sketch_load(bytes.buf, (size_t)bytes.len, known, NULL, &plain);
    if (status == LEGO_ERR_MAGIC) status = lego_elastic_load(bytes.buf, (size_t)bytes.len, known, NULL, &elastic);
    if (status == LEGO_OK && flat && plain != NULL) {
        status = lego_sketch_convert(plain, LEGO_FLAT);
        if (status != LEGO_OK) lego_sketch_destroy(plain);
    }
    Py_END_ALLOW_THREADS PyBuffer_Release(&bytes);
    if (status != LEGO_OK) return raise_status(status), NULL;
    PyObject *self = wrap((PyTypeObject *)type, plain, elastic, PyCapsule_CheckExact(model) ? model : NULL);
    if (self != NULL) set_threads((Sketch *)self, threads);
    return self;
}

static PyObject *sketch_compare(PyObject *self, PyObject *other, int operation)
{
    if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(other, sketch_type))
        return Py_NewRef(Py_NotImplemented);
    struct memory left, right = {0};
    lego_status status = serialize((Sketch *)self, &left);
    if (status == LEGO_OK) status = serialize((Sketch *)other, &right);
    bool equal = status == LEGO_OK && left.size == right.size && memcmp(left.bytes, right.bytes, left.size) == 0;
    free(left.bytes);
    free(right.bytes);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

/* ---- shape, and facts --------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(fold_doc,
             "fold(bricks)\n--\n\n"
             "Shrink to `bricks`, a divisor of the property bricks: the sketch becomes the one that would have been "
             "made with so many.\n\n"
             "    >>> s = Sketch('1M')\n"
             "    >>> s.fold(s.bricks // 2)\n"
             "    >>> s.bytes < 2**19\n"
             "    True\n");

static PyObject *sketch_fold(PyObject *self, PyObject *object)
{
    Sketch *sketch = (Sketch *)self;
    unsigned long bricks = PyLong_AsUnsignedLong(object);
    if (bricks == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    if (sketch->plain == NULL) return raise_refused("a sketch with heavy items can not be folded"), NULL;
    lego_status status = LEGO_ERR_SHAPE;
    Py_BEGIN_ALLOW_THREADS pthread_rwlock_wrlock(&sketch->lock);
    if (bricks <= UINT32_MAX) status = lego_sketch_fold(sketch->plain, (uint32_t)bricks);
    pthread_rwlock_unlock(&sketch->lock);
    Py_END_ALLOW_THREADS return status == LEGO_OK ? Py_NewRef(Py_None) : (raise_status(status), NULL);
}

PyDoc_STRVAR(scan_doc,
             "scan(brick)\n--\n\n"
             "(total, distinct, skew): what is in one of the bricks_now bricks, as the model's scan network sees "
             "it. Of the built-in\nmodels `paper` has one.\n");

static PyObject *sketch_scan(PyObject *self, PyObject *object)
{
    Sketch *sketch = (Sketch *)self;
    unsigned long brick = PyLong_AsUnsignedLong(object);
    if (brick == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    lego_scan scan;
    lock_read(sketch);
    lego_status status =
        brick <= UINT32_MAX ? lego_sketch_scan(sketch_light(sketch), (uint32_t)brick, &scan) : LEGO_ERR_ARGUMENT;
    unlock(sketch);
    if (status != LEGO_OK) return raise_status(status), NULL;
    return Py_BuildValue("Ldd", (long long)scan.total, scan.distinct, scan.skew);
}

PyDoc_STRVAR(clear_doc, "clear()\n--\n\nAs it was made: empty, unfolded.\n");

static PyObject *sketch_clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    Sketch *sketch = (Sketch *)self;
    Py_BEGIN_ALLOW_THREADS pthread_rwlock_wrlock(&sketch->lock);
    if (sketch->plain != NULL) lego_sketch_clear(sketch->plain);
    else lego_elastic_clear(sketch->elastic);
    pthread_rwlock_unlock(&sketch->lock);
    Py_END_ALLOW_THREADS sketch->kinds = 0;
    return Py_NewRef(Py_None);
}

/* Which fact a getter is asked for; its closure. */
enum fact { TOTAL, BYTES, CACHE_BYTES, BRICKS, BRICKS_NOW, CELLS, SEED, MODEL, FLAT, HEAVY, RESIDENTS, EXACT, KINDS };

static PyObject *get_fact(PyObject *self, void *closure)
{
    Sketch *sketch = (Sketch *)self;
    lego_sketch_info light;
    lego_elastic_info whole = {0};
    lego_model_info model;
    lock_read(sketch);
    lego_sketch_describe(sketch_light(sketch), &light);
    if (sketch->elastic != NULL) lego_elastic_describe(sketch->elastic, &whole);
    unlock(sketch);
    lego_model_describe(light.model, &model);
    bool heavy = sketch->elastic != NULL;
    switch ((enum fact)(intptr_t)closure) {
    case TOTAL: return PyLong_FromLongLong(heavy ? whole.total : light.total);
    case BYTES: return PyLong_FromUnsignedLongLong(heavy ? whole.bytes : light.bytes);
    case CACHE_BYTES: return PyLong_FromUnsignedLongLong(light.cache_bytes);
    case BRICKS: return PyLong_FromUnsignedLong(light.bricks);
    case BRICKS_NOW: return PyLong_FromUnsignedLong(light.bricks_now);
    case CELLS: return PyLong_FromUnsignedLongLong(light.cells);
    case SEED: return PyLong_FromUnsignedLongLong(light.seed);
    case MODEL: return PyUnicode_FromString(model.name);
    case FLAT: return PyBool_FromLong(light.packing == LEGO_FLAT);
    case HEAVY: return PyLong_FromUnsignedLongLong(whole.heavy_bytes);
    case RESIDENTS: return PyLong_FromUnsignedLongLong(whole.residents);
    case EXACT: return PyLong_FromUnsignedLongLong(whole.exact);
    case KINDS: break;
    }
    return PyLong_FromUnsignedLong(sketch->kinds);
}

static PyObject *get_threads(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(((Sketch *)self)->threads);
}

static int assign_threads(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    unsigned long threads = value == NULL ? 0 : PyLong_AsUnsignedLong(value);
    if (PyErr_Occurred()) return -1;
    if (threads < 1 || threads > UINT32_MAX) return PyErr_SetString(PyExc_ValueError, "threads are 1 or more"), -1;
    lock_write((Sketch *)self);
    set_threads((Sketch *)self, (unsigned)threads);
    unlock((Sketch *)self);
    return 0;
}

static int assign_kinds(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    unsigned long kinds = value == NULL ? 0 : PyLong_AsUnsignedLong(value);
    if (PyErr_Occurred()) return -1;
    ((Sketch *)self)->kinds = (unsigned)kinds & (ITEM_STR | ITEM_BYTES | ITEM_INT);
    return 0;
}

/* _model(): the capsule of a model that is not built in, or None. */
static PyObject *sketch_model(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *model = ((Sketch *)self)->model;
    return Py_NewRef(model == NULL ? Py_None : model);
}

static PyGetSetDef facts[] = {
    {"total", get_fact, NULL, "The stream's length: the sum of all counts.", (void *)TOTAL},
    {"bytes", get_fact, NULL, "All bytes of the sketch, at most its budget.", (void *)BYTES},
    {"cache_bytes", get_fact, NULL, "Bytes beside them with results of scans, which can be had again.",
     (void *)CACHE_BYTES},
    {"bricks", get_fact, NULL, "Bricks, or blocks of a compact model, as made; fold() takes divisors.", (void *)BRICKS},
    {"bricks_now", get_fact, NULL, "How many there are after the folds so far.", (void *)BRICKS_NOW},
    {"cells", get_fact, NULL, "Counters that there are now.", (void *)CELLS},
    {"seed", get_fact, NULL, "The seed of the hash.", (void *)SEED},
    {"model", get_fact, NULL, "The name of the model.", (void *)MODEL},
    {"flat", get_fact, NULL, "Whether counters are plain integers: faster, in 20 times the memory.", (void *)FLAT},
    {"heavy", get_fact, NULL, "Bytes for the most frequent items, within `bytes`; 0: none are kept.", (void *)HEAVY},
    {"residents", get_fact, NULL, "How many of the most frequent items are kept.", (void *)RESIDENTS},
    {"exact", get_fact, NULL, "How many of those have an exact count.", (void *)EXACT},
    {"threads", get_threads, assign_threads,
     "How many threads add_many() and estimate_many() may use; always 1 with heavy items.", NULL},
    {"_kinds", get_fact, assign_kinds, NULL, (void *)KINDS},
    {0},
};

PyDoc_STRVAR(
    add_many_doc,
    "add_many(keys, counts=None)\n--\n\n"
    "Count every key once, or as often as `counts` says. Keys are a numpy array or any buffer of integers or strings, "
    "an Arrow array, a pandas\nor polars Series, or anything that gives items; nulls are ignored. Arrays of 64-bit "
    "integers are not copied.\n\n"
    "    >>> from array import array\n"
    "    >>> s = Sketch()\n"
    "    >>> s.add_many(array('q', [1, 2, 2]))\n"
    "    >>> s.add_many(['one', 'two'], [10, 20])\n"
    "    >>> s.estimate(2), s.estimate('two'), s.total\n"
    "    (2.0, 20.0, 33)\n");

PyDoc_STRVAR(update_doc, "update(items)\n--\n\n"
                         "Count items as collections.Counter does: once each, or a mapping's with their counts.\n\n"
                         "    >>> s = Sketch()\n"
                         "    >>> s.update('to be or not to be'.split())\n"
                         "    >>> s.update({'to': 40})\n"
                         "    >>> s.estimate('to')\n"
                         "    42.0\n");

static PyMethodDef methods[] = {
    {"add", (PyCFunction)(void (*)(void))sketch_add, METH_FASTCALL | METH_KEYWORDS, add_doc},
    {"update", sketch_update, METH_O, update_doc},
    {"add_many", (PyCFunction)(void (*)(void))sketch_add_many, METH_VARARGS | METH_KEYWORDS, add_many_doc},
    {"estimate", sketch_estimate, METH_O, estimate_doc},
    {"bounds", sketch_bounds, METH_O, bounds_doc},
    {"_estimate_many", sketch_estimate_many, METH_O, NULL},
    {"_bounds_many", sketch_bounds_many, METH_O, NULL},
    {"_top", sketch_top, METH_O, NULL},
    {"merge", sketch_merge, METH_O, merge_doc},
    {"fold", sketch_fold, METH_O, fold_doc},
    {"scan", sketch_scan, METH_O, scan_doc},
    {"clear", sketch_clear, METH_NOARGS, clear_doc},
    {"to_bytes", sketch_to_bytes, METH_NOARGS, to_bytes_doc},
    {"_from_bytes", sketch_from_bytes, METH_VARARGS | METH_CLASS, NULL},
    {"_model", sketch_model, METH_NOARGS, NULL},
    {"copy", sketch_copy, METH_NOARGS, "copy()\n--\n\nA sketch of its own with the same content.\n"},
    {"__copy__", sketch_copy, METH_NOARGS, NULL},
    {"__deepcopy__", sketch_copy, METH_O, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, sketch_new},
    {Py_tp_dealloc, sketch_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, facts},
    {Py_tp_richcompare, sketch_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_nb_add, sketch_plus},
    {Py_nb_subtract, sketch_minus},
    {Py_nb_inplace_add, sketch_plus_in_place},
    {Py_nb_inplace_subtract, sketch_minus_in_place},
    {0},
};

PyType_Spec sketch_spec = {
    .name = "legosketch._core.Sketch",
    .basicsize = sizeof(Sketch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
