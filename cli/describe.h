/* What a sketch is and how good its answers are, on standard output, as info and build tell it. */
#pragma once

#include "legosketch.h"

#include <stdbool.h>

/* Says what went wrong before it returns false. */
bool describe_sketch(const lego_sketch *sketch, const char *path, bool json);
