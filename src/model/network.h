/* network: one dense layer, y = act(W x + b), in double precision. The scalar truth that faster code is tested
 * against. */
#pragma once

#include "model/model.h"

/* The slope left of zero: LINEAR 1, RELU 0, LEAKY 0.01. */
#define NETWORK_LINEAR 1.0
#define NETWORK_RELU 0.0
#define NETWORK_LEAKY 0.01

static inline void network_layer(const struct lego_model *model, enum layer layer, double slope, const double x[],
                                 double y[])
{
    uint32_t in = model_layers[layer].in, out = model_layers[layer].out;
    const float *matrix = model->weights + model_layers[layer].at, *bias = matrix + (size_t)in * out;
    for (uint32_t o = 0; o < out; o++) {
        double sum = bias[o];
        for (uint32_t i = 0; i < in; i++) sum += matrix[(size_t)o * in + i] * x[i];
        y[o] = sum < 0 ? slope * sum : sum;
    }
}
