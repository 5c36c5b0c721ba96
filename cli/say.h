/* What the program says to people (on standard error), and how it ends. */
#pragma once

#include "legosketch.h"

#include <stdbool.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

/* "legosketch: ..." and a line end, above the progress bar if there is one, with control bytes as in shown.h. This and
 * the next three return false, for whoever has to return that. */
__attribute__((format(printf, 1, 2))) bool say(const char *format, ...);
bool say_no_memory(void);

/* "file:line: what is wrong". */
bool say_at(const char *file, uint64_t line, const char *what);

/* "cannot read stdin: why", for the path "-". */
bool say_unreadable(const char *path, const char *why);

/* Whether the status is LEGO_OK; if it is not, "what: message; advice". */
bool say_status(const char *what, lego_status status);

/* "494 blocks, 127.9K": what a sketch can grow to. This and the next return the text, for a message to take. */
enum { SHAPE_TEXT = 64 };
const char *say_shape(char text[SHAPE_TEXT], const lego_sketch *sketch);

/* " +- 0.5": a standard error behind its number; "" where the number is known, or nothing tells. */
enum { DEVIATION_TEXT = 36 };
const char *say_deviation(char text[DEVIATION_TEXT], double standard_error);

/* "every count is exact", "expected error 3.8 +- 0.2 an item, 82 +- 3 % of a count", or that it cannot be told. */
enum { ERRORS_TEXT = 192 };
const char *say_errors(char text[ERRORS_TEXT], const lego_info *info);

/* "text", "integers", "text and integers" or "nothing". */
const char *say_kind(lego_kind kind);

/* Whether the kinds of two sketches, or of a sketch and its input, are one; if not, says that they do not go together.
 * Where one has nothing, or both already, there is nothing left to mix up. */
bool say_mixed(const char *first, lego_kind a, const char *second, lego_kind b);

/* "5 distinct", or "about 5210 +- 40 distinct". */
enum { DISTINCT_TEXT = 96 };
const char *say_distinct(char text[DISTINCT_TEXT], const lego_info *info);
