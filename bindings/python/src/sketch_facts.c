/* Facts about a sketch, which are its properties.
 *
 * SPDX-License-Identifier: MIT */
#include "sketch.h"

/* Which fact a getter is asked for; its closure. */
enum fact { TOTAL, BYTES, BUDGET, CACHE_BYTES, BLOCKS, COLUMNS, TOP_BYTES, TOP_TOTAL, SEED, MODEL };

static PyObject *get_fact(PyObject *self, void *closure)
{
    Sketch *sketch = (Sketch *)self;
    lego_info info;
    lego_model_info model;
    lock_read(sketch);
    lego_describe(sketch->handle, &info);
    unlock(sketch);
    switch ((enum fact)(intptr_t)closure) {
    case TOTAL: return PyLong_FromLongLong(info.total);
    case BYTES: return PyLong_FromUnsignedLongLong(info.bytes);
    case BUDGET: return PyLong_FromUnsignedLongLong(info.budget);
    case CACHE_BYTES: return PyLong_FromUnsignedLongLong(info.cache_bytes);
    case BLOCKS: return PyLong_FromUnsignedLong(info.blocks);
    case COLUMNS: return PyLong_FromUnsignedLong(info.columns);
    case TOP_BYTES: return PyLong_FromUnsignedLongLong(info.top_bytes);
    case TOP_TOTAL: return PyLong_FromLongLong(info.top_total);
    case SEED: return PyLong_FromUnsignedLongLong(info.seed);
    case MODEL: break;
    }
    lego_model_describe(info.model, &model);
    return PyUnicode_FromString(model.name);
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
    {"total", get_fact, NULL, "The stream's length: the sum of all counts.", (void *)TOTAL},
    {"bytes", get_fact, NULL, "All bytes of the sketch, at most its budget.", (void *)BYTES},
    {"budget", get_fact, NULL, "The least budget that makes a sketch of this size; with top=top_bytes if it has a top.",
     (void *)BUDGET},
    {"cache_bytes", get_fact, NULL, "Bytes beside them for what the networks made of the content, to be had again.",
     (void *)CACHE_BYTES},
    {"blocks", get_fact, NULL, "Blocks or, of the paper's model, bricks; fold() takes divisors.", (void *)BLOCKS},
    {"columns", get_fact, NULL, "Of a brick; 0 for blocks.", (void *)COLUMNS},
    {"top_bytes", get_fact, NULL, "Bytes for the most frequent items, within `bytes`; 0: none are kept.",
     (void *)TOP_BYTES},
    {"top_total", get_fact, NULL, "How much of the total is counted there.", (void *)TOP_TOTAL},
    {"seed", get_fact, NULL, "The seed of the hash.", (void *)SEED},
    {"model", get_fact, NULL, "The name of the model.", (void *)MODEL},
    {"threads", get_threads, assign_threads, "How many threads add_many() and estimate_many() may use.", NULL},
    {0},
};
