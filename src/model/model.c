/* model: the table of layers, and the models inside the library. */
#include "model/model.h"

#include <string.h>

#include "model/compact.h"

#define LAYER_SHAPE(layer, name, in, out) [layer] = {name, in, out, layer##_AT},
const struct layer_shape model_layers[LAYERS] = {MODEL_LAYERS(LAYER_SHAPE)};

const lego_model *lego_model_builtin(const char *name)
{
    static const lego_model *const models[] = {&model_compact, &model_paper}; /* the first is the default */
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (name == NULL || strcmp(name, models[i]->name) == 0) return models[i];
    return NULL;
}

uint64_t model_weights(uint32_t kind)
{
    return kind == MODEL_COMPACT ? (uint64_t)COMPACT_WEIGHTS : (uint64_t)MODEL_WEIGHTS;
}

void lego_model_destroy(lego_model *model)
{
    if (model) {
        lego_allocator allocator = model->allocator;
        allocator.free(allocator.context, model, model->allocated);
    }
}

void lego_model_describe(const lego_model *model, lego_model_info *info)
{
    uint32_t columns = model->kind == MODEL_PAPER ? model->columns : 0;
    *info = (lego_model_info){model->name, model->rows, columns, model->quantum, model->fingerprint};
}
