/* How good networks are at the loads a brick may have, straight from a checkpoint: whatever ablation they were trained with.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_TRAIN_SCORE_H
#define CLI_TRAIN_SCORE_H

#include "backend.h"

/* Prints a table; says what goes wrong. */
bool train_score(const struct backend *backend, unsigned threads, const char *checkpoint);

#endif
