/* Signals that ask a long run to end: it finishes the step at hand; the second signal ends the program as before. */
#pragma once

#include <stdbool.h>

void stopping_begin(void);
bool stopping_asked(void);
void stopping_end(void);
