/* legosketch train --preset ms: the meta-sketch, a competitor (train/ms_train.h).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_TRAIN_MS_H
#define CLI_TRAIN_MS_H

#include "ms_train.h"

/* Trains and writes the model; says what went wrong. log may be NULL; threads 0: as many as there are cores. */
bool train_ms(const struct ms_recipe *recipe, unsigned threads, const char *output, const char *log, bool quiet);

#endif
