/* Facts about a sketch, which are its properties.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

#include "item.h"

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

static int refuse_to_delete(void)
{
    PyErr_SetString(PyExc_AttributeError, "it can not be deleted");
    return -1;
}

static int assign_threads(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    return value == NULL ? refuse_to_delete() : sketch_set_threads((Sketch *)self, value);
}

static int assign_kinds(PyObject *self, PyObject *value, void *closure)
{
    (void)closure;
    unsigned long kinds = value == NULL ? (unsigned long)refuse_to_delete() : PyLong_AsUnsignedLong(value);
    if (PyErr_Occurred()) return -1;
    ((Sketch *)self)->kinds = (unsigned)kinds & (ITEM_STR | ITEM_BYTES | ITEM_INT);
    return 0;
}

PyGetSetDef sketch_facts[] = {
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
