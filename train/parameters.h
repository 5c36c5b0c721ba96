/* parameters: where everything learnt lies in the one arena of floats. V[80], then the layers in the order of a model
 * file (matrix [out][in], then bias [out]), then the 5 learnable weights of the loss. AT_x, IN_x and OUT_x are
 * constants made from the table of layers in model.h, so that loops over a layer have bounds known to the compiler. */
#pragma once

#include "model/model.h"
#include "paper.h"

#define PARAMETERS_SHAPE(layer, name, in, out) IN_##layer = (in), OUT_##layer = (out),
enum { MODEL_LAYERS(PARAMETERS_SHAPE) SHAPES_END };

#define PARAMETERS_AT(layer, name, in, out) AT_##layer, END_##layer = AT_##layer + ((in) + 1) * (out)-1,
enum { AT_TABLE = 0, END_TABLE = TRAIN_TABLE - 1, MODEL_LAYERS(PARAMETERS_AT) AT_LOSS };

_Static_assert(AT_LOSS + TRAIN_LOSSES == TRAIN_PARAMETERS, "paper.h knows how many parameters there are");
