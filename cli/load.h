/* Sketches and models from files, with messages that say what to do about a bad one. */
#pragma once

#include "legosketch.h"

#include <stdbool.h>

/* The model of a built-in name, or of a file if there is no such name. NULL stays NULL: the default of whoever takes
 * it. Says what went wrong before it returns false. One model at most is loaded, and lives until load_close(). */
bool load_model(const char *name, const lego_model **model);

/* A sketch, of the model of that name as above. Where `found` is not NULL the file may hold a model instead, and one of
 * *sketch and *found is NULL. */
bool load_sketch(const char *path, const char *model_name, lego_sketch **sketch, const lego_model **found);

void load_close(void);
