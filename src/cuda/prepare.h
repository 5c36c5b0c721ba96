/* prepare: fills on the CPU what kernels have of a sketch. */
#pragma once

#include "cuda/item.h"
#include "sketch/sketch.h"

/* Where items are in these blocks; of dense only the numbers count. */
void prepare_places(const struct dense *dense, uint64_t seed, struct places *places);

/* What these blocks are asked with. block: the first of them, all or COMPACT_SCANNED. */
void prepare_decoder(const lego_model *model, const struct dense *dense, struct block block[], struct decoder *decoder);
