/* The meta-sketch with a model of one's own: what the estimator `ms` does with the one that is built in. */
#pragma once

#include "estimator.h"

/* The model is a file of `legosketch train --preset ms-ours` (train/ms_train.h); LEGO_ERR_CORRUPT if it is not. */
lego_status ms_create(const void *model, size_t size, const lego_options *wanted, void **self);

/* models/ms.lego, put there by the build (CMakeLists.txt). */
extern const uint32_t ms_model[];
extern const size_t ms_model_size;
