/* legosketch train --preset ms: the meta-sketch, a competitor (train/ms_train.h).
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_TRAIN_MS_H
#define CLI_TRAIN_MS_H

#include "ms_backend.h"
#include "ms_checkpoint.h"
#include "training.h"

/* The checkpoint at `path` into the run, to go on with: its recipe must be the run's. Says what is wrong with it. */
bool train_ms_load(const char *path, struct ms_run *run);

/* Trains from the run's state to the end of its recipe and writes the model, as training_run() does it. The files'
 * model has no name. */
bool train_ms(const struct ms_backend *backend, unsigned threads, struct ms_run *run, const training_files *files);

#endif
