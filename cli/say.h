/* What the program says to people (on standard error), and how it ends. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "legosketch.h"

#include <stdbool.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

/* "legosketch: ..." and a line end, above the progress bar if there is one. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

/* The same without the program's name, for "file:line: what is wrong". */
__attribute__((format(printf, 1, 2))) void say_bare(const char *format, ...);

void say_no_memory(void);

/* "what: message; advice". */
void say_status(const char *what, lego_status status);

/* "cannot read stdin: why", for the path "-"; returns false. */
bool say_unreadable(const char *path, const char *why);

/* "1024 blocks, 64.1K". Returns the text, for a message to take. */
enum { SHAPE_TEXT = 64 };
const char *say_shape(char text[SHAPE_TEXT], const lego_sketch *sketch);

#endif
