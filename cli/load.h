/* Sketches and models from files, with messages that say what to do about a bad one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "any.h"
#include "legosketch.h"

#include <stdbool.h>

/* The names of lego_packing, in the order of the enum, as an option's choices. */
#define PACKING_CHOICES "dense|flat"

/* The model of a built-in name, or of a file if there is no such name. NULL stays NULL: the default of whoever takes
 * it. Each says what went wrong before it returns false. A loaded model lives until load_close(). */
bool load_model(const char *name, const lego_model **model);
bool load_sketch(const char *path, const lego_model *model, lego_sketch **sketch); /* a plain one */
bool load_any(const char *path, const lego_model *model, any_sketch *any);

/* A sketch or a model, whichever the file holds; the other is NULL. */
bool load_either(const char *path, const lego_model *model, any_sketch *any, const lego_model **found);

void load_close(void);

#endif
