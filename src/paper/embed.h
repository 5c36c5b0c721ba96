/* embed: the normalised multi-hash embedding (paper, section 3.1), quantised to integers.
 *
 * An item's values V[index_k] are divided by their sum and multiplied by Q; each is rounded, but at least 1, so that
 * cell / weight always exists. V enters as integers, so the weights are the same on every machine.
 * Example: Q = 8 and V values 1, 0.5, 0.25, 0.25 give weights 4, 2, 1, 1. */
#pragma once

#include "core/hash.h"
#include "model/model.h"

static inline void embed_with(const uint32_t table16[], uint32_t quantum, uint32_t rows, const uint32_t index[],
                              uint32_t weight[])
{
    uint32_t t[ROWS_MAX], sum = 0;
    for (uint32_t k = 0; k < rows; k++) sum += t[k] = table16[index[k]];
    /* w = floor((2 Q t + sum) / (2 sum)) by one division: a quotient that is not whole is at least 1 / (2 sum), so
     * 2^-20, off the next whole number, and the rounding errors of a quotient up to 2^12 stay below 2^-38. */
    double inverse = 1.0 / (2 * sum);
    for (uint32_t k = 0; k < rows; k++) {
        uint32_t w = (uint32_t)(((double)quantum * 2 * t[k] + sum) * inverse + 0x1p-30);
        weight[k] = w ? w : 1;
    }
}

/* Without normalisation the weights are Q / rows times V, so that a decoder reads V itself: decode.c multiplies weights
 * by rows / Q, whatever they are. */
static inline void embed_plain(const struct lego_model *model, const uint32_t index[], uint32_t weight[])
{
    for (uint32_t k = 0; k < model->rows; k++) {
        uint32_t w = (model->table16[index[k]] * (model->quantum / model->rows) + 32768) >> 16;
        weight[k] = w ? w : 1;
    }
}

static inline void embed_weights(const struct lego_model *model, const uint32_t index[], uint32_t weight[])
{
    if (model->kind == MODEL_PLAIN) embed_plain(model, index, weight);
    else embed_with(model->table16, model->quantum, model->rows, index, weight);
}
