/* model: the table of layers, and the models inside the library. */
#include "model/model.h"

#include <string.h>

#define LAYER_SHAPE(layer, name, in, out) [layer] = {name, in, out, layer##_AT},
const struct layer_shape model_layers[LAYERS] = {MODEL_LAYERS(LAYER_SHAPE)};

/* In a saved sketch it reads "compact2". Where blocks or their hash change, it has to change too: sketches merge and
 * load where these agree. */
#define COMPACT_FINGERPRINT UINT64_C(0x32746361706d6f63)

/* It has nothing that is trained, so it is in no file. */
static const lego_model model_compact = {
    .name = "compact", .kind = MODEL_COMPACT, .rows = 3, .quantum = 4, .fingerprint = COMPACT_FINGERPRINT};

const lego_model *lego_model_builtin(const char *name)
{
    static const lego_model *const models[] = {&model_compact, &model_paper}; /* the first is the default */
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (name == NULL || strcmp(name, models[i]->name) == 0) return models[i];
    return NULL;
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
    *info = (lego_model_info){model->name, model->rows, model->columns, model->quantum, model->fingerprint};
}
