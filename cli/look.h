/* What a file is, by its first bytes, and whether that can be what it is taken for. */
#pragma once

#include "items.h"

/* Says what is wrong, and what would be right, before it returns false. NUL bytes are refused in text unless that is
 * to keep them. */
bool look_at(const char *file, const unsigned char *bytes, size_t size, item_format format, bool keep_nul);
