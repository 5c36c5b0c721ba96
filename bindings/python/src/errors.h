/* What went wrong, as a Python exception.
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "compat.h"
#include "legosketch.h"

/* Makes legosketch.LegoError and puts it into the module; 0, or -1 with an exception. */
int errors_start(PyObject *module);

/* Raises what a status that is not LEGO_OK stands for: MemoryError, or LegoError with the library's message. */
void raise_status(lego_status status);

/* For a question, of which only absent can be wrong. */
void raise_unanswered(lego_status status);

/* Raises LegoError for what the library has no function for. */
void raise_refused(const char *message);
