/* legosketch train --preset compact: the networks for blocks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_TRAIN_COMPACT_H
#define CLI_TRAIN_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

/* Trains and writes the model; says what goes wrong. threads 0: as many as there are cores. log may be NULL. */
bool train_compact(uint64_t seed, unsigned threads, const char *output, const char *name, const char *log, bool quiet);

#endif
