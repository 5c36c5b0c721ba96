/* embed: what follows from a table V; the weights themselves are in embed.h, to be inlined. */
#include "paper/embed.h"

#include <math.h>

/* The mean weight of a row over all items. */
static double mean_weight(const struct lego_model *model)
{
    /* All table^rows items are too many; 4096 of them, drawn as an item's hash would, give the mean to about 1 %. */
    enum { SAMPLES = 4096 };
    uint64_t sum = 0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct place place;
        uint32_t weight[ROWS_MAX];
        hash_place(hash_u64(i, seed_of(0)), model->rows, model->table_size, &place);
        embed_weights(model, place.index, weight);
        for (uint32_t k = 0; k < model->rows; k++) sum += weight[k];
    }
    return (double)sum / (SAMPLES * (double)model->rows);
}

void model_derive(struct lego_model *model)
{
    for (uint32_t i = 0; i < model->table_size; i++) model->table16[i] = (uint32_t)lrintf(65536 * model->table[i]);
    model->mean_weight = mean_weight(model);
}
