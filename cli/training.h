/* A training run with its files: the loop around the steps of a backend, checkpoints, the log, what is shown
 * meanwhile. */
#pragma once

#include "backend.h"
#include "checkpoint.h"

/* Where a run's files are, and how often it writes them. */
typedef struct training_files {
    const char *output, *name; /* of the model */
    const char *checkpoint;    /* NULL: none */
    const char *log;           /* NULL: none */
    uint64_t every;            /* steps between two checkpoints */
    bool resume, quiet;
    bool keep_checkpoint; /* once the model is written */
} training_files;

/* Trains from the run's state to the end of its recipe and writes the model; says what goes wrong. A signal makes it
 * stop after the step at hand, with a checkpoint. */
bool training_run(const struct backend *backend, unsigned threads, struct run *run, const training_files *files);

/* The checkpoint at `path` into the run; says what is wrong with it. */
bool training_read(const char *path, struct run *run);

/* The same to go on with the run, whose recipe must be the one it was made with. */
bool training_load(const char *path, struct run *run);
