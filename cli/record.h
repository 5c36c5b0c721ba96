/* What an experiment of the lab found, as one JSON file that also says how to get it again: the command line, version,
 * commit, machine, date and seeds. Rows are flat objects of one table. */
#pragma once

#include "json.h"

/* The commit that was built, "" if nobody knows; made by cmake/commit.cmake. */
extern const char record_commit[];

/* Notes the command line, as one could type it; to be called before options are parsed, which reorders them. */
void record_command(int argc, char **argv);

typedef struct record {
    json_line top; /* the whole; ok: all of it found memory */
    struct cJSON *rows, *failures, *seconds;
    double start;
} record;

record record_begin(const char *experiment, const char *title, const char *figure, uint64_t seed, uint32_t seeds);

/* Takes a row from json_begin(), filled with json_text() and the like. */
void record_add(record *self, json_line *row);
int record_rows(const record *self);

/* A part of the experiment that did not work, for whoever reads the results later. */
void record_failure(record *self, const char *what);

/* Writes it to a file, whole or not at all, or to standard output if the path is "-"; says what goes wrong, and unless
 * quiet what was written. */
bool record_write_file(const record *self, const char *path, bool quiet);
void record_free(record *self);
