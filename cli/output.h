/* Writing: files that are whole or not there, and a standard output whose failures are noticed. */
#pragma once

#include "legosketch.h"

#include <stdbool.h>

/* Signals that would end the program between writing and renaming remove what was written; a full disk or a closed
 * pipe becomes an error instead of a signal. To be called once, first. */
void output_prepare(void);

/* Whether writing to `path` can work at all, and would not replace `needed`, a file or NULL; asked before the work
 * starts. Says what is wrong. */
bool output_check(const char *path, const char *needed);

/* Whether writing to `path` would replace the file of that status: it is the same, whatever its name. */
struct stat;
bool output_is(const char *path, const struct stat *other);

/* Gives the bytes of `what` to write(), piece by piece. */
typedef lego_status output_save(const void *what, lego_write write, void *context);

/* Writes to `path`, or to standard output if that is "-". A file that was there is replaced in one step, and only by a
 * complete and synced one; on any failure, which is said, it stays as it was. */
bool output_file(const char *path, output_save *saver, const void *what);
bool output_sketch(const char *path, const lego_sketch *sketch);

/* The same for a file that nobody else may read, and that is not there yet. *taken: somebody else has made it
 * meanwhile, of which nothing is said. */
bool output_private(const char *path, output_save *saver, const void *what, bool *taken);

/* False, from the first failure on, if standard output cannot be written; said once, unless a reader just left. */
bool output_flush(void);
