/* The module legosketch._core.
 *
 * SPDX-License-Identifier: MIT */
#include "errors.h"
#include "item.h"
#include "model.h"
#include "sketch.h"

static PyMethodDef functions[] = {
    {"group", item_group, METH_VARARGS, NULL},
    {"item_bytes", item_bytes, METH_O, NULL},
    {"is_model", model_is_builtin, METH_O, NULL},
    {"load_model", model_load, METH_O, NULL},
    {"model_bytes", model_bytes, METH_O, NULL},
    {"saved_length", sketch_saved_length, METH_O, NULL},
    {"saved_fingerprint", sketch_saved_fingerprint, METH_O, NULL},
    {"suggest", sketch_suggest, METH_VARARGS, NULL},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "legosketch._core",
    .m_size = -1, /* the types are kept outside the module, so there is one for a process */
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void); /* Python finds it by its name */

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    sketch_type = (PyTypeObject *)PyType_FromSpec(&sketch_spec);
    if (sketch_type == NULL || PyModule_AddType(module, sketch_type) < 0 || errors_start(module) < 0 ||
        PyModule_AddStringConstant(module, "version", LEGO_VERSION) < 0 ||
        PyModule_AddIntMacro(module, LEGO_ERR_BUDGET) < 0 || PyModule_AddIntMacro(module, LEGO_ERR_MODEL) < 0 ||
        PyModule_AddIntMacro(module, LEGO_ERR_SEED) < 0 || PyModule_AddIntMacro(module, LEGO_ERR_SECRET) < 0 ||
        PyModule_AddIntMacro(module, LEGO_ERR_SHAPE) < 0 || PyModule_AddIntMacro(module, LEGO_ERR_TOP) < 0)
        Py_CLEAR(module);
    return module;
}
