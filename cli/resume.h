/* What a run that goes on needs of its files: the bytes of a checkpoint, and a log cut off where that ends.
 *
 * Files never get ahead of each other in a way that loses something: a line of the log is written before the checkpoint
 * that counts it, and lines that a checkpoint does not count are cut off before the run goes on.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_RESUME_H
#define CLI_RESUME_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* At most `most` bytes of a checkpoint; says if it cannot be read, or is not there. */
bool resume_read(const char *path, unsigned char *bytes, size_t most, size_t *size);

/* Says that a checkpoint was made with another recipe; difference is what checkpoint_difference() said. */
void resume_refuse(const char *path, const char *difference);

/* The log, to write at its end: afresh, or going on after a step. NULL, and it was said, if that does not work. */
FILE *resume_log(const char *path, bool resume, uint64_t step);

#endif
