/* The log of a training run: a JSON object a line, first the recipe, then means of losses. A run that goes on cuts off
 * what its checkpoint does not count: a line is written before the checkpoint that counts it, so nothing is lost.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_TRAINING_LOG_H
#define CLI_TRAINING_LOG_H

#include "checkpoint.h"

#include <stdio.h>

typedef struct training_log {
    const char *path; /* NULL: there is none */
    FILE *file;
    bool failed; /* which was said */
} training_log;

/* Afresh, or going on after the run's steps; false, and it was said, if that does not work. backend: what computes. */
bool training_log_open(training_log *log, const struct run *run, bool resume, const char *name, const char *backend);

/* The means of the run's sums, after so many steps. */
void training_log_line(training_log *log, const struct run *run, uint64_t step, double tasks_per_second);

/* False if the log is not whole, which is said. */
bool training_log_close(training_log *log);

#endif
