/* embed: the normalised multi-hash embedding (paper, section 3.1), quantised to integers.
 *
 * An item's values V[index_k] are divided by their sum and multiplied by Q; each is rounded, but at least 1, so that
 * cell / weight always exists. Everything is integer arithmetic: the same weights on every machine.
 * Example: Q = 8 and V values 1, 0.5, 0.25, 0.25 give weights 4, 2, 1, 1. */
#ifndef LEGO_SRC_EMBED_H
#define LEGO_SRC_EMBED_H

#include "hash.h"
#include "model.h"

static inline void embed_weights(const struct lego_model *model, const uint32_t index[], uint32_t weight[])
{
    uint32_t t[LEGO_ROWS_MAX], sum = 0; /* at most 8 * 65536 */
    for (uint32_t k = 0; k < model->rows; k++) sum += t[k] = model->table16[index[k]];
    for (uint32_t k = 0; k < model->rows; k++) {
        uint32_t w = (2 * model->quantum * t[k] + sum) / (2 * sum); /* 2 * 4096 * 65536 = 2^29, no overflow */
        weight[k] = w ? w : 1;
    }
}

/* The mean weight of a row over all items. */
double embed_mean(const struct lego_model *model);

#endif
