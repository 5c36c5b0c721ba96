/* model: the table of layers, the models inside the library, and what follows from a model's fields. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#include "model/compact.h"
#include "paper/embed.h"

#define LAYER_SHAPE(layer, name, in, out) [layer] = {name, in, out},
const struct layer_shape model_layers[LAYERS] = {MODEL_LAYERS(LAYER_SHAPE)};

/* The default: no networks, the answer is the rule. V falls by thirds of an octave, so that
 * of an item's four weights one or two are large: those rows see the others' weights small beside their own. Rows, Q and
 * the spread were chosen on synthetic streams by scripts/probe-rule (docs/design.md has its table). The last three
 * fields follow from the others; tests/test_model.c checks them. */
static const lego_model rule_model = {
    .name = "rule",
    .kind = MODEL_RULE,
    .rows = 4,
    .columns = 5120,
    .quantum = 8,
    .table_size = 16,
    .table = {1, 0.793700516F, 0.629960537F, 0.5F, 0.396850258F, 0.314980268F, 0.25F, 0.198425129F,
              0.157490134F, 0.125F, 0.0992125645F, 0.0787450671F, 0.0625F, 0.0496062823F, 0.0393725336F, 0.03125F},
    .table16 = {65536, 52016, 41285, 32768, 26008, 20643, 16384, 13004,
                10321, 8192, 6502, 5161, 4096, 3251, 2580, 2048},
    .mean_weight = 2.159423828125,
    .fingerprint = UINT64_C(0x93c2ac9987fea259),
};

const lego_model *lego_model_builtin(const char *name)
{
    static const lego_model *const models[] = {&model_compact, &rule_model, &model_paper}; /* the first is the default */
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (name == NULL || strcmp(name, models[i]->name) == 0) return models[i];
    return NULL;
}

uint64_t model_weights(uint32_t kind)
{
    uint64_t floats = 0;
    if (kind == MODEL_COMPACT) return COMPACT_WEIGHTS;
    if (kind == MODEL_PAPER)
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
    *info = (lego_model_info){model->name,    model->rows,           model->columns,
                              model->quantum, model->weights != NULL, model->fingerprint};
}
