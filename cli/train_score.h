/* How good networks are at the loads a brick may have, straight from a checkpoint: whatever ablation they were trained
 * with. */
#pragma once

#include "backend.h"

#include <stdbool.h>

/* Prints a table; says what goes wrong. */
bool train_score(const struct backend *backend, unsigned threads, const char *checkpoint);
