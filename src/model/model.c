/* model: the table of layers, the models inside the library, and what follows from a model's fields. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "model/compact.h"
#include "paper/embed.h"

#define LAYER_SHAPE(layer, name, in, out) [layer] = {name, in, out},
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
    uint64_t floats = 0;
    if (kind == MODEL_COMPACT) return COMPACT_WEIGHTS;
    for (int i = 0; i < LAYERS; i++) floats += (uint64_t)(model_layers[i].in + 1) * model_layers[i].out;
    return floats;
}

void model_derive(struct lego_model *model)
{
    for (uint32_t i = 0; i < model->table_size; i++) model->table16[i] = (uint32_t)lrintf(65536 * model->table[i]);
    uint32_t at = 0;
    for (int i = 0; i < LAYERS; i++) {
        model->layer_at[i] = at;
        at += (model_layers[i].in + 1) * model_layers[i].out;
    }
    model->mean_weight = embed_mean(model);
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
