/* Facts about a sketch, which are its properties.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include <inttypes.h>
#include <stdio.h>

/* Which fact a getter is asked for; its closure. */
enum fact {
    DISTINCT,
    EXACT,
    KEEPING,
    DISTINCT_ERROR,
    EXPECTED,
    CLASSES,
    BYTES,
    BUDGET,
    CACHE_BYTES,
    BLOCKS,
    COLUMNS,
    TOP_BYTES,
    TOP_BUDGET,
    TOP_TOTAL,
    SEED,
    FINGERPRINT,
    MODEL,
    ITEMS
};

static const char *const kinds[] = {"none", "bytes", "integers", "mixed"}; /* in the order of lego_kind */

PyObject *sketch_show_fingerprint(uint64_t fingerprint)
{
    char digits[17];
    snprintf(digits, sizeof digits, "%016" PRIx64, fingerprint);
    return PyUnicode_FromString(digits);
}

/* [(items, error)]: how many items have a count above 2^(k-1), up to 2^k, for k = 0, 1, ... */
static PyObject *list_classes(const lego_info *info)
{
    PyObject *classes = PyList_New(LEGO_CLASSES);
    for (int k = 0; k < LEGO_CLASSES && classes != NULL; k++) {
        PyObject *pair = Py_BuildValue("dd", info->classes[k], info->class_errors[k]);
        if (pair == NULL) Py_CLEAR(classes);
        else PyList_SetItem(classes, k, pair);
    }
    return classes;
}

static PyObject *get_fact(PyObject *self, void *closure)
{
    Sketch *sketch = (Sketch *)self;
    lego_info info;
    lego_model_info model;
    lock_read(sketch);
    lego_describe(sketch->handle, &info);
    unlock(sketch);
    switch ((enum fact)(intptr_t)closure) {
    case DISTINCT: return PyFloat_FromDouble(info.distinct);
    case EXACT: return PyBool_FromLong(info.exact);
    case KEEPING: return PyFloat_FromDouble(info.keeping);
    case DISTINCT_ERROR: return PyFloat_FromDouble(info.distinct_error);
    case EXPECTED:
        return Py_BuildValue("dddd", info.expected_aae, info.expected_are, info.expected_aae_error,
                             info.expected_are_error);
    case CLASSES: return list_classes(&info);
    case BYTES: return PyLong_FromUnsignedLongLong(info.bytes);
    case BUDGET: return PyLong_FromUnsignedLongLong(info.budget);
    case CACHE_BYTES: return PyLong_FromUnsignedLongLong(info.cache_bytes);
    case BLOCKS: return PyLong_FromUnsignedLong(info.blocks);
    case COLUMNS: return PyLong_FromUnsignedLong(info.columns);
    case TOP_BYTES: return PyLong_FromUnsignedLongLong(info.top_bytes);
    case TOP_BUDGET: return PyLong_FromUnsignedLongLong(info.top_budget);
    case TOP_TOTAL: return PyLong_FromLongLong(info.top_total);
    case SEED: return info.secret ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(info.seed);
    case FINGERPRINT: return info.secret ? sketch_show_fingerprint(info.seed) : Py_NewRef(Py_None);
    case ITEMS: return PyUnicode_FromString(kinds[info.items]);
    case MODEL: break;
    }
    lego_model_describe(info.model, &model);
    return PyUnicode_FromString(model.name);
}

/* Alone, for it takes no look at the blocks. */
static PyObject *get_total(PyObject *self, void *closure)
{
    (void)closure;
    Sketch *sketch = (Sketch *)self;
    lock_read(sketch);
    int64_t total = lego_total(sketch->handle);
    unlock(sketch);
    return PyLong_FromLongLong(total);
}

static PyObject *get_threads(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(((Sketch *)self)->threads);
}

static int assign_threads(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    Sketch *sketch = (Sketch *)self;
    if (value == NULL) return PyErr_SetString(PyExc_AttributeError, "threads can not be deleted"), -1;
    if (!sketch_read_threads(value, &sketch->threads)) return -1;
    lock_write(sketch);
    lego_set_threads(sketch->handle, sketch->threads);
    unlock(sketch);
    return 0;
}

PyGetSetDef sketch_facts[] = {
    {"total", get_total, NULL, "The stream's length: the sum of all counts.", NULL},
    {"distinct", get_fact, NULL, "About how many distinct items that is, but for those that were deleted.",
     (void *)DISTINCT},
    {"distinct_error", get_fact, NULL, "The standard error of `distinct`: 0 where it is known.",
     (void *)DISTINCT_ERROR},
    {"items", get_fact, NULL,
     "What they are: 'integers', 'bytes', which text is too, 'mixed' or, as long as there are none, 'none'.",
     (void *)ITEMS},
    {"exact", get_fact, NULL, "Whether every answer is the item's count: all of them are listed.", (void *)EXACT},
    {"keeping", get_fact, NULL,
     "The share of the blocks that keep the heaviest of their items, from 0 to 1; 0 for bricks. While it is 0, the "
     "bytes\n"
     "of a sketch follow from what it counted alone; from then on the order of additions matters, too.",
     (void *)KEEPING},
    {"_expected", get_fact, NULL, NULL, (void *)EXPECTED},
    {"_classes", get_fact, NULL, NULL, (void *)CLASSES},
    {"bytes", get_fact, NULL, "All bytes that the sketch takes now, at most its budget.", (void *)BYTES},
    {"budget", get_fact, NULL,
     "The least budget that makes a sketch which can grow as far; with top=top_budget if it has a top.",
     (void *)BUDGET},
    {"cache_bytes", get_fact, NULL, "Bytes beside them for what a scan of bricks told when it was last needed.",
     (void *)CACHE_BYTES},
    {"blocks", get_fact, NULL, "Blocks of the budget or, of the paper's model, bricks; fold() takes divisors.",
     (void *)BLOCKS},
    {"columns", get_fact, NULL, "Of a brick; 0 for blocks.", (void *)COLUMNS},
    {"top_bytes", get_fact, NULL, "Bytes for the most frequent items, within `bytes`; 0: none are kept.",
     (void *)TOP_BYTES},
    {"top_budget", get_fact, NULL, "Bytes that they may come to take, within `budget`.", (void *)TOP_BUDGET},
    {"top_total", get_fact, NULL, "How much of the total is counted there.", (void *)TOP_TOTAL},
    {"seed", get_fact, NULL, "The seed of the hash; None if it is secret.", (void *)SEED},
    {"fingerprint", get_fact, NULL,
     "Of a secret seed: 16 hex digits, which sketches of the same seed share and files show. None if it is public.",
     (void *)FINGERPRINT},
    {"model", get_fact, NULL, "The name of the model.", (void *)MODEL},
    {"threads", get_threads, assign_threads, "How many threads add_many() and estimate_many() may use.", NULL},
    {0},
};
